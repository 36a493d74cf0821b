"""The range of records that a scope has loaded, as a value: in order, up to a boundary.

The range reaches from the head of its order to the boundary, which is a place and not a record, so
it stands when the record there is gone (SPEC R11). What lies beyond is not loaded, and an operation
on it changes nothing. Pure.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from desktop.feed.batches import Operation, Record, Removal, Upsert

Order = Literal["ascending", "descending"]


@dataclass(frozen=True, slots=True)
class Loaded:
    """Records from the head of `order` up to and with the place `boundary` (None: all)."""

    order: Order = "ascending"
    records: tuple[Record, ...] = ()
    boundary: int | None = None

    @property
    def has_more(self) -> bool:
        return self.boundary is not None

    def covers(self, place: int) -> bool:
        if self.boundary is None:
            return True
        return self._rank(place) <= self._rank(self.boundary)

    def changed(self, operation: Operation) -> "Loaded":
        """The range after one operation; repeating it changes nothing more."""
        match operation:
            case Upsert(record):
                return self._put(record)
            case Removal():
                left = tuple(one for one in self.records if one.key != operation.key)
                return self if len(left) == len(self.records) else replace(self, records=left)

    def extended(self, page: "Loaded") -> "Loaded":
        """The range with the next page of the same order after it."""
        fresh = [one for one in page.records if not self.covers(one.place)]
        return replace(self, records=(*self.records, *fresh), boundary=page.boundary)

    def _put(self, record: Record) -> "Loaded":
        records = list(self.records)
        at = self._find(record)
        if at is not None:
            if records[at].place == record.place:
                records[at] = record
                return replace(self, records=tuple(records))
            del records[at]
        if self.covers(record.place):
            records.insert(_place_of(records, record, self._rank), record)
        return replace(self, records=tuple(records))

    def _find(self, record: Record) -> int | None:
        at = _place_of(self.records, record, self._rank)
        if at < len(self.records) and self.records[at].key == record.key:
            return at
        return next((n for n, one in enumerate(self.records) if one.key == record.key), None)

    def _rank(self, place: int) -> int:
        return place if self.order == "ascending" else -place


def _place_of(records: Sequence[Record], record: Record, rank: Callable[[int], int]) -> int:
    return bisect_left(
        records, (rank(record.place), record.id), key=lambda one: (rank(one.place), one.id)
    )
