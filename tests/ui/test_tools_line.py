"""The line that tells of new tools: their servers, their price, once (DESIGN §6)."""

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from desktop.core.status import NewTools
from desktop.ui import words
from desktop.ui.theme import LIGHT, Theme
from desktop.ui.tools_line import ToolsLine

FILES = NewTools((("files", 3),), 18_200, 0.1234)


@pytest.fixture
def shown(qtbot: QtBot) -> Iterator[ToolsLine]:
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.show()
    yield ToolsLine(Theme("light", LIGHT), parent)


def test_it_names_the_servers_and_the_price(shown: ToolsLine) -> None:
    shown.show_tools(FILES, is_idle=True)
    assert shown.accessibleName() == (
        "New tools are there (files: 3 tools). They join at the next compaction or in a new"
        f" conversation; to use them now re-sends {words.tokens(18_200)} tokens, about $0.12."
    )
    assert shown.button.isEnabled()
    shown.show_tools(NewTools(FILES.servers, 5), is_idle=False)
    assert shown.accessibleName().endswith("to use them now re-sends 5 tokens.")
    assert not shown.button.isEnabled()
    shown.show_tools(None, is_idle=True)
    assert not shown.isVisible()


def test_many_servers_and_hostile_names_stay_short_and_seen(shown: ToolsLine) -> None:
    servers = (("a\u202eb", 1), ("n" * 90, 2), ("x", 1), ("y", 1), ("z", 1))
    shown.show_tools(NewTools(servers), is_idle=True)
    said = shown.accessibleName()
    assert "a‹U+202E›b: 1 tool; " in said
    assert f"{'n' * 39}…: 2 tools" in said
    assert "2 more servers" in said


def test_closed_it_stays_away_until_others_are_there(shown: ToolsLine) -> None:
    shown.show_tools(FILES, is_idle=True)
    shown.dismissed.emit()
    for tokens in (1, 2):
        shown.show_tools(NewTools(FILES.servers, tokens), is_idle=True)
        assert not shown.isVisible()
    shown.show_tools(NewTools((("files", 4),)), is_idle=True)
    assert shown.isVisible()
