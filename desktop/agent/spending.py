"""What a conversation has used so far: a sum over its request records.

A record keeps the usage in the provider's own words; how they read, and what they cost, is handed
in.
"""

from collections.abc import Callable, Iterable, Mapping
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


def spent(
    records: Iterable[RequestRecord], *, tariff: Tariff, window: int, following: Next
) -> Spent:
    """The sum; `context` is what the last request left in the window.

    `dollars` is None as soon as one price is unknown: half a sum would be a lie.
    """
    last: RequestRecord | None = None
    prompt = output = cache_read = context = 0
    dollars: float | None = 0.0
    for record in records:
        if record.usage is None:
            continue
        usage = tariff.usage(record.usage)
        prompt += usage.prompt
        output += usage.output
        cache_read += usage.cache_read
        note = note_of(record.cache)
        if note is None or not note.is_refresh:  # one holds the last request without its answer
            context = usage.prompt + usage.output
        last = record
        cost = tariff.dollars(record)
        dollars = None if dollars is None or cost is None else dollars + cost
    found = Spent(prompt, output, cache_read, dollars, context, window)
    return found if last is None else _with_resend(found, last, tariff, following)


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
