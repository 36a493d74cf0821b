"""How much of the model's window the conversation fills: a small ring, its numbers on hover."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from desktop.ui import words
from desktop.ui.theme import Theme


class ContextRing(QWidget):
    """Paints the share used; says it in words to a screen reader."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("contextRing")
        self._theme = theme
        self._share = 0.0
        self.show_context(0, 0)

    def sizeHint(self) -> QSize:
        return QSize(self._theme.space_16 + 2, self._theme.space_16 + 2)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def show_context(self, used: int, window: int) -> None:
        self._share = min(1.0, used / window) if window else 0.0
        text = self.tr("Context: {used} of {window} tokens ({share} %)").format(
            used=words.tokens(used), window=words.tokens(window), share=round(self._share * 100)
        )
        self.setToolTip(text)
        self.setAccessibleName(text)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        try:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            side = min(self.width(), self.height()) - 4
            box = QRectF((self.width() - side) / 2, (self.height() - side) / 2, side, side)
            width = max(2.0, side / 6)
            painter.setPen(QPen(self._theme.color("border"), width))
            painter.drawEllipse(box)
            painter.setPen(
                QPen(
                    self._theme.color("accent"),
                    width,
                    Qt.PenStyle.SolidLine,
                    Qt.PenCapStyle.FlatCap,
                )
            )
            painter.drawArc(box, 90 * 16, -round(self._share * 360 * 16))
        finally:
            painter.end()
