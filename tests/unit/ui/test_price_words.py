"""The price of the provider's cache in the words of the settings (C2)."""

import pytest

from desktop.core.caching import CachePrices
from desktop.settings import CACHE_TTL, KEEP_WARM, MODEL
from desktop.ui import price_words, words

OPUS = CachePrices("Claude Opus 5.5", read=0.02, write_5m=0.5, write_1h=0.8)


def test_c2_both_times_are_priced_for_the_model():
    assert price_words.about(CACHE_TTL.key, OPUS) == (
        "With Claude Opus 5.5, 100,000 tokens cost $0.50 to write for 5 minutes, $0.80 for 1 hour,"
        " and $0.02 each time they are read."
    )


def test_c2_a_refresh_is_priced():
    assert price_words.about(KEEP_WARM.key, OPUS) == (
        "With Claude Opus 5.5, each costs $0.02 for 100,000 tokens of conversation."
    )


def test_an_unknown_price_is_said_to_be_unknown():
    assert "not known" in price_words.about(KEEP_WARM.key, None)
    assert price_words.about(MODEL.key, None) == ""


@pytest.mark.parametrize(
    ("amount", "shown"),
    [(0.5, "$0.50"), (0.001, "$0.001"), (0.0125, "$0.0125"), (1600.0, "$1,600.00"), (0.0, "$0.00")],
)
def test_a_small_price_keeps_its_digits(amount: float, shown: str):
    assert words.exact_dollars(amount) == shown
