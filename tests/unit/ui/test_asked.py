"""What of a text asks to be completed, and how a path is written into it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.core.drafts import units
from desktop.ui.completion.asked import Asked, asked, written

VALUED = frozenset({"model"})


def ask(before: str, *, is_beginning: bool = True) -> Asked | None:
    return asked(before, is_beginning=is_beginning, valued=VALUED)


@pytest.mark.parametrize(
    ("before", "query"),
    [("@", ""), ("see @src/a", "src/a"), ("(@a", "a"), ("\t@ä🐚.p", "ä🐚.p"), ('"@a', "a")],
)
def test_a_file_is_asked_for_where_a_word_begins(before: str, query: str) -> None:
    assert ask(before) == Asked("file", query, units(query) + 1)


@pytest.mark.parametrize("before", ["", "a@b.example", "see @a ", "@a@b", "x@", "plain"])
def test_an_address_or_a_finished_word_asks_for_nothing(before: str) -> None:
    assert ask(before) is None


def test_a_command_is_asked_for_only_where_the_message_begins() -> None:
    assert ask("/co") == Asked("command", "co", 3)
    assert ask("/CO") == Asked("command", "co", 3)
    assert ask("/co", is_beginning=False) is None
    assert ask(" /co") is None
    assert ask("/etc/hosts") is None
    assert ask("/compact keep") is None


def test_a_value_is_asked_for_after_the_commands_that_have_some() -> None:
    assert ask("/model Op") == Asked("value", "Op", 2, "model")
    assert ask("/Model ") == Asked("value", "", 0, "model")
    assert ask("/rename Op") is None
    assert ask("/model Op", is_beginning=False) is None


def test_a_path_is_quoted_where_a_reader_would_lose_its_end() -> None:
    assert written("src/ui/composer.py") == "src/ui/composer.py"
    assert written("grüße/日本.md") == "grüße/日本.md"
    assert written("my notes.txt") == '"my notes.txt"'
    assert written("ends.") == '"ends."'
    assert written("a\u202egpj.exe") == '"a\\u202egpj.exe"'
    assert written('say "no"\n.txt') == '"say \\"no\\"\\n.txt"'


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1))
def test_a_written_path_is_one_word_or_reads_back_and_hides_nothing(path: str) -> None:
    found = written(path)
    assert found.isprintable()
    if found == path:
        assert not set(found) & set(" \t\"'")
    else:
        assert json.loads(found) == path
