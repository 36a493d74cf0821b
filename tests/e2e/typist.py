"""The real window with a typist inside: writes one message into the conversation and sends it.

    python -m tests.e2e.typist DATA_FOLDER MESSAGE

What is started is `desktop.app.run_window`, as `nacre` does it; only the hands on the keyboard are
ours. The program then goes on until it is ended from outside.
"""

import sys
from typing import TypeVar

from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QListView, QPlainTextEdit, QPushButton, QWidget

from desktop.app import run_window

EVERY_MS = 50
W = TypeVar("W", bound=QWidget)


class Typist:
    """Looks until a conversation is on the screen that takes a message, and writes it once."""

    def __init__(self, message: str) -> None:
        self._message = message
        self._timer = QTimer(interval=EVERY_MS)
        self._timer.timeout.connect(self._look)

    def begin(self) -> None:
        self._timer.start()

    def _look(self) -> None:
        if not _visible(QListView, "transcript"):
            return
        (field,) = _visible(QPlainTextEdit, "composer")
        if not field.toPlainText():
            QTest.keyClicks(field, self._message)
        elif any(button.isEnabled() for button in _visible(QPushButton, "sendButton")):
            self._timer.stop()
            QTest.keyClick(field, Qt.Key.Key_Return)


def _visible(kind: type[W], name: str) -> list[W]:
    return [
        one
        for window in QApplication.topLevelWidgets()
        for one in window.findChildren(kind, name)
        if one.isVisible()
    ]


if __name__ == "__main__":
    folder, message = sys.argv[1:]
    typist: list[Typist] = []

    def sit_down() -> None:
        typist.append(Typist(message))
        typist[0].begin()

    raise SystemExit(run_window(folder, on_first_paint=sit_down))
