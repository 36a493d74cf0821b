"""What a server writes on its standard error: the newest of it, in a file that stays small."""

import hashlib
import os
import re
from contextlib import suppress
from pathlib import Path

from desktop.tools.output import plain

MOST_BYTES = 1_000_000
_LAST_BYTES = 2_000


def file_for(logs: Path, server: str) -> Path:
    """The file of a server; another one for each name, whatever the file system takes for alike."""
    mark = hashlib.sha256(server.encode("utf-8", "replace")).hexdigest()[:8]
    return logs / f"tool-server-{re.sub(r'[^A-Za-z0-9_-]+', '_', server)[:40]}-{mark}.log"


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
