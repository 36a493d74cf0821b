"""Who may run turns in a tab: one living process (DESIGN.md §4 "Leases").

Each process holds an OS lock on `run/<process_id>.lock`; the system frees it when the process
dies, whatever its end. A holder whose lock is free is dead, and its tabs may be taken over.
"""

import os
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from filelock import FileLock, Timeout
from sqlalchemy import Connection

from desktop.core.errors import InBin, LeaseHeld, UnknownConversation
from desktop.core.status import Elsewhere


class Leases:
    """This process's lock and its rows. For the writer's thread; call inside a transaction."""

    def __init__(self, run: Path, *, new_id: Callable[[], str], now_ms: Callable[[], int]) -> None:
        self.process_id = f"{os.getpid()}-{new_id()}"
        self._run = run
        self._now_ms = now_ms
        self._lock = self._lock_of(self.process_id)
        self._probing = threading.Lock()

    def acquire(self, connection: Connection, tab_id: str) -> None:
        """Takes or renews the lease; raises LeaseHeld naming the holder, or InBin."""
        self._hold_lock()
        _refuse_in_bin(connection, tab_id)
        holder = connection.exec_driver_sql(
            "SELECT process_id FROM leases WHERE tab_id = ?", (tab_id,)
        ).scalar_one_or_none()
        if holder == self.process_id:
            return
        if holder is not None and self._is_alive(holder):
            raise _held(holder, "this conversation")
        connection.exec_driver_sql(
            "INSERT INTO leases(tab_id, process_id, acquired_at) VALUES (?, ?, ?)"
            " ON CONFLICT(tab_id) DO UPDATE SET process_id = excluded.process_id,"
            " acquired_at = excluded.acquired_at",
            (tab_id, self.process_id, self._now_ms()),
        )

    def release(self, connection: Connection, tab_id: str) -> None:
        connection.exec_driver_sql(
            "DELETE FROM leases WHERE tab_id = ? AND process_id = ?", (tab_id, self.process_id)
        )

    def refuse_elsewhere(self, connection: Connection, tab_ids: Iterable[str]) -> None:
        """Raises LeaseHeld where another living process works in one of these."""
        wanted = set(tab_ids)
        rows = connection.exec_driver_sql(
            "SELECT tab_id, process_id, title FROM leases JOIN tabs ON tabs.id = tab_id"
            " WHERE process_id != ?",
            (self.process_id,),
        ).all()
        for tab_id, holder, title in rows:
            if tab_id in wanted and self._is_alive(holder):
                raise _held(holder, f"the conversation “{title}”" if title else "a conversation")

    def elsewhere(self, connection: Connection) -> dict[str, Elsewhere]:
        """The conversations in which other living processes work. For any thread."""
        rows = connection.exec_driver_sql(
            "SELECT tab_id, process_id, acquired_at FROM leases WHERE process_id != ?",
            (self.process_id,),
        ).all()
        alive = {holder: self._is_alive(holder) for holder in {row[1] for row in rows}}
        return {tab: Elsewhere(holder, since) for tab, holder, since in rows if alive[holder]}

    def release_all(self, connection: Connection) -> None:
        connection.exec_driver_sql("DELETE FROM leases WHERE process_id = ?", (self.process_id,))

    def close(self) -> None:
        """Lets the OS lock go; the rows may stay: they say nothing without it."""
        if self._lock.is_locked:
            self._lock.release()
            self._path_of(self.process_id).unlink(missing_ok=True)

    def _hold_lock(self) -> None:
        if not self._lock.is_locked:
            self._run.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock.acquire(timeout=0)

    def _is_alive(self, process_id: str) -> bool:
        with self._probing:  # two threads that try the lock of a dead one would meet each other
            if not self._path_of(process_id).exists():
                return False
            probe = self._lock_of(process_id)
            try:
                probe.acquire(timeout=0)
            except (Timeout, OSError):  # in a folder that can't be written nobody is taken over
                return True
            probe.release()
            self._path_of(process_id).unlink(missing_ok=True)
            return False

    def _lock_of(self, process_id: str) -> FileLock:
        return FileLock(self._path_of(process_id), thread_local=False)

    def _path_of(self, process_id: str) -> Path:
        return self._run / f"{process_id}.lock"


def _held(holder: str, place: str) -> LeaseHeld:
    return LeaseHeld(
        f"Another Nacre (process {holder.partition('-')[0]}) is working in {place}.",
        way_out="Wait until it is done, or stop it there.",
        detail=holder,
    )


def _refuse_in_bin(connection: Connection, tab_id: str) -> None:
    """Raises InBin, or UnknownConversation."""
    found = connection.exec_driver_sql(
        "SELECT trashed_at FROM tabs WHERE id = ? AND purged_at IS NULL", (tab_id,)
    ).first()
    if found is None:
        raise UnknownConversation("No conversation has this id.", detail=tab_id)
    if found[0] is not None:
        raise InBin(tab_id)
