"""The lines of an output that are seen, as text that can be marked, copied and read aloud.

Moving is only wished for: the file is somebody else's.
"""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import (
    QKeyEvent,
    QPalette,
    QResizeEvent,
    QTextCursor,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from desktop.core.colouring import PLAIN
from desktop.core.printed import Line, Printed
from desktop.ui.theme import Theme
from desktop.ui.transcript.output import seen
from desktop.ui.transcript.pieces import ink
from desktop.ui.transcript.pointer import Strokes
from desktop.ui.transcript.tints import letters_of


class OutputText(QPlainTextEdit):
    """`moved(lines)` down or, when negative, up; `ended(True)` to the end, False to the start;
    `resized` when another number of lines fits."""

    moved = Signal(int)
    ended = Signal(bool)
    resized = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("outputText")
        self.setAccessibleName(self.tr("Output"))
        self._theme = theme
        self._strokes = Strokes()
        self._turned = 0
        self.setReadOnly(True)
        # A caret, so that the keyboard marks text too.
        flags = Qt.TextInteractionFlag
        self.setTextInteractionFlags(flags.TextSelectableByMouse | flags.TextSelectableByKeyboard)
        self.setUndoRedoEnabled(False)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # Always there: as many lines fit whatever stands in them.
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setFont(theme.mono())
        option = QTextOption()
        option.setTextDirection(Qt.LayoutDirection.LeftToRight)
        option.setWrapMode(QTextOption.WrapMode.NoWrap)
        self.document().setDefaultTextOption(option)
        palette = self.palette()
        palette.setColor(QPalette.ColorRole.Base, theme.color("code"))
        self.setPalette(palette)

    @property
    def fitting(self) -> int:
        """How many lines are seen at once."""
        margin = round(2 * self.document().documentMargin())
        return max(1, (self.viewport().height() - margin) // self.fontMetrics().lineSpacing())

    def show_lines(self, lines: Sequence[Line]) -> None:
        """Shows these instead; the caret stays in its line on the screen."""
        row = self.textCursor().blockNumber()
        across = self.horizontalScrollBar().value()
        self.clear()
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        plain = ink(self._theme.color("text"))
        looks = {PLAIN: plain}
        for number, line in enumerate(lines):
            if number:
                cursor.insertText("\n", plain)
            for text, style in Printed(line.text, line.spans).runs(0, len(line.text)):
                if style not in looks:
                    looks[style] = letters_of(style, self._theme, ink="text", ground="code")
                cursor.insertText(seen(text), looks[style])
        cursor.endEditBlock()
        block = self.document().findBlockByNumber(min(row, max(0, len(lines) - 1)))
        self.setTextCursor(QTextCursor(block))
        self.horizontalScrollBar().setValue(across)

    def mark(self, text: str) -> None:
        """Marks a text where it is seen first, and every other place of it less."""
        spots: list[QTextEdit.ExtraSelection] = []
        cursor = self.document().find(text) if text else QTextCursor()
        if not cursor.isNull():
            self.setTextCursor(cursor)
        while not cursor.isNull():
            spot = QTextEdit.ExtraSelection()
            spot.cursor = cursor  # pyright: ignore[reportAttributeAccessIssue]
            found = ink(self._theme.color("on_accent"))
            found.setBackground(self._theme.color("accent"))
            spot.format = found  # pyright: ignore[reportAttributeAccessIssue]
            spots.append(spot)
            cursor = self.document().find(text, cursor)
        self.setExtraSelections(spots)

    def wheelEvent(self, event: QWheelEvent) -> None:
        line = self.fontMetrics().lineSpacing()
        sideways = self._strokes.sideways(event, line)
        if sideways:
            bar = self.horizontalScrollBar()
            bar.setValue(bar.value() + sideways)
        else:
            self._turned += self._strokes.wheel(event, line)
            lines = int(self._turned / line)
            # What is less than a line is kept for the next turn.
            self._turned -= lines * line
            self.moved.emit(lines)
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        marks = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        ctrl = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        at, last = self.textCursor().blockNumber(), self.blockCount() - 1
        match Qt.Key(event.key()):
            case Qt.Key.Key_PageDown:
                self.moved.emit(max(1, self.fitting - 1))
            case Qt.Key.Key_PageUp:
                self.moved.emit(-max(1, self.fitting - 1))
            case Qt.Key.Key_Home if ctrl and not marks:
                self.ended.emit(False)
            case Qt.Key.Key_End if ctrl and not marks:
                self.ended.emit(True)
            case Qt.Key.Key_Down if not marks and (at == last or ctrl):
                self.moved.emit(1)
            case Qt.Key.Key_Up if not marks and (at == 0 or ctrl):
                self.moved.emit(-1)
            case _:
                super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.resized.emit()
