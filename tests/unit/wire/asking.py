"""A model on a real transport against a real server, and what a request brought."""

import asyncio
import importlib
from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from desktop.core.chunks import LogChunk
from desktop.core.events import (
    Failure,
    ModelEvent,
    ResponseFailed,
    ResponseFinished,
    RetryScheduled,
)
from desktop.core.model import RequestOptions
from desktop.wire.client import AnthropicModel
from desktop.wire.endpoint import Endpoint
from desktop.wire.pictures import Pictures
from desktop.wire.transport import Transport
from desktop.wire.uploads import Uploads
from desktop.wire.wake import Clocks
from tests.unit.wire.rows_of import MODELS, OPUS, Kept

KEY = "sk-ant-test-0123456789"


def load_sdk() -> ModuleType:
    return importlib.import_module("desktop.wire.sdk")


@dataclass
class Asking:
    """`waits` are the pauses that the model asked for; none of them is really made."""

    transport: Transport
    model: AnthropicModel
    waits: list[float] = field(default_factory=list[float])

    def ask(self, rows: Sequence[LogChunk], **options: Any) -> list[ModelEvent]:
        return asyncio.run(self.collected(rows, **options))

    async def collected(self, rows: Sequence[LogChunk], **more: Any) -> list[ModelEvent]:
        options = RequestOptions(OPUS, **more)
        return [event async for batch in self.model.respond(rows, options) for event in batch]


@contextmanager
def asking(
    address: str,
    *,
    key: str = KEY,
    read_seconds: float = 5.0,
    pause: Callable[[float], Awaitable[None]] | None = None,
    uploads: Uploads | None = None,
    threads: bool = False,
    now: Callable[[], float] = lambda: 1_800_000_000.0,
    clocks: Clocks | None = None,
    kept: Iterable[Kept] = (),
) -> Generator[Asking]:
    """A model for a server; its transport is closed afterwards. Without a pause none is made."""
    shelf = {one.sha256: one.content for one in kept}

    async def read(sha256: str) -> bytes | None:
        return shelf.get(sha256)

    transport = Transport(load_sdk)
    waits: list[float] = []

    async def noted(seconds: float) -> None:
        waits.append(seconds)

    model = AnthropicModel(
        transport,
        endpoint=Endpoint.at(address, read_seconds=read_seconds),
        key=lambda: key,
        models=MODELS,
        jitter=lambda: 0.0,
        now=now,
        uploads=uploads,
        threads=lambda: threads,
        pause=pause or noted,
        clocks=clocks or Clocks(),
        pictures=Pictures(read),
    )
    try:
        yield Asking(transport, model, waits)
    finally:
        asyncio.run(transport.close(seconds=5))


def failure_of(events: Sequence[ModelEvent]) -> Failure:
    last = events[-1]
    assert isinstance(last, ResponseFailed), last
    return last.failure


def finished(events: Sequence[ModelEvent]) -> ResponseFinished:
    last = events[-1]
    assert isinstance(last, ResponseFinished), last
    return last


def retries(events: Sequence[ModelEvent]) -> list[RetryScheduled]:
    return [event for event in events if isinstance(event, RetryScheduled)]
