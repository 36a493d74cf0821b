"""The whole windowed program in the test's process, and a person who works with it.

Everything is real: the database in an empty folder, HTTP to a server on loopback, the widgets.
The person finds parts by their fixed names, types, clicks real buttons, and reads what a screen
reader would be told.
"""

import asyncio
import json
import time
from collections.abc import Callable, Coroutine, Iterable
from pathlib import Path
from typing import Any, TypeVar

import qasync
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import (
    QAction,
    QContextMenuEvent,
    QEnterEvent,
    QGuiApplication,
    QKeySequence,
    QMouseEvent,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QListView,
    QListWidget,
    QMessageBox,
    QPlainTextEdit,
    QTabBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from desktop import paths
from desktop.app.handing_over import Message
from desktop.app.program import Program
from desktop.core.links import parse_place
from desktop.ui.main_window import MainWindow
from desktop.ui.transcript.pane import TranscriptPane
from tests.e2e.nacre import Home
from tests.fakes.messages_api import MessagesServer
from tests.ui.conftest import until

SECONDS = 60.0
LOOK = 0.02  # seconds between two looks at the window, which cost a millisecond or more
T = TypeVar("T")
W = TypeVar("W", bound=QWidget)


class Person:
    """Opens the program on a home's data folder. `leave` closes the window and gives the exit code.

    The program runs while the person acts or waits and stands still in between, so that what is
    compared does not move. Every wait ends after a minute with what the person saw.
    """

    RETURN = Qt.Key.Key_Return

    def __init__(
        self,
        home: Home,
        loop: qasync.QEventLoop,
        qtbot: QtBot,
        *,
        until_open: bool = True,
        typed: str = "",
    ) -> None:
        """Waits `until_open`, or else only until the window can be typed in; `typed` at once."""
        self.home = home
        self._loop = loop
        self._qtbot = qtbot
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        self._program = self._now(lambda: Program(app, paths.choose(str(home.data)).folder))
        self._life = loop.create_task(self._program.run(), name="program")
        self.window = self._own_window()
        if typed:
            self.when(lambda: self.shows("composer"), lambda: self._type(typed))
        self.wait(self.opened if until_open else lambda: self.shows("composer"))

    def opened(self) -> object:
        """Whether everything is loaded, or it was said why not."""
        return self.action("settings").isEnabled() or self.banner()

    # -- looking ------------------------------------------------------------------------------

    def part(self, kind: type[W], name: str) -> W:
        """The one visible part of this name."""
        found = self.parts(kind, name)
        assert len(found) == 1, f"{len(found)} parts are called {name}"
        return found[0]

    def parts(self, kind: type[W], name: str) -> list[W]:
        """All visible parts of this name, in this window and its dialogs."""
        return [one for one in self.window.findChildren(kind, name) if one.isVisible()]

    def shows(self, name: str) -> bool:
        return bool(self.parts(QWidget, name))

    def action(self, name: str) -> QAction:
        action = self.window.findChild(QAction, f"action.{name}")
        assert action is not None, name
        return action

    @property
    def composer(self) -> QPlainTextEdit:
        return self.part(QPlainTextEdit, "composer")

    @property
    def pane(self) -> TranscriptPane:
        pane = self.part(QListView, "transcript").parentWidget()
        assert isinstance(pane, TranscriptPane)
        return pane

    @property
    def tabs(self) -> QTabBar:
        return self.part(QTabBar, "tabStrip")

    def transcript(self) -> list[str]:
        """What a screen reader is told of the rows on the screen."""
        return self.pane.visible_texts() if self.shows("transcript") else []

    def reads(self, words: str) -> bool:
        """Whether a row on the screen has these words."""
        return any(words in line for line in self.transcript())

    def banner(self) -> str:
        """The messages over the window and over the conversation."""
        return "\n".join(one.text() for one in self.parts(QLabel, "bannerText"))

    def labels(self) -> str:
        """All words that stand on the screen outside of the transcript."""
        return "\n".join(one.text() for one in self.window.findChildren(QLabel) if one.isVisible())

    def idle(self) -> bool:
        """Whether no turn runs in the conversation in view."""
        return not self.parts(QLabel, "activityLine")

    # -- doing --------------------------------------------------------------------------------

    def write(self, text: str) -> None:
        """Types into the message field."""

        self._now(lambda: self._type(text))

    def _type(self, text: str) -> None:
        self.composer.setFocus()
        self._qtbot.keyClicks(self.composer, text)

    def paste(self, text: str) -> None:
        """Pastes into the message field, as Ctrl+V does."""
        clipboard = QGuiApplication.clipboard()
        # Not `setMimeData`: the object would die twice, at the end of the process.
        clipboard.setText(text)
        self._now(self.composer.paste)
        clipboard.clear()

    def clear(self) -> None:
        """Empties the message field."""
        self._now(self.composer.clear)

    def hit(self, key: Qt.Key, where: QWidget) -> None:
        """Presses a key at once: for use inside `when`."""
        self._qtbot.keyClick(where, key)

    def press(self, key: Qt.Key, where: QWidget | None = None) -> None:
        """Presses a key in the message field, or in another part."""
        self._now(lambda: self._qtbot.keyClick(where or self.composer, key))

    def say(self, text: str) -> None:
        """Types a message and sends it with Enter; the field is empty once it is kept."""
        self.write(text)
        self.wait(lambda: self.part_enabled("sendButton"))
        self.press(Qt.Key.Key_Return)
        self.wait(lambda: not self.composer.toPlainText())

    def click(self, name: str) -> None:
        """Clicks a button once it is there and enabled."""
        self.wait(lambda: self.part_enabled(name))
        self.click_on(self.part(QAbstractButton, name))

    def click_on(self, part: QWidget, place: QPoint | None = None) -> None:
        """Clicks into the middle of a part, or at a place in it."""
        at = place or part.rect().center()
        self._now(lambda: self._qtbot.mouseClick(part, Qt.MouseButton.LeftButton, pos=at))

    def point_at(self, part: QWidget) -> None:
        """The pointer comes over a part."""
        event = QEnterEvent(QPointF(), QPointF(), QPointF())
        self._now(lambda: QApplication.sendEvent(part, event))

    def part_enabled(self, name: str) -> bool:
        return any(one.isEnabled() for one in self.parts(QAbstractButton, name))

    def keys(self, sequence: str) -> None:
        """Presses a shortcut, such as `Ctrl+W`, where the focus is."""
        # A dialog that closed gave nothing back on a screen without a window manager.
        self._now(self.window.activateWindow)
        self.wait(self.window.isActiveWindow)
        self._now(lambda: QTest.keySequence(self.composer, QKeySequence(sequence)))

    def do(self, name: str) -> None:
        """Chooses an entry of a menu."""
        self.wait(self.action(name).isEnabled)
        self._now(self.action(name).trigger)

    def choose(self, name: str, value: Any) -> None:
        """Chooses an entry of a list of choices by its value, as a click on it does."""
        combo = self.part(QComboBox, name)
        at = combo.findData(value)
        assert at >= 0, f"{name} has no {value}"

        def choosing() -> None:
            combo.setCurrentIndex(at)
            combo.activated.emit(at)

        self._now(choosing)

    def type_into(self, name: str, text: str) -> None:
        field = self.part(QLineEdit, name)

        def typing() -> None:
            field.clear()
            self._qtbot.keyClicks(field, text)

        self._now(typing)

    def open_folder(self, folder: Path) -> None:
        """Chooses a folder in the dialog; it becomes the folder of the new conversation."""
        self.do("open_folder")
        self.wait(lambda: self.window.findChild(QFileDialog))
        dialog = self.window.findChild(QFileDialog)
        assert dialog is not None
        name = dialog.findChild(QLineEdit, "fileNameEdit")
        assert name is not None
        name.setText(str(folder))
        self.press(Qt.Key.Key_Return, name)
        self.wait(lambda: self.shows("folderChoice") and self._chosen_folder() == str(folder))

    def begin(self, text: str) -> str:
        """Begins a conversation on the page for new ones; its id."""
        before = set(self.tab_ids())
        if not self.shows("newPage"):
            self.do("new")
        self.write(text)
        self.wait(lambda: self.part_enabled("sendButton"))
        self.press(Qt.Key.Key_Return)
        self.wait(lambda: self.shows("transcript") and set(self.tab_ids()) - before)
        (tab_id,) = set(self.tab_ids()) - before
        return tab_id

    def tab_ids(self) -> list[str]:
        """The open conversations in the order of the strip."""
        strip = self.window.findChild(QTabBar, "tabStrip")
        assert strip is not None
        return [str(data) for at in range(strip.count()) if (data := strip.tabData(at))]

    def go_to(self, tab_id: str) -> None:
        """Clicks the tab of a conversation."""
        at = self.tab_ids().index(tab_id)
        self.click_on(self.tabs, self.tabs.tabRect(at).center())

    def wait(self, predicate: Callable[[], object]) -> None:
        """Runs the program until the predicate holds."""
        try:
            self._run(self._until(predicate))
        except AssertionError as error:
            raise AssertionError(f"{error}; the person saw:\n{self._seen()}") from error

    def when(self, predicate: Callable[[], object], act: Callable[[], object]) -> None:
        """Waits, and acts in the very moment that the predicate holds."""
        self.wait(lambda: predicate() and (act(), True))

    def wait_at_gate(self, server: MessagesServer, name: str) -> None:
        """Runs the program until an answer stands at the gate."""
        self.wait(lambda: at_gate(server, name))

    def answer_box(self, label: str) -> None:
        """Clicks a button of the question that stands over the window."""
        self.wait(lambda: self._box_buttons(label))
        self._now(self._box_buttons(label)[0].click)

    def choose_section(self, title: str) -> None:
        """Turns to a section of the settings."""
        sections = self.window.findChild(QListWidget)
        assert sections is not None
        (item,) = sections.findItems(title, Qt.MatchFlag.MatchExactly)
        self._now(lambda: sections.setCurrentItem(item))

    def close_dialog(self, name: str) -> None:
        """Closes a dialog with Esc."""
        self.press(Qt.Key.Key_Escape, self.part(QWidget, name))
        self.wait(lambda: not self.shows(name))

    def close(self) -> None:
        """Closes the window, as its frame's button does."""
        self._now(self.window.close)

    def windows(self) -> list[MainWindow]:
        """Those that can be seen, the first that was made first."""
        made = [one for one in QApplication.topLevelWidgets() if isinstance(one, MainWindow)]
        return [one for one in made if one.isVisible()]

    def look_at(self, window: MainWindow) -> None:
        """Turns to another window, as a click on its frame does."""
        self.window = window
        self._now(window.activateWindow)
        self.wait(window.isActiveWindow)

    def another_window(self) -> MainWindow:
        """Opens one more and turns to it."""
        before = set(self.windows())
        self.do("new_window")
        self.wait(lambda: set(self.windows()) - before)
        (window,) = set(self.windows()) - before
        self.look_at(window)
        return window

    def leave(self) -> int:
        """Closes the window and waits for the end."""
        self.close()
        return self.ended()

    def ended(self) -> int:
        """Waits for the end of the program and lets its windows go; the exit code."""
        self._run(asyncio.wait_for(asyncio.shield(self._life), SECONDS))
        # Gone before the next one opens: an application's style goes through all windows there are.
        left = [one for one in QApplication.topLevelWidgets() if isinstance(one, MainWindow)]
        deleted: list[bool] = []
        for window in left:
            window.destroyed.connect(lambda: deleted.append(True))
            window.deleteLater()
        self._run(until(lambda: len(deleted) == len(left), SECONDS))
        return self._life.result()

    def gone(self) -> bool:
        """Whether the program is over."""
        return self._life.done()

    def give_up(self) -> None:
        """After a test: ends what the test did not end itself."""
        if not self._life.done():
            self._now(self._program.quit)
            self.ended()

    def move_mouse(self, part: QWidget, place: QPoint) -> None:
        """Moves the mouse over a part. Not by QTest, which would run the loop inside the loop."""
        at, nowhere = QPointF(place), Qt.MouseButton.NoButton
        event = QMouseEvent(
            QEvent.Type.MouseMove,
            at,
            QPointF(part.mapToGlobal(place)),
            nowhere,
            nowhere,
            Qt.KeyboardModifier.NoModifier,
        )
        self._now(lambda: QApplication.sendEvent(part, event))

    def walk(self, key: Qt.Key, where: QWidget) -> None:
        """Presses an arrow with Ctrl: to the next row of a transcript."""
        control = Qt.KeyboardModifier.ControlModifier
        self._now(lambda: self._qtbot.keyClick(where, key, control))

    def ask_menu(self, part: QWidget) -> None:
        """Presses the menu key."""
        middle = part.rect().center()
        event = QContextMenuEvent(
            QContextMenuEvent.Reason.Keyboard, middle, part.mapToGlobal(middle)
        )
        self._now(lambda: QApplication.sendEvent(part, event))

    def start_again(self, place: str = "") -> None:
        """A second start on this data folder is heard, with what it is to open."""
        wanted = parse_place(place) if place else None
        self._now(lambda: self._program.arrivals.hear(Message(wanted)))

    def now(self, act: Callable[[], T]) -> T:
        """Acts at once, as an event that the program gets from Qt would."""
        return self._now(act)

    # -- parts --------------------------------------------------------------------------------

    def _now(self, act: Callable[[], T]) -> T:
        """Acts inside the running loop, where Qt delivers events in the real program."""

        async def acting() -> T:
            return act()

        return self._run(acting())

    def _run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """As `run_until_complete`, but qasync's own lets Qt's events through once more when the
        loop is over already, and what they wake finds no running loop."""
        task = self._loop.create_task(coroutine)
        task.add_done_callback(lambda _: self._loop.stop())
        self._loop.run_forever()
        return task.result()

    async def _until(self, predicate: Callable[[], object]) -> None:
        deadline = time.monotonic() + SECONDS
        while not predicate():
            assert not self._life.done(), "the program ended"
            assert time.monotonic() < deadline, f"did not hold within {SECONDS} s"
            await asyncio.sleep(LOOK)

    def _own_window(self) -> MainWindow:
        """The window that is shown first: the program runs one turn of the loop for it."""
        self._run(until(lambda: self._life.done() or self.windows(), SECONDS))
        (window,) = self.windows()
        return window

    def _chosen_folder(self) -> str:
        combo = self.part(QComboBox, "folderChoice")
        return str(combo.itemData(combo.currentIndex(), Qt.ItemDataRole.ToolTipRole) or "")

    def _box_buttons(self, label: str) -> list[QAbstractButton]:
        boxes = [one for one in self.window.findChildren(QMessageBox) if one.isVisible()]
        return [button for box in boxes for button in box.buttons() if button.text() == label]

    def _seen(self) -> str:
        return "\n".join([self.labels(), "-- transcript", *self.transcript()])


def at_gate(server: MessagesServer, name: str) -> bool:
    """Whether an answer stands at the gate now."""
    try:
        server.wait_at_gate(name, timeout=0)
    except TimeoutError:
        return False
    return True


def sealed(home: Home, tab_id: str) -> list[tuple[str, dict[str, Any]]]:
    """The rows of a conversation as they stand in the database: `(type, data)`."""
    return [
        (str(row["type"]), json.loads(row["data_json"]))
        for row in home.rows()
        if row["tab_id"] == tab_id
    ]


def spoken(rows: Iterable[tuple[str, dict[str, Any]]]) -> list[tuple[str, str]]:
    """The texts and thoughts among rows."""
    return [(kind, str(data["text"])) for kind, data in rows if kind in ("text", "thinking")]


def outcomes(home: Home, tab_id: str) -> list[str]:
    """How the conversation's turns ended."""
    return [
        str(data["outcome"])
        for kind, data in sealed(home, tab_id)
        if kind == "system" and data["kind"] == "turn_end"
    ]


def said(server: MessagesServer, number: int, role: str) -> list[str]:
    """The texts of one role in the n-th request, from 1."""
    return [
        str(block["text"])
        for message in server.requests[number - 1].json["messages"]
        if message["role"] == role
        for block in _blocks(message)
        if block["type"] == "text"
    ]


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
