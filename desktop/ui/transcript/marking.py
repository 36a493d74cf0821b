"""The marked text of one conversation, and what of it is copied."""

from collections.abc import Callable

from desktop.core.groups import Row
from desktop.ui.transcript.box import Box, Spot
from desktop.ui.transcript.model import TranscriptModel
from desktop.ui.transcript.phrases import plain_text
from desktop.ui.transcript.selection import Place, Selection

_BEYOND: Spot = (1 << 30, 1 << 30)


class Marking:
    """The only writer of the selection; `changed` is told of every change."""

    def __init__(
        self, rows: TranscriptModel, box: Callable[[Row], Box], *, changed: Callable[[], None]
    ) -> None:
        self._rows = rows
        self._box = box
        self._changed = changed
        self._selection = Selection()

    @property
    def empty(self) -> bool:
        return self._selection.empty

    @property
    def ids(self) -> frozenset[str]:
        """The rows of both ends; nothing where nothing is marked."""
        return self._selection.ids

    def part_of(self, row: Row, box: Box) -> tuple[Spot, Spot] | None:
        """What of this row is marked."""
        return self._selection.part_of(row.id, self._rows.place, box)

    # Marking

    def begin(self, place: Place | None) -> None:
        """Marks from here on; from nowhere, nothing is marked any more."""
        self._mark(Selection(place, place))

    def reach(self, place: Place) -> None:
        """Marks from where it began to here; where nothing began, it begins here."""
        self._mark(Selection(self._selection.start or place, place))

    def mark_word(self, row: Row, box: Box, spot: Spot) -> None:
        start, end = box.word_at(spot)
        self._mark(Selection(Place(row.id, start), Place(row.id, end)))

    def mark_all(self) -> None:
        """Everything that is loaded."""
        seen = [row for row in self._rows.rows() if self._rows.takes_space(row)]
        if seen:
            first = Place(seen[0].id, (0, 0), whole=True)
            self._mark(Selection(first, Place(seen[-1].id, _BEYOND, whole=True)))

    def _mark(self, selection: Selection) -> None:
        self._selection = selection
        self._changed()

    # Copying

    def text(self) -> str:
        """What is marked, plain; empty when one of its ends is not loaded."""
        rows = self._rows
        ends = None if self.empty else self._selection.ordered(rows.place)
        if ends is None:
            return ""
        first, last = ends
        start, stop = rows.place(first.id), rows.place(last.id)
        assert start is not None and stop is not None
        parts: list[str] = []
        for at in range(start, stop + 1):
            row = rows.row(at)
            if not rows.takes_space(row):
                continue
            box = self._box(row) if at in (start, stop) else None
            if box is None or (first.whole and last.whole):
                parts.append(plain_text(row, rows.context()))
                continue
            begin = first.spot if at == start else (0, 0)
            end = last.spot if at == stop else box.end
            parts.append(box.text_between(begin, end))
        return "\n\n".join(part.strip("\n") for part in parts if part)
