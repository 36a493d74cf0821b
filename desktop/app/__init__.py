"""The composition root of the window: one loop, one window, everything else loaded behind it.

Imported modules are Qt, qasync and the window's own; the log, the network side and the markdown
renderer are loaded on a thread once the window has been painted (DESIGN.md §3).
"""

import asyncio
import gc
import os
import sys
from collections.abc import Callable, Sequence

os.environ.setdefault("QT_API", "pyside6")

import qasync
from PySide6.QtWidgets import QApplication

from desktop import paths
from desktop.app.display import display_problem
from desktop.app.program import Program
from desktop.app.threads import DaemonThreads


def run_window(
    data_dir: str | None,
    *,
    selftest: str | None = None,
    on_first_paint: Callable[[], None] | None = None,
    arguments: Sequence[str] = (),
) -> int:
    """Opens the window and returns the exit code when the program is over.

    `selftest` is the file for the picture of the last conversation (DESIGN.md §8). Raises
    DataFolderError when no data folder can be named at all.
    """
    problem = display_problem(os.environ, sys.platform)
    if problem:
        print(f"nacre: {problem}", file=sys.stderr)
        return 1
    # Collecting garbage before the first paint only looks at what the imports made.
    gc.disable()
    choice = paths.choose(data_dir)
    app = QApplication([sys.argv[0], *arguments])
    app.setApplicationName("Nacre")
    app.setDesktopFileName("nacre")
    app.setQuitOnLastWindowClosed(False)
    loop = qasync.QEventLoop(app)
    loop.set_default_executor(DaemonThreads())
    asyncio.set_event_loop(loop)
    with loop:
        program = Program(
            app,
            choice.folder,
            notices=choice.notices,
            selftest=selftest,
            on_first_paint=on_first_paint,
        )
        return loop.run_until_complete(program.run())
