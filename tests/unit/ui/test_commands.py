"""Commands at the beginning of a message, and texts that only look like one."""

import pytest

from desktop.ui.actions import ACTIONS
from desktop.ui.completion.commands import OF_A_CONVERSATION, OF_THE_NEW_PAGE, read


@pytest.mark.parametrize(
    ("text", "name", "rest"),
    [
        ("/compact", "compact", ""),
        ("/compact keep the API\nand the tests", "compact", "keep the API\nand the tests"),
        ("  /Model  Opus ", "model", "Opus"),
        ("/new", "new", ""),
        ("/rename A better name", "rename", "A better name"),
    ],
)
def test_a_command_is_read_with_what_follows_it(text: str, name: str, rest: str) -> None:
    found = read(text, OF_A_CONVERSATION)
    assert found is not None
    assert (found[0].name, found[1]) == (name, rest)


@pytest.mark.parametrize(
    "text",
    [
        "/etc/hosts is broken",
        "/",
        "/ compact",
        "/compacted",
        "/new ideas for the window",
        "/find this\nin all of that",
        "see /compact",
        "",
    ],
)
def test_a_text_that_only_looks_like_a_command_is_sent(text: str) -> None:
    assert read(text, OF_A_CONVERSATION) is None


def test_each_command_of_the_window_is_an_action_of_the_window() -> None:
    names = {spec.name for spec in ACTIONS}
    assert {one.name for one in OF_A_CONVERSATION if one.is_action} <= names
    assert {one.name for one in OF_THE_NEW_PAGE} < {one.name for one in OF_A_CONVERSATION}
