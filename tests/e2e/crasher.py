"""The real window, whose process then really crashes.

    python -m tests.e2e.crasher DATA_FOLDER

It waits until the program is ready for that, and reads memory that is nobody's.
"""

import faulthandler
import sys
from pathlib import Path

from PySide6.QtCore import QTimer

from desktop.app import run_window

EVERY_MS = 50


def fall_over() -> None:
    faulthandler._sigsegv()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]


if __name__ == "__main__":
    folder = sys.argv[1]
    timer: list[QTimer] = []

    def look() -> None:
        if (Path(folder) / "logs" / "crash.log").exists():
            fall_over()

    def begin() -> None:
        timer.append(QTimer(interval=EVERY_MS))
        timer[0].timeout.connect(look)
        timer[0].start()

    raise SystemExit(run_window(folder, on_first_paint=begin))
