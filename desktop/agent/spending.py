"""What a conversation has used so far: a sum over its request records.

A record keeps the usage in the provider's own words; how they read, and what they cost, is handed
in.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from desktop.core.events import Usage
from desktop.core.model import Spent
from desktop.core.records import RequestRecord


@dataclass(frozen=True, slots=True)
class Tariff:
    """How usage is read and priced: dollars are None where a price is unknown."""

    usage: Callable[[Mapping[str, Any]], Usage]
    dollars: Callable[[RequestRecord], float | None]


def spent(records: Iterable[RequestRecord], *, tariff: Tariff, window: int) -> Spent:
    """The sum; `context` is what the last request left in the window.

    `dollars` is None as soon as one price is unknown: half a sum would be a lie.
    """
    prompt = output = cache_read = context = 0
    dollars: float | None = 0.0
    for record in records:
        if record.usage is None:
            continue
        usage = tariff.usage(record.usage)
        prompt += usage.prompt
        output += usage.output
        cache_read += usage.cache_read
        context = usage.prompt + usage.output
        cost = tariff.dollars(record)
        dollars = None if dollars is None or cost is None else dollars + cost
    return Spent(prompt, output, cache_read, dollars, context, window)
