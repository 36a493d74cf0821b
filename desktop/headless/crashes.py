"""What a process leaves of its death: where each thread was, never with which values.

A file of the log folder is open while the window lives. It is empty and goes at a good end; what
the next start finds in it is told once, and kept until the next crash.
"""

import faulthandler
import logging
import os
import sys
import time
from contextlib import suppress
from pathlib import Path

from desktop.core.logged import trace_of

_LOG = logging.getLogger(__name__)
NAME, LAST = "crash.log", "last-crash.log"
MOST = 200_000  # characters that are read of a trace


class CrashFile:
    """For the one window process of a data folder; others would take its file for a dead one's."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._handle: int | None = None
        self._was_enabled = False

    def begin(self) -> bool:
        """Whether the last process left a trace; from now on this one would. Blocks."""
        try:
            self._logs.mkdir(mode=0o700, exist_ok=True)
            crashed = self._put_aside()
            self._handle = os.open(self._logs / NAME, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError as error:
            _LOG.info("a crash would leave no trace: %s", error)
            return False
        self._was_enabled = faulthandler.is_enabled()
        faulthandler.enable(self._handle)
        return crashed

    def write(self, error: BaseException) -> None:
        """An error that ends the program, as it would be told of a crash."""
        if self._handle is not None:
            with suppress(OSError):
                os.write(self._handle, ("\n".join(trace_of(error)) + "\n").encode())

    def end(self) -> None:
        """A good end, as far as nothing was written."""
        handle, self._handle = self._handle, None
        if handle is None:
            return
        faulthandler.disable()
        if self._was_enabled and sys.__stderr__ is not None:
            faulthandler.enable(sys.__stderr__)
        with suppress(OSError):
            is_empty = os.fstat(handle).st_size == 0
            os.close(handle)
            if is_empty:
                (self._logs / NAME).unlink(missing_ok=True)

    def _put_aside(self) -> bool:
        path = self._logs / NAME
        if not path.exists() or not path.stat().st_size:
            return False
        path.replace(self._logs / LAST)
        return True


def crash_left(logs: Path) -> tuple[str, str]:
    """When the last crash was, and its trace; both '' without one. Blocks."""
    try:
        with (logs / LAST).open(encoding="utf-8", errors="replace") as file:
            when = time.gmtime(os.fstat(file.fileno()).st_mtime)
            return time.strftime("%Y-%m-%dT%H:%M:%SZ", when), file.read(MOST).strip()
    except OSError:
        return "", ""
