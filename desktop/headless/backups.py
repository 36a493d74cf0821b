"""Backups of an open data folder: the schedule's, and those that the person asks for.

The schedule looks now and then whether one is due, makes it on a thread of low priority while no
turn runs, and lets older ones go only after the new one was found good. One process of those that
have the folder open does it. What went wrong stands in the window until it is put right; the same
trouble is told again once a day, not at every try.
"""

import asyncio
import logging
import os
import shutil
import sys
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from desktop import paths
from desktop.core import backups
from desktop.core.backups import DAY_MS, BackupNotes, BackupState, KeptBackup, Tell
from desktop.core.errors import NacreError, StoreError, StoreFull
from desktop.diagnostics import program_version
from desktop.feed.timing import Start
from desktop.headless.rounds import Later, every
from desktop.paths import DataFolder
from desktop.settings import BACKUP_FOLDER, BACKUP_INTERVAL, BACKUP_KEEP, Preferences
from desktop.store import backup, kept_backups, storage
from desktop.store.blobs import Blobs
from desktop.tools import threads
from desktop.tools.output import readable

_LOG = logging.getLogger(__name__)

# The window is up and settled by then; a start is no time for heavy work.
SETTLE_SECONDS = 90.0
LOOK_SECONDS = 300.0
RETRY_MS = 3_600_000
# Longer than this it does not wait for the agents to be done.
PATIENCE_MS = DAY_MS
# Room that a backup leaves on the disk, or it is not begun.
LEAST_FREE = 500_000_000
REPORT_SECONDS = 0.1
# How long the program's end waits for a backup that was told to stop.
STOP_SECONDS = 0.5
NICENESS = 10
NOTICE = "backup"

# Key, sentence, detail: stands until it is closed or taken away by an empty sentence.
Stand = Callable[[str, str, str], None]


@dataclass(frozen=True, slots=True)
class Around:
    """What the backups are told by: the log's notes and size, the wishes, the time, the window."""

    notes: Callable[[], Awaitable[BackupNotes]]
    preferences: Callable[[], Preferences]
    is_busy: Callable[[], bool]
    stand: Stand
    now_ms: Callable[[], int]
    least_free: int = LEAST_FREE


class Backups:
    """Made once the log is open. `watch` begins the schedule; the rest is for the window."""

    def __init__(self, folder: DataFolder, around: Around) -> None:
        self._folder = folder
        self._around = around
        self._waiting_since: int | None = None
        self._not_before = 0
        self._told: tuple[str, int] | None = None
        self._listeners: list[Callable[[], None]] = []

    # -- the schedule -----------------------------------------------------------------------------

    def watch(self, later: Later, start: Start) -> None:
        """Looks for the first time when the window has settled, then every few minutes."""
        every(
            LOOK_SECONDS,
            self._look_and_tell,
            "look whether a backup is due",
            later=later,
            start=start,
            first=SETTLE_SECONDS,
        )

    def on_look(self, looked: Callable[[], None]) -> Callable[[], None]:
        """Calls it on the loop after each look of the schedule, whatever came of it, until the
        returned call: `state` may be another, also by another process."""
        self._listeners.append(looked)
        return lambda: self._listeners.remove(looked)

    def plan_changed(self) -> None:
        """The person changed how backups are made: what failed before may work now."""
        self._not_before = 0
        if self._around.preferences().value(BACKUP_INTERVAL) == "off":
            self._withdraw()

    async def _look_and_tell(self) -> None:
        try:
            await self.look()
        finally:
            for looked in tuple(self._listeners):
                looked()

    async def look(self) -> KeptBackup | None:
        """Makes a scheduled backup if it is time; None where it is not, or where it failed."""
        if not await self._is_time():
            return None
        with kept_backups.turn(self._folder.run) as is_ours:
            # Another process may have made it between the look and the lock.
            if not is_ours or not await self._is_time():
                return None
            return await self._scheduled()

    async def _is_time(self) -> bool:
        now = self._around.now_ms()
        if now < self._not_before:
            return False
        try:
            notes = await self._around.notes()
        except StoreError:
            return False
        interval = self._around.preferences().value(BACKUP_INTERVAL)
        since = backups.due_since(notes, interval, now)
        if since is None:
            self._waiting_since = None
            return False
        self._waiting_since = min(since, self._waiting_since or since)
        return not self._around.is_busy() or now - self._waiting_since >= PATIENCE_MS

    async def _scheduled(self) -> KeptBackup | None:
        preferences = self._around.preferences()
        folder = self._place(preferences)
        try:
            await threads.start(partial(self._make_ready, folder), "nacre-backup")
            made = await self._write(
                lambda: kept_backups.scheduled_name(folder, self._around.now_ms()),
                scheduled_for=str(self._folder.root),
            )
        except NacreError as error:
            self._failed(error)
            return None
        await threads.start(
            partial(
                kept_backups.drop_older,
                Path(made.file),
                scheduled_for=str(self._folder.root),
                keep=preferences.value(BACKUP_KEEP),
            ),
            "nacre-backup",
        )
        return made

    def _make_ready(self, folder: Path) -> None:
        """On a thread. Only the data folder's own place is made: another may be a missing disk."""
        if folder == self._folder.backups:
            try:
                folder.mkdir(mode=paths.PRIVATE, exist_ok=True)
            except OSError as error:
                raise paths.unusable(self._folder.root, error) from error
        elif not os.path.isdir(folder):  # noqa: PTH112 (never raises)
            raise StoreError(
                f"The folder {folder} is not there.",
                way_out="Connect its disk, or choose another folder in Settings → Storage.",
            )

    def _failed(self, error: NacreError) -> None:
        now = self._around.now_ms()
        self._not_before = now + RETRY_MS
        _LOG.warning("A scheduled backup failed: %s", error)
        if self._told is not None and self._told[0] == str(error) and now < self._told[1] + DAY_MS:
            return
        self._told = (str(error), now)
        self._around.stand(
            NOTICE,
            f"The scheduled backup was not made. {error} Nacre tries again every hour.",
            error.detail,
        )

    def _withdraw(self) -> None:
        if self._told is not None:
            self._told = None
            self._around.stand(NOTICE, "", "")

    # -- for the window ---------------------------------------------------------------------------

    async def state(self) -> BackupState:
        """What there is to see; looks at the disk on a thread of its own."""
        notes = await self._around.notes()
        preferences = self._around.preferences()
        interval, folder = preferences.value(BACKUP_INTERVAL), self._place(preferences)
        stale = backups.is_stale(notes.last, interval, self._around.now_ms())

        def seen() -> BackupState:
            return BackupState(
                last=notes.last,
                is_there=notes.last is not None and os.path.isfile(notes.last.file),  # noqa: PTH113
                is_stale=stale,
                folder=str(folder),
                is_folder_there=os.path.isdir(folder) or folder == self._folder.backups,  # noqa: PTH112
                is_same_disk=_device(folder) in (None, _device(self._folder.root)),
            )

        return await threads.start(seen, "nacre-backup-state")

    async def back_up(self, target: Path, tell: Tell) -> KeptBackup:
        """Makes one where the person wants it: a new file, or a folder. Cancelling stops it.

        `tell` is called on the loop, some ten times a second. Raises NacreError.
        """

        def file() -> Path:
            return backup.free_name(target, self._around.now_ms()) if target.is_dir() else target

        if target == self._folder.backups:
            await threads.start(partial(self._make_ready, target), "nacre-backup")
        return await self._write(file, tell=tell)

    # -- making -----------------------------------------------------------------------------------

    def _place(self, preferences: Preferences) -> Path:
        chosen = preferences.value(BACKUP_FOLDER)
        return Path(chosen) if chosen else self._folder.backups

    async def _write(
        self, name: Callable[[], Path], *, scheduled_for: str = "", tell: Tell | None = None
    ) -> KeptBackup:
        last = (await self._around.notes()).last
        stop, now_at = threads.Stop(), _Progress()

        def work() -> KeptBackup:
            if scheduled_for:
                _give_way()
            target = name()
            self._refuse_full(target.parent, last)
            made = backup.write(
                self._folder.database,
                target,
                blobs=self._folder.blobs,
                program=program_version(),
                now_ms=self._around.now_ms,
                tell=partial(now_at.set, stop),
                scheduled_for=scheduled_for,
            )
            return KeptBackup(str(made.file), made.size, made.manifest.created_at)

        future = threads.start(work, "nacre-backup")
        try:
            await now_at.follow(future, tell)
        except asyncio.CancelledError:
            stop.set()
            await asyncio.wait([future], timeout=STOP_SECONDS)
            future.cancel()
            with suppress(asyncio.CancelledError, Exception):
                future.exception()
            raise
        made = future.result()
        self._withdraw()
        return made

    def _refuse_full(self, folder: Path, last: KeptBackup | None) -> None:
        """Raises StoreFull where the copy and the archive would fill the disk."""
        try:
            free = shutil.disk_usage(folder).free
            size = sum(storage.file_sizes(self._folder.database))
            # Blobs may not shrink; what the last one took says more than any guess.
            blobs = 0 if last else Blobs(self._folder.blobs).size()
        except OSError:
            return  # what is wrong with the folder is told by whoever writes there
        needed = size + (last.size + last.size // 4 if last else size + blobs)
        if free >= needed + self._around.least_free:
            return
        raise StoreFull(
            f"A backup needs about {readable(needed)} in {folder} while it is made, and"
            f" {readable(self._around.least_free)} should stay free; {readable(free)} are.",
            way_out="Free some space there, or choose a folder on another disk.",
        )


class _Progress:
    """How far the work is, set on its thread as often as it likes and read now and then."""

    def __init__(self) -> None:
        self._now: tuple[str, int, int] | None = None
        self._lock = threading.Lock()

    def set(self, stop: threads.Stop, words: str, done: int, total: int) -> None:
        stop.check()
        with self._lock:
            self._now = (words, done, total)

    async def follow(self, future: "asyncio.Future[Any]", tell: Tell | None) -> None:
        """Returns when the work is over, whatever its end."""
        told: tuple[str, int, int] | None = None
        while not future.done():
            await asyncio.wait([future], timeout=None if tell is None else REPORT_SECONDS)
            with self._lock:
                now = self._now
            if tell is not None and now is not None and now != told and not future.done():
                told = now
                tell(*now)


def _give_way() -> None:
    """Lowers the priority of this thread, where the system knows such a thing."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)


def _device(folder: Path) -> int | None:
    try:
        return folder.stat().st_dev
    except OSError:
        return None
