"""Choices and numbers in forms, in the look of the other fields.

The frame is the style sheet's; the arrows are drawn here, as no style sheet can without pictures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QEvent, QObject, QPointF, QRect, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import (
    QComboBox,
    QStyledItemDelegate,
    QWidget,
)

from desktop.ui.theme import Theme
from desktop.ui.visible import apart

if TYPE_CHECKING:
    from PySide6.QtWidgets import QStyleOptionComboBox

# The arrow, from its middle; pixels.
_HALF, _RISE, _THICK = 3.5, 1.75, 1.5


def draw_arrow(painter: QPainter, middle: QPointF, colour: QColor, *, up: bool = False) -> None:
    """A thin one that points down, or up."""
    rise = -_RISE if up else _RISE
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(colour, _THICK))
    painter.drawPolyline(
        [middle + QPointF(-_HALF, -rise), middle + QPointF(0, rise), middle + QPointF(_HALF, -rise)]
    )


def draw_tick(painter: QPainter, box: QRect, colour: QColor) -> None:
    """The sign that a box is chosen."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(colour, box.width() / 8))
    place, side = QPointF(box.topLeft()), box.width()
    painter.drawPolyline(
        [place + QPointF(x * side, y * side) for x, y in ((0.25, 0.5), (0.43, 0.69), (0.76, 0.32))]
    )


class WheelPast(QObject):
    """The wheel scrolls the page over a part, unless that has the keyboard: nothing is chosen by
    the way."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        is_past = event.type() == QEvent.Type.Wheel and not cast("QWidget", watched).hasFocus()
        if is_past:
            event.ignore()
        return is_past


class FramedCombo(QComboBox):
    """A choice in a form. The wheel scrolls the page over it, unless it has the keyboard."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setProperty("framed", True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.installEventFilter(WheelPast(self))
        # Qt's own of a list knows nothing of the style sheet.
        self.setItemDelegate(QStyledItemDelegate(self))

    def showPopup(self) -> None:
        self.view().setAccessibleName(self.accessibleName())
        super().showPopup()

    def initStyleOption(self, option: QStyleOptionComboBox) -> None:
        """Without the words: under a style sheet Qt's own stand at the left in either direction."""
        super().initStyleOption(option)
        option.currentText = ""

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter, theme, align = QPainter(self), self._theme, Qt.AlignmentFlag
        # Where the style sheet leaves them room (`field_style`). To ask the style for it would load
        # a class with a thousand names before the window's first picture.
        leading, trailing = theme.space_8 + theme.measures.hairline, theme.measures.hit
        is_mirrored = self.isRightToLeft()
        sides = (trailing, leading) if is_mirrored else (leading, trailing)
        words = self.rect().adjusted(sides[0], 0, -sides[1], 0)
        text = self.fontMetrics().elidedText(
            self.currentText(), Qt.TextElideMode.ElideRight, words.width()
        )
        side = align.AlignRight if is_mirrored else align.AlignLeft
        painter.setPen(self.palette().color(QPalette.ColorRole.ButtonText))
        painter.drawText(words, side | align.AlignAbsolute | align.AlignVCenter, apart(text))
        # As far from the edge as it is high.
        middle = self.height() / 2
        x = middle if is_mirrored else self.width() - middle
        draw_arrow(painter, QPointF(x, middle), ink_of(self))
        painter.end()


def ink_of(part: QWidget, *, able: bool | None = None) -> QColor:
    """Of the arrow of a part that can be used, or not now."""
    group = QPalette.ColorGroup
    is_able = part.isEnabled() if able is None else able
    return part.palette().color(
        group.Active if is_able else group.Disabled, QPalette.ColorRole.PlaceholderText
    )
