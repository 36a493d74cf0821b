"""Names that fit what was typed, the best first."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from desktop.ui.completion.ranking import Names

FILES = (
    "README.md",
    "desktop/ui/composer.py",
    "desktop/ui/completion/popup.py",
    "docs/composer/old notes.md",
    "tests/ui/test_composer.py",
    "tests/unit/core/test_model.py",
)


def test_the_beginning_of_a_name_is_better_than_its_middle_and_than_a_folder() -> None:
    assert Names(FILES).best("compo", 3) == [
        "desktop/ui/composer.py",
        "tests/ui/test_composer.py",
        "docs/composer/old notes.md",
    ]


def test_letters_need_not_stand_together_nor_be_of_one_case() -> None:
    names = Names(FILES)
    assert names.best("DUIPOPUP", 9) == ["desktop/ui/completion/popup.py"]
    assert names.best("readme", 9) == ["README.md"]
    assert names.best("zz", 9) == []


def test_nothing_typed_fits_all_and_only_so_many_are_given() -> None:
    assert len(Names(FILES).best("", 4)) == 4


@given(st.lists(st.text("ab/c", min_size=1, max_size=12), max_size=20), st.text("abc/", max_size=5))
def test_a_letter_more_finds_what_a_look_at_all_names_finds(names: list[str], query: str) -> None:
    """What fitted less is not looked at again, and that may not show."""
    step_by_step, found = Names(names), Names(names).best(query, 50)
    for length in range(len(query) + 1):
        step_by_step.best(query[:length], 50)
    assert step_by_step.best(query, 50) == found
    step_by_step.best("ab", 50)
    assert step_by_step.best(query, 50) == found


def test_a_name_that_fits_almost_everywhere_costs_no_more() -> None:
    """Counted by the looks of a pattern that may try each letter once."""
    pairs = itertools.repeat("ab", 20_000)
    assert Names(["".join(pairs)]).best("a" * 60 + "z", 1) == []
