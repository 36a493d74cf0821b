"""Keeping a resting conversation in the provider's cache, while that is cheaper than to let it go.

The last answered request goes out once more with nothing to answer: it reads what lies there and
so starts its time anew (API C8, C17). It never becomes a row; its record says what it cost. How
often is the person's choice, and the prices' where they are known.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

from desktop.agent import misses
from desktop.agent.ledger import Ledger
from desktop.agent.spending import Tariff
from desktop.agent.step import NO_END, close, ended, noted
from desktop.agent.surroundings import Chosen, Surroundings
from desktop.core.caching import TTL_MS, CacheNote, note_of, note_to_json
from desktop.core.chunks import LogChunk
from desktop.core.errors import NacreError
from desktop.core.events import ResponseFailed, ResponseStarted, Usage
from desktop.core.model import Model, RequestOptions
from desktop.core.records import RequestRecord

# So much before its end the cache is asked to go on; a request takes its time to get there.
MARGIN_MS = 20_000

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Refresh:
    """One to come, between `at` and `until` (ms UTC), of the request that `last` was."""

    at: int
    until: int
    last: RequestRecord
    note: CacheNote


def next_refresh(ledger: Ledger, around: Surroundings, *, chosen: Chosen) -> Refresh | None:
    """When the conversation's cache wants to be asked again; None where that is no use.

    No use: nothing lies there, the next message would not begin with it, the person's number is
    reached, or the last try failed or came too late.
    """
    records = tuple(ledger.requests.values())
    last = ledger.digest.bill.last_answered
    note = note_of(last.cache) if last else None
    times = around.keep_warm()
    if last is None or note is None or not times or not _is_cached(last, around, chosen):
        return None
    if note.effort != chosen.effort or not _is_extended(ledger.rows, note.seq):
        return None
    done = _refreshes(records)
    if any(one.usage is None or _has_missed(one) for one in done):
        return None
    if len(done) >= min(times, _paying(last, note, around)):
        return None
    until = last.started_at + TTL_MS[note.ttl]
    return Refresh(until - MARGIN_MS, until, last, note)


def worth(tariff: Tariff, model: str, *, tokens: int, at: int, hour: bool) -> int | None:
    """How many refreshes, and the read of the next message, cost less than writing so many tokens
    anew; None where no price is known."""
    read = tariff.tokens(model, Usage(cache_read=tokens), at)
    written = Usage(cache_write=tokens, cache_write_1h=tokens if hour else 0)
    write = tariff.tokens(model, written, at)
    if read is None or write is None:
        return None
    return max(0, int((write - read) / read)) if read else 0


async def refreshed(
    due: Refresh, record: RequestRecord, *, ledger: Ledger, around: Surroundings, model: Model
) -> RequestRecord:
    """Asks, and gives the record of what came back. `record` is that of the request to be made."""
    rows = [row for row in ledger.rows if row.seq <= due.note.seq]
    options = RequestOptions(record.model, due.note.effort, ttl=due.note.ttl, only_keeps_cache=True)
    stream = model.respond(rows, options)
    failure = NO_END
    try:
        async for batch in stream:
            for event in batch:
                record = noted(record, event)
                if isinstance(event, ResponseStarted):
                    miss = misses.miss_of(
                        record,
                        due.last,
                        rows=rows,
                        diagnosis=event.diagnosis,
                        tariff=around.tariff,
                    )
                    note = note_to_json(replace(_note(due), miss=miss))
                    record = replace(record, cache={**(record.cache or {}), **note})
                failure = event.failure if isinstance(event, ResponseFailed) else None
    finally:
        await close(stream)
    return ended(record, failure, around.now_ms())


def new_record(
    due: Refresh, around: Surroundings, *, tab_id: str, turn_id: str, step: int
) -> RequestRecord:
    """The record of a refresh that goes out now. `step` must be one that left no answer."""
    return RequestRecord(
        id=around.new_id(),
        tab_id=tab_id,
        turn_id=turn_id,
        step=step,
        provider=due.last.provider,
        model=due.last.model,
        started_at=around.now_ms(),
        cache=note_to_json(_note(due)),
    )


class Resting(Protocol):
    """A conversation that may be kept warm."""

    @property
    def tab_id(self) -> str: ...

    def refresh_due(self) -> Refresh | None: ...

    async def keep_warm(self) -> None:
        """Raises NacreError."""
        ...


class Warming:
    """Refreshes all conversations of a program when they want it, with one timer for all.

    `changed` is to be called when one came to rest and when the person's choice changed; between
    that and the next moment nothing runs (SPEC U05). `is_shown` says whether a conversation is open
    in a window and not put away.
    """

    def __init__(
        self,
        resting: Callable[[], Iterable[Resting]],
        *,
        is_shown: Callable[[str], Awaitable[bool]],
        now_ms: Callable[[], int],
    ) -> None:
        self._resting = resting
        self._is_shown = is_shown
        self._now_ms = now_ms
        self._moved = asyncio.Event()
        self._tried: dict[str, int] = {}

    def changed(self) -> None:
        self._moved.set()

    async def keep(self) -> None:
        """Runs until it is cancelled."""
        while True:
            self._moved.clear()
            found = self._next()
            if found is None:
                await self._moved.wait()
                continue
            one, due = found
            wait = (due.at - self._now_ms()) / 1000
            if wait > 0:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._moved.wait(), wait)
                continue
            self._tried[one.tab_id] = due.at
            # After a sleep of the computer it may be too late: then it would be written anew.
            if self._now_ms() < due.until:
                await self._refresh(one)

    def _next(self) -> tuple[Resting, Refresh] | None:
        waiting = [(one, due) for one in self._resting() if (due := one.refresh_due())]
        left = [pair for pair in waiting if self._tried.get(pair[0].tab_id) != pair[1].at]
        return min(left, key=lambda pair: pair[1].at, default=None)

    async def _refresh(self, one: Resting) -> None:
        try:
            if await self._is_shown(one.tab_id):
                await one.keep_warm()
        except NacreError as error:
            _log.info("%s was not kept in the cache: %s", one.tab_id, error)


def _note(due: Refresh) -> CacheNote:
    return CacheNote(due.note.ttl, due.note.effort, due.note.seq, is_refresh=True)


def _is_cached(last: RequestRecord, around: Surroundings, chosen: Chosen) -> bool:
    """Whether something lies there that the next message could read."""
    info = around.model_info(chosen.model)
    if info is None or info.recorded or not info.caches or last.model != chosen.model:
        return False
    usage = around.tariff.usage(last.usage or {})
    return usage.cache_read + usage.cache_write > 0


def _is_extended(rows: Sequence[LogChunk], seq: int) -> bool:
    """Whether the next request begins with the one that was made of the rows up to `seq`."""
    if misses.rewriting_row(rows, seq) is not None:
        return False
    sent = next((row for row in reversed(rows) if row.seq <= seq), None)
    return sent is not None and sent.role != "assistant"  # else an answer was being continued


def _refreshes(records: Sequence[RequestRecord]) -> list[RequestRecord]:
    """Those of this pause: all at the end."""
    found: list[RequestRecord] = []
    for record in reversed(records):
        note = note_of(record.cache)
        if note is None or not note.is_refresh:
            break
        found.append(record)
    return found


def _has_missed(record: RequestRecord) -> bool:
    note = note_of(record.cache)
    return note is not None and note.miss is not None


def _paying(last: RequestRecord, note: CacheNote, around: Surroundings) -> int:
    usage = around.tariff.usage(last.usage or {})
    tokens = usage.cache_read + usage.cache_write
    found = worth(
        around.tariff, last.model, tokens=tokens, at=last.started_at, hour=note.ttl == "1h"
    )
    return around.keep_warm() if found is None else found
