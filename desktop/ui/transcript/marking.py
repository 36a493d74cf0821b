"""The marked text of one conversation, loaded or not."""

from collections.abc import Callable

from desktop.ui.transcript.box import Box, Spot
from desktop.ui.transcript.model import TranscriptModel
from desktop.ui.transcript.selection import Place, Selection, Stretch, marked_in


class Marking:
    """The only writer of the selection; `changed` is told of every change."""

    def __init__(self, rows: TranscriptModel, *, changed: Callable[[], None]) -> None:
        self._rows = rows
        self._changed = changed
        self._selection = Selection()

    @property
    def empty(self) -> bool:
        return self._selection.empty

    @property
    def end(self) -> Place | None:
        """Where marking goes on."""
        return self._selection.end

    @property
    def stretch(self) -> Stretch | None:
        """What is marked, in the rows' order."""
        return self._selection.stretch(self.seq)

    def seq(self, place: Place) -> int:
        """Where the row of a place stands in the log now."""
        at = self._rows.place(place.id)
        return self._rows.seq_of(at) if at is not None else place.seq

    def part_of(self, at: int, box: Box) -> tuple[Spot, Spot] | None:
        """What of the row here is marked."""
        return marked_in(self.stretch, self._rows.seq_of(at), box)

    def covers(self, place: Place) -> bool:
        """Whether this place lies in what is marked."""
        stretch = self.stretch
        part = stretch.part_of(self.seq(place)) if stretch is not None else None
        if part is None:
            return False
        begin, stop = part
        return (begin is None or begin <= place.spot) and (stop is None or place.spot < stop)

    # Marking

    def begin(self, place: Place | None) -> None:
        """Marks from here on; from nowhere, nothing is marked any more."""
        self._mark(Selection(place, place))

    def reach(self, place: Place) -> None:
        """Marks from where it began to here; where nothing began, it begins here."""
        self._mark(Selection(self._selection.start or place, place))

    def mark_word(self, place: Place, box: Box) -> None:
        start, end = box.word_at(place.spot)
        self._mark(Selection(Place(place.id, place.seq, start), Place(place.id, place.seq, end)))

    def mark_all(self) -> None:
        """All of the conversation up to now, whatever of it is loaded."""
        rows = self._rows
        if rows.rowCount():
            last = rows.rowCount() - 1
            seq = max(rows.seq_of(last), rows.scope.last_known)
            end = rows.row(last).id if seq == rows.seq_of(last) else ""
            self._mark(Selection(_whole("", 1), _whole(end, seq)))

    def _mark(self, selection: Selection) -> None:
        self._selection = selection
        self._changed()


def _whole(id_: str, seq: int) -> Place:
    return Place(id_, seq, (0, 0) if seq == 1 and not id_ else (1 << 30, 0), whole=True)
