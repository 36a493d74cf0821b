"""The text of a plain text field, letter for letter, and long ones put into it without a pause.

Qt's own `toPlainText` makes plain blanks of no-break ones and line breaks of line separators.
"""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QTextCursor, QTextDocument
from PySide6.QtWidgets import QPlainTextEdit

PIECE = 64 * 1024
_BETWEEN_BLOCKS = "\u2029"


def text_of(document: QTextDocument) -> str:
    """The text as it was put in; only line ends are all `\\n`."""
    return document.toRawText().replace(_BETWEEN_BLOCKS, "\n")


class Filling(QObject):
    """Puts a text into a field piece by piece, so that the window answers meanwhile.

    Until it is whole nothing can be typed; then `done` is called, and the text can be undone no
    further than to here.
    """

    def __init__(self, field: QPlainTextEdit, text: str, done: Callable[[], None]) -> None:
        super().__init__(field)
        self._field = field
        self._text = text
        self._at = 0
        self._done = done
        field.setReadOnly(True)
        field.document().setUndoRedoEnabled(False)
        self._turns = QTimer(self, interval=0)
        self._turns.timeout.connect(self._put)
        self._turns.start()

    def _put(self) -> None:
        end = self._at + PIECE
        # A pair is one line end: its halves would make two.
        if self._text[end - 1 : end + 1] == "\r\n":
            end += 1
        cursor = QTextCursor(self._field.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(self._text[self._at : end])
        self._at = end
        if self._at >= len(self._text):
            self._end()

    def _end(self) -> None:
        self._turns.stop()
        self._text = ""
        document = self._field.document()
        document.setUndoRedoEnabled(True)
        document.setModified(False)
        self._field.moveCursor(QTextCursor.MoveOperation.Start)
        self._field.setReadOnly(False)
        self._done()
