"""Files on their way to be kept: made in a private folder, named once they are whole.

Until then all lies in a folder of its own, which the next one sweeps if this process dies.
Blocking.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from filelock import FileLock, Timeout

from desktop.core.backups import Tell
from desktop.core.errors import StoreError

_WORKING = ".nacre-working-"
_LOCK = "lock"
# Longer than any process takes between making its folder and locking it.
_YOUNG_SECONDS = 600.0


class Progress:
    """Counts the bytes of one stage and tells about it."""

    def __init__(self, words: str, total: int, tell: Tell) -> None:
        self._words = words
        self._total = total
        self._done = 0
        self._tell = tell

    def add(self, size: int) -> None:
        self._done += size
        self._tell(self._words, self._done, self._total)


def create(path: Path) -> IO[bytes]:
    """A new file that only the person can read."""
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b")


def refuse_taken(target: Path) -> None:
    if os.path.lexists(target):
        raise StoreError(
            f"{target} is there already. It was not touched.",
            way_out="Give another name, or move it away.",
        )
    if not target.parent.is_dir():
        raise StoreError(
            f"The folder {target.parent} does not exist.",
            way_out="Make it, or give another place for the backup.",
        )


def give_name(file: Path, name: Path) -> None:
    """Gives a finished file its name; never over another file that has it."""
    try:
        os.link(file, name)  # fails where the name is taken, which a rename does not
    except FileExistsError:
        refuse_taken(name)
        raise
    except OSError:
        # A file system without hard links.
        refuse_taken(name)
        file.rename(name)
        return
    file.unlink()


@contextmanager
def working_folder(beside: Path) -> Generator[Path]:
    """A private folder for unfinished files, gone at the end; those of dead processes go too."""
    sweep(beside)
    folder = Path(tempfile.mkdtemp(prefix=_WORKING, dir=beside))
    lock = FileLock(folder / _LOCK, thread_local=False)
    try:
        lock.acquire(timeout=0)
        yield folder
    finally:
        lock.release(force=True)
        shutil.rmtree(folder, ignore_errors=True)


def sweep(beside: Path) -> None:
    """Removes the unfinished files of dead processes."""
    for folder in beside.glob(f"{_WORKING}*"):
        if folder.is_symlink():
            continue
        if not (folder / _LOCK).is_file():
            _sweep_unlocked(folder)
            continue
        lock = FileLock(folder / _LOCK, thread_local=False)
        try:
            lock.acquire(timeout=0)
        except (Timeout, OSError):
            continue
        lock.release()
        shutil.rmtree(folder, ignore_errors=True)


def _sweep_unlocked(folder: Path) -> None:
    """It has just been made, or its owner died before it took the lock and left it empty."""
    with suppress(OSError):
        if time.time() - folder.stat().st_mtime > _YOUNG_SECONDS:
            folder.rmdir()
