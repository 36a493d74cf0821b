"""The encrypted file of keys, for a person who has no keyring and chose this (PLATFORM §3.3).

A keyring like the others, seen from the worker thread, except that Nacre itself asks for the
passphrase, once a run. Every write is a whole new file that takes the old one's place, made from
what the file holds at that moment under a lock, so that two processes lose nothing of each other.
A file that can't be read is never touched.
"""

import errno
import importlib
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from filelock import FileLock, Timeout

from desktop.credentials import file_status
from desktop.credentials.key_format import COST, FILE_LIMIT, Damaged, Foreign, Header, Newer, parse
from desktop.credentials.secret import Secret
from desktop.credentials.status import KeyringError, Status
from desktop.paths import sync_folder

if TYPE_CHECKING:
    from desktop.credentials.sealing import Seal

PRIVATE = 0o600
LOCK_SECONDS = 3.0


class _Sealing(Protocol):
    """The module `sealing`, loaded when the first passphrase is there."""

    WrongPassphrase: type[Exception]

    def Seal(self, header: Header, passphrase: Secret) -> "Seal": ...  # noqa: N802 (a class)

    def new_seal(self, passphrase: Secret, cost: int) -> "Seal": ...


class KeyFile:
    """Implements `Backend`; `open` and `erase` are its own. `path` need not exist; `cost` is what a
    guess at the passphrase of a new file costs."""

    def __init__(self, path: Path, *, cost: int = COST, lock_seconds: float = LOCK_SECONDS) -> None:
        self._path = path
        self._cost = cost
        self._lock_seconds = lock_seconds
        self._seal: Seal | None = None

    def __repr__(self) -> str:
        return f"KeyFile({str(self._path)!r})"

    def look(self) -> Status:
        try:
            data = self._read()
            if data is None:
                return file_status.READY if self._seal else file_status.none_yet()
            header = parse(data).header
        except Exception as error:
            return self.explain(error)
        return file_status.READY if self._opens(header) else file_status.locked(self._path)

    def open(self, passphrase: Secret) -> None:
        """Opens the file, or begins one that is written with its first key. Raises KeyringError for
        a wrong passphrase, and what `explain` knows."""
        # By name, so that no start loads the cipher before it is needed.
        sealing = cast("_Sealing", importlib.import_module("desktop.credentials.sealing"))
        data = self._read()
        if data is None:
            self._seal = sealing.new_seal(passphrase, self._cost)
            return
        sealed = parse(data)
        seal = sealing.Seal(sealed.header, passphrase)
        try:
            seal.open(sealed)
        except sealing.WrongPassphrase:
            raise KeyringError(file_status.wrong_passphrase(self._path)) from None
        self._seal = seal

    def unlock(self) -> None:
        """Only a passphrase unlocks it; see `open`."""

    def get(self, account: str) -> str | None:
        return self._entries().get(account)

    def set(self, account: str, secret: str) -> None:
        with self._alone():
            self._write({**self._entries(), account: secret})

    def delete(self, account: str) -> bool:
        with self._alone():
            entries = self._entries()
            if entries.pop(account, None) is None:
                return False
            if entries:
                self._write(entries)
            else:  # the next start has nothing to ask a passphrase for
                self._remove()
            return True

    def erase(self) -> None:
        """Removes the file with everything in it, opened or not."""
        with self._alone():
            self._remove()

    def explain(self, error: Exception) -> Status:
        """The table of what can be wrong with the file. No text of an error is passed on that could
        hold what stands in the file."""
        path = self._path
        match error:
            case KeyringError():
                return error.status
            case Foreign():
                return file_status.foreign(path, str(error))
            case Newer():
                return file_status.newer(path, str(error))
            case Damaged():
                return file_status.damaged(path, str(error))
            case Timeout():
                return file_status.busy(path)
            case OSError(errno=errno.ENOSPC | errno.EDQUOT):
                return file_status.no_room(path)
            case OSError(errno=errno.EACCES | errno.EPERM | errno.EROFS):
                return file_status.no_access(path)
            case OSError():
                return file_status.broken(path, f"{type(error).__name__} {error.errno}")
            case _:
                return file_status.broken(path, f"{type(error).__module__}.{type(error).__name__}")

    # -- parts --------------------------------------------------------------------------------

    def _opens(self, header: Header) -> bool:
        return self._seal is not None and self._seal.header == header

    def _entries(self) -> dict[str, str]:
        """What the file holds now; raises KeyringError (locked) when it needs a passphrase, as it
        does again when another process has put a new file in its place."""
        data = self._read()
        if data is None:
            return {}
        sealed = parse(data)
        if self._seal is None or not self._opens(sealed.header):
            raise KeyringError(file_status.locked(self._path))
        return self._seal.open(sealed)

    def _read(self) -> bytes | None:
        """All of the file, None when there is none."""
        try:
            found = self._path.lstat()
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(found.st_mode):
            raise Foreign("no plain file")
        if found.st_size > FILE_LIMIT:
            raise Foreign("too large")
        try:
            return self._path.read_bytes()
        except FileNotFoundError:  # just now removed by another process
            return None

    def _write(self, entries: dict[str, str]) -> None:
        """A new file in the place of the old one; a crash leaves the one or the other, whole."""
        if self._seal is None:
            raise KeyringError(file_status.none_yet())
        data = self._seal.close(entries)
        new = self._path.with_name(self._path.name + ".new")
        new.unlink(missing_ok=True)  # of a process that was killed here
        try:
            with os.fdopen(os.open(new, _NEW, PRIVATE), "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            new.replace(self._path)
        except BaseException:
            with suppress(OSError):
                new.unlink(missing_ok=True)
            raise
        sync_folder(self._path.parent)

    def _remove(self) -> None:
        self._path.unlink(missing_ok=True)
        sync_folder(self._path.parent)
        self._seal = None

    @contextmanager
    def _alone(self) -> Generator[None]:
        """No other process writes meanwhile, nor a thread of this one that was given up."""
        lock = self._path.with_name(self._path.name + ".lock")
        with FileLock(lock, timeout=self._lock_seconds, mode=PRIVATE, thread_local=False):
            yield


_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
