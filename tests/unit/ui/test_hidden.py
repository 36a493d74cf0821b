"""SPEC U31: what code hides from whoever reads it is told, and can be shown exactly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.ui.hidden import hidden_in, signs_in, with_signs
from desktop.ui.visible import visible


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("if admin:\n\treturn", ""),
        ("s = 'über 日本 🙂 👩\u200d👧 ❤\ufe0f'", ""),
        ("می\u200cخواهم", ""),
        ("שלום", ""),
        ("/* \u202e } \u2066if (isAdmin)\u2069 */", "order"),
        ("x\u200f y", "order"),
        ("pass\u200dword", "letters"),
        ("a\u200bb", "letters"),
        ("\ufeffimport os", "letters"),
        ("x = \u3164", "letters"),
        ("bell\x07", "letters"),
        ("tag\U000e0041", "letters"),
        ("a\u200bb \u202e", "order"),
    ],
)
def test_u31_what_a_text_hides(text: str, hidden: str) -> None:
    assert hidden_in(text) == hidden
    shown = "".join(run for run, _ in with_signs(text))
    assert (shown == text) == (not hidden)
    assert hidden_in(shown) == ""


LETTERS = "a9 ‹›U+\n\u200b\u200d\u202e\u2066\u00ad\ufeff👩é\x07\U000e0041"


@given(st.text(LETTERS, max_size=30))
def test_u31_signs_say_which_letters_they_stand_for(text: str) -> None:
    said = ""
    for run, is_sign in with_signs(text):
        if is_sign:
            found = list(signs_in(run))
            assert "".join(run[at:end] for at, end, _ in found) == run
            said += "".join(letter for _, _, letter in found)
            assert visible(said[-len(found) :]) == run
        else:
            said += run
    assert said == text
