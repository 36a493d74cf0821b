"""The window of a whole output, worked with by keys (SPEC U06, U37)."""

import asyncio
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
import qasync
from PySide6.QtCore import QCoreApplication, QEvent, QPointF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from desktop.core.chunks import ToolCall, ToolResult
from desktop.core.errors import NacreError
from desktop.ui.theme import theme_for
from desktop.ui.transcript.model import ROW_ROLE
from desktop.ui.transcript.pane import TranscriptPane
from desktop.ui.transcript.whole.window import OutputWindow
from tests.ui.conftest import until
from tests.ui.everyone import misheard, untabbed
from tests.ui.transcript.desk import Desk


class Reader:
    """A person with an output of many lines before them."""

    def __init__(self, loop: qasync.QEventLoop, qtbot: QtBot, path: Path) -> None:
        self.loop = loop
        self.tasks: set[asyncio.Task[Any]] = set()
        self.errors: list[str] = []
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        self.owner = QWidget()
        qtbot.addWidget(self.owner)
        theme = theme_for("light", app.palette())
        self.window = OutputWindow(path, "Output", theme, self.start, self.owner)
        self.window.show()
        self.settle()

    def start(self, coroutine: Coroutine[Any, Any, Any], name: str) -> None:
        async def guarded() -> None:
            try:
                await coroutine
            except NacreError as error:
                self.errors.append(str(error))

        task = self.loop.create_task(guarded(), name=name)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def settle(self) -> None:
        self.loop.run_until_complete(until(lambda: not self.tasks))

    def press(self, key: Qt.Key, ctrl: bool = False) -> None:
        held = Qt.KeyboardModifier.ControlModifier if ctrl else Qt.KeyboardModifier.NoModifier
        QTest.keyClick(self.window.text, key, held)
        self.settle()

    def lines(self) -> list[str]:
        return self.window.text.toPlainText().split("\n")

    def close(self) -> None:
        if isValid(self.window):
            self.window.close()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


@pytest.fixture
def output(tmp_path: Path) -> Path:
    path = tmp_path / "out"
    path.write_text("".join(f"line {number}\n" for number in range(5_000)), encoding="utf-8")
    return path


@pytest.fixture
def reader(loop: qasync.QEventLoop, qtbot: QtBot, output: Path) -> Iterator[Reader]:
    made = Reader(loop, qtbot, output)
    yield made
    made.close()


def test_keys_move_through_all_of_it(reader: Reader) -> None:
    first = reader.lines()
    assert first[:2] == ["line 0", "line 1"]
    reader.press(Qt.Key.Key_PageDown)
    assert reader.lines()[0] == first[-1]
    reader.press(Qt.Key.Key_PageUp)
    assert reader.lines() == first
    reader.press(Qt.Key.Key_End, ctrl=True)
    assert reader.lines()[-1] == "line 4999"
    assert "100 %" in reader.window.status.text()
    reader.press(Qt.Key.Key_Up, ctrl=True)
    assert reader.lines()[-1] == "line 4998"
    reader.press(Qt.Key.Key_Home, ctrl=True)
    assert reader.lines() == first


def test_the_end_stays_in_sight_when_the_window_gets_smaller(reader: Reader) -> None:
    reader.press(Qt.Key.Key_End, ctrl=True)
    reader.window.resize(reader.window.width(), 300)
    reader.settle()
    assert reader.lines()[-1] == "line 4999"
    assert len(reader.lines()) == reader.window.text.fitting


def test_u06_many_wishes_to_move_are_one_read(reader: Reader) -> None:
    for _ in range(100):
        reader.window.move_by(3)
    assert len(reader.tasks) == 1
    reader.settle()
    assert reader.lines()[0] == "line 300"


def test_a_text_is_found_forwards_and_backwards(reader: Reader) -> None:
    field = reader.window.findChild(QLineEdit, "outputFind")
    assert field is not None
    field.setText("LINE 40")
    found: list[str] = []
    for step in ("Next", "Next", "Previous"):
        button = reader.window.findChild(QPushButton, f"output{step}")
        assert button is not None
        button.click()
        reader.settle()
        found.append(reader.lines()[0])
    assert found == ["line 40", "line 400", "line 40"]
    assert reader.window.text.textCursor().selectedText() == "line 40"
    field.setText("nowhere")
    reader.window.find_next()
    reader.settle()
    assert reader.window.status.text() == "Not found from here on."


def test_copy_takes_what_is_marked_else_what_is_seen(reader: Reader) -> None:
    reader.window.copy()
    assert QGuiApplication.clipboard().text().split("\n") == reader.lines()
    reader.window.text.find("line 3")
    reader.window.copy()
    assert QGuiApplication.clipboard().text() == "line 3"


def test_save_writes_all_of_it_and_never_over_a_file(
    reader: Reader, output: Path, tmp_path: Path
) -> None:
    button = reader.window.findChild(QPushButton, "outputSave")
    assert button is not None
    for _ in range(2):
        button.click()
        reader.loop.run_until_complete(until(lambda: reader.window.findChild(QFileDialog)))
        dialog = reader.window.findChild(QFileDialog)
        assert isinstance(dialog, QFileDialog)
        dialog.setDirectory(str(tmp_path))
        dialog.selectFile("output.txt")
        dialog.done(1)
        reader.settle()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    assert (tmp_path / "output.txt").read_bytes() == output.read_bytes()
    assert reader.errors == ["There is already a file of this name: nothing was written."]


def test_a_file_that_is_gone_is_told(reader: Reader, output: Path) -> None:
    output.unlink()
    reader.press(Qt.Key.Key_PageDown)
    assert reader.errors == ["The output could not be read."]


def test_u38_its_parts_have_names_and_are_all_reached_with_tab(reader: Reader) -> None:
    window = reader.window
    assert misheard(window) == []
    found = untabbed(window, window.field, lambda act: act())
    # Rings are the program's, which is not there.
    assert [one for one in found if "ring" not in one] == []


def test_closing_while_it_reads_harms_nothing(reader: Reader) -> None:
    reader.window.move_by(3)
    reader.close()
    reader.settle()
    assert reader.errors == []


def test_u06_open_all_in_a_card_opens_the_kept_file(
    loop: qasync.QEventLoop, qtbot: QtBot, output: Path, tmp_path: Path
) -> None:
    """From the log through the pane to the window."""
    desk = Desk(loop, qtbot)
    desk.log.blobs = tmp_path
    printed = output.read_text(encoding="utf-8")
    sha256, length = desk.run(desk.log.session(desk.tab).keep_file(output, "text/plain"))
    full = {"sha256": sha256, "size": length}
    desk.say(
        ToolCall("c", "shell", {"command": "seq"}),
        ToolResult("c", "shell", printed[:900], extra={"full": full}),
    )
    pane = TranscriptPane(
        desk.tab,
        theme=desk.theme(),
        reader=desk.log.reader,
        hub=desk.hub,
        start=desk.start,
        later=desk.later,
    )
    qtbot.addWidget(pane)
    pane.resize(800, 900)
    pane.show()
    pane.enter()
    desk.run(until(lambda: pane.loaded and not desk.tasks))
    pane.view.set_fold(pane.view.model().index(0, 0).data(ROW_ROLE).id, "open")
    pane.view.grab()
    places = (QPointF(60, y) for y in range(0, 900, 8))
    hits = [hit for hit in map(pane.view.hit_at, places) if hit and hit.kind == "open"]
    pane.view.open_requested.emit(hits[0].value)
    desk.run(until(lambda: pane.findChild(OutputWindow) and not desk.tasks))
    window = pane.findChild(OutputWindow)
    assert window is not None
    assert window.text.toPlainText().startswith("line 0\nline 1\n")
    window.close()
    assert not window.isVisible()
    pane.leave()
    desk.run(until(lambda: not desk.tasks))
