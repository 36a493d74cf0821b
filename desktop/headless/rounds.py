"""A chore that is done again and again, with a pause after each time.

A chore that failed is done again all the same: who starts it is told of the failure.
"""

from collections.abc import Awaitable, Callable

from desktop.feed.timing import Start

Later = Callable[[float, Callable[[], None]], object]
"""As `feed.timing.Later`; nothing is called off here."""


def every(
    seconds: float,
    chore: Callable[[], Awaitable[object]],
    name: str,
    *,
    later: Later,
    start: Start,
    first: float = 0.0,
) -> None:
    """Does a chore `first` seconds from now (0: at once), and again `seconds` after its end."""

    async def go() -> None:
        try:
            await chore()
        finally:
            later(seconds, begin)

    def begin() -> None:
        start(go(), name)

    if first:
        later(first, begin)
    else:
        begin()
