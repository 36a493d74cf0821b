"""After a crash the next window says so once, and shows where it was (F9)."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import qasync
from PySide6.QtWidgets import QAbstractButton, QLabel, QPlainTextEdit, QPushButton, QToolButton

from desktop.app.helping import Helping
from desktop.app.windows import Windows
from desktop.headless.crashes import CrashFile
from desktop.paths import DataFolder
from desktop.ui.main_window import MainWindow
from desktop.ui.notice_bar import NoticeBar
from desktop.ui.preferences import LivePreferences
from desktop.ui.tasks import Tasks
from desktop.ui.text_box import TextBox
from desktop.ui.theme import LIGHT, Theme
from desktop.ui.window_cache import WindowCache
from tests.ui.conftest import until

TRACE = 'Fatal Python error: Aborted\n  File "x.py", line 3 in fall\n'


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    found = DataFolder(tmp_path / "data")
    found.prepare()
    return found


@pytest.fixture
def window(folder: DataFolder, loop: qasync.QEventLoop) -> Iterator[MainWindow]:
    """The window as it stands after the start of a process on the folder."""
    tasks = Tasks()
    theme = Theme("light", LIGHT)
    window = MainWindow(
        theme=theme, tasks=tasks, preferences=LivePreferences(tasks), cache=WindowCache()
    )
    window.show()
    windows = Windows()
    windows.add(window)
    helping = Helping(
        folder, windows=windows, tasks=tasks, theme=lambda: theme, runtime=lambda: None
    )
    window.diagnostics_wanted.connect(helping.show_diagnostics)
    crashes = CrashFile(folder.logs)
    loop.run_until_complete(helping.watch(crashes))
    crashes.end()
    yield window
    loop.run_until_complete(window.end())
    window.deleteLater()


@pytest.fixture
def crashed(folder: DataFolder) -> None:
    """The process before left a trace."""
    (folder.logs / "crash.log").write_text(TRACE, "utf-8")


def test_f9_without_a_crash_there_is_no_notice(window: MainWindow) -> None:
    assert window.findChildren(NoticeBar, "crashBar") == []


@pytest.mark.usefixtures("crashed")
def test_f9_a_crash_is_told_its_log_opens_and_closing_the_notice_takes_it_away(
    window: MainWindow, loop: qasync.QEventLoop
) -> None:
    bar = window.findChild(NoticeBar, "crashBar")
    assert bar is not None
    assert bar.isVisible()
    words = bar.findChild(QLabel, "crashBarText")
    assert words is not None
    assert words.text() == "Nacre ended unexpectedly last time."
    close = bar.findChild(QToolButton)
    assert close is not None
    assert close.accessibleName()

    async def look() -> str:
        press(bar, QPushButton)
        await until(lambda: window.findChildren(TextBox))
        (box,) = window.findChildren(TextBox)
        field = box.findChild(QPlainTextEdit)
        assert field is not None
        text = field.toPlainText()
        box.close()
        press(bar, QToolButton)
        await until(lambda: not window.findChildren(NoticeBar, "crashBar"))
        return text

    assert loop.run_until_complete(look()) == TRACE.strip()


def press(bar: NoticeBar, kind: type[QAbstractButton]) -> None:
    button = bar.findChild(kind)
    assert button is not None
    button.click()
