"""What the provider's cache costs with one model, under the settings that are about it."""

from PySide6.QtCore import QCoreApplication

from desktop.core.caching import CachePrices
from desktop.settings import CACHE_TTL, KEEP_WARM
from desktop.ui import words

ABOUT = frozenset({CACHE_TTL.key, KEEP_WARM.key})


def say(text: str) -> str:
    return QCoreApplication.translate("Prices", text)


def about(key: str, prices: CachePrices | None) -> str:
    """The sentence under a setting; '' for one that is not about the cache."""
    if key not in ABOUT:
        return ""
    if prices is None:
        return say("What it costs with the model for new conversations is not known.")
    if key == KEEP_WARM.key:
        return say("With {model}, each costs {read} for 100,000 tokens of conversation.").format(
            model=prices.model, read=words.exact_dollars(prices.read)
        )
    return say(
        "With {model}, 100,000 tokens cost {short} to write for 5 minutes, {long} for 1 hour, and"
        " {read} each time they are read."
    ).format(
        model=prices.model,
        short=words.exact_dollars(prices.write_5m),
        long=words.exact_dollars(prices.write_1h),
        read=words.exact_dollars(prices.read),
    )
