"""Why the cache was missed, named by the first cause that holds (SPEC C18, API §2.4)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from desktop.agent import misses
from desktop.agent.spending import Bill, Tariff
from desktop.core.caching import CacheMiss, CacheNote, Diagnosis, note_of, note_to_json
from desktop.core.chunks import LogChunk, System, Text
from desktop.core.events import ResponseFinished, ResponseStarted
from desktop.core.model import RequestOptions
from desktop.core.records import RequestRecord
from tests.fakes.models import Response, ScriptedModel, text
from tests.unit.agent.stage import Stage, dollars, played, read_usage, tokens_price

TARIFF = Tariff(usage=read_usage, dollars=dollars, tokens=tokens_price)
MINUTE = 60_000
ME = "anthropic:1"


def used(*, read: int = 0, written: int = 0, other: int = 0) -> dict[str, int]:
    return {
        "input_tokens": other,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "output_tokens": 5,
    }


def asked(at: int, usage: dict[str, int], note: CacheNote, **changed: Any) -> RequestRecord:
    record = RequestRecord(
        "q", "tab", "t", 0, ME, "model-1", at, usage=usage, cache=note_to_json(note)
    )
    return replace(record, **changed)


BEFORE = asked(0, used(read=100, written=900), CacheNote(seq=2))
COLD = used(written=1_100, other=3)


def row(seq: int, kind: str = "", tab_id: str = "tab", **fields: Any) -> LogChunk:
    data = System(kind, fields=fields) if kind else Text(f"text {seq}")
    role = "system" if kind else "assistant"
    return LogChunk(f"r{seq}", tab_id, seq, "t", 0, role, data, 0)


ROWS = [row(1), row(2), row(3)]


def miss(
    record: RequestRecord,
    last: RequestRecord | None = BEFORE,
    rows: Sequence[LogChunk] = ROWS,
    diagnosis: Diagnosis | None = None,
) -> CacheMiss | None:
    return misses.miss_of(
        record, last, rows=rows, diagnosis=diagnosis or Diagnosis(""), tariff=TARIFF
    )


def test_what_was_left_is_read_and_nothing_is_missed():
    assert miss(asked(MINUTE, used(read=1_000, written=80), CacheNote())) is None


def test_a_server_without_a_cache_misses_nothing():
    plain = asked(0, used(other=5_000), CacheNote())
    assert miss(asked(9 * MINUTE, used(other=6_000), CacheNote()), plain) is None


def test_the_tokens_written_again_cost_what_reading_them_would_not_have():
    found = miss(asked(6 * MINUTE, COLD, CacheNote()))
    assert found is not None
    assert (found.cause, found.tokens) == ("expired", 1_000)
    assert found.dollars == pytest.approx(1_000 * (12 - 1) / 100)


def test_a_part_that_was_still_read_is_not_counted():
    found = miss(asked(6 * MINUTE, used(read=400, written=700), CacheNote()))
    assert found is not None
    assert found.tokens == 600


def test_an_unknown_price_stays_unknown():
    last = replace(BEFORE, model="scripted-0")
    found = miss(asked(6 * MINUTE, COLD, CacheNote(), model="scripted-0"), last)
    assert found is not None
    assert found.dollars is None


@pytest.mark.parametrize(
    ("now", "last", "cause"),
    [
        (asked(MINUTE, COLD, CacheNote(), model="model-2"), BEFORE, "model"),
        (asked(MINUTE, COLD, CacheNote(), provider="anthropic:2"), BEFORE, "account"),
        (asked(MINUTE, COLD, CacheNote(effort="max")), BEFORE, "effort"),
        (asked(5 * MINUTE, COLD, CacheNote()), BEFORE, "expired"),
        (asked(4 * MINUTE, COLD, CacheNote()), BEFORE, "provider"),
        (
            asked(59 * MINUTE, COLD, CacheNote()),
            replace(BEFORE, cache=note_to_json(CacheNote("1h", seq=2))),
            "provider",
        ),
        (
            asked(60 * MINUTE, COLD, CacheNote()),
            replace(BEFORE, cache=note_to_json(CacheNote("1h", seq=2))),
            "expired",
        ),
    ],
)
def test_the_cause_is_named(now: RequestRecord, last: RequestRecord, cause: str):
    found = miss(now, last)
    assert found is not None
    assert found.cause == cause


@pytest.mark.parametrize(
    ("added", "cause", "row_id"),
    [
        (row(3, "retracted", chunkIds=["r2"]), "retracted", "r3"),
        (row(3, "compaction"), "compaction", "r3"),
        (row(3, "tools", tools=[]), "tools", "r3"),
        (row(3, "rewrite"), "rewrite", "r3"),
        (row(3, "notice"), "provider", ""),
    ],
)
def test_the_row_that_caused_it_is_named(added: LogChunk, cause: str, row_id: str):
    found = miss(asked(MINUTE, COLD, CacheNote()), rows=[row(1), row(2), added])
    assert found is not None
    assert (found.cause, found.row_id) == (cause, row_id)


def test_a_row_of_before_the_last_request_is_not_blamed():
    found = miss(asked(MINUTE, COLD, CacheNote()), rows=[row(1), row(2, "compaction"), row(3)])
    assert found is not None
    assert found.cause == "provider"


def test_taking_back_what_was_never_sent_is_not_blamed():
    rows = [row(1), row(2), row(3), row(4, "retracted", chunkIds=["r3"])]
    found = miss(asked(MINUTE, COLD, CacheNote()), rows=rows)
    assert found is not None
    assert found.cause == "provider"


def test_our_own_difference_and_the_providers_reason_are_kept():
    seen = Diagnosis("messages[3].content[1]", {"type": "messages_changed"})
    found = miss(asked(MINUTE, COLD, CacheNote()), diagnosis=seen)
    assert found is not None
    assert (found.cause, found.position) == ("changed", "messages[3].content[1]")
    assert found.reason == {"type": "messages_changed"}


def test_a_fork_that_finds_nothing_of_what_it_shares_says_so():
    shared = [row(1, tab_id="parent"), row(2, tab_id="parent"), row(3)]
    found = miss(asked(MINUTE, COLD, CacheNote()), None, shared)
    assert found is not None
    assert found.cause == "fork"
    assert miss(asked(MINUTE, used(read=900, written=9), CacheNote()), None, shared) is None
    assert miss(asked(MINUTE, COLD, CacheNote()), None) is None


def test_the_answer_to_compare_with_is_one_of_the_same_account():
    answered = replace(BEFORE, message_id="msg_1")
    failed = replace(BEFORE, usage=None, message_id=None)
    bill = Bill(TARIFF)
    bill.take(answered)
    bill.take(replace(failed, id="another"))
    assert bill.last_answered is answered
    assert misses.answer_to_name(answered, provider=ME) == "msg_1"
    assert misses.answer_to_name(answered, provider="anthropic:2") == ""
    assert misses.answer_to_name(None, provider=ME) == ""


def test_a_note_says_how_the_request_was_sent():
    options = RequestOptions("model-1", "high", ttl="1h")
    assert misses.note_before(ROWS, options) == CacheNote("1h", "high", 3)
    assert misses.note_before([], options) == CacheNote("1h", "high", 0)


def answer(usage: Mapping[str, Any], diagnosis: Diagnosis) -> Response:
    started = ResponseStarted("msg_9", "scripted-1", read_usage(usage), usage, diagnosis)
    ended = ResponseFinished("end_turn", read_usage(usage), usage)
    return [[started, *text(0, "Yes.")], [ended]]


@played
async def test_every_request_is_recorded_with_how_it_was_sent_and_what_it_missed(
    tmp_path: Path,
) -> None:
    reason = {"type": "messages_changed", "cache_missed_input_tokens": 900}
    model = ScriptedModel(
        [answer(BEFORE.usage or {}, Diagnosis()), answer(COLD, Diagnosis("", reason))]
    )
    stage = Stage(tmp_path, model)
    await stage.tab()
    await stage.run("One")
    await stage.run("Two")
    first, second = (note_of(record.cache) for record in stage.requests)
    assert first == CacheNote(seq=3)
    assert second is not None
    assert second.miss is not None
    assert replace(second.miss, dollars=None) == CacheMiss("provider", 1_000, reason=reason)
    assert second.miss.dollars == pytest.approx(110.0)
