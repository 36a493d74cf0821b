"""Backups as one talks about them: what was kept last, when the next is due. Times are ms UTC.

The clock of a computer may be wrong for a while, so a time that lies ahead counts as none.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

DAY_MS = 86_400_000
EVERY_MS: Mapping[str, int] = MappingProxyType({"daily": DAY_MS, "weekly": 7 * DAY_MS})
# So many intervals without a good backup, and the person should know.
STALE_INTERVALS = 3

# How far a piece of work is: words, bytes done, bytes in all (0: nobody knows).
Tell = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class KeptBackup:
    """A backup that was opened again and found good when it was made."""

    file: str
    size: int
    created_at: int


@dataclass(frozen=True, slots=True)
class BackupNotes:
    """What the log remembers: the last good backup, and when the schedule made its last one.

    `is_empty`: there is no row that a backup could keep.
    """

    last: KeptBackup | None = None
    scheduled_at: int | None = None
    is_empty: bool = False


@dataclass(frozen=True, slots=True)
class BackupState:
    """What the person sees about backups. `folder` is where scheduled ones go.

    `is_there` says whether the file of the last one still lies where it was made.
    """

    last: KeptBackup | None
    is_there: bool
    is_stale: bool
    folder: str
    is_folder_there: bool
    is_same_disk: bool


def due_since(notes: BackupNotes, interval: str, now_ms: int) -> int | None:
    """Since when a scheduled backup is wanted; None while it is not. `interval`: a setting's word.

    Where there never was one, it is wanted from now on.
    """
    every = EVERY_MS.get(interval)
    if every is None or notes.is_empty:
        return None
    if notes.scheduled_at is None or notes.scheduled_at > now_ms:
        return now_ms
    due = notes.scheduled_at + every
    return due if due <= now_ms else None


def is_stale(last: KeptBackup | None, interval: str, now_ms: int) -> bool:
    """Whether the last good backup is too old for the interval that the person wants."""
    every = EVERY_MS.get(interval)
    if every is None or last is None:
        return False
    return now_ms - last.created_at > STALE_INTERVALS * every
