"""Hearing a model's answer batch by batch, in a way that can be ended or hurried from outside."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from desktop.core.events import ModelEvent, RetryScheduled

CLOSE_WITHIN = 0.5  # seconds that a stopped stream has to close, before it is left alone

Batches = AsyncIterator[Sequence[ModelEvent]]


class Haste:
    """The person's word that a request which waits is to go out again at once."""

    def __init__(self) -> None:
        self._said: asyncio.Future[None] | None = None

    def hurry(self) -> None:
        """While no request waits: a no-op."""
        if self._said is not None and not self._said.done():
            self._said.set_result(None)

    def begin(self) -> "asyncio.Future[None]":
        """A request waits now; done when the person does not want to."""
        self._said = asyncio.get_running_loop().create_future()
        return self._said

    def end(self) -> None:
        """No request waits any more."""
        self._said = None


async def hasty(ask: Callable[[], Batches], haste: Haste) -> Batches:
    """What a request brings; while it waits to go out again, `haste` sends it at once.

    The model is then asked anew, which shows nothing twice: it only waits while nothing was shown.
    Its tries are counted on.
    """
    tries = 0
    while True:
        stream = ask()
        waits: RetryScheduled | None = None
        try:
            while True:
                said = haste.begin() if waits else None
                batch = await (next_batch(stream, said) if said else _next(stream))
                haste.end()
                if batch is None:
                    return
                if said is not None and said.done():
                    break
                if tries:
                    batch = [_counted(event, tries) for event in batch]
                last = batch[-1] if batch else None
                waits = last if isinstance(last, RetryScheduled) else None
                yield batch
        finally:
            haste.end()
            await close(stream)
        tries = waits.attempt if waits else tries


def _counted(event: ModelEvent, tries: int) -> ModelEvent:
    if isinstance(event, RetryScheduled):
        return replace(event, attempt=event.attempt + tries)
    return event


async def next_batch(
    stream: AsyncIterator[Sequence[ModelEvent]], stop: "asyncio.Future[None]"
) -> Sequence[ModelEvent] | None:
    """The next batch, an empty one when `stop` came first, None at the end of the stream."""
    coming = asyncio.ensure_future(_next(stream))
    try:
        await asyncio.wait({coming, stop}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        if not coming.done():
            await _abandon(coming)
    return coming.result() if coming.done() and not coming.cancelled() else ()


async def close(stream: AsyncIterator[Sequence[ModelEvent]]) -> None:
    """Ends a request that is not heard any more; one that does not end in time is left alone."""
    with suppress(TimeoutError):
        await asyncio.wait_for(_close(stream), CLOSE_WITHIN)


async def _next(stream: AsyncIterator[Sequence[ModelEvent]]) -> Sequence[ModelEvent] | None:
    """The next batch; None at the end. StopAsyncIteration can't leave a task."""
    try:
        return await anext(stream)
    except StopAsyncIteration:
        return None


async def _abandon(coming: "asyncio.Future[Any]") -> None:
    coming.cancel()
    await asyncio.wait({coming}, timeout=CLOSE_WITHIN)
    if coming.done() and not coming.cancelled():
        coming.exception()  # read: nobody waits for it any more


async def _close(stream: AsyncIterator[Sequence[ModelEvent]]) -> None:
    close = getattr(stream, "aclose", None)
    if close is not None:
        with suppress(RuntimeError):  # still running: it was left alone above
            await close()
