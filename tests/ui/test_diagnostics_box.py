"""Help → Diagnostics: what is read there is what is saved, and nothing else (F9)."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import qasync
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QFileDialog, QLabel, QLineEdit, QPlainTextEdit
from pytestqt.qtbot import QtBot

from desktop.core.errors import StoreError
from desktop.ui.diagnostics_box import FILE, DiagnosticsBox
from desktop.ui.tasks import Tasks
from desktop.ui.theme import LIGHT, Theme
from tests.e2e.nacre import KEY, Home
from tests.fakes.messages_api import MessagesServer, reply, text
from tests.ui.conftest import Enter, until

Open = Callable[[str | StoreError], DiagnosticsBox]


@pytest.fixture
def opened(loop: qasync.QEventLoop, qtbot: QtBot) -> Iterator[Open]:
    """The box over a window, as it stands when everything is read."""
    windows: list[QLabel] = []

    def begin(text: str | StoreError) -> DiagnosticsBox:
        async def read() -> str:
            if isinstance(text, StoreError):
                raise text
            return text

        async def open_it() -> DiagnosticsBox:
            window = QLabel("window")
            windows.append(window)
            qtbot.addWidget(window)
            window.show()
            box = DiagnosticsBox(
                Theme("light", LIGHT), read=read, tasks=Tasks(window), parent=window
            )
            box.open()
            await until(lambda: field(box).toPlainText() or said(box) != "Looking…")
            return box

        return loop.run_until_complete(open_it())

    yield begin
    for window in windows:
        for box in window.findChildren(DiagnosticsBox):
            box.close()


def field(box: DiagnosticsBox) -> QPlainTextEdit:
    found = box.findChild(QPlainTextEdit, "diagnosticsText")
    assert found is not None
    return found


def said(box: DiagnosticsBox) -> str:
    label = box.findChild(QLabel, "diagnosticsSaid")
    assert label is not None
    return label.text()


def button(box: DiagnosticsBox, name: str) -> QAbstractButton:
    found = box.findChild(QAbstractButton, name)
    assert found is not None
    return found


def save_as(box: DiagnosticsBox, path: Path, loop: qasync.QEventLoop, qtbot: QtBot) -> None:
    """Save…, and the name of a file."""

    async def saving() -> None:
        button(box, "diagnosticsSave").click()
        await until(lambda: dialogs(box))
        name = dialogs(box)[0].findChild(QLineEdit, "fileNameEdit")
        assert name is not None
        name.setText(str(path))
        qtbot.keyClick(name, Qt.Key.Key_Return)
        await until(lambda: said(box))

    loop.run_until_complete(saving())


def dialogs(box: DiagnosticsBox) -> list[QFileDialog]:
    return [one for one in box.findChildren(QFileDialog) if one.isVisible()]


def test_f9_exactly_the_text_that_is_seen_is_saved_also_after_a_line_was_taken_out(
    opened: Open, tmp_path: Path, loop: qasync.QEventLoop, qtbot: QtBot
) -> None:
    box = opened("nacre: 1\nhost: mine\n\u202eodd\n")
    assert field(box).toPlainText() == "nacre: 1\nhost: mine\n‹U+202E›odd\n"
    field(box).setPlainText(field(box).toPlainText().replace("host: mine\n", ""))
    save_as(box, tmp_path / FILE, loop, qtbot)
    assert (tmp_path / FILE).read_text("utf-8") == "nacre: 1\n‹U+202E›odd\n"
    assert said(box) == f"Saved as {tmp_path / FILE}"


def test_f9_a_file_that_is_there_is_not_written_over(
    opened: Open, tmp_path: Path, loop: qasync.QEventLoop, qtbot: QtBot
) -> None:
    (tmp_path / FILE).write_text("mine", "utf-8")
    box = opened("nacre: 1\n")
    save_as(box, tmp_path / FILE, loop, qtbot)
    assert "already a file" in said(box)
    assert (tmp_path / FILE).read_text("utf-8") == "mine"


def test_f9_what_can_not_be_read_is_said_and_nothing_can_be_saved(opened: Open) -> None:
    box = opened(StoreError("The log can't be read."))
    assert said(box) == "The log can't be read."
    assert not button(box, "diagnosticsSave").isEnabled()
    assert not button(box, "diagnosticsCopy").isEnabled()


def test_f9_the_menu_shows_the_programs_own_report_without_its_key_and_what_was_said(
    home: Home, enter: Enter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(home.root))
    with MessagesServer([reply(text("a secret answer"))]) as server:
        person = enter(server)
        person.begin("a secret question")
        person.wait(lambda: person.reads("a secret answer") and person.idle())
        person.do("diagnostics")
        person.wait(
            lambda: (
                person.shows("diagnosticsText")
                and person.part(QPlainTextEdit, "diagnosticsText").toPlainText()
            )
        )
        told = person.part(QPlainTextEdit, "diagnosticsText").toPlainText()
        person.close_dialog("diagnosticsBox")
        assert person.leave() == 0
    assert "dataFolder: ~/data\n" in told
    assert "key: environment\n" in told
    assert "sandbox:\n" in told
    for private in (KEY, "secret", str(home.root)):
        assert private not in told
