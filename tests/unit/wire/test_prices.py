"""Dollars, by hand computation (API §5; SPEC C18, U26)."""

from datetime import UTC, datetime
from typing import Any

import pytest

from desktop.core.events import Usage
from desktop.core.records import RequestRecord
from desktop.wire.models import undated
from desktop.wire.prices import PriceTable
from desktop.wire.usage import usage_of
from tests.unit.wire.rows_of import MODELS, SHIPPED

PRICES = PriceTable.from_json(SHIPPED)


def at(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1000)


def usage(**counts: int) -> dict[str, Any]:
    return {f"{name}_tokens": count for name, count in counts.items()}


def test_c18_a_usage_adds_up():
    used = usage_of(usage(input=10, cache_read_input=80, cache_creation_input=10))
    assert used.prompt == 100
    assert used.cache_read / used.prompt == 0.8


@pytest.mark.parametrize(
    "raw",
    [
        {"cache_creation": {"ephemeral_5m_input_tokens": 3, "ephemeral_1h_input_tokens": 4}},
        {"cache_creation_input_tokens": 7, "cache_creation": {"ephemeral_1h_input_tokens": 4}},
    ],
)
def test_c41_the_split_and_the_sum_of_writes_are_both_understood(raw: dict[str, Any]):
    assert usage_of(raw) == Usage(cache_write=7, cache_write_1h=4)


def test_nulls_and_odd_values_count_as_nothing():
    raw = {"input_tokens": None, "output_tokens": "3", "cache_creation": None}
    assert usage_of(raw) == Usage()


def test_every_kind_of_token_has_its_price():
    raw = usage(input=1_000_000, output=1_000_000, cache_read_input=1_000_000)
    raw["cache_creation"] = {
        "ephemeral_5m_input_tokens": 1_000_000,
        "ephemeral_1h_input_tokens": 1_000_000,
    }
    dollars = PRICES.dollars("claude-opus-5-5", raw, at=at("2026-11-29"))
    assert dollars == pytest.approx(4 + 20 + 5 + 8 + 0.2)


@pytest.mark.parametrize(("prompt", "dollars"), [(100_000, 0.01), (100_001, 0.0500005)])
def test_a_long_prompt_of_haiku_costs_its_tier_as_a_whole(prompt: int, dollars: float):
    cost = PRICES.dollars("claude-haiku-5-5", usage(input=prompt), at=at("2026-11-29"))
    assert cost == pytest.approx(dollars)


@pytest.mark.parametrize(("day", "dollars"), [("2026-10-06", 0.2), ("2026-10-07", 0.1)])
def test_a_price_holds_from_its_day_on(day: str, dollars: float):
    read = usage(cache_read_input=1_000_000)
    assert PRICES.dollars("claude-sonnet-5-5", read, at=at(day)) == pytest.approx(dollars)


def test_an_unknown_price_is_unknown_and_never_nothing():
    assert PRICES.dollars("qwen3:8b", usage(input=5), at=at("2026-11-29")) is None
    assert PRICES.dollars("claude-opus-5-5", usage(input=5), at=at("2026-01-01")) is None


def test_searches_and_residency_are_added():
    raw = usage(input=1_000_000) | {
        "server_tool_use": {"web_search_requests": 3},
        "inference_geo": "us",
    }
    cost = PRICES.dollars("claude-opus-5-5", raw, at=at("2026-11-29"))
    assert cost == pytest.approx(4 * 1.1 + 0.03)


def test_a_request_record_is_priced_by_its_start():
    record = RequestRecord(
        "r",
        "tab",
        "t",
        0,
        "p",
        "claude-haiku-4-5-20251001",
        at("2026-11-29"),
        usage=usage(output=1_000_000),
    )
    assert PRICES.of_record(record) == pytest.approx(5)
    unanswered = RequestRecord("r", "tab", "t", 0, "p", "qwen3:8b", at("2026-11-29"))
    assert PRICES.of_record(unanswered) == 0


def test_every_shipped_model_has_a_price_and_a_sound_entry():
    for info in MODELS.infos():
        assert PRICES.dollars(info.id, {}, at=at("2026-11-29")) == 0, info.id
        assert not info.default_effort or info.default_effort in info.efforts
        assert info.max_output < info.window
    assert undated("claude-haiku-4-5-20251001") == "claude-haiku-4-5"
