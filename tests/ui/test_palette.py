"""The command palette: what it offers, in which order, and where the focus is afterwards."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QLineEdit, QMainWindow, QPlainTextEdit
from pytestqt.qtbot import QtBot

from desktop.core.records import Tab
from desktop.ui.actions import ACTIONS, shortcut_lines
from desktop.ui.field_keys import FieldKeys
from desktop.ui.palette import ENTRY_ROLE, Entry, Palette, entries_of, matching
from desktop.ui.quoting import quote_into, quote_of
from desktop.ui.shortcuts import Shortcuts
from desktop.ui.theme import LIGHT, Theme


def made(window: QMainWindow, done: list[str]) -> dict[str, QAction]:
    actions: dict[str, QAction] = {}
    for spec in ACTIONS:
        actions[spec.name] = QAction(spec.text, window)
        actions[spec.name].setShortcuts([QKeySequence(keys) for keys in spec.keys])
        actions[spec.name].triggered.connect(lambda _=False, name=spec.name: done.append(name))
    return actions


def tab(number: int, title: str) -> Tab:
    return Tab(f"tab{number}", 1, title, number, is_open=True, created_at=1, last_message_at=1)


class There:
    """A window with a field, and the palette over it."""

    def __init__(self, qtbot: QtBot) -> None:
        self.qtbot = qtbot
        self.done: list[str] = []
        self.window = QMainWindow()
        self.field = QPlainTextEdit(self.window)
        self.window.setCentralWidget(self.field)
        qtbot.addWidget(self.window)
        self.window.show()
        self.window.activateWindow()
        self.field.setFocus()
        self.actions = made(self.window, self.done)
        self.tabs = [tab(n, f"Talk {n}") for n in range(20)]

    def entries(self) -> list[str]:
        return [one.title for one in self.all()]

    def all(self) -> list[Entry]:
        return entries_of(
            self.actions,
            self.tabs,
            self.done.append,
            conversation="Conversation",
            untitled="New conversation",
        )

    def open(self) -> Palette:
        palette = Palette(Theme("light", LIGHT), self.all(), self.window)
        palette.open()
        palette.field.setFocus()
        return palette


@pytest.fixture
def there(qtbot: QtBot) -> There:
    return There(qtbot)


def test_it_offers_every_action_but_itself_and_the_conversations_of_late_first(
    there: There,
) -> None:
    entries = there.entries()
    assert entries[:2] == ["Talk 0", "Talk 1"]
    texts = {spec.text for spec in ACTIONS if not spec.under and spec.name != "palette"}
    assert texts <= set(entries)
    assert "Talk 19" in entries


def test_what_cannot_be_done_now_is_dimmed_stands_last_and_is_not_chosen(there: There) -> None:
    there.actions["retry"].setEnabled(False)
    found = matching(there.all(), "re")
    assert found[-1].title == "Retry" and not found[-1].enabled
    palette = there.open()
    palette.field.setText("retry")
    there.qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert there.done == [] and palette.isVisible()
    palette.reject()


def test_enter_does_what_the_arrows_chose_once_the_palette_is_closed(there: There) -> None:
    palette = there.open()
    palette.field.setText("talk 1")
    there.qtbot.keyClick(palette.field, Qt.Key.Key_Down)
    chosen = palette.list.currentIndex().data(ENTRY_ROLE)
    there.qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert chosen.title != "Talk 1" and there.done == [f"tab{chosen.title.split()[1]}"]
    assert not palette.isVisible()


def test_esc_closes_it_and_the_focus_is_where_it_was(there: There) -> None:
    palette = there.open()
    there.qtbot.keyClick(palette.field, Qt.Key.Key_Escape)
    assert not palette.isVisible()
    assert QApplication.focusWidget() is there.field


def test_its_parts_have_names_and_a_line_is_spoken_with_its_keys(there: There) -> None:
    palette = there.open()
    assert palette.field.accessibleName() and palette.list.accessibleName()
    palette.field.setText("bookmark")
    spoken = palette.list.currentIndex().data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "Bookmark, Conversation, Ctrl+D"
    palette.reject()


def test_a_title_shows_what_it_hides(there: There) -> None:
    there.tabs = [tab(1, "a\u202eb")]
    assert there.entries()[0] == "a‹U+202E›b"


# Keys


def test_no_two_actions_have_the_same_keys() -> None:
    keys = [one for spec in ACTIONS for one in spec.keys]
    assert sorted(keys) == sorted(set(keys))


def test_keys_that_lead_to_a_place_are_one_line_of_the_list() -> None:
    lines = dict(shortcut_lines(Shortcuts().in_force()))
    assert lines["Conversation by place"] == "Ctrl+1 … Ctrl+9"
    assert "Conversation 1" not in lines


def test_a_field_does_not_take_a_key_that_means_the_same_everywhere(qtbot: QtBot) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    field = QLineEdit()
    qtbot.addWidget(field)
    field.show()

    def claims(key: Qt.Key) -> bool:
        event = QKeyEvent(QKeyEvent.Type.ShortcutOverride, key, Qt.KeyboardModifier.ControlModifier)
        event.ignore()
        QApplication.sendEvent(field, event)
        return event.isAccepted()

    assert claims(Qt.Key.Key_A) and claims(Qt.Key.Key_C)
    keys = FieldKeys(["Ctrl+A"], app, field)
    app.focusChanged.emit(None, field)
    assert not claims(Qt.Key.Key_A) and claims(Qt.Key.Key_C)
    app.focusChanged.emit(field, None)
    assert claims(Qt.Key.Key_A)
    keys.deleteLater()


# Quotes


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("one", "> one"),
        ("one\n\ntwo\n", "> one\n>\n> two"),
        ("> said\n    code", "> > said\n>     code"),
        (" \n ", ""),
    ],
)
def test_a_quote_marks_every_line(text: str, quote: str) -> None:
    assert quote_of(text) == quote


@pytest.mark.parametrize(
    ("written", "whole"),
    [("", "> one\n\n"), ("I said\n", "I said\n\n> one\n\n"), ("a\n\n\n", "a\n\n> one\n\n")],
)
def test_a_quote_stands_behind_what_is_written_and_the_caret_behind_it(
    qtbot: QtBot, written: str, whole: str
) -> None:
    field = QPlainTextEdit()
    qtbot.addWidget(field)
    field.setPlainText(written)
    quote_into(field, "one")
    assert field.toPlainText() == whole
    assert field.textCursor().atEnd()
    field.undo()
    assert field.toPlainText() == written
