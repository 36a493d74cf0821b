"""Folding the write-ahead log into the database file, on a thread and a connection of its own.

So no append waits for it and the write-ahead log stays bounded. While much is written, a passive
step now and then, which takes no lock that a writer needs; where that is not enough, the log is
restarted under the write lock, briefly; once all is quiet, its file is given back. What another
process holds up is tried again after the next write, a restart only after a while: for as long as
somebody reads it is in vain, and every process of a crowd would keep the others from writing.
"""

import logging
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Literal

from desktop.store.plain import connect, write_ahead_log

logger = logging.getLogger(__name__)

PAUSE_SECONDS = 0.1
QUIET_SECONDS = 5.0
# A smaller log is left until all is quiet: pages that change often are then written once.
STEP_BYTES = 1024 * 1024
# From so many pages on the next writer waits for the log's restart: 16 MiB.
RESTART_PAGES = 4_096
# How long a restart may keep writers waiting for readers that hold it up.
BUSY_MS = 20
# From one restart that was held up to the next attempt: so long at first, then twice as long.
REST_SECONDS, LONGEST_REST_SECONDS = 0.5, 4.0


class Checkpoints:
    """Begins with the first `wake`, ended by `close`. `quiet` in seconds."""

    def __init__(self, database: Path, *, quiet: float = QUIET_SECONDS) -> None:
        self._database = database
        self._quiet = quiet
        self._changed = threading.Condition()
        self._writes = 0
        self._rest = REST_SECONDS
        self._restart_at = 0.0
        self._is_closed = False
        self._thread: threading.Thread | None = None

    def wake(self) -> None:
        """Something was committed. Never blocks."""
        with self._changed:
            if self._is_closed:
                return
            self._writes += 1
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="nacre-checkpoints", daemon=True
                )
                self._thread.start()
            self._changed.notify()

    def close(self) -> None:
        """Returns when the thread is over; at most one step is waited for."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            with closing(connect(self._database, "write", busy_ms=BUSY_MS)) as connection:
                self._follow(connection)
        except sqlite3.Error:
            # Nothing is lost: SQLite's own checkpoints of the writer remain.
            logger.exception("The write-ahead log of %s is no longer folded in", self._database)

    def _follow(self, connection: sqlite3.Connection) -> None:
        seen, is_folded = 0, True
        while True:
            with self._changed:
                has_new = self._changed.wait_for(
                    lambda: self._is_closed or self._writes != seen,  # noqa: B023 (called here)
                    None if is_folded else self._quiet,
                )
                if self._is_closed:
                    return
                seen = self._writes
            if has_new:
                self._step(connection)
            else:
                fold(connection, "TRUNCATE")
            is_folded = not has_new
            with self._changed:
                self._changed.wait_for(lambda: self._is_closed, PAUSE_SECONDS)

    def _step(self, connection: sqlite3.Connection) -> None:
        """A passive one first: what is left for the one that stops writers is little."""
        if _size(write_ahead_log(self._database)) < STEP_BYTES:
            return
        pages = fold(connection, "PASSIVE") or 0
        if pages <= RESTART_PAGES or time.monotonic() < self._restart_at:
            return
        if fold(connection, "RESTART") is None:
            self._restart_at = time.monotonic() + self._rest
            self._rest = min(2 * self._rest, LONGEST_REST_SECONDS)
        else:
            self._rest = REST_SECONDS


def fold(
    connection: sqlite3.Connection, how: Literal["PASSIVE", "RESTART", "TRUNCATE"]
) -> int | None:
    """One checkpoint; the pages that the log had. One that is held up does what it can: None."""
    try:
        is_held_up, pages, _ = connection.execute(f"PRAGMA wal_checkpoint({how})").fetchone()
    except sqlite3.OperationalError as error:
        # A full disk, a lock that can't be waited for: the next write brings the next attempt.
        logger.info("A checkpoint was put off: %s", error)
        return None
    return None if is_held_up else int(pages)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
