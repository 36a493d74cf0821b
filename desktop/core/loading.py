"""Large libraries are loaded while the garbage collector rests.

What an import makes stays for good. To look through it again and again costs an eighth of a
command's start, and stops every other thread of the process meanwhile.
"""

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def at_rest() -> Generator[None]:
    """Imports within are never looked through by the collector, neither now nor later."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_on:
            gc.enable()
