"""Exactly what would run, in monospace: as high as its first lines, and the first to give way.

Where the window is low it scrolls down to two lines, so that what is said about it stays whole.
"""

import math

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent, QTextCharFormat, QTextCursor, QTextFormat, QTextOption
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QTextEdit, QWidget

from desktop.ui.theme import Theme

_LINES_SHOWN = 12
_LEAST_LINES = 2
_DIFF_GROUND = {"+": "added", "-": "removed"}


class ActText(QPlainTextEdit):
    """Read only; Tab leads out of it."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._height = 0
        self.setReadOnly(True)
        self.setProperty("monospace", True)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAnywhere)
        self.setTabChangesFocus(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)

    def show_act(self, text: str, *, is_diff: bool) -> None:
        """`text` as it is to be read; from its beginning."""
        self.setPlainText(text)
        self._mark_diff(is_diff)
        self.fit()
        self.verticalScrollBar().setValue(0)

    def fit(self) -> None:
        """As high as its text is now that the width is known."""
        line = self.fontMetrics().lineSpacing()
        # A fallback font's line is a little taller; one endless line does not fill the window.
        most = _LINES_SHOWN * (line + 2)
        lines = max(_LEAST_LINES * line, min(self._height_of_lines(_LINES_SHOWN), most))
        height = lines + self._around()
        if height != self._height:
            self._height = height
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self._height)

    def minimumSizeHint(self) -> QSize:
        least = _LEAST_LINES * self.fontMetrics().lineSpacing() + self._around()
        return QSize(super().minimumSizeHint().width(), min(least, self._height))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.fit()

    def _around(self) -> int:
        # Qt wants one pixel more than the lines need, else it scrolls, and "always" waits for that.
        return round(self.document().documentMargin() * 2) + self.frameWidth() * 2 + 1

    def _height_of_lines(self, most: int) -> int:
        """The height of the first lines as they are laid out."""
        layout = self.document().documentLayout()
        block, height, left = self.document().firstBlock(), 0.0, most
        while block.isValid() and left:
            height += layout.blockBoundingRect(block).height()
            block, left = block.next(), left - 1
        return math.ceil(height)

    def _mark_diff(self, is_diff: bool) -> None:
        """Gives added and removed lines their ground; the signs + and − say it too."""
        marks: list[QTextEdit.ExtraSelection] = []
        block = self.document().firstBlock()
        while is_diff and block.isValid():
            line = block.text()
            colour = _DIFF_GROUND.get(line[:1], "")
            if colour and not line.startswith(("+++", "---")):
                mark = QTextEdit.ExtraSelection()
                marked = QTextCharFormat()
                marked.setBackground(self._theme.color(colour))
                marked.setProperty(QTextFormat.Property.FullWidthSelection, True)
                mark.format = marked  # pyright: ignore[reportAttributeAccessIssue]
                mark.cursor = QTextCursor(block)  # pyright: ignore[reportAttributeAccessIssue]
                marks.append(mark)
            block = block.next()
        self.setExtraSelections(marks)
