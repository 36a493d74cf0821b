"""SPEC U31: what a person judges hides nothing."""

import pytest

from desktop.ui.visible import in_order, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ls -l", "ls -l"),
        ("a\n\tb", "a\n\tb"),
        ("ls\u00a0-l", "ls‹NBSP›-l"),
        ("safe\u202egnp.exe", "safe‹U+202E›gnp.exe"),
        ("zero\u200bwidth", "zero‹ZWSP›width"),
        ("rm \u3164x\u2800", "rm ‹U+3164›x‹U+2800›"),
        ("bell\x07 esc\x1b[31m", "bell‹U+0007› esc‹U+001B›[31m"),
        ("nul\0", "nul‹U+0000›"),
        ("lone \ud83d", "lone ‹U+D83D›"),
        ("über 日本 🙂", "über 日本 🙂"),
    ],
)
def test_u31_invisible_characters_are_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("invoice \u202egnp.exe", "invoice ‹U+202E›gnp.exe"),
        ("bell\x07 line \u2028", "bell‹U+0007› line ‹U+2028›"),
        ("می\u200cخواهم 👩\u200d👧 ❤\ufe0f", "می\u200cخواهم 👩\u200d👧 ❤\ufe0f"),
        ("שלום \u2067x\u2069", "שלום ‹U+2067›x‹U+2069›"),
    ],
)
def test_u31_a_title_is_in_its_order_and_keeps_what_joins_letters(title: str, shown: str) -> None:
    assert in_order(title) == shown
