"""The line that says what an agent does right now (LOOK.md "Words")."""

import pytest
from pytestqt.qtbot import QtBot

from desktop.core.status import TabStatus
from desktop.ui import words
from desktop.ui.activity import ActivityLine

NOW = 1_760_000_000_000
SINCE = NOW - 60_000


@pytest.fixture
def line(qtbot: QtBot) -> ActivityLine:
    made = ActivityLine(lambda: NOW)
    qtbot.addWidget(made)
    return made


@pytest.mark.parametrize(
    ("holder", "since", "known"),
    [
        ("4711-x", SINCE, f" (number 4711, since {words.day_and_time(SINCE, NOW)})"),
        ("4711-x", 0, " (number 4711)"),
        ("what\u202eever", SINCE, f" (since {words.day_and_time(SINCE, NOW)})"),
        ("", 0, ""),
    ],
)
def test_u16_a_turn_elsewhere_says_in_which_process_and_since_when_as_far_as_that_is_known(
    line: ActivityLine, holder: str, since: int, known: str
) -> None:
    line.show_status(TabStatus("a", phase="elsewhere", holder=holder, since=since))
    assert line.text() == f"Nacre runs this conversation in another process{known}."
    line.show_status(TabStatus("a"))
    assert not line.isVisible() and line.text() == ""
