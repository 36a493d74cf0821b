"""What the feed needs of a loop: to begin a coroutine, and to be called back later."""

from collections.abc import Callable, Coroutine
from typing import Any, Protocol


class Cancellable(Protocol):
    def cancel(self) -> object: ...


Start = Callable[[Coroutine[Any, Any, None], str], object]
"""Runs a coroutine on the loop and keeps it: `Tasks.start`."""

Later = Callable[[float, Callable[[], None]], Cancellable]
"""Calls back after so many seconds: the loop's `call_later`."""

Clock = Callable[[], float]
"""Seconds that only grow."""
