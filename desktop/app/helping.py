"""What helps when something went wrong: the diagnostics, and a notice after a crash.

Made with the window and usable while the log can't be opened; what it needs is loaded when asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from desktop.app.windows import Windows
from desktop.core.loading import at_rest
from desktop.headless.crashes import CrashFile, crash_left
from desktop.paths import DataFolder
from desktop.ui.notice_bar import NoticeBar
from desktop.ui.tasks import Tasks
from desktop.ui.theme import Theme

if TYPE_CHECKING:
    from desktop.headless.runtime import Runtime
    from desktop.ui.diagnostics_box import DiagnosticsBox
    from desktop.ui.text_box import TextBox


class Helping:
    """`runtime` gives what is open, None while nothing is."""

    def __init__(
        self,
        folder: DataFolder,
        *,
        windows: Windows,
        tasks: Tasks,
        theme: Callable[[], Theme],
        runtime: Callable[[], Runtime | None],
    ) -> None:
        self._folder = folder
        self._windows = windows
        self._tasks = tasks
        self._theme = theme
        self._runtime = runtime

    def show_diagnostics(self) -> None:
        self._tasks.start(self._show_diagnostics(), "show the diagnostics")

    async def _show_diagnostics(self) -> None:
        make, _ = await asyncio.to_thread(_import_boxes)
        make(self._theme(), read=self._read, tasks=self._tasks, parent=self._windows.front).open()

    async def _read(self) -> str:
        from datetime import UTC, datetime

        report = await asyncio.to_thread(_import_report)
        found = await report.about_window(self._folder, self._runtime())
        return await asyncio.to_thread(
            report.written, found, self._folder.logs, home=Path.home(), now=datetime.now(UTC)
        )

    async def watch(self, crashes: CrashFile) -> None:
        """From now on a crash leaves a trace; one of the last process is told."""
        if await asyncio.to_thread(crashes.begin):
            self._tell_of_crash()

    def _tell_of_crash(self) -> None:
        window = self._windows.front
        bar = NoticeBar(
            self._theme(),
            name="crashBar",
            act=window.tr("Open the log"),
            closable=True,
            parent=window,
        )
        bar.acted.connect(lambda: self._tasks.start(self._open_log(), "open the log"))
        bar.dismissed.connect(bar.deleteLater)
        window.show_bar(bar)
        bar.say(window.tr("Nacre ended unexpectedly last time."))

    async def _open_log(self) -> None:
        _, make = await asyncio.to_thread(_import_boxes)
        _, trace = await asyncio.to_thread(crash_left, self._folder.logs)
        window = self._windows.front
        box = make(
            self._theme(),
            title=window.tr("Where Nacre was when it ended"),
            text=trace,
            note=window.tr(
                "Help → Diagnostics has this too, with what else a report of a fault needs."
            ),
            parent=window,
        )
        box.finished.connect(box.deleteLater)
        box.open()


def _import_report() -> ModuleType:
    """On a thread."""
    with at_rest():
        from desktop.headless import report

    return report


def _import_boxes() -> tuple[type[DiagnosticsBox], type[TextBox]]:
    """On a thread."""
    with at_rest():
        from desktop.ui.diagnostics_box import DiagnosticsBox
        from desktop.ui.text_box import TextBox

    return DiagnosticsBox, TextBox
