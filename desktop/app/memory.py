"""Memory that was taken while everything was loaded and is free again goes back to the system."""

import ctypes
from contextlib import suppress


def give_back() -> None:
    """Where the system's allocator keeps such memory and can be asked for it (glibc); elsewhere it
    does nothing. Takes some milliseconds; lets other threads run."""
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
