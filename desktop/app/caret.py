"""The caret blinks while one writes, and stands still some seconds after: each blink is a repaint
of all that lies under it, for as long as the window is open (SPEC U05).
"""

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication

BLINKS_MS = 10_000


class Caret(QObject):
    """Hears of every move of a caret and of the keyboard's going elsewhere."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._hints = app.styleHints()
        self._usual = self._hints.cursorFlashTime()
        self._rest = QTimer(self, singleShot=True, interval=BLINKS_MS)
        self._rest.timeout.connect(lambda: self._hints.setCursorFlashTime(0))
        app.focusObjectChanged.connect(self._moved)
        app.inputMethod().cursorRectangleChanged.connect(self._moved)
        self._rest.start()

    def stop(self) -> None:
        """It blinks as the system says again; this one is over."""
        self._rest.stop()
        self._hints.setCursorFlashTime(self._usual)
        self.deleteLater()

    def _moved(self) -> None:
        if self._hints.cursorFlashTime() != self._usual:
            self._hints.setCursorFlashTime(self._usual)
        self._rest.start()
