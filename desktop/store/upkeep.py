"""What is done to the file while nobody waits: merging, giving room back, looking whether it is
whole.

Each step is one short write transaction, so that an append in between waits some milliseconds; what
the steps leave undone costs room or time, never a row.
"""

import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

from sqlalchemy import Connection

from desktop.core.errors import StoreDamaged
from desktop.store import storage, sweeping
from desktop.store.blobs import Blobs
from desktop.store.checkpoints import fold
from desktop.store.connection import driver
from desktop.store.lanes import Lanes
from desktop.store.merging import merge
from desktop.store.plain import CACHE_KIB, connect
from desktop.store.purging import Purging

MERGE_PAGES = 100
VACUUM_PAGES = 200
CHECK_CACHE_KIB = 1024
# Fewer free pages (4 MiB) are left for the next rows.
SPARE_PAGES = 1_024

# Words for the person and the bytes given back so far.
Freed = Callable[[str, int], None]


class Upkeep:
    """The chores of one log. All raise StoreError; `is_untidy` is False in a read-only log."""

    def __init__(
        self,
        lanes: Lanes,
        database: Path,
        blobs: Blobs,
        *,
        purging: Purging,
        busy_ms: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._lanes = lanes
        self._database = database
        self._blobs = blobs
        self._busy_ms = busy_ms
        self._tidied_writes = -1  # what an earlier process left is looked for once
        self._purging = purging
        self._clock = clock
        self._swept = 0
        self._sweep_at: float | None = None

    @property
    def is_untidy(self) -> bool:
        """Whether something was written since `tidy` last found nothing to do."""
        has_written = self._lanes.writes != self._tidied_writes
        return self._lanes.is_writable and (has_written or self._is_sweep_due())

    async def tidy(self) -> bool:
        """One step of what is due; whether more is to do.

        A purge that was cut off goes on. New rows leave small pieces in the search index, so that
        no append has to merge them; deleted ones leave free pages, and blobs that nothing names.
        """
        if not self.is_untidy:
            return False
        if await self._purging.go_on():
            return True
        seen = self._lanes.writes
        if await self._lanes.write(partial(merge, pages=MERGE_PAGES)):
            return True
        if await self._lanes.write(partial(_give_back, spare=SPARE_PAGES)):
            return True
        self._tidied_writes = seen + 2  # these steps count as writes themselves
        if self._is_sweep_due():
            await self._sweep()
        return False

    async def free_space(self, tell: Freed) -> int:
        """Gives everything back that holds nothing; the bytes by which the folder shrank."""
        before = await self._lanes.file(self._taken)

        async def said(words: str) -> None:
            tell(words, before - await self._lanes.file(self._taken))

        await said("Merging the search index")
        while await self._lanes.write(partial(merge, pages=MERGE_PAGES)):
            pass
        await said("Looking for files that nothing names")
        await self._sweep()
        await said("Giving pages back")
        while await self._lanes.write(partial(_give_back, spare=0)):
            pass
        await self._lanes.file(self._fold)
        return before - await self._lanes.file(self._taken)

    async def check(self) -> tuple[str, ...]:
        """What SQLite's quick check finds wrong with the file; empty for a sound one."""
        try:
            return await self._lanes.oversee(_quick_check)
        except StoreDamaged as error:  # so damaged that the check itself can't go on
            return (error.detail,)

    def _is_sweep_due(self) -> bool:
        is_time = self._sweep_at is not None and self._clock() >= self._sweep_at
        return is_time or self._swept != self._purging.count

    async def _sweep(self) -> None:
        """What is too young to go is looked at again once it no longer is."""
        self._swept = self._purging.count
        swept = await sweeping.sweep(self._lanes, self._blobs)
        self._sweep_at = self._clock() + sweeping.YOUNG_SECONDS if swept.young else None

    def _taken(self) -> int:
        return sum(storage.file_sizes(self._database)) + self._blobs.size()

    def _fold(self) -> None:
        with closing(connect(self._database, "write", busy_ms=self._busy_ms)) as connection:
            fold(connection, "TRUNCATE")


def _give_back(connection: Connection, *, spare: int) -> bool:
    """Cuts some free pages off the file's end; whether more than `spare` are left.

    A file that was not made for it (a legacy one before its secrets were scrubbed) keeps them.
    """
    free = _free_pages(connection)
    if free <= spare:
        return False
    # Each page is a row of the pragma: they must all be fetched for it to be carried out.
    driver(connection).execute(f"PRAGMA incremental_vacuum({min(VACUUM_PAGES, free)})").fetchall()
    left = _free_pages(connection)
    return spare < left < free


def _free_pages(connection: Connection) -> int:
    return int(connection.exec_driver_sql("PRAGMA freelist_count").scalar_one())


def _quick_check(connection: Connection) -> tuple[str, ...]:
    # Each page is read once: to keep them is of no use, and 16 MB for as long as the program lives.
    connection.exec_driver_sql(f"PRAGMA cache_size=-{CHECK_CACHE_KIB}")
    try:
        found = connection.exec_driver_sql("PRAGMA quick_check(20)").scalars().all()
    finally:
        connection.exec_driver_sql(f"PRAGMA cache_size=-{CACHE_KIB}")
        connection.exec_driver_sql("PRAGMA shrink_memory")
    return () if found == ["ok"] else tuple(str(one) for one in found)
