"""A refusal in words, whatever the provider says of it (API §1.6)."""

from hypothesis import given
from hypothesis import strategies as st

from desktop.agent import refusals

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


def test_the_reason_is_told_in_our_words_and_the_explanation_quoted() -> None:
    told = refusals.words({"category": "cyber", "explanation": "It asks\nfor malware."})
    assert told == (
        "The model declined to answer this. The provider took it to be about attacks on computers."
        " It says: It asks for malware."
    )


def test_without_details_it_is_just_declined() -> None:
    assert refusals.words({}) == refusals.REFUSED
    assert refusals.words({"category": None, "explanation": " "}) == refusals.REFUSED


def test_a_category_of_tomorrow_is_told_by_its_name() -> None:
    assert "about space_law".replace("_", " ") in refusals.words({"category": "space_law"})


@given(st.fixed_dictionaries({"category": JSON, "explanation": JSON}))
def test_whatever_it_holds_one_short_line_comes_of_it(details: dict[str, object]) -> None:
    told = refusals.words(details)
    assert told.startswith(refusals.REFUSED)
    assert told.isprintable()
    assert len(told) < 1_200
