"""Waiting for a predicate while the loop runs: never a sleep of a guessed length."""

import asyncio
import time
from collections.abc import Callable

FRAME = 0.005  # seconds between two looks


async def until(predicate: Callable[[], object], timeout: float = 5.0) -> None:  # noqa: ASYNC109
    """Return as soon as the predicate holds; AssertionError when it does not within the time-out.

    An assertion that fails inside the predicate counts as not yet, and is what is raised at last.
    """
    deadline = time.monotonic() + timeout
    while True:
        reason: AssertionError | None = None
        try:
            if predicate():
                return
        except AssertionError as failed:
            reason = failed
        if time.monotonic() > deadline:
            raise AssertionError(f"did not hold within {timeout} s") from reason
        await asyncio.sleep(FRAME)
