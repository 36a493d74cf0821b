"""The provider over HTTP as a `Model`: asks on the transport's thread, answers on any loop.

Nothing of the SDK is loaded with this module; the transport loads it when the first request goes
out. Failures are events, never exceptions; tries are repeated only while nothing has been shown.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from desktop.core.caching import Diagnosis
from desktop.core.chunks import LogChunk, Stamp
from desktop.core.events import (
    BlockStarted,
    Failure,
    ModelEvent,
    ResponseFailed,
    ResponseFinished,
    ResponseStarted,
    RetryScheduled,
)
from desktop.core.model import ModelInfo, RequestOptions
from desktop.wire import failures, probing, retry
from desktop.wire.connections import Connections
from desktop.wire.endpoint import Endpoint
from desktop.wire.failures import RequestFailed
from desktop.wire.growing import GrowingRequest
from desktop.wire.locating import places
from desktop.wire.models import ModelTable
from desktop.wire.pictures import Pictures
from desktop.wire.refresh import events_of, refresh_of
from desktop.wire.request import build, serialise
from desktop.wire.showing import Bytes
from desktop.wire.stream import Reader
from desktop.wire.threads import MARKS, Hearing, MessageThread, Plan
from desktop.wire.transport import Pipe, Transport
from desktop.wire.uploads import Parcel, Uploads
from desktop.wire.wake import Clocks, alive, rested

NO_KEY = "none"
# Conversations whose last request is kept as bytes, to grow the next one from.
REMEMBERED = 8
REMEMBERED_BYTES = 64_000_000
DIAGNOSTICS = "diagnostics"

_CLOCKS = Clocks()

Emit = Callable[[Sequence[ModelEvent]], None]


@dataclass(eq=False, slots=True)
class _Asking:
    """One request on its way: its bytes, and how they went out last."""

    rows: tuple[LogChunk, ...]
    stamp: Stamp
    pictures: Bytes
    growing: GrowingRequest
    thread: MessageThread | None
    options: RequestOptions = RequestOptions("")
    body: bytes = b""
    position: str | None = None
    plan: Plan = Plan(b"")
    parcel: Parcel | None = None

    def build(self, options: RequestOptions) -> None:
        """Only the first building says where the request differs from the one before it."""
        is_first = not self.body
        self.options = options
        self.body = self.growing.next(self.rows, options, self.stamp, self.pictures)
        if is_first:
            self.position = self.growing.position


class AnthropicModel:
    """One server with one key. `key` reveals it at the last moment ('' for a local server).
    `pictures` has the bytes of what rows refer to.

    `jitter` gives numbers from 0 to 1, `now` seconds since the epoch; `pause` waits, and `clocks`
    tell when the machine slept; `threads` says whether conversations may be held by the server.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        endpoint: Endpoint,
        key: Callable[[], str],
        models: ModelTable,
        jitter: Callable[[], float],
        now: Callable[[], float],
        uploads: Uploads | None = None,
        threads: Callable[[], bool] = lambda: False,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clocks: Clocks = _CLOCKS,
        pictures: Pictures | None = None,
    ) -> None:
        self._transport = transport
        self._endpoint = endpoint
        self._key = key
        self._models = models
        self._jitter = jitter
        self._now = now
        self._pause = pause
        self._uploads = uploads or Uploads(compresses=endpoint.is_provider)
        self._threads = threads
        self._held: dict[str, MessageThread] = {}
        self._pictures = pictures or Pictures()
        self._account = endpoint.account(key())
        self._clocks = clocks
        self._connections = Connections(self._connect, clocks)
        self._growing: dict[str, GrowingRequest] = {}
        self._says_why = True

    def stamp(self, model: str) -> Stamp:
        return Stamp(self._account, model)

    async def respond(
        self, chunks: Sequence[LogChunk], options: RequestOptions
    ) -> AsyncIterator[Sequence[ModelEvent]]:
        """See `core.model.Model`. Closing it, or cancelling who waits, ends the request at once."""
        pipe: Pipe[ModelEvent] = Pipe()
        rows = tuple(chunks)
        pictures = await self._pictures.shown_in(rows)
        try:
            job = self._transport.run(lambda: self._answer(rows, options, pictures, pipe.put))
        except RuntimeError as error:
            yield [ResponseFailed(failures.unexpected(str(error)))]
            return
        job.add_done_callback(lambda _: pipe.end())
        last: ModelEvent | None = None
        try:
            while batch := await pipe.take():
                last = batch[-1]
                yield batch
            if not isinstance(last, ResponseFinished | ResponseFailed):
                yield [ResponseFailed(_unfinished(job))]
        finally:
            job.cancel()

    async def models(self) -> tuple[ModelInfo, ...]:
        """The server's own list where it has one, else what Nacre knows."""
        try:
            rows = await asyncio.wrap_future(
                self._transport.run(partial(probing.listed, self._connections))
            )
        except (RequestFailed, RuntimeError):
            return self._models.infos()
        table, listed = self._models.with_listed(rows)
        if not listed:
            return self._models.infos()
        self._models = table
        self._growing = {}
        return listed

    async def check(self) -> Failure | None:
        """One cheap call: None when the server speaks the Messages API and takes the key."""
        try:
            probe = partial(probing.probed, self._connections, server=self._endpoint.name)
            return await asyncio.wrap_future(self._transport.run(probe))
        except RuntimeError as error:
            return failures.unexpected(str(error))

    async def close(self) -> None:
        """Gives the connections back; the model is not used afterwards."""
        with contextlib.suppress(RuntimeError):
            closing = self._transport.run(partial(self._transport.closed_now, self))
            await asyncio.wrap_future(closing)

    async def _answer(
        self, rows: tuple[LogChunk, ...], options: RequestOptions, pictures: Bytes, emit: Emit
    ) -> None:
        """On the transport's thread: builds, sends, reads, and tries again while it may."""
        if options.only_keeps_cache:
            emit(await self._refreshed(rows, options, pictures))
            return
        asking = self._asking(rows, options, pictures)
        attempt = 0
        while True:
            failure = await self._sent(asking, emit)
            if failure is None:
                return
            if self._mended(asking, failure):
                continue
            attempt += 1
            wait = retry.delay(failure, attempt, jitter=self._jitter())
            if wait is None:
                emit([ResponseFailed(self._with_places(failure, rows, options))])
                return
            emit([RetryScheduled(failure, attempt, wait)])
            await rested(wait, clocks=self._clocks, now=self._now, pause=self._begin_pause)

    def _asking(
        self, rows: tuple[LogChunk, ...], options: RequestOptions, pictures: Bytes
    ) -> _Asking:
        options = replace(options, asks_why=self._says_why)
        thread = self._thread_for(rows, options.model)
        if thread is not None and not thread.is_off:
            options = replace(options, marks=MARKS)
        growing = self._growing_for(rows)
        asking = _Asking(rows, self.stamp(options.model), pictures, growing, thread)
        asking.build(options)
        return asking

    async def _sent(self, asking: _Asking, emit: Emit) -> Failure | None:
        """Sends it once, in a thread of the provider's where one goes on."""
        growing, thread, began = asking.growing, asking.thread, self._now()
        plan, heard = Plan(asking.body), Hearing()
        if thread is not None:
            plan = thread.plan(asking.body, growing, resumed=asking.options.resumed, now=began)
        size = len(asking.body)
        parcel = await self._uploads.packed(plan.body, size=size, headers=plan.headers)
        telling = partial(_with, Diagnosis(asking.position, upload=parcel.upload), heard, emit)
        asking.plan, asking.parcel = plan, parcel
        failure = await self._tried(parcel, Reader(growing.call_ids), telling, least=plan.least)
        if failure is None:
            self._uploads.took(parcel)
            if plan.is_threaded and thread is not None:
                thread.answered(growing, heard, now=began)
        return failure

    def _mended(self, asking: _Asking, failure: Failure) -> bool:
        """Whether the same goes out at once without what was refused: a compressed body, a thread,
        the question why the cache was missed."""
        options, thread = asking.options, asking.thread
        if asking.parcel is not None and self._uploads.refused(asking.parcel, failure):
            return True
        if thread is not None and thread.refused(asking.plan, failure):
            asking.build(replace(options, marks=RequestOptions(options.model).marks))
            return True
        if options.asks_why and _refuses_diagnostics(failure):
            self._says_why = False
            asking.build(replace(options, asks_why=False))
            return True
        return False

    def _with_places(
        self, failure: Failure, rows: Sequence[LogChunk], options: RequestOptions
    ) -> Failure:
        """The failure with the pictures that it is about, where it names them."""
        if failure.kind != "media":
            return failure
        stamp = self.stamp(options.model)
        found = places(failure.detail, rows, options, models=self._models, stamp=stamp)
        return replace(failure, places=found)

    async def _refreshed(
        self, rows: tuple[LogChunk, ...], options: RequestOptions, pictures: Bytes
    ) -> Sequence[ModelEvent]:
        """Once only: who keeps the cache warm can do without."""
        stamp = self.stamp(options.model)
        whole = build(rows, options, models=self._models, stamp=stamp, pictures=pictures)
        body = serialise(refresh_of(whole))
        thread = self._thread_for(rows, options.model)
        headers = thread.headers if thread is not None else {}
        while True:
            parcel = await self._uploads.packed(body, headers=headers)
            try:
                async with self._connections.client() as client:
                    answer = await client.post("/v1/messages", parcel.data, parcel.headers)
            except RequestFailed as error:
                if self._uploads.refused(parcel, error.failure):
                    continue
                return [ResponseFailed(error.failure)]
            self._uploads.took(parcel)
            return events_of(probing.as_object(answer), Diagnosis(upload=parcel.upload))

    async def _tried(
        self, parcel: Parcel, reader: Reader, emit: Emit, *, least: int = 0
    ) -> Failure | None:
        """One request. A failure before the first block is returned, later ones are events.

        A prompt of fewer than the `least` tokens is one: the server did not read all of it.
        """
        shown = False
        try:
            async with (
                self._connections.client() as client,
                alive(self._clocks) as came,
                contextlib.aclosing(client.stream(parcel.data, parcel.headers)) as pieces,
            ):
                async for piece in pieces:
                    came()
                    events = reader.feed(piece)
                    failure = None if shown else _early_failure(events, least)
                    if failure is not None:
                        return failure
                    shown = shown or any(isinstance(event, BlockStarted) for event in events)
                    if events:
                        emit(events)
                    if reader.over:
                        return None
            ending = reader.end()
        except RequestFailed as error:
            ending = reader.end(error.failure)
        failure = None if shown else _early_failure(ending)
        if failure is None:
            emit(ending)
        return failure

    def _growing_for(self, rows: Sequence[LogChunk]) -> GrowingRequest:
        """The conversation's request so far; of those that were not asked of late, none is kept."""
        tab_id = rows[0].tab_id if rows else ""
        found = self._growing.pop(tab_id, None) or GrowingRequest(self._models)
        self._growing[tab_id] = found
        while len(self._growing) > 1 and (
            len(self._growing) > REMEMBERED
            or sum(one.size for one in self._growing.values()) > REMEMBERED_BYTES
        ):
            self._growing.pop(next(iter(self._growing)))
        return found

    def _connect(self) -> Any:
        """The SDK's client. Raises RequestFailed."""
        sdk = self._transport.sdk()
        client = sdk.Client(
            self._endpoint, self._key() or NO_KEY, now=self._now, hears=self._uploads.heard
        )
        self._transport.at_close(self, self._connections.close)
        return client

    def _begin_pause(self, seconds: float) -> "asyncio.Future[None]":
        return asyncio.ensure_future(self._pause(seconds))

    def _thread_for(self, rows: Sequence[LogChunk], model: str) -> MessageThread | None:
        """The conversation's thread; None where the person or the model wants none."""
        known = self._models.find(model)
        if not rows or known is None or not known.caches or not self._threads():
            return None
        return self._held.setdefault(rows[0].tab_id, MessageThread())


def _with(seen: Diagnosis, heard: Hearing, emit: Emit, events: Sequence[ModelEvent]) -> None:
    """Tells the events on, the first of an answer with what we know of its request."""
    heard.take(events)
    emit(
        [
            replace(event, diagnosis=replace(seen, reason=event.diagnosis.reason))
            if isinstance(event, ResponseStarted)
            else event
            for event in events
        ]
    )


def _refuses_diagnostics(failure: Failure) -> bool:
    """A server that speaks the API but knows nothing of this field (API V2, C30)."""
    return failure.kind == "bad_request" and DIAGNOSTICS in failure.detail


def _early_failure(events: Sequence[ModelEvent], least: int = 0) -> Failure | None:
    """The failure of a response that ended before it showed anything, or that answers less than
    was asked."""
    for event in events:
        if isinstance(event, ResponseStarted) and event.usage.prompt < least:
            return failures.half_read(f"{event.usage.prompt} of {least} tokens")
    last = events[-1] if events else None
    if isinstance(last, ResponseFailed) and not any(isinstance(e, BlockStarted) for e in events):
        return last.failure
    return None


def _unfinished(job: Future[None]) -> Failure:
    """Why a request's work ended without an ending of its own."""
    if job.cancelled():
        return failures.truncated("the transport was closed")
    error = job.exception() if job.done() else None
    return failures.unexpected(f"{type(error).__name__}: {error}" if error else "no ending")
