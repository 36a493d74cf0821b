"""Blobs that no row names any more: they go, row and file (DESIGN.md §4).

Marking reads the log in slices; sweeping asks again under the write lock, so that a row that came
meanwhile keeps its blob. What is younger than an hour stays: a result's file is kept a moment
before its row. The file goes before the row does: a crash between the two leaves a row that the
next sweep takes.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection

from desktop.store.blobs import Blobs
from desktop.store.lanes import Lanes
from desktop.store.references import References, read_slice

YOUNG_SECONDS = 3_600.0
# Blobs in one write transaction.
BATCH = 20


async def mark(lanes: Lanes) -> References:
    """All references of the log."""
    found = References()
    while await lanes.oversee(partial(read_slice, found=found)):
        pass
    return found


@dataclass(frozen=True, slots=True)
class Swept:
    """Blobs that went, their bytes on disk, and those that nothing names but are too young."""

    count: int = 0
    freed: int = 0
    young: int = 0

    def __add__(self, other: "Swept") -> "Swept":
        return Swept(self.count + other.count, self.freed + other.freed, self.young + other.young)


async def sweep(lanes: Lanes, blobs: Blobs, *, now: Callable[[], float] = time.time) -> Swept:
    """Takes away every blob without a reference."""
    before = now() - YOUNG_SECONDS
    kept = await lanes.file(lambda: frozenset(blobs.names()))
    found = await mark(lanes)
    rows = await lanes.oversee(_rows)
    swept = Swept()
    for batch in _batches(sorted((kept | rows) - found.tabs.keys())):
        swept += await lanes.write(
            partial(_take_away, blobs=blobs, names=batch, found=found, before=before)
        )
    return swept


def _rows(connection: Connection) -> frozenset[str]:
    return frozenset(connection.exec_driver_sql("SELECT sha256 FROM blobs").scalars())


def _take_away(
    connection: Connection, *, blobs: Blobs, names: Sequence[str], found: References, before: float
) -> Swept:
    while read_slice(connection, found):
        pass
    swept = Swept()
    for sha256 in names:
        if sha256 in found.tabs:
            continue
        size = blobs.remove(sha256, before)
        if size is None:
            swept += Swept(young=1)
        else:
            connection.exec_driver_sql("DELETE FROM blobs WHERE sha256 = ?", (sha256,))
            swept += Swept(1, size)
    return swept


def _batches(names: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(names), BATCH):
        yield names[start : start + BATCH]
