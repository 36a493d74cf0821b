"""Marked text across rows, by row id and place, so that it survives paging and streaming. Pure."""

from collections.abc import Callable
from dataclasses import dataclass

from desktop.ui.transcript.box import Box, Spot

Order = Callable[[str], int | None]
"""Where a row stands now; None when it is not loaded."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a row's text; `whole`: the row is marked as one, with what is not text in it."""

    id: str
    spot: Spot
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Selection:
    """From where the mouse went down to where it is."""

    start: Place | None = None
    end: Place | None = None

    @property
    def empty(self) -> bool:
        return self.start is None or self.end is None or self.start == self.end

    @property
    def ids(self) -> frozenset[str]:
        """The rows of both ends; nothing where nothing is marked."""
        if self.start is None or self.end is None or self.empty:
            return frozenset()
        return frozenset({self.start.id, self.end.id})

    def ordered(self, order: Order) -> tuple[Place, Place] | None:
        """Both ends in the rows' order; None when one of them is not loaded."""
        if self.start is None or self.end is None:
            return None
        first, last = order(self.start.id), order(self.end.id)
        if first is None or last is None:
            return None
        if (first, self.start.spot) <= (last, self.end.spot):
            return self.start, self.end
        return self.end, self.start

    def part_of(self, id_: str, order: Order, box: Box) -> tuple[Spot, Spot] | None:
        """What of this row is marked."""
        if self.empty:
            return None
        ends = self.ordered(order)
        place = order(id_)
        if ends is None or place is None:
            return None
        first, last = order(ends[0].id), order(ends[1].id)
        if first is None or last is None or not first <= place <= last:
            return None
        begin = ends[0].spot if place == first else (0, 0)
        stop = ends[1].spot if place == last else box.end
        return begin, stop
