"""What a conversation has cost, and what its next message will (SPEC C18)."""

from dataclasses import replace
from typing import Any

import pytest

from desktop.agent.spending import Bill, Next, line_of
from desktop.core.caching import (
    CacheMiss,
    CacheNote,
    RequestUsage,
    Ttl,
    Upload,
    note_to_json,
    with_upload,
)
from desktop.core.model import Spent
from desktop.core.records import RequestRecord
from tests.unit.agent.stage import TARIFF, dollars

USED = {
    "input_tokens": 5,
    "cache_read_input_tokens": 100,
    "cache_creation_input_tokens": 900,
    "output_tokens": 20,
}


def record(**changed: Any) -> RequestRecord:
    made = RequestRecord("q", "tab", "t", 0, "p", "model-1", 1_000, usage=USED)
    return replace(made, **changed)


def sum_of(*records: RequestRecord, model: str = "model-1", ttl: Ttl = "5m") -> Spent:
    following = Next(model, ttl, at=2_000)
    bill = Bill(TARIFF)
    for number, one in enumerate(records):
        bill.take(replace(one, id=f"q{number}"))
    return bill.spent(window=9_000, following=following)


def test_the_cache_holds_a_conversation_from_the_start_of_its_last_request():
    found = sum_of(record(), record(started_at=7_000))
    assert (found.context, found.cached_until) == (1_025, 307_000)
    assert found.resend_dollars == pytest.approx(1_025 * 12 / 100)


def test_an_hour_was_asked_for():
    note = note_to_json(CacheNote("1h"))
    assert sum_of(record(cache=note)).cached_until == 3_601_000


def test_another_model_finds_nothing_of_it():
    assert sum_of(record(), model="model-2").cached_until == 1_000


def test_without_a_price_the_next_message_has_none():
    assert sum_of(record(), model="scripted-0").resend_dollars is None


def test_a_server_that_caches_nothing_promises_nothing():
    plain = {"input_tokens": 500, "output_tokens": 3}
    assert sum_of(record(usage=plain)).cached_until is None
    assert sum_of().cached_until is None


def test_a_request_without_an_answer_changes_nothing():
    assert sum_of(record(), record(started_at=9_000, usage=None)).cached_until == 301_000


def test_the_requests_are_listed_as_they_were_paid():
    miss = CacheMiss("expired", 7, 0.5)
    one = line_of(record(cache=note_to_json(CacheNote(miss=miss))), tariff=TARIFF)
    two = line_of(record(usage=None), tariff=TARIFF)
    assert one == RequestUsage(1_000, "model-1", 100, 900, 5, 20, dollars(record()), miss=miss)
    assert not two.is_answered


def test_c5_the_bytes_that_went_out_are_listed():
    one = line_of(record(cache=with_upload(None, Upload(900, 300))), tariff=TARIFF)
    assert one.upload == Upload(900, 300)


def test_c2_a_refresh_is_paid_and_starts_the_time_anew_and_holds_no_less():
    """It reads the last request; the next message sends its answer, too."""
    read = {"cache_read_input_tokens": 1_000, "output_tokens": 0}
    note = note_to_json(CacheNote(is_refresh=True))
    refresh = record(started_at=9_000, usage=read, cache=note)
    found = sum_of(record(), refresh)
    assert (found.context, found.cached_until) == (1_025, 309_000)
    assert found.cache_read == 1_100
    assert not line_of(record(), tariff=TARIFF).is_refresh
    assert line_of(refresh, tariff=TARIFF).is_refresh
