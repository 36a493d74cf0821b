"""The log: the database that every other part knows by three doors only.

`session` is one agent's store, `reader` what views read, `catalogue` everything beside the rows.
"""

import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from desktop.core.backups import BackupNotes
from desktop.core.errors import StoreError, StoreReadOnly
from desktop.core.records import CatalogueReceipt, Storage
from desktop.store import doctor, kept_backups, legacy_journal, schema, storage, touched
from desktop.store.blobs import Blobs
from desktop.store.catalogue import SqlCatalogue
from desktop.store.checkpoints import fold
from desktop.store.connection import PATIENCE, driver
from desktop.store.homes import Homes
from desktop.store.lanes import Lanes
from desktop.store.leases import Leases
from desktop.store.lookout import LogLookout
from desktop.store.merging import merge
from desktop.store.outline import SqlOutline
from desktop.store.plain import Mode
from desktop.store.plugins import SqlPluginNotes
from desktop.store.purging import Purging
from desktop.store.reads import LogPages
from desktop.store.records import LegacyRecords
from desktop.store.search import SqlSearch
from desktop.store.session import SqlSession
from desktop.store.sources import LogSources
from desktop.store.upkeep import Upkeep

logger = logging.getLogger(__name__)

BUSY_MS = 5_000
# Closing must not keep a program from ending.
CLOSING_BUSY_MS = 300
CLOSING_PAGES = 200


class Log:
    """An open database with its threads. Made by `open`, ended by `close`."""

    def __init__(
        self,
        database: Path,
        *,
        blobs: Path,
        run: Path,
        new_id: Callable[[], str],
        now_ms: Callable[[], int],
        on_catalogue_change: Callable[[CatalogueReceipt], None] | None,
        read_mode: Mode,
        busy_ms: int,
    ) -> None:
        self.database = database
        self.is_read_only = read_mode != "read"
        self._now_ms = now_ms
        self._blobs = Blobs(blobs)
        self._lanes = Lanes(
            database,
            read_mode=read_mode,
            busy_ms=busy_ms,
            touched=touched,
            on_catalogue_change=on_catalogue_change,
        )
        self._leases = Leases(run, new_id=new_id, now_ms=now_ms)
        self.reader = LogPages(self._lanes, self._blobs)
        self.sources = LogSources(self._lanes)
        self.sources_in_use = LogSources(self._lanes, with_bin=False)
        self.lookout = LogLookout(self._lanes, self._leases)
        self.outline = SqlOutline(self._lanes)
        self.search = SqlSearch(self._lanes)
        purging = Purging(self._lanes)
        self.upkeep = Upkeep(self._lanes, database, self._blobs, purging=purging, busy_ms=busy_ms)
        self.homes = Homes(self._lanes)
        self.plugins = SqlPluginNotes(self._lanes)
        self.catalogue = SqlCatalogue(
            self._lanes,
            self._leases,
            self._blobs,
            purging=purging,
            scratch=database.parent / "scratch",
            new_id=new_id,
            now_ms=now_ms,
        )
        self.legacy = LegacyRecords(self._lanes, database, now_ms=now_ms, busy_ms=busy_ms)

    @classmethod
    def open(
        cls,
        database: Path,
        *,
        blobs: Path,
        run: Path,
        new_id: Callable[[], str],
        now_ms: Callable[[], int],
        on_catalogue_change: Callable[[CatalogueReceipt], None] | None = None,
        read_only: bool = False,
        busy_ms: int = BUSY_MS,
    ) -> "Log":
        """Makes or migrates the file, rid of a legacy journal, and opens it. Blocks: in a thread.

        Raises StoreError; NewerSchema leaves every byte as it was (SPEC A09). A file that can't be
        written is opened for reading, and every write then raises StoreReadOnly. `busy_ms` is how
        long another program's lock is waited for.
        """
        return cls(
            database,
            blobs=blobs,
            run=run,
            new_id=new_id,
            now_ms=now_ms,
            on_catalogue_change=on_catalogue_change,
            read_mode=_made_ready(database, read_only=read_only, busy_ms=busy_ms),
            busy_ms=busy_ms,
        )

    def session(self, tab_id: str) -> SqlSession:
        """The store of one conversation; that it exists is found out at its first use."""
        return SqlSession(
            tab_id,
            lanes=self._lanes,
            blobs=self._blobs,
            leases=self._leases,
            now_ms=self._now_ms,
        )

    async def doctor(self) -> dict[str, Any]:
        """A check-up of the whole file; may take long (see `doctor.examine`)."""
        return await self._lanes.oversee(
            lambda connection: doctor.examine(connection, self.database, self._blobs)
        )

    async def backup_notes(self) -> BackupNotes:
        """What is remembered of the backups that were made."""
        return await self._lanes.read(kept_backups.notes)

    async def storage(self) -> Storage:
        """What every conversation takes on disk; may take a while."""
        return await storage.measure(self._lanes, self.database, self._blobs)

    async def close(self) -> None:
        """Waits for what was queued, lets the leases go, folds the write-ahead log in.

        What can't be tidied up now (another program holds the file, the disk is full) stays for
        the next start: nothing depends on it.
        """
        try:
            await self._lanes.close(self._tidy_up)
        except StoreError as error:
            logger.warning("The log was closed without tidying up: %s", error)
        finally:
            self._leases.close()

    def _tidy_up(self, connection: Connection) -> None:
        connection.info[PATIENCE] = CLOSING_BUSY_MS
        with connection.begin():
            self._leases.release_all(connection)
            merge(connection, pages=CLOSING_PAGES)
        fold(driver(connection), "TRUNCATE")


def _may_write(database: Path) -> bool:
    """Whether the file and its folder can be written; a current schema is not enough to tell."""
    return os.access(database, os.W_OK) and os.access(database.parent, os.W_OK)


def _made_ready(database: Path, *, read_only: bool, busy_ms: int) -> Mode:
    if not read_only and (not database.is_file() or _may_write(database)):
        try:
            schema.prepare(database, busy_ms=busy_ms)
            legacy_journal.remove(database, busy_ms=busy_ms)
            return "read"
        except StoreReadOnly:
            if not database.is_file():
                raise
    return schema.readable_mode(database, busy_ms=busy_ms)
