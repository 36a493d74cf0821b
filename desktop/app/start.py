"""Qt's application, the one loop, and the program on it."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

os.environ.setdefault("QT_API", "pyside6")

import qasync
from PySide6.QtWidgets import QApplication

from desktop.app.display import display_problem
from desktop.app.program import Program
from desktop.app.threads import DaemonThreads

if TYPE_CHECKING:
    from desktop.app.front_door import FrontDoor
    from desktop.app.selftest import Errand
    from desktop.paths import Choice

# The name of the desktop file (pyproject.toml, `tool.nacre.packages`): by it a desktop finds the
# icon of a window, and groups windows.
APP_ID = "org.nacre.Nacre"


def open_window(
    choice: Choice,
    door: FrontDoor,
    *,
    errand: Errand | None = None,
    on_first_paint: Callable[[], None] | None = None,
) -> int:
    """See `desktop.app.run_window`."""
    problem = display_problem(os.environ, sys.platform)
    if problem:
        print(f"nacre: {problem}", file=sys.stderr)
        return 1
    app = QApplication(sys.argv[:1])
    app.setApplicationName("Nacre")
    app.setDesktopFileName(APP_ID)
    app.setQuitOnLastWindowClosed(False)
    loop = qasync.QEventLoop(app)
    loop.set_default_executor(DaemonThreads())
    asyncio.set_event_loop(loop)
    with loop:
        program = Program(
            app,
            choice.folder,
            door=door,
            notices=choice.notices,
            errand=errand,
            on_first_paint=on_first_paint,
        )
        try:
            return loop.run_until_complete(program.run())
        except Exception as error:
            program.note_death(error)
            raise
