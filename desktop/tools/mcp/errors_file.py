"""What a server writes on its standard error: the newest of it, in a file that stays small."""

import hashlib
import os
import re
from contextlib import suppress
from pathlib import Path

from desktop.tools.output import plain

MOST_BYTES = 1_000_000
_LAST_BYTES = 2_000
_LAST_LINES = 5
_LONGEST_LINE = 300


def file_for(logs: Path, server: str) -> Path:
    """The file of a server; another one for each name, whatever the file system takes for alike."""
    mark = hashlib.sha256(server.encode("utf-8", "replace")).hexdigest()[:8]
    return logs / f"tool-server-{re.sub(r'[^A-Za-z0-9_-]+', '_', server)[:40]}-{mark}.log"


def size_of(path: Path) -> int:
    """Where the next words will stand."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def newest(path: Path, most: int, *, since: int = 0) -> str:
    """The newest `most` bytes, none from before `since` unless the file was begun anew."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - most, since if since <= size else 0))
            return plain(file.read(most))
    except OSError:
        return ""


def last_lines(path: Path, *, since: int = 0) -> tuple[str, ...]:
    """The last things that were said, for a person."""
    lines = [line.strip() for line in newest(path, _LAST_BYTES, since=since).splitlines()]
    return tuple(line[:_LONGEST_LINE] for line in lines if line)[-_LAST_LINES:]


class ErrorsFile:
    """Takes bytes and never fails. Beyond its size it begins anew; the piece before is kept."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = -1
        self._size = 0
        self._last = bytearray()

    def feed(self, data: bytes) -> None:
        self._last += data[-_LAST_BYTES:]
        del self._last[:-_LAST_BYTES]
        with suppress(OSError):
            for start in range(0, len(data), MOST_BYTES):
                self._write(data[start : start + MOST_BYTES])

    @property
    def last_line(self) -> str:
        """The last thing that was said, for a sentence."""
        lines = [line.strip() for line in plain(bytes(self._last)).splitlines()]
        return next((line[:300] for line in reversed(lines) if line), "")

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _write(self, data: bytes) -> None:
        if self._descriptor < 0:
            self._open()
        if self._size + len(data) > MOST_BYTES:
            self.close()
            self._path.replace(self._path.with_suffix(".old.log"))
            self._open()
        self._size += os.write(self._descriptor, data)

    def _open(self) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        self._descriptor = os.open(self._path, flags, 0o600)
        self._size = os.fstat(self._descriptor).st_size
