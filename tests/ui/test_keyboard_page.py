"""Settings → Keyboard: shortcuts are found, changed, taken from others and given back."""

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QLineEdit, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from desktop.settings import KEYS
from desktop.ui.key_field import KeyField
from desktop.ui.key_lines import EXACTLY, NAME_ROLE
from desktop.ui.keyboard_page import KeyboardPage
from desktop.ui.preferences import LivePreferences
from desktop.ui.tasks import Tasks
from desktop.ui.theme import LIGHT, Theme
from tests.e2e.nacre import Home
from tests.ui.conftest import Enter

CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


class At:
    """A person at the page."""

    def __init__(self, qtbot: QtBot) -> None:
        self.preferences = LivePreferences(Tasks())
        self.dialog = QDialog()
        self.page = KeyboardPage(Theme("light", LIGHT), self.preferences, self.dialog)
        self.page.resize(700, 500)
        qtbot.addWidget(self.dialog)
        self.dialog.resize(700, 500)
        self.dialog.show()
        self.dialog.activateWindow()

    def choose(self, name: str) -> None:
        choose(self.page, name)

    def press(
        self, key: Qt.Key, held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
    ) -> None:
        focus = QApplication.focusWidget()
        assert focus is not None
        QTest.keyClick(focus, key, held)

    def enter(self, name: str) -> None:
        """Goes from the line of the action into the field, with the keyboard."""
        self.choose(name)
        self.page.table.setFocus()
        self.press(Qt.Key.Key_Return)
        assert QApplication.focusWidget() is self.field

    @property
    def field(self) -> KeyField:
        field = self.page.findChild(KeyField, "newKeys")
        assert field is not None
        return field

    def click(self, name: str) -> None:
        button = self.page.findChild(QPushButton, name)
        assert button is not None and button.isVisible()
        button.click()

    def answer(self) -> str:
        label = self.page.findChild(QLabel, "keyboardAnswer")
        assert label is not None
        return label.text() if label.isVisible() else ""

    def row(self) -> dict[str, list[str]]:
        text = self.preferences.value(KEYS)
        return json.loads(text) if text else {}

    def words(self) -> list[str]:
        model = self.page.table.model()
        groups = [model.index(at, 0) for at in range(model.rowCount())]
        return [
            str(model.index(at, 0, group).data())
            for group in groups
            for at in range(model.rowCount(group))
        ]


def choose(page: KeyboardPage, name: str) -> None:
    model = page.table.model()
    (line,) = model.match(model.index(0, 0), NAME_ROLE, name, 1, EXACTLY)
    page.table.setCurrentIndex(line)


@pytest.fixture
def at(qtbot: QtBot) -> At:
    return At(qtbot)


def test_keys_that_are_free_are_kept_as_they_are_pressed(at: At) -> None:
    at.enter("compact")
    at.press(Qt.Key.Key_F9)
    assert at.row() == {"compact": ["F9"]} and at.answer() == ""
    assert at.field.text() == "F9" and QApplication.focusWidget() is at.field


def test_keys_of_another_action_are_named_and_taken_only_when_agreed(at: At) -> None:
    at.enter("bookmark")
    at.press(Qt.Key.Key_K, CTRL)
    assert at.answer() == "Ctrl+K belongs to “Command or conversation…”. Take it from there?"
    assert at.row() == {}
    at.click("leaveKeys")
    assert at.row() == {} and at.answer() == "" and at.field.text() == "Ctrl+D"
    at.press(Qt.Key.Key_K, CTRL)
    assert QApplication.focusWidget() is at.page.findChild(QPushButton, "takeKeys")
    at.press(Qt.Key.Key_Space)
    assert at.row() == {"bookmark": ["Ctrl+K"]} and at.answer() == ""
    at.choose("palette")
    assert at.field.text() == ""
    at.click("resetKeys")
    assert at.answer() == "Ctrl+K belongs to “Bookmark”. Take it from there?"
    at.click("takeKeys")
    assert at.row() == {"bookmark": []} and at.field.text() == "Ctrl+K"


@pytest.mark.parametrize(
    ("key", "held", "words"),
    [
        (Qt.Key.Key_A, Qt.KeyboardModifier.NoModifier, "A alone is needed"),
        (Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier, "Return alone is needed"),
        (Qt.Key.Key_V, CTRL, "Ctrl+V always does the same: Paste"),
    ],
)
def test_keys_that_writing_needs_are_refused_in_words(
    at: At, key: Qt.Key, held: Qt.KeyboardModifier, words: str
) -> None:
    at.enter("find")
    at.press(key, held)
    assert at.answer().startswith(words) and at.row() == {} and at.dialog.isVisible()


def test_esc_leaves_and_backspace_takes_the_keys_away(at: At) -> None:
    at.enter("find")
    at.press(Qt.Key.Key_Escape)
    assert QApplication.focusWidget() is at.page.table and at.dialog.isVisible()
    assert at.row() == {}
    at.enter("find")
    at.press(Qt.Key.Key_Backspace)
    assert at.row() == {"find": []}


def test_an_action_can_have_more_keys_and_is_reset_alone_or_with_all(at: At) -> None:
    at.enter("find")
    at.click("addKeys")
    at.press(Qt.Key.Key_F9)
    assert at.row() == {"find": ["Ctrl+F", "F9"]}
    at.enter("compact")
    at.press(Qt.Key.Key_F8)
    at.choose("find")
    at.click("resetKeys")
    assert at.row() == {"compact": ["F8"]}
    at.click("resetAllKeys")
    assert at.row() == {"compact": ["F8"]}
    at.click("takeKeys")
    assert at.row() == {}


def test_lines_are_found_by_pressing_a_key(at: At) -> None:
    found = at.page.findChild(KeyField, "keyFilter")
    words = at.page.findChild(QLineEdit, "keyWords")
    assert found is not None and words is not None
    found.setFocus()
    at.press(Qt.Key.Key_B, CTRL)
    assert at.words() == ["Sidebar"]
    at.press(Qt.Key.Key_Backspace)
    words.setText("archive")
    assert "Archive" in at.words() and "Sidebar" not in at.words()


def test_keys_of_a_field_are_shown_and_can_not_be_changed(at: At) -> None:
    assert "Next permission mode" in at.words()
    model = at.page.table.model()
    last = model.index(model.rowCount() - 1, 0)
    at.page.table.setCurrentIndex(model.index(0, 0, last))
    assert not at.field.isEnabled()


def test_u33_a_change_is_in_force_at_once_everywhere_and_after_a_restart(
    home: Home, enter: Enter
) -> None:
    person = enter()
    person.do("settings")
    person.wait(lambda: person.shows("settingsDialog"))
    person.choose_section("Keyboard")
    person.wait(lambda: person.shows("keyboardPage"))
    page = person.part(KeyboardPage, "keyboardPage")
    person.now(lambda: choose(page, "right_pane"))
    person.now(lambda: QTest.keyClick(person.part(KeyField, "newKeys"), Qt.Key.Key_F9))
    assert person.action("right_pane").shortcut().toString() == "F9"
    person.close_dialog("settingsDialog")
    person.do("shortcuts")
    person.wait(lambda: "<b>F9</b>" in person.labels())
    person.close_dialog("shortcutsBox")
    person.do("right_pane")
    person.wait(lambda: person.shows("closeRightPane"))
    close = person.part(QToolButton, "closeRightPane")
    assert close.toolTip() == "Close (F9)"
    assert person.leave() == 0
    again = enter()
    assert again.action("right_pane").shortcut().toString() == "F9"
    assert again.leave() == 0
