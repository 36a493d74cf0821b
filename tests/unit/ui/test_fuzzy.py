"""What fits a few typed letters, and what fits best."""

import pytest

from desktop.ui.fuzzy import score


def best(typed: str, *texts: str) -> list[str]:
    found = [(score(typed, text), text) for text in texts]
    fits = [(points, text) for points, text in found if points is not None]
    return [text for _, text in sorted(fits, key=lambda fit: -fit[0])]


@pytest.mark.parametrize(
    ("typed", "order"),
    [
        ("fork", ["Fork from here", "Pitchfork"]),
        ("nc", ["New conversation", "Launch"]),
        ("conv new", ["New conversation"]),
        ("NEXT", ["Next prompt"]),
        ("ä", ["Ärger"]),
    ],
)
def test_words_count_more_than_their_middle_and_that_more_than_letters(
    typed: str, order: list[str]
) -> None:
    texts = ("Pitchfork", "Fork from here", "Launch", "New conversation", "Next prompt", "Ärger")
    assert best(typed, *texts)[: len(order)] == order


def test_each_word_must_fit_and_letters_keep_their_order() -> None:
    assert score("fork xyz", "Fork from here") is None
    assert score("krof", "Fork") is None


def test_nothing_typed_fits_everything_alike() -> None:
    assert score("  ", "Fork") == score("", "A much longer title than this one") == 0
