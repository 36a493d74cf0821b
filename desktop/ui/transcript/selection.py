"""Marked text across rows, by row and place, so that it survives paging and streaming. Pure.

A row is known by its id while it is loaded and by its seq when it is not, so what is marked need
not be loaded: it is read again when it is copied (decisions/0031).
"""

from collections.abc import Callable
from dataclasses import dataclass

from desktop.ui.transcript.box import Box, Spot


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the text of the row that had `seq` when it was marked; `whole`: the row is marked
    as one, with what is not text in it."""

    id: str
    seq: int
    spot: Spot
    whole: bool = False


Seq = Callable[[Place], int]
"""Where the row of a place stands in the log now."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """What is marked: from `first` in the row of `first_seq` to `last` in that of `last_seq`."""

    first: Place
    last: Place
    first_seq: int
    last_seq: int

    @property
    def whole(self) -> bool:
        """Whether all its rows are marked as they are."""
        return self.first.whole and self.last.whole

    def part_of(self, seq: int) -> tuple[Spot | None, Spot | None] | None:
        """Both ends in a row (None: the row's own end); None where nothing of it is marked."""
        if not self.first_seq <= seq <= self.last_seq:
            return None
        begin = self.first.spot if seq == self.first_seq and not self.first.whole else None
        stop = self.last.spot if seq == self.last_seq and not self.last.whole else None
        return begin, stop


@dataclass(frozen=True, slots=True)
class Selection:
    """From where it began to where it is now."""

    start: Place | None = None
    end: Place | None = None

    @property
    def empty(self) -> bool:
        return self.start is None or self.end is None or self.start == self.end

    def stretch(self, seq: Seq) -> Stretch | None:
        """Both ends in the rows' order; None where nothing is marked."""
        if self.start is None or self.end is None or self.start == self.end:
            return None
        first, last = self.start, self.end
        if (seq(last), last.spot) < (seq(first), first.spot):
            first, last = last, first
        return Stretch(first, last, seq(first), seq(last))


def marked_in(stretch: Stretch | None, seq: int, box: Box) -> tuple[Spot, Spot] | None:
    """What of a row's box is marked."""
    part = stretch.part_of(seq) if stretch is not None else None
    if part is None:
        return None
    begin, stop = part
    return begin or (0, 0), box.end if stop is None else stop
