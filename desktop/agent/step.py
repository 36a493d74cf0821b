"""One request to the model and its answer, from the record of the request to the sealed rows."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from desktop.agent import misses
from desktop.agent.ledger import Ledger
from desktop.agent.listening import Haste, close, hasty, next_batch
from desktop.agent.surroundings import Surroundings
from desktop.core.caching import CacheNote, Diagnosis, note_to_json, upload_of, with_upload
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

NO_END = Failure(
    "truncated",
    "The answer ended in the middle.",
    way_out="Retry sends the same message again.",
)


@dataclass(frozen=True, slots=True)
class StepEnd:
    """How a response ended: by itself (`stop_reason`), with a failure, or stopped by the person.

    `rows` are what it left in the log; `details` what the provider says of a refusal.
    """

    rows: tuple[LogChunk, ...] = ()
    stop_reason: str = ""
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
    failure: Failure | None = None
    stopped: bool = False


class Step:
    """Asks once. `stop` ends it from outside; `retrying` is told while the request waits, which
    `haste` ends."""

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
        haste: Haste,
    ) -> None:
        self._ledger = ledger
        self._around = around
        self._model = model
        self._record = record
        self._options = options
        self._stop = stop
        self._retrying = retrying
        self._haste = haste
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
        self._last = self._ledger.digest.bill.last_answered
        self._sent = tuple(self._ledger.rows)
        self._remember(misses.note_before(self._sent, self._options))
        await self._ledger.start_request(self._record)
        stream = hasty(lambda: self._model.respond(self._sent, self._options), self._haste)
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
                return StepEnd(stop_reason=event.stop_reason, details=event.details)
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
        cache, upload = note_to_json(note), upload_of(self._record.cache)
        self._record = replace(self._record, cache=with_upload(cache, upload) if upload else cache)

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
            found = replace(record, message_id=event.message_id, usage=dict(event.raw_usage))
            upload = event.diagnosis.upload
            return replace(found, cache=with_upload(record.cache, upload)) if upload else found
        case ResponseFinished():
            return replace(record, stop_reason=event.stop_reason, usage=dict(event.raw_usage))
        case _:
            return record


def ended(record: RequestRecord, failure: Failure | None, now_ms: int) -> RequestRecord:
    """The record of a request that is over."""
    return replace(record, ended_at=now_ms, error=_failure_as_json(failure) if failure else None)


def retry_of(event: RetryScheduled, now_ms: int) -> Retry:
    """What the person is shown while a request waits."""
    return Retry(
        event.failure.sentence, event.attempt, now_ms + round(event.delay * 1000), event.delay
    )


def _failure_as_json(failure: Failure) -> dict[str, Any]:
    found = {
        "kind": failure.kind,
        "message": failure.sentence,
        "detail": failure.detail,
        "statusCode": failure.status_code,
        "requestId": failure.request_id,
    }
    return {key: value for key, value in found.items() if value not in (None, "")}
