"""Opening and replacing files: regular ones only, whole, and never half written."""

import hashlib
import os
import secrets
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from desktop.core.errors import ToolFailed
from desktop.tools.places import Place, unreachable

LARGEST_COMPARED = 16_000_000
_OPEN = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_FOLDER = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_BY_FOLDER = os.open in os.supports_dir_fd and os.rename in os.supports_dir_fd


@dataclass(frozen=True, slots=True)
class Old:
    """What stood in a file's place. `mark` changes when the file does; '' where there is none.

    `data` is None for a file that is too large to be compared.
    """

    mark: str = ""
    data: bytes | None = None
    size: int = 0
    links: int = 1


@contextmanager
def opened(place: Place) -> Generator[BinaryIO, None, None]:
    """The regular file at a real place; raises ToolFailed for anything else."""
    try:
        handle = os.open(place.real, _OPEN | getattr(os, "O_NOFOLLOW", 0))
    except (OSError, ValueError) as error:
        raise unreachable(place.label, error) from error
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise ToolFailed(f"{place.label} is a folder.")
        if not stat.S_ISREG(mode):
            raise ToolFailed(f"{place.label} is not a regular file.")
        with open(handle, "rb", closefd=False) as file:
            yield file
    except OSError as error:
        raise unreachable(place.label, error) from error
    finally:
        os.close(handle)


def old_of(place: Place) -> Old:
    """What is in a place now; raises ToolFailed where a file can't stand."""
    try:
        place.real.lstat()
    except FileNotFoundError:
        return Old()
    except (OSError, ValueError) as error:
        raise unreachable(place.label, error) from error
    with opened(place) as file:
        status = os.fstat(file.fileno())
        if status.st_size > LARGEST_COMPARED:
            mark = f"{status.st_dev}:{status.st_ino}:{status.st_size}:{status.st_mtime_ns}"
            return Old(mark, None, status.st_size, status.st_nlink)
        data = file.read()
    return Old(hashlib.sha256(data).hexdigest(), data, len(data), status.st_nlink)


def replace(place: Place, data: bytes) -> None:
    """Puts `data` in the place: a new file beside it, synced, then renamed over it.

    The mode of the old file is kept and so is its owner where the system allows. Missing folders
    are made. Raises ToolFailed; the old file is then as it was.
    """
    try:
        parent = place.real.parent
        if place.real.exists() and not os.access(place.real, os.W_OK):
            raise ToolFailed(f"{place.label} is write-protected; nothing was written.")
        parent.mkdir(parents=True, exist_ok=True)
        _replace(place, parent, data)
    except (OSError, ValueError) as error:
        raise unreachable(place.label, error) from error


def _replace(place: Place, parent: Path, data: bytes) -> None:
    folder = os.open(parent, _FOLDER) if _BY_FOLDER else None
    try:
        # The folder is held from here on; a link put in its place is noticed now or has no effect.
        if Path(os.path.realpath(parent)) != parent or not _is_same(folder, parent):
            raise ToolFailed(f"The folder of {place.label} was moved; nothing was written.")
        temporary = f".nacre-{secrets.token_hex(8)}.tmp"
        try:
            _write(temporary, parent, folder, place, data)
            _rename(temporary, place.real.name, parent, folder)
        except BaseException:
            with suppress(OSError):
                _unlink(temporary, parent, folder)
            raise
        if folder is not None:
            os.fsync(folder)
    finally:
        if folder is not None:
            os.close(folder)


def _write(temporary: str, parent: Path, folder: int | None, place: Place, data: bytes) -> None:
    if folder is None:
        handle = os.open(parent / temporary, _CREATE, 0o666)
    else:
        handle = os.open(temporary, _CREATE, 0o666, dir_fd=folder)
    with os.fdopen(handle, "wb") as file:
        _keep_mode(handle, place.real)
        file.write(data)
        file.flush()
        os.fsync(handle)


def _keep_mode(handle: int, old: Path) -> None:
    try:
        status = old.lstat()
    except FileNotFoundError:
        return
    if os.name != "posix":
        return
    with suppress(PermissionError):
        os.fchown(handle, status.st_uid, status.st_gid)
    os.fchmod(handle, stat.S_IMODE(status.st_mode))


def _rename(temporary: str, name: str, parent: Path, folder: int | None) -> None:
    if folder is None:
        (parent / temporary).replace(parent / name)
    else:
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)


def _unlink(temporary: str, parent: Path, folder: int | None) -> None:
    if folder is None:
        (parent / temporary).unlink()
    else:
        os.unlink(temporary, dir_fd=folder)


def _is_same(folder: int | None, parent: Path) -> bool:
    return folder is None or os.path.samestat(os.fstat(folder), parent.lstat())
