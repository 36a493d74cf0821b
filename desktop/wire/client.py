"""The provider over HTTP as a `Model`: asks on the transport's thread, answers on any loop.

Nothing of the SDK is loaded with this module; the transport loads it when the first request goes
out. Failures are events, never exceptions; tries are repeated only while nothing has been shown.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Any, cast

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
from desktop.wire import failures, retry
from desktop.wire.endpoint import Endpoint
from desktop.wire.failures import RequestFailed
from desktop.wire.growing import GrowingRequest
from desktop.wire.locating import places
from desktop.wire.models import ModelTable
from desktop.wire.pictures import Pictures
from desktop.wire.showing import Bytes
from desktop.wire.stream import Reader
from desktop.wire.transport import Pipe, Transport

NO_KEY = "none"
MODELS_PAGE = 1000
PAGES = 10
PROBE_MODEL = "claude-haiku-5-5"
# Conversations whose last request is kept as bytes, to grow the next one from.
REMEMBERED = 8
REMEMBERED_BYTES = 64_000_000
EXPECTED = frozenset({"data", "input_tokens", "content"})
DIAGNOSTICS = "diagnostics"
INCONCLUSIVE = frozenset({"not_found", "not_a_server", "bad_request"})

Emit = Callable[[Sequence[ModelEvent]], None]


class AnthropicModel:
    """One server with one key. `key` reveals it at the last moment ('' for a local server).
    `pictures` has the bytes of what rows refer to.

    `jitter` gives numbers from 0 to 1, `now` seconds since the epoch; `pause` waits.
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
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        pictures: Pictures | None = None,
    ) -> None:
        self._transport = transport
        self._endpoint = endpoint
        self._key = key
        self._models = models
        self._jitter = jitter
        self._now = now
        self._pause = pause
        self._pictures = pictures or Pictures()
        self._account = endpoint.account(key())
        self._client: Any = None
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
            rows = await asyncio.wrap_future(self._transport.run(self._listed))
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
            return await asyncio.wrap_future(self._transport.run(self._probed))
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
        growing = self._growing_for(rows)
        stamp = self.stamp(options.model)
        options = replace(options, asks_why=self._says_why)
        body = growing.next(rows, options, stamp, pictures)
        taken = growing.call_ids
        telling = partial(_with_position, emit, growing.position)
        attempt = 0
        while True:
            attempt += 1
            failure = await self._tried(body, Reader(taken), telling)
            if failure is None:
                return
            if options.asks_why and _refuses_diagnostics(failure):
                self._says_why = False
                options = replace(options, asks_why=False)
                body = growing.next(rows, options, stamp, pictures)
                attempt -= 1
                continue
            wait = retry.delay(failure, attempt, jitter=self._jitter())
            if wait is None:
                emit([ResponseFailed(self._with_places(failure, rows, options))])
                return
            emit([RetryScheduled(failure, attempt, wait)])
            await self._pause(wait)

    def _with_places(
        self, failure: Failure, rows: Sequence[LogChunk], options: RequestOptions
    ) -> Failure:
        """The failure with the pictures that it is about, where it names them."""
        if failure.kind != "media":
            return failure
        stamp = self.stamp(options.model)
        found = places(failure.detail, rows, options, models=self._models, stamp=stamp)
        return replace(failure, places=found)

    async def _tried(self, body: bytes, reader: Reader, emit: Emit) -> Failure | None:
        """One request. A failure before the first block is returned, later ones are events."""
        shown = False
        try:
            pieces = self._connected().stream(body)
            async with contextlib.aclosing(pieces):
                async for piece in pieces:
                    events = reader.feed(piece)
                    failure = None if shown else _early_failure(events)
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

    def _connected(self) -> Any:
        """The SDK's client, made when it is first needed. Raises RequestFailed."""
        if self._client is None:
            sdk = self._transport.sdk()
            self._client = sdk.Client(self._endpoint, self._key() or NO_KEY, now=self._now)
            self._transport.at_close(self, self._client.close)
        return self._client

    async def _listed(self) -> list[Any]:
        client = self._connected()
        rows: list[Any] = []
        parameters: dict[str, object] = {"limit": MODELS_PAGE}
        for _ in range(PAGES):
            page = _object(await client.get("/v1/models", parameters))
            data = page.get("data")
            rows.extend(cast("list[Any]", data) if isinstance(data, list) else [])
            if not page.get("has_more") or not page.get("last_id"):
                break
            parameters = {"limit": MODELS_PAGE, "after_id": page["last_id"]}
        return rows

    async def _probed(self) -> Failure | None:
        """Models, else counting, else one token: the first that the server understands decides.

        A list in the shape of another API proves nothing, but names a model to ask for.
        """
        model = PROBE_MODEL
        failure: Failure | None = None
        for path in ("/v1/models", "/v1/messages/count_tokens", "/v1/messages"):
            try:
                answer = await self._asked(path, model)
            except RequestFailed as error:
                failure = error.failure
                if failure.kind not in INCONCLUSIVE:
                    return failure
                if path != "/v1/models" and _knows_no_such_model(failure):
                    return None
                continue
            if answer.get("object") != "list" and answer.keys() & EXPECTED:
                return None
            model = _first_id(answer) or model
            failure = failures.not_a_server("the JSON is not the API's", server=self._endpoint.name)
        return failure

    async def _asked(self, path: str, model: str) -> Mapping[str, Any]:
        """The JSON object that a probe brings."""
        client = self._connected()
        if path == "/v1/models":
            return _object(await client.get(path, {"limit": 1}))
        body: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": "Hi"}]}
        if path == "/v1/messages":
            body["max_tokens"] = 1
        return _object(await client.post(path, json.dumps(body).encode()))


def _with_position(emit: Emit, position: str | None, events: Sequence[ModelEvent]) -> None:
    """Tells the events on, the first of an answer with what we know of the request's cache."""
    emit(
        [
            replace(event, diagnosis=replace(event.diagnosis, position=position))
            if isinstance(event, ResponseStarted)
            else event
            for event in events
        ]
    )


def _refuses_diagnostics(failure: Failure) -> bool:
    """A server that speaks the API but knows nothing of this field (API V2, C30)."""
    return failure.kind == "bad_request" and DIAGNOSTICS in failure.detail


def _early_failure(events: Sequence[ModelEvent]) -> Failure | None:
    """The failure of a response that ended before it showed anything."""
    last = events[-1] if events else None
    if isinstance(last, ResponseFailed) and not any(isinstance(e, BlockStarted) for e in events):
        return last.failure
    return None


def _knows_no_such_model(failure: Failure) -> bool:
    """A 404 of the API itself about the model: the server and the key are fine."""
    return failure.kind == "not_found" and "model" in failure.detail


def _first_id(answer: Mapping[str, Any]) -> str:
    data = answer.get("data")
    first = _object(cast("list[object]", data)[0]) if isinstance(data, list) and data else {}
    return str(first.get("id") or "")


def _unfinished(job: Future[None]) -> Failure:
    """Why a request's work ended without an ending of its own."""
    if job.cancelled():
        return failures.truncated("the transport was closed")
    error = job.exception() if job.done() else None
    return failures.unexpected(f"{type(error).__name__}: {error}" if error else "no ending")


def _object(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
