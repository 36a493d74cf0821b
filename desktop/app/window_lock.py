"""One window process for each data folder: a lock of the system, which frees it when the process
dies, whatever its end.

Taken before the first paint, so without the library of locks, which costs more than the lock.
"""

import contextlib
import os
import sys

from desktop.paths import DataFolder

if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

    _Taken = PermissionError
else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    _Taken = BlockingIOError

_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)


class WindowLock:
    """Not held at first. `held` stays False in a folder that can hold none (it is read-only)."""

    def __init__(self, folder: DataFolder) -> None:
        self._folder = folder
        self._handle: int | None = None

    @property
    def held(self) -> bool:
        return self._handle is not None

    def take(self) -> bool:
        """False while another process holds it. A folder without locks stands in nobody's way."""
        try:
            self._folder.make_run()
            handle = os.open(self._folder.window_lock, _FLAGS, 0o600)
        except (OSError, ValueError):
            return True
        try:
            _lock(handle)
        except _Taken:
            os.close(handle)
            return False
        except OSError:
            os.close(handle)
            return True
        self._handle = handle
        return True

    def release(self) -> None:
        """Lets it go. The file stays: were it removed, two could each lock one of that name."""
        handle, self._handle = self._handle, None
        if handle is not None:
            with contextlib.suppress(OSError):
                os.close(handle)
