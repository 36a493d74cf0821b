"""The text of a plain text field, letter for letter, and long ones put into it without a pause.

Qt's own `toPlainText` makes plain blanks of no-break ones and line breaks of line separators.
"""

from collections.abc import Callable
from time import perf_counter

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QTextCursor, QTextDocument
from PySide6.QtWidgets import QPlainTextEdit

PIECE = 8 * 1024
# Seconds of work between two looks at what else the window has to do.
TURN = 0.002
_BETWEEN_BLOCKS = "\u2029"


def text_of(document: QTextDocument) -> str:
    """The text as it was put in; only line ends are all `\\n`."""
    return document.toRawText().replace(_BETWEEN_BLOCKS, "\n")


class Filling(QObject):
    """Puts a text into a field piece by piece, so that the window answers meanwhile.

    The beginning can be read at once; all that follows is laid out together at the end, for to do
    it piece by piece takes twice as long. Until the text is whole nothing can be typed; then `done`
    is called, and the text can be undone no further than to here.
    """

    def __init__(self, field: QPlainTextEdit, text: str, done: Callable[[], None]) -> None:
        super().__init__(field)
        self._field = field
        self._text = text
        self._at = 0
        self._done = done
        field.setReadOnly(True)
        field.document().setUndoRedoEnabled(False)
        self._cursor = QTextCursor(field.document())
        self._turns = QTimer(self, interval=0)
        self._turns.timeout.connect(self._turn)
        self._turns.start()

    def _turn(self) -> None:
        if not self._at:
            self._put()
            self._cursor.beginEditBlock()
        end = perf_counter() + TURN
        while self._at < len(self._text) and perf_counter() < end:
            self._put()
        if self._at >= len(self._text):
            self._end()

    def _put(self) -> None:
        end = self._at + PIECE
        # A pair is one line end: its halves would make two.
        if self._text[end - 1 : end + 1] == "\r\n":
            end += 1
        self._cursor.insertText(self._text[self._at : end])
        self._at = end

    def _end(self) -> None:
        self._turns.stop()
        self._cursor.endEditBlock()
        self._text = ""
        document = self._field.document()
        document.setUndoRedoEnabled(True)
        document.setModified(False)
        self._field.moveCursor(QTextCursor.MoveOperation.Start)
        self._field.setReadOnly(False)
        self._done()
