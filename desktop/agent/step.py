"""One request to the model and its answer, from the record of the request to the sealed rows."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from desktop.agent import misses
from desktop.agent.ledger import Ledger
from desktop.agent.surroundings import Surroundings
from desktop.core.caching import CacheNote, Diagnosis, note_to_json
from desktop.core.chunks import LogChunk, NewChunk
from desktop.core.errors import StoreError
from desktop.core.events import (
    Failure,
    ModelEvent,
    ResponseFailed,
    ResponseFinished,
    ResponseStarted,
    RetryScheduled,
)
from desktop.core.model import Model, RequestOptions, Retry
from desktop.core.records import RequestRecord
from desktop.core.reducer import BlockOp, Reducer, Sealed

CLOSE_WITHIN = 0.5  # seconds that a stopped stream has to close, before it is left alone

NO_END = Failure(
    "truncated",
    "The answer ended in the middle.",
    way_out="Retry sends the same message again.",
)


@dataclass(frozen=True, slots=True)
class StepEnd:
    """How a response ended: by itself (`stop_reason`), with a failure, or stopped by the person.

    `rows` are what it left in the log.
    """

    rows: tuple[LogChunk, ...] = ()
    stop_reason: str = ""
    failure: Failure | None = None
    stopped: bool = False


class Step:
    """Asks once. `stop` ends it from outside; `retrying` is told while the request waits."""

    def __init__(
        self,
        *,
        ledger: Ledger,
        around: Surroundings,
        model: Model,
        record: RequestRecord,
        options: RequestOptions,
        stop: "asyncio.Future[None]",
        retrying: Callable[[Retry | None], None],
    ) -> None:
        self._ledger = ledger
        self._around = around
        self._model = model
        self._record = record
        self._options = options
        self._stop = stop
        self._retrying = retrying
        self._rows: list[LogChunk] = []
        self._sent: tuple[LogChunk, ...] = ()
        self._last: RequestRecord | None = None
        self._reducer = Reducer(
            turn_id=record.turn_id,
            step=record.step,
            stamp=model.stamp(options.model),
            new_id=around.new_id,
        )

    async def ask(self) -> StepEnd:
        """Raises StoreError when the log can't be written: before the request, then nothing goes
        out; in its midst, then what was shown waits in the ledger (SPEC A08)."""
        self._last = misses.last_answered(self._ledger.requests.values())
        self._sent = tuple(self._ledger.rows)
        self._remember(misses.note_before(self._sent, self._options))
        await self._ledger.start_request(self._record)
        stream = self._model.respond(self._sent, self._options)
        end = StepEnd()
        try:
            end = await self._listen(stream)
        finally:
            self._retrying(None)
            await close(stream)
            await self._finish(end.failure)
            await self._cut()
        return replace(end, rows=tuple(self._rows))

    async def _listen(self, stream: AsyncIterator[Sequence[ModelEvent]]) -> StepEnd:
        while not self._stop.done():
            batch = await next_batch(stream, self._stop)
            if batch is None:
                return StepEnd(failure=NO_END)
            end = await self._take(batch)
            if end is not None:
                return end
        return StepEnd(stopped=True)

    async def _take(self, batch: Sequence[ModelEvent]) -> StepEnd | None:
        """One batch of events; the end of the response if it is in it."""
        sealed: list[NewChunk] = []
        end: StepEnd | None = None
        for event in batch:
            end = self._note(event) or end
            sealed.extend(self._show(self._reducer.apply(event)))
            if end is not None:
                break
        await self._seal(sealed)
        return end

    def _note(self, event: ModelEvent) -> StepEnd | None:
        self._record = noted(self._record, event)
        match event:
            case ResponseStarted():
                self._retrying(None)
                self._around.kin.answering(self._record.tab_id)
                self._note_cache(event.diagnosis)
            case ResponseFinished():
                return StepEnd(stop_reason=event.stop_reason)
            case ResponseFailed():
                return StepEnd(failure=event.failure)
            case RetryScheduled():
                self._retrying(retry_of(event, self._around.now_ms()))
            case _:
                pass
        return None

    def _note_cache(self, diagnosis: Diagnosis) -> None:
        """Whether the cache was missed, and why; the answer's beginning tells all there is."""
        note = misses.note_before(self._sent, self._options)
        miss = misses.miss_of(
            self._record,
            self._last,
            rows=self._sent,
            diagnosis=diagnosis,
            tariff=self._around.tariff,
        )
        self._remember(replace(note, miss=miss))

    def _remember(self, note: CacheNote) -> None:
        self._record = replace(self._record, cache=note_to_json(note))

    def _show(self, ops: Sequence[BlockOp]) -> list[NewChunk]:
        """Publishes what is live, and gives back what is to become rows."""
        sealed: list[NewChunk] = []
        for op in ops:
            if isinstance(op, Sealed):
                sealed.append(op.chunk)
            else:
                self._around.publisher.live(self._record.tab_id, op)
        return sealed

    async def _seal(self, chunks: Sequence[NewChunk]) -> None:
        self._rows.extend(await self._ledger.append(chunks, keep=True))

    async def _cut(self) -> None:
        """Whatever still streams ends where it stands. Harmless after a whole response."""
        left = self._show(self._reducer.cut())
        if self._ledger.unsaved:
            self._ledger.keep(left)  # the log has just refused; these follow in order
        else:
            await self._seal(left)

    async def _finish(self, failure: Failure | None) -> None:
        record = ended(self._record, failure, self._around.now_ms())
        with suppress(StoreError):  # the record waits in the ledger and goes out with the rows
            await self._ledger.finish_request(record)


def noted(record: RequestRecord, event: ModelEvent) -> RequestRecord:
    """The record of a request with what an event of its answer tells."""
    match event:
        case ResponseStarted():
            return replace(record, message_id=event.message_id, usage=dict(event.raw_usage))
        case ResponseFinished():
            return replace(record, stop_reason=event.stop_reason, usage=dict(event.raw_usage))
        case _:
            return record


def ended(record: RequestRecord, failure: Failure | None, now_ms: int) -> RequestRecord:
    """The record of a request that is over."""
    return replace(record, ended_at=now_ms, error=_failure_as_json(failure) if failure else None)


def retry_of(event: RetryScheduled, now_ms: int) -> Retry:
    """What the person is shown while a request waits."""
    return Retry(event.failure.sentence, event.attempt, now_ms + round(event.delay * 1000))


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


def _failure_as_json(failure: Failure) -> dict[str, Any]:
    found = {
        "kind": failure.kind,
        "message": failure.sentence,
        "detail": failure.detail,
        "statusCode": failure.status_code,
        "requestId": failure.request_id,
    }
    return {key: value for key, value in found.items() if value not in (None, "")}
