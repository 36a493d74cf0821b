"""Why a request read less from the prompt cache than the one before it had left there.

Pure: from the records of the two requests, the rows between them, and what the wire saw. The first
cause that holds is named; what a person or the program did on purpose comes before what passed by
itself, and the provider's own whim last.
"""

from collections.abc import Sequence
from dataclasses import replace

from desktop.agent.spending import Tariff
from desktop.core.caching import TTL_MS, CacheMiss, CacheNote, Cause, Diagnosis, note_of
from desktop.core.chunks import LogChunk, System
from desktop.core.conversation import is_answer, retracted_ids
from desktop.core.events import Usage
from desktop.core.model import RequestOptions
from desktop.core.records import RequestRecord

# Kinds of rows that begin the prompt anew or change it before its end, the strongest first.
_REWRITING: tuple[Cause, ...] = ("compaction", "tools", "rewrite")


def answer_to_name(last: RequestRecord | None, *, provider: str) -> str:
    """The message id that the provider is to compare with; '' where there is none of its own."""
    if last is None or last.provider != provider:
        return ""
    return last.message_id or ""


def note_before(rows: Sequence[LogChunk], options: RequestOptions) -> CacheNote:
    """What is known of a request before it goes out."""
    return CacheNote(options.ttl, options.effort, rows[-1].seq if rows else 0)


def miss_of(
    record: RequestRecord,
    last: RequestRecord | None,
    *,
    rows: Sequence[LogChunk],
    diagnosis: Diagnosis,
    tariff: Tariff,
) -> CacheMiss | None:
    """The miss of an answered request; None where everything that lay there was read.

    `last` is the request that was answered before it, `rows` are those that this one was made of.
    """
    if record.usage is None:
        return None
    usage = tariff.usage(record.usage)
    if last is None or last.usage is None:
        tokens = usage.prompt if _is_cold_fork(record, rows, usage) else 0
        cause, row_id = "fork", ""
    else:
        left = tariff.usage(last.usage)
        lost = left.cache_read + left.cache_write - usage.cache_read
        tokens = min(lost, usage.cache_write + usage.input)
        cause, row_id = _cause(record, last, rows, diagnosis)
    if tokens <= 0:
        return None
    return CacheMiss(
        cause=cause,
        tokens=tokens,
        dollars=_extra(record, usage, tokens, tariff),
        row_id=row_id,
        position=diagnosis.position or "",
        reason=diagnosis.reason,
    )


def _cause(
    record: RequestRecord, last: RequestRecord, rows: Sequence[LogChunk], diagnosis: Diagnosis
) -> tuple[Cause, str]:
    """The cause, and the row behind it where it was one."""
    if record.model != last.model:
        return "model", ""
    if record.provider != last.provider:
        return "account", ""
    note, known = note_of(record.cache) or CacheNote(), note_of(last.cache)
    before = known or CacheNote()
    row = rewriting_row(rows, before.seq) if known else None
    if row is not None:
        return row
    if note.effort != before.effort:
        return "effort", ""
    if record.started_at - last.started_at >= TTL_MS[before.ttl]:
        return "expired", ""
    return ("changed" if diagnosis.position else "provider"), ""


def rewriting_row(rows: Sequence[LogChunk], seq: int) -> tuple[Cause, str] | None:
    """The row after `seq` that changed what a request up to `seq` had said."""
    new = _after(rows, seq)
    kinds = {row.data.kind: row.id for row in new if isinstance(row.data, System)}
    for cause in _REWRITING:
        if cause in kinds:
            return cause, kinds[cause]
    gone = retracted_ids(new) - {row.id for row in new}
    return ("retracted", kinds["retracted"]) if gone else None


def _after(rows: Sequence[LogChunk], seq: int) -> list[LogChunk]:
    at = len(rows)
    while at and rows[at - 1].seq > seq:
        at -= 1
    return list(rows[at:])


def _is_cold_fork(record: RequestRecord, rows: Sequence[LogChunk], usage: Usage) -> bool:
    """The first request of a fork, whose shared answers nothing of was found in the cache."""
    if usage.cache_read or not usage.cache_write:
        return False
    return any(row.tab_id != record.tab_id and is_answer(row, ()) for row in rows)


def _extra(record: RequestRecord, usage: Usage, tokens: int, tariff: Tariff) -> float | None:
    """What these tokens cost more than if they had been read; None where no price is known."""
    written = min(tokens, usage.cache_write)
    long = min(written, usage.cache_write_1h)
    hit = replace(
        usage,
        cache_read=usage.cache_read + tokens,
        cache_write=usage.cache_write - written,
        cache_write_1h=usage.cache_write_1h - long,
        input=usage.input - (tokens - written),
    )
    paid = tariff.tokens(record.model, usage, record.started_at)
    least = tariff.tokens(record.model, hit, record.started_at)
    return None if paid is None or least is None else paid - least
