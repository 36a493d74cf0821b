"""Large libraries are loaded while the garbage collector rests.

What an import makes stays for good. To look through it again and again costs an eighth of a
command's start, and stops every other thread of the process meanwhile. The collector is the
process's, so what is known of its rest is too.
"""

import gc
from collections.abc import Generator
from contextlib import contextmanager

_RESTING: set[object] = set()  # what is being loaded now, on whichever thread


def is_resting() -> bool:
    """Whether something is being loaded: who collects by hand waits until it is there."""
    return bool(_RESTING)


@contextmanager
def at_rest() -> Generator[None]:
    """Imports within are never looked through by the collector, neither now nor later."""
    was_on = gc.isenabled()
    gc.disable()
    _RESTING.add(here := object())
    try:
        yield
    finally:
        gc.freeze()
        _RESTING.discard(here)
        if was_on:
            gc.enable()
