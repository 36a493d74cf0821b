"""A choice that reads as text until it is pointed at: `Claude Opus 5.5 ▾` under the composer."""

from collections.abc import Iterable

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QEnterEvent, QFocusEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QComboBox, QStyledItemDelegate, QWidget

from desktop.ui.framed import draw_arrow
from desktop.ui.theme import Theme
from desktop.ui.visible import apart


class QuietCombo(QComboBox):
    """Paints itself; everything else is Qt's own combo box, keyboard and screen reader included.

    `looked_at` when it is pointed at, gets the keyboard or is opened: what it offers may be wanted
    now.
    """

    looked_at = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setProperty("rings", True)
        self.setItemDelegate(QStyledItemDelegate(self))
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.currentIndexChanged.connect(lambda _: self.updateGeometry())

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def showPopup(self) -> None:
        self.looked_at.emit()
        self.view().setAccessibleName(self.accessibleName())
        super().showPopup()

    def offer(self, choices: Iterable[tuple[str, str]]) -> None:
        """Offers these values and their words instead, without announcing it. A list that is open
        opens anew, as high as it needs to be, and stays on what it was on."""
        view, is_open = self.view(), self.view().isVisible()
        chosen, on = self.currentData(), view.currentIndex().data(Qt.ItemDataRole.UserRole)
        self.blockSignals(True)
        self.clear()
        for value, words in choices:
            self.addItem(words, value)
        self.setCurrentIndex(self.findData(chosen))
        self.blockSignals(False)
        if is_open:
            self.hidePopup()
            super().showPopup()
            at = self.findData(on)
            if at >= 0:
                view.setCurrentIndex(self.model().index(at, self.modelColumn()))

    def sizeHint(self) -> QSize:
        self.ensurePolished()
        width = self.fontMetrics().horizontalAdvance(self.currentText())
        theme = self._theme
        return QSize(width + 3 * theme.space_8 + theme.space_16, theme.measures.hit)

    def show_index(self, index: int) -> None:
        """Chooses without announcing it, and takes the room that the words need."""
        self.blockSignals(True)
        self.setCurrentIndex(index)
        self.blockSignals(False)
        self.updateGeometry()
        self.update()

    def show_value(self, value: str, words: str) -> None:
        """Chooses a value without announcing it; one that is not among the choices joins them."""
        index = self.findData(value)
        if index < 0 and value:
            self.addItem(words, value)
            index = self.count() - 1
        if index >= 0:
            self.show_index(index)

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.measures.hit * 2, self._theme.measures.hit)

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self.update()
        self.looked_at.emit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.looked_at.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        try:
            self._paint(painter)
        finally:
            painter.end()

    def _paint(self, painter: QPainter) -> None:
        theme, measures = self._theme, self._theme.measures
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        pointed = self.underMouse() or self.hasFocus()
        if pointed and self.isEnabled():
            painter.setPen(
                QPen(theme.color("accent"), measures.focus_ring)
                if self.hasFocus()
                else Qt.PenStyle.NoPen
            )
            painter.setBrush(theme.color("raised"))
            painter.drawRoundedRect(frame, measures.radius, measures.radius)
        ink = theme.color("text" if pointed else "muted")
        painter.setPen(ink)
        sides = (theme.space_8, theme.space_8 + theme.space_16)
        left, right = reversed(sides) if self.isRightToLeft() else sides
        box = self.rect().adjusted(left, 0, -right, 0)
        text = self.fontMetrics().elidedText(
            self.currentText(), Qt.TextElideMode.ElideRight, box.width()
        )
        leading = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading
        painter.drawText(box, leading, apart(text))
        from_edge = theme.space_8 + theme.space_4
        x = from_edge if self.isRightToLeft() else self.width() - from_edge
        draw_arrow(painter, QPointF(x, self.height() / 2), ink)
