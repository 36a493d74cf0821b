"""Dollars of a request, from the prices of `resources/models.json` (API §5).

A price holds from its day on; a model without a price costs an unknown amount, never nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from desktop.core.events import Usage
from desktop.core.records import RequestRecord
from desktop.wire.models import undated
from desktop.wire.usage import usage_of

MILLION = 1_000_000
US_ONLY_FACTOR = 1.1


@dataclass(frozen=True, slots=True)
class Rates:
    """Dollars for a million tokens of each kind."""

    input: float
    output: float
    write_5m: float
    write_1h: float
    read: float

    def dollars(self, usage: Usage) -> float:
        """What these tokens cost; output includes thinking."""
        short = usage.cache_write - usage.cache_write_1h
        return (
            usage.input * self.input
            + usage.output * self.output
            + short * self.write_5m
            + usage.cache_write_1h * self.write_1h
            + usage.cache_read * self.read
        ) / MILLION


@dataclass(frozen=True, slots=True)
class Price:
    """Rates from a day on; `above` replaces them for a whole request with a longer prompt."""

    since: str
    rates: Rates
    above: Rates | None = None
    above_prompt: int = 0

    def for_prompt(self, tokens: int) -> Rates:
        if self.above is not None and tokens > self.above_prompt:
            return self.above
        return self.rates


class PriceTable:
    """The prices of every model by day."""

    def __init__(self, prices: Mapping[str, tuple[Price, ...]], search: float = 0.0) -> None:
        self._prices = prices
        self._search = search

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "PriceTable":
        """The table of `models.json`."""
        prices: dict[str, list[Price]] = {}
        for row in data["prices"]:
            above = row.get("above")
            price = Price(
                since=row["from"],
                rates=_rates(row),
                above=_rates(above) if above else None,
                above_prompt=above["prompt"] if above else 0,
            )
            for model in row["models"]:
                prices.setdefault(model, []).append(price)
        return cls(
            {name: tuple(sorted(rows, key=lambda one: one.since)) for name, rows in prices.items()},
            search=float(data.get("searches", {}).get("web_search_requests", 0)),
        )

    def dollars(self, model: str, usage: Mapping[str, Any], *, at: int) -> float | None:
        """What a request cost that was answered with this usage, the provider's own object.

        `at` is ms UTC; None when no price of the model is known for that day.
        """
        cost = self.of_tokens(model, usage_of(usage), at=at)
        if cost is None:
            return None
        if usage.get("inference_geo") == "us":
            cost *= US_ONLY_FACTOR
        return cost + self._searches(usage) * self._search

    def of_tokens(self, model: str, tokens: Usage, *, at: int) -> float | None:
        """What a request with these tokens costs at a moment; None where no price is known."""
        day = datetime.fromtimestamp(at / 1000, UTC).date().isoformat()
        rows = self._prices.get(model) or self._prices.get(undated(model)) or ()
        valid = [row for row in rows if row.since <= day]
        return valid[-1].for_prompt(tokens.prompt).dollars(tokens) if valid else None

    def of_record(self, record: RequestRecord) -> float | None:
        """The dollars of a finished request; 0 for one that was never answered."""
        if record.usage is None:
            return 0.0
        return self.dollars(record.model, record.usage, at=record.started_at)

    def _searches(self, usage: Mapping[str, Any]) -> int:
        used: Any = usage.get("server_tool_use") or {}
        count = used.get("web_search_requests") if isinstance(used, Mapping) else 0
        return count if isinstance(count, int) else 0


def _rates(row: Mapping[str, Any]) -> Rates:
    return Rates(
        input=row["input"],
        output=row["output"],
        write_5m=row["write_5m"],
        write_1h=row["write_1h"],
        read=row["read"],
    )
