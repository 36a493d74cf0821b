"""Large results and attachments: files by hash beside the database, each kept once.

A blob is written, synced and renamed before the row that names it, so that a row never points to
half a file. Blocking; for the store's own threads.
"""

import errno
import hashlib
import os
import re
import shutil
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

from desktop.paths import sync_folder

_SHA256 = re.compile("[0-9a-f]{64}")
_PIECE = 1024 * 1024


class Blobs:
    """The folder `blobs/`; a blob lies in `ab/abcd…`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, sha256: str) -> Path | None:
        """Where the blob lies; None where it does not (or the name is none)."""
        if not _SHA256.fullmatch(sha256):
            return None
        path = self._place(sha256)
        return path if path.is_file() else None

    def text(self, sha256: str) -> str | None:
        """The text that was kept; None where the blob is gone or is no text."""
        path = self.path(sha256)
        if path is None:
            return None
        try:
            return path.read_bytes().decode("utf-8", "surrogatepass")
        except (OSError, UnicodeError):
            return None

    def write(self, sha256: str, content: bytes) -> None:
        """Keeps content of this hash; nothing to do where it is kept already."""
        if not self._renew(sha256):
            with self._part(sha256) as part:
                part.write_bytes(content)
                self._settle(part, sha256)

    def take(self, file: Path) -> tuple[str, int]:
        """Takes a file over; its (sha256, size). The file is gone afterwards."""
        sha256, size = _measure(file)
        if self._renew(sha256):
            file.unlink()
            return sha256, size
        self._place(sha256).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            self._settle(file, sha256)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            with self._part(sha256) as part:
                shutil.copyfile(file, part)
                self._settle(part, sha256)
            file.unlink()
        return sha256, size

    def names(self) -> Iterator[str]:
        """Every blob whose file lies here."""
        return (file.name for file in self._files() if _SHA256.fullmatch(file.name))

    def size(self) -> int:
        """The bytes of everything in the folder."""
        return sum(file.stat().st_size for file in self._files())

    def remove(self, sha256: str, before: float) -> int | None:
        """Takes a blob away; its bytes, 0 where its file was gone already.

        None, and it stays, where it was kept again since `before`. It is moved aside before it is
        judged: who keeps the same content at this moment finds none and writes its own.
        """
        place = self._place(sha256)
        aside = place.with_name(f"{sha256}.{os.getpid()}.gone")
        try:
            place.replace(aside)
        except FileNotFoundError:
            return 0
        found = aside.stat()
        if found.st_mtime >= before:
            aside.replace(place)
            return None
        aside.unlink()
        return found.st_size

    def _files(self) -> Iterator[Path]:
        if self._folder.is_dir():
            yield from (file for file in self._folder.rglob("*") if file.is_file())

    def _renew(self, sha256: str) -> bool:
        """Whether the blob is kept already; it counts as kept now."""
        try:
            os.utime(self._place(sha256))
        except FileNotFoundError:
            return False
        return True

    def _place(self, sha256: str) -> Path:
        return self._folder / sha256[:2] / sha256

    @contextmanager
    def _part(self, sha256: str) -> Generator[Path]:
        """A file of this process's own beside the blob's place, gone on failure."""
        place = self._place(sha256)
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = place.with_name(f"{sha256}.{os.getpid()}.part")
        try:
            yield part
        finally:
            part.unlink(missing_ok=True)

    def _settle(self, file: Path, sha256: str) -> None:
        place = self._place(sha256)
        os.utime(file)
        _sync(file)
        file.replace(place)
        sync_folder(place.parent)


def _measure(file: Path) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    with file.open("rb") as content:
        while piece := content.read(_PIECE):
            digest.update(piece)
            size += len(piece)
    return digest.hexdigest(), size


def _sync(file: Path) -> None:
    handle = os.open(file, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
