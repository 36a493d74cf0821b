"""What the allocator of the system is asked for (glibc only), so that Nacre holds less."""

import ctypes
from contextlib import suppress

_ARENA_MAX = -8  # in malloc.h
ARENAS = 2


def keep_few_arenas() -> None:
    """Before the first thread: each would get a heap of its own, though threads take turns here."""
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).mallopt(_ARENA_MAX, ARENAS)


def give_back() -> None:
    """What was taken while everything was loaded and is free again goes back to the system. Takes
    some milliseconds; lets other threads run."""
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
