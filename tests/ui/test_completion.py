"""Completion in the message field: files after `@`, commands after `/` (SPEC U38, LOOK.md)."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import qasync
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtWidgets import QListWidget, QWidget
from pytestqt.qtbot import QtBot

from desktop.core.model import ModelInfo
from desktop.tools.naming import file_names
from desktop.ui.completion.commanding import Commanding
from desktop.ui.completion.commands import OF_A_CONVERSATION
from desktop.ui.completion.completing import Completing
from desktop.ui.composer import Composer
from desktop.ui.tasks import Tasks
from desktop.ui.theme import LIGHT, Theme
from tests.ui.conftest import until

FILES = ("README.md", "src/app.py", "src/my notes.md", "tests/test_app.py")


class Desk:
    """A field with what is plugged into it, and what comes out of it."""

    def __init__(self, loop: qasync.QEventLoop, qtbot: QtBot) -> None:
        self._loop = loop
        self._qtbot = qtbot
        self.files: Sequence[str] = FILES
        self.read = 0
        self.window = QWidget()
        qtbot.addWidget(self.window)
        self.window.resize(700, 500)
        self.composer = Composer(Theme("light", LIGHT), self.window)
        self.composer.setGeometry(20, 300, 600, 180)
        self.composer.show_ready(True)
        self.composer.show_models((ModelInfo("m-1", "Model One", efforts=("low", "high")),))
        self.composer.show_choice("m-1", "", "ask")
        self.done: list[tuple[str, str]] = []
        given = {"compact": lambda text: self.done.append(("compact", text))}
        self.commanding = Commanding(self.composer, OF_A_CONVERSATION, given)
        self.commanding.action_wanted.connect(lambda name: self.done.append((name, "")))
        self.composer.send_wanted.connect(lambda text, _: self.done.append(("send", text)))
        self.composer.stop_wanted.connect(lambda: self.done.append(("stop", "")))
        self.tasks = Tasks()
        self.completing = Completing(
            self.composer, tasks=self.tasks, names=self._names, commanding=self.commanding
        )
        self.window.show()
        self.field = self.composer.field
        self.field.setFocus()

    async def _names(self) -> Sequence[str]:
        self.read += 1
        return self.files

    def type(self, text: str) -> None:
        self.now(lambda: self._qtbot.keyClicks(self.field, text))

    def hit(self, what: str | Qt.Key) -> None:
        """At once, inside of `now`."""
        if isinstance(what, str):
            self._qtbot.keyClicks(self.field, what)
        else:
            self._qtbot.keyClick(self.field, what)

    def press(self, *keys: Qt.Key) -> None:
        self.now(lambda: [self._qtbot.keyClick(self.field, key) for key in keys])

    def now(self, act: Callable[[], object]) -> None:
        """Acts while the program runs, until nothing of it is on its way."""

        async def acting() -> None:
            act()
            running = self.tasks._running  # pyright: ignore[reportPrivateUsage]
            await until(lambda: not running)

        self._loop.run_until_complete(acting())

    def offered(self) -> list[str]:
        found = self.window.findChild(QListWidget, "completionList")
        if found is None or not found.isVisible():
            return []
        return [found.item(row).text() for row in range(found.count())]

    def on(self) -> str:
        found = self.window.findChild(QListWidget, "completionList")
        assert found is not None
        return found.currentItem().text()

    @property
    def text(self) -> str:
        return self.composer.text()

    def until(self, predicate: Callable[[], object]) -> None:
        self._loop.run_until_complete(until(predicate))

    def compose(self, preedit: str, committed: str = "") -> None:
        event = QInputMethodEvent(preedit, [])
        event.setCommitString(committed)
        self.now(lambda: QCoreApplication.sendEvent(self.field, event))


@pytest.fixture
def desk(loop: qasync.QEventLoop, qtbot: QtBot) -> Desk:
    return Desk(loop, qtbot)


def test_files_are_offered_after_an_at_and_put_in_by_enter_or_tab(desk: Desk) -> None:
    desk.type("read @app")
    assert desk.offered() == ["src/app.py", "tests/test_app.py"]
    desk.press(Qt.Key.Key_Return)
    assert desk.text == "read src/app.py "
    assert desk.offered() == []
    desk.type("and @not")
    desk.press(Qt.Key.Key_Tab)
    assert desk.text == 'read src/app.py and "src/my notes.md" '
    desk.press(Qt.Key.Key_Return)
    assert desk.done == [("send", 'read src/app.py and "src/my notes.md" ')]


def test_arrows_go_around_and_leave_the_caret_alone(desk: Desk) -> None:
    desk.type("@")
    caret = desk.field.textCursor().position()
    desk.press(Qt.Key.Key_Up)
    assert desk.on() == desk.offered()[-1]
    desk.press(Qt.Key.Key_Down, Qt.Key.Key_Down)
    assert desk.on() == desk.offered()[1]
    assert desk.field.textCursor().position() == caret


def test_escape_closes_the_list_for_this_word_and_stops_nothing(desk: Desk) -> None:
    desk.type("@ap")
    desk.press(Qt.Key.Key_Escape)
    assert desk.offered() == []
    desk.type("p")
    assert desk.offered() == []
    assert desk.done == []
    desk.type(" @app")
    assert desk.offered() != []
    desk.press(Qt.Key.Key_Escape, Qt.Key.Key_Escape)
    assert desk.done == [("stop", "")]


def test_what_was_put_in_is_undone_in_one_step(desk: Desk) -> None:
    desk.type("see @app")
    desk.press(Qt.Key.Key_Return)
    desk.field.undo()
    assert desk.text == "see @app"
    desk.field.redo()
    assert desk.text == "see src/app.py "


def test_letters_beyond_the_first_plane_are_left_alone(desk: Desk) -> None:
    desk.files = ("🐚/𝒜.md",)
    desk.compose("", "🐚 @𝒜")
    desk.press(Qt.Key.Key_Return)
    assert desk.text == '🐚 "🐚/𝒜.md" '


def test_u38_nothing_is_offered_or_chosen_while_an_input_method_composes(desk: Desk) -> None:
    desk.type("@")
    assert desk.offered()
    desk.compose("にほ")
    assert desk.offered() == []
    desk.press(Qt.Key.Key_Return, Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Tab)
    desk.press(Qt.Key.Key_Escape)
    assert desk.done == []
    assert desk.text == "@"
    desk.files = ("日本.md",)
    desk.completing.forget()
    desk.compose("", "日本")
    assert desk.offered() == ["日本.md"]


def test_what_was_offered_for_fewer_letters_is_not_put_in(desk: Desk) -> None:
    """The names are sorted on a thread: a quick Enter may come before the answer."""
    desk.type("@app")

    def quickly() -> None:
        desk.hit("zz")
        desk.hit(Qt.Key.Key_Return)

    desk.now(quickly)
    assert desk.text == "@appzz"
    assert desk.offered() == []
    assert desk.done == []


def test_the_list_stands_while_one_goes_on_typing_and_goes_with_the_caret(desk: Desk) -> None:
    desk.type("@ap")

    def letter() -> None:
        desk.hit("p")
        assert desk.offered() != []

    desk.now(letter)
    desk.press(Qt.Key.Key_Left)
    assert desk.offered() == []


def test_a_name_that_would_mislead_is_shown_as_it_is(desk: Desk) -> None:
    desk.files = ("a\u202egpj.exe",)
    desk.type("@a")
    assert desk.offered() == ["a‹U+202E›gpj.exe"]
    desk.press(Qt.Key.Key_Return)
    assert desk.text == '"a\\u202egpj.exe" '


def test_the_folder_is_not_read_with_every_letter(desk: Desk) -> None:
    desk.type("@app and @read")
    assert desk.offered() == ["README.md"]
    assert desk.read == 1


def test_what_comes_from_elsewhere_asks_for_nothing(desk: Desk) -> None:
    """A draft, a message from before, a text of a few lines that was pasted."""
    desk.now(lambda: desk.composer.set_text("see @app"))
    assert desk.offered() == []


def test_commands_are_offered_at_the_beginning_only(desk: Desk) -> None:
    desk.type("/")
    assert "/compact" in desk.offered()
    desk.type("co")
    assert desk.offered() == ["/compact"]
    desk.press(Qt.Key.Key_Return)
    assert desk.text == "/compact "
    desk.type("keep the API")
    desk.press(Qt.Key.Key_Return)
    assert desk.done == [("compact", "keep the API")]
    assert desk.text == ""
    desk.type("see /co")
    assert desk.offered() == []


def test_a_command_that_takes_nothing_is_done_by_one_enter(desk: Desk) -> None:
    desk.type("/usa")
    desk.press(Qt.Key.Key_Return)
    assert desk.done == [("usage", "")]
    assert desk.text == ""


def test_a_command_typed_to_its_end_asks_what_its_action_asks(desk: Desk) -> None:
    desk.type("/compact")
    desk.press(Qt.Key.Key_Return)
    assert desk.done == [("compact", "")]


def test_a_path_at_the_beginning_is_sent_as_it_is(desk: Desk) -> None:
    desk.type("/etc/hosts is broken")
    desk.press(Qt.Key.Key_Return)
    assert desk.done == [("send", "/etc/hosts is broken")]


def test_a_model_is_chosen_from_its_list_and_an_unknown_one_is_said(desk: Desk) -> None:
    chosen: list[str] = []
    desk.composer.mode_chosen.connect(chosen.append)
    desk.type("/mod")
    desk.press(Qt.Key.Key_Down, Qt.Key.Key_Return)
    assert "Ask first" in desk.offered()
    desk.type("acc")
    desk.press(Qt.Key.Key_Return)
    assert chosen == ["accept-edits"]
    assert desk.composer.choice()[2] == "accept-edits"
    assert desk.text == ""
    desk.type("/model x")
    desk.press(Qt.Key.Key_Return)
    assert "Model One" in desk.composer.attached.complaint
    assert desk.text == "/model x"
    assert desk.done == []


def test_while_an_earlier_message_is_edited_it_is_sent_whatever_it_is(desk: Desk) -> None:
    desk.composer.show_editing(True)
    desk.composer.set_text("/usage")
    desk.press(Qt.Key.Key_Return)
    assert desk.done == [("send", "/usage")]


def test_the_list_keeps_above_the_field_and_tells_what_is_on(desk: Desk) -> None:
    desk.type("@app")
    found = desk.window.findChild(QListWidget, "completionList")
    assert found is not None
    frame = found.parentWidget()
    assert frame is not None
    assert frame.geometry().bottom() < desk.composer.geometry().top()
    assert frame.accessibleDescription() == "src/app.py, 1 of 2"
    assert desk.field.hasFocus() or not desk.window.isActiveWindow()


def test_the_list_goes_with_its_field(desk: Desk) -> None:
    """It stands in the window, where the lists of closed conversations would gather."""
    desk.type("@")
    desk.now(desk.composer.deleteLater)

    desk.until(lambda: not desk.window.findChildren(QListWidget, "completionList"))


def test_names_of_a_folder_leave_out_what_is_ignored(
    loop: qasync.QEventLoop, tmp_path: Path
) -> None:
    (tmp_path / ".gitignore").write_text("*.log\n")
    for name in ("a.py", "b.log", ".hidden"):
        (tmp_path / name).touch()
    names = loop.run_until_complete(asyncio.wait_for(file_names(tmp_path), 30))
    assert names == (".gitignore", ".hidden", "a.py")
    assert loop.run_until_complete(file_names(tmp_path / "none")) == ()
