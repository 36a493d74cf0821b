"""What one message may cost with all its subagents, and whether that is used up."""

from collections.abc import Iterable

from desktop.agent.spending import Tariff
from desktop.core.records import RequestRecord

# Where a price is unknown: tokens that were not read from the cache, and those of the answers.
TOKENS = 2_000_000


def is_used_up(records: Iterable[RequestRecord], *, tariff: Tariff, dollars: float) -> bool:
    """Whether the requests have cost `dollars` (0: no limit); without a price their tokens count
    for their part of `TOKENS`."""
    if not dollars:
        return False
    share = 0.0
    for record in records:
        if record.usage is None:
            continue
        cost = tariff.dollars(record)
        if cost is not None:
            share += cost / dollars
            continue
        usage = tariff.usage(record.usage)
        share += (usage.input + usage.cache_write + usage.output) / TOKENS
    return share >= 1


def sentence(dollars: float) -> str:
    """For the model and the person alike."""
    return (
        f"The budget for subagents is used up (${dollars:,.2f} for one message, everything that"
        " it began counted). It can be changed in the settings."
    )
