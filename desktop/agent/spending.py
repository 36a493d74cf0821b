"""What a conversation has used so far: a sum over its request records.

A record keeps the usage in the provider's own words; how they read, and what they cost, is handed
in.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from desktop.core.caching import TTL_MS, CacheNote, RequestUsage, Ttl, note_of, upload_of
from desktop.core.events import Usage
from desktop.core.model import Spent
from desktop.core.records import RequestRecord


@dataclass(frozen=True, slots=True)
class Tariff:
    """How usage is read and priced: dollars are None where a price is unknown.

    `tokens` prices those of one request: model, tokens, moment (ms UTC).
    """

    usage: Callable[[Mapping[str, Any]], Usage]
    dollars: Callable[[RequestRecord], float | None]
    tokens: Callable[[str, Usage, int], float | None]


@dataclass(frozen=True, slots=True)
class Next:
    """How a message would go out at the moment `at` (ms UTC)."""

    model: str
    ttl: Ttl
    at: int


NOTHING = Usage()


class Bill:
    """The sum of a conversation's requests, each counted when it comes."""

    def __init__(self, tariff: Tariff) -> None:
        self._tariff = tariff
        self._places: dict[str, int] = {}
        self._records: dict[str, RequestRecord] = {}
        self._clear()

    def _clear(self) -> None:
        self._usage: dict[tuple[str, int], Usage] = {}
        self._prompt = self._output = self._cache_read = self._context = 0
        self._dollars: float | None = 0.0
        self._last: RequestRecord | None = None
        self._context_of: RequestRecord | None = None
        self._answered_up_to = 0

    @property
    def last_answered(self) -> RequestRecord | None:
        """The last request whose answer had begun: only such a one left something in the cache."""
        return self._last

    @property
    def answered_up_to(self) -> int:
        """The seq of the last row that went out in a request whose answer had begun."""
        return self._answered_up_to

    def usage_of(self, turn_id: str, step: int) -> Usage:
        """What the answer of a step took; nothing where that was not counted."""
        return self._usage.get((turn_id, step), NOTHING)

    def take(self, record: RequestRecord) -> Usage:
        """A new one, or another in the place of the one of its id; what it adds to the sum."""
        known = self._records.get(record.id)
        if known is record or known == record:
            return NOTHING
        self._places.setdefault(record.id, len(self._places))
        self._records[record.id] = record
        if known is not None and known.usage is not None:  # was counted: the sum is made anew
            self._clear()
            for one in self._records.values():
                self._count(one)
            return NOTHING
        return self._count(record)

    def spent(self, *, window: int, following: Next) -> Spent:
        """The sum; `context` is what the last request left in the window.

        `dollars` is None as soon as one price is unknown: half a sum would be a lie.
        """
        found = Spent(
            self._prompt, self._output, self._cache_read, self._dollars, self._context, window
        )
        if self._last is None:
            return found
        return _with_resend(found, self._last, self._tariff, following)

    def _count(self, record: RequestRecord) -> Usage:
        if record.usage is None:
            return NOTHING
        usage, note = self._tariff.usage(record.usage), note_of(record.cache)
        self._usage[record.turn_id, record.step] = usage
        # One that kept the cache holds the last request without its answer.
        if (note is None or not note.is_refresh) and self._is_latest(record, self._context_of):
            self._context_of = record
            self._context = usage.prompt + usage.output
        if self._is_latest(record, self._last):
            self._last = record
        if note is not None:
            self._answered_up_to = max(self._answered_up_to, note.seq)
        self._prompt += usage.prompt
        self._output += usage.output
        self._cache_read += usage.cache_read
        cost, dollars = self._tariff.dollars(record), self._dollars
        self._dollars = None if dollars is None or cost is None else dollars + cost
        return usage

    def _is_latest(self, record: RequestRecord, known: RequestRecord | None) -> bool:
        """Whether it was begun after the other, or is it."""
        return known is None or self._places[record.id] >= self._places[known.id]


def line_of(record: RequestRecord, *, tariff: Tariff) -> RequestUsage:
    """A request as a person reads it."""
    usage = Usage() if record.usage is None else tariff.usage(record.usage)
    note = note_of(record.cache)
    return RequestUsage(
        started_at=record.started_at,
        model=record.model,
        read=usage.cache_read,
        written=usage.cache_write,
        uncached=usage.input,
        output=usage.output,
        dollars=tariff.dollars(record),
        is_answered=record.usage is not None,
        miss=None if note is None else note.miss,
        is_refresh=note is not None and note.is_refresh,
        upload=upload_of(record.cache),
    )


def _with_resend(found: Spent, last: RequestRecord, tariff: Tariff, following: Next) -> Spent:
    """Until when the last request's tokens lie in the cache, and the price of sending them anew.

    Their life counts from the start of the request (API C8); no other model reads them (C23).
    """
    usage = tariff.usage(last.usage or {})
    if not usage.cache_read + usage.cache_write:
        return found
    note = note_of(last.cache) or CacheNote()
    is_other = last.model != following.model
    return replace(
        found,
        cached_until=last.started_at + (0 if is_other else TTL_MS[note.ttl]),
        resend_dollars=sent_anew(found.context, tariff, following),
    )


def sent_anew(tokens: int, tariff: Tariff, following: Next) -> float | None:
    """What it costs to send tokens of which nothing lies in the cache; None: unknown."""
    written = Usage(cache_write=tokens, cache_write_1h=tokens if following.ttl == "1h" else 0)
    return tariff.tokens(following.model, written, following.at)
