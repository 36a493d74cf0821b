"""A plugin's page in the right pane: rows in the program's look, a filter, a way to the place."""

from collections.abc import Callable

import pytest
import qasync
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from desktop.core.panels import PanelChoice, PanelRow, PanelState, Place
from desktop.ui.plugin_page import PluginPage
from desktop.ui.theme import LIGHT, Theme
from tests.ui.conftest import until

NOW = 1_700_000_000_000


class Panel:
    """A plugin that shows what a test says."""

    id, name = "prompt-history", "Prompt history"

    def __init__(self) -> None:
        self.state = PanelState()
        self.choices: list[PanelChoice] = []
        self.chosen = ""
        self.opened: list[str] = []
        self.told: list[str | None] = []
        self.retries = 0
        self._rows: list[PanelRow] = []
        self._listener: Callable[[], None] | None = None

    def rows(self) -> list[PanelRow]:
        return self._rows

    def listen(self, listener: Callable[[], None] | None) -> None:
        self._listener = listener

    def show(self, session_id: str | None) -> None:
        self.told.append(session_id)

    def choose(self, id_: str) -> None:
        self.chosen = id_
        self.say(*self._rows)

    def open(self, row: PanelRow) -> None:
        self.opened.append(row.id)

    def retry(self) -> None:
        self.retries += 1

    def say(self, *rows: PanelRow, state: PanelState | None = None) -> None:
        self._rows, self.state = list(rows), state or PanelState("ready")
        if self._listener is not None:
            self._listener()


class There:
    """The page beside a conversation."""

    tab_id = "tab"

    def __init__(self, loop: qasync.QEventLoop, qtbot: QtBot) -> None:
        self.loop, self.qtbot = loop, qtbot
        self.panel = Panel()
        theme = Theme("light", LIGHT)
        self.page = PluginPage(lambda: theme, panel=self.panel, now_ms=lambda: NOW)
        qtbot.addWidget(self.page)
        self.page.resize(320, 500)
        self.tester = QAbstractItemModelTester(self.page.model)

    def wait(self, holds: Callable[[], bool]) -> None:
        self.loop.run_until_complete(until(holds))

    def lines(self) -> list[str]:
        model = self.page.model
        role = Qt.ItemDataRole.AccessibleTextRole
        return [model.data(model.index(at), role) for at in range(model.rowCount())]

    def row(self, number: int, **more: object) -> PanelRow:
        place = Place(self.tab_id, number)
        return PanelRow(f"r{number}", number, f"Prompt {number}", place=place, **more)  # pyright: ignore[reportArgumentType]

    def why(self) -> str:
        label = self.page.findChild(QLabel, "pluginState")
        assert label is not None
        return label.text()


@pytest.fixture
def there(loop: qasync.QEventLoop, qtbot: QtBot) -> There:
    made = There(loop, qtbot)
    made.page.show_conversation(made.tab_id)
    return made


def test_the_plugin_is_told_what_is_in_view_only_while_its_page_is_seen(there: There) -> None:
    assert there.panel.told == []
    there.page.show()
    assert there.panel.told == [there.tab_id]
    there.page.hide()
    assert there.panel.told == [there.tab_id, None]


def test_rows_say_what_a_plugin_said_and_hide_nothing(there: There) -> None:
    there.page.show()
    hostile = PanelRow("h", 1, "<b>x</b>\u202etxt", "side\u200b", mark="failed", duration_ms=3_000)
    there.panel.say(there.row(2), hostile)
    there.wait(lambda: len(there.lines()) == 2)
    assert there.lines()[0] == "Prompt 2"
    assert there.lines()[1] == "<b>x</b>‹U+202E›txt. Failed. 3 s · side‹ZWSP›"


def test_the_filter_lets_through_what_holds_it_as_one_types(there: There) -> None:
    there.page.show()
    there.panel.say(*(there.row(number) for number in (12, 2, 1)))
    there.wait(lambda: len(there.lines()) == 3)
    there.qtbot.keyClicks(there.page.field, "PROMPT 1")
    there.wait(lambda: there.lines() == ["Prompt 12", "Prompt 1"])
    there.qtbot.keyClicks(there.page.field, "x")
    there.wait(lambda: there.why() == "No row holds this.")
    there.qtbot.keyClick(there.page.field, Qt.Key.Key_Escape)
    there.wait(lambda: len(there.lines()) == 3)


def test_enter_and_a_click_want_what_is_behind_a_row(there: There) -> None:
    there.page.show()
    there.panel.say(*(there.row(number) for number in (5, 2)))
    there.wait(lambda: len(there.lines()) == 2)
    there.page.list.setCurrentIndex(there.page.model.index(1))
    there.qtbot.keyClick(there.page.list, Qt.Key.Key_Return)
    point = there.page.list.visualRect(there.page.model.index(0)).center()
    there.qtbot.mouseClick(there.page.list.viewport(), Qt.MouseButton.LeftButton, pos=point)
    assert there.panel.opened == ["r2", "r5"]


def test_what_is_filtered_by_stays_where_a_row_led_to_another_conversation(there: There) -> None:
    there.page.show()
    other = PanelRow("o", 9, "Prompt 9", place=Place("other", 1))
    there.panel.say(other, there.row(1))
    there.qtbot.keyClicks(there.page.field, "9")
    there.wait(lambda: there.lines() == ["Prompt 9"])
    there.page.list.setCurrentIndex(there.page.model.index(0))
    there.qtbot.keyClick(there.page.list, Qt.Key.Key_Return)
    there.panel.say()
    there.page.show_conversation("other")
    there.wait(lambda: there.lines() == [])
    there.panel.say(other)
    there.wait(lambda: there.lines() == ["Prompt 9"])
    assert there.page.list.currentIndex().row() == 0
    there.page.show_conversation(there.tab_id)
    assert there.page.field.text() == ""


def test_a_plugin_with_several_ways_to_fill_its_page_has_a_switch(there: There) -> None:
    there.page.show()
    assert not there.page.choice.isVisible()
    there.panel.choices = [PanelChoice("a", "This one"), PanelChoice("b", "All <b>of it</b>\u202e")]
    there.panel.chosen = "a"
    there.panel.say()
    there.wait(there.page.choice.isVisible)
    assert there.page.choice.currentText() == "This one"
    there.page.choice.setFocus()
    there.qtbot.keyClick(there.page.choice, Qt.Key.Key_Down)
    assert there.panel.chosen == "b"
    there.wait(lambda: there.page.choice.currentText() == "All <b>of it</b>‹U+202E›")


def test_a_plugin_that_was_ended_is_named_with_a_way_out(there: There) -> None:
    there.page.show()
    why = "The plugin “Prompt history” was ended: it was killed (signal 9)."
    there.panel.say(state=PanelState("failed", why))
    there.wait(lambda: there.why() == why)
    button = there.page.findChild(QPushButton, "pluginRetry")
    assert button is not None
    there.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert there.panel.retries == 1
