"""The rows that a plugin keeps in its panel, taken in by id and kept in their order.

Every time that the panel is shown with another conversation is another view; what a plugin says of
an earlier one changes nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

from desktop.core.panels import Mark, PanelChoice, PanelRow, Place
from desktop.plugins.faults import wrong
from desktop.plugins.params import LONGEST_WORD, MOST_NUMBER, Params, params_of

MOST_ROWS = 20_000
MOST_AT_ONCE = 500
MOST_CHOICES = 4
LONGEST_CHOICE = 60
LONGEST_TITLE = 300
_MARKS: frozenset[str] = frozenset(get_args(Mark))
_UPDATE = ("view", "clear", "rows", "remove", "choices")
_ROW = ("id", "sort", "title", "subtitle", "time", "durationMs", "mark", "place")


class Panel:
    """`view` counts what was shown; `changed` is called after each change of the rows."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._rows: dict[str, PanelRow] = {}
        self._ordered: tuple[PanelRow, ...] | None = ()
        self.view = 0
        self.choices: tuple[PanelChoice, ...] = ()
        self.chosen = ""

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

    def choose(self, id_: str) -> bool:
        """Whether it is another one of the choices."""
        is_other = id_ != self.chosen and any(one.id == id_ for one in self.choices)
        if is_other:
            self.chosen = id_
        return is_other

    def update(self, params: Params) -> Mapping[str, Any]:
        """`panel.update`: all of it or, at a fault, nothing."""
        params.only(*_UPDATE)
        view = params.number("view", least=1, most=MOST_NUMBER)
        removed = params.items("remove", most=MOST_AT_ONCE)
        if not all(isinstance(one, str) for one in removed):
            raise wrong("remove is not a list of ids.")
        rows = [_row(params_of(one)) for one in params.items("rows", most=MOST_AT_ONCE)]
        choices = _choices(params) if params.has("choices") else self.choices
        if view != self.view:
            return {"isShown": False}
        kept = {} if params.truth("clear") else dict(self._rows)
        for one in removed:
            kept.pop(one, None)
        kept.update((row.id, row) for row in rows)
        if len(kept) > MOST_ROWS:
            raise wrong(f"A panel has up to {MOST_ROWS} rows.")
        self._take_choices(choices)
        self._put(kept)
        return {"isShown": True}

    def _take_choices(self, choices: tuple[PanelChoice, ...]) -> None:
        self.choices = choices
        if not any(one.id == self.chosen for one in choices):
            self.chosen = choices[0].id if choices else ""

    def _put(self, rows: dict[str, PanelRow]) -> None:
        self._rows, self._ordered = rows, None
        self._changed()


def _choices(params: Params) -> tuple[PanelChoice, ...]:
    found = [
        PanelChoice(one.word("id"), one.word("title", most=LONGEST_CHOICE))
        for one in map(params_of, params.items("choices", most=MOST_CHOICES))
    ]
    if len({one.id for one in found}) != len(found) or len(found) == 1:
        raise wrong("choices are none, or 2 to 4 with ids of their own.")
    return tuple(found)


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
    return place_of(params.inner("place").only("sessionId", "seq"))


def place_of(place: Params) -> Place:
    """Of `sessionId` and `seq`."""
    return Place(
        place.word("sessionId", most=LONGEST_WORD),
        place.number("seq", least=1, most=MOST_NUMBER),
    )
