"""The rows that a plugin keeps in its panel, taken in by id and kept in their order.

Every time that the panel is shown with another conversation is another view; what a plugin says of
an earlier one changes nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

from desktop.core.panels import Mark, PanelRow, Place
from desktop.plugins.faults import wrong
from desktop.plugins.params import LONGEST_WORD, MOST_NUMBER, Params, params_of

MOST_ROWS = 20_000
MOST_AT_ONCE = 500
LONGEST_TITLE = 300
_MARKS: frozenset[str] = frozenset(get_args(Mark))
_ROW = ("id", "sort", "title", "subtitle", "time", "durationMs", "mark", "place")


class Panel:
    """`view` counts what was shown; `changed` is called after each change of the rows."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._rows: dict[str, PanelRow] = {}
        self._ordered: tuple[PanelRow, ...] | None = ()
        self.view = 0

    def rows(self) -> Sequence[PanelRow]:
        if self._ordered is None:
            order = sorted(self._rows.values(), key=lambda row: (-row.sort, row.id))
            self._ordered = tuple(order)
        return self._ordered

    def next_view(self) -> int:
        """Another view begins, without rows."""
        self.view += 1
        self._put({})
        return self.view

    def update(self, params: Params) -> Mapping[str, Any]:
        """`panel.update`: all of it or, at a fault, nothing."""
        params.only("view", "clear", "rows", "remove")
        view = params.number("view", least=1, most=MOST_NUMBER)
        removed = params.items("remove", most=MOST_AT_ONCE)
        if not all(isinstance(one, str) for one in removed):
            raise wrong("remove is not a list of ids.")
        rows = [_row(params_of(one)) for one in params.items("rows", most=MOST_AT_ONCE)]
        if view != self.view:
            return {"isShown": False}
        kept = {} if params.truth("clear") else dict(self._rows)
        for one in removed:
            kept.pop(one, None)
        kept.update((row.id, row) for row in rows)
        if len(kept) > MOST_ROWS:
            raise wrong(f"A panel has up to {MOST_ROWS} rows.")
        self._put(kept)
        return {"isShown": True}

    def _put(self, rows: dict[str, PanelRow]) -> None:
        self._rows, self._ordered = rows, None
        self._changed()


def _row(params: Params) -> PanelRow:
    params.only(*_ROW)
    return PanelRow(
        id=params.word("id"),
        sort=params.number("sort", least=-MOST_NUMBER, most=MOST_NUMBER),
        title=params.word("title", most=LONGEST_TITLE),
        subtitle=params.word("subtitle", most=LONGEST_TITLE, default=""),
        time=params.number("time", least=0, most=MOST_NUMBER, default=0),
        duration_ms=_duration(params),
        mark=_mark(params),
        place=_place(params),
    )


def _duration(params: Params) -> int | None:
    if not params.has("durationMs"):
        return None
    return params.number("durationMs", least=0, most=MOST_NUMBER)


def _mark(params: Params) -> Mark:
    mark: Any = params.word("mark", default="")
    if mark not in _MARKS:
        raise wrong("mark is none of running, stopped and failed.")
    return mark


def _place(params: Params) -> Place | None:
    if not params.has("place"):
        return None
    place = params.inner("place").only("sessionId", "seq")
    return Place(
        place.word("sessionId", most=LONGEST_WORD),
        place.number("seq", least=1, most=MOST_NUMBER),
    )
