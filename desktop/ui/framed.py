"""Choices and numbers in forms, in the look of the other fields.

The frame is the style sheet's; the arrows are drawn here, as no style sheet can without pictures.
"""

from typing import cast

from PySide6.QtCore import QEvent, QObject, QPointF, QRect, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import (
    QComboBox,
    QSpinBox,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionComboBox,
    QStyleOptionSpinBox,
    QStylePainter,
    QWidget,
)

from desktop.ui.theme import Theme
from desktop.ui.visible import apart

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


class _WheelPast(QObject):
    """The wheel scrolls the page over a part, unless that has the keyboard: nothing is chosen by
    the way."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        is_past = event.type() == QEvent.Type.Wheel and not cast("QWidget", watched).hasFocus()
        if is_past:
            event.ignore()
        return is_past


class FramedCombo(QComboBox):
    """A choice in a form. The wheel scrolls the page over it, unless it has the keyboard."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("framed", True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.installEventFilter(_WheelPast(self))
        # Qt's own of a list knows nothing of the style sheet.
        self.setItemDelegate(QStyledItemDelegate(self))

    def showPopup(self) -> None:
        self.view().setAccessibleName(self.accessibleName())
        super().showPopup()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        # Under a style sheet Qt's own words stand at the left in either direction.
        words = self.style().subControlRect(
            QStyle.ComplexControl.CC_ComboBox,
            option,
            QStyle.SubControl.SC_ComboBoxEditField,
            self,
        )
        metrics, leading = self.fontMetrics(), Qt.AlignmentFlag.AlignLeading
        text = metrics.elidedText(self.currentText(), Qt.TextElideMode.ElideRight, words.width())
        side = QStyle.visualAlignment(self.layoutDirection(), leading)
        painter.setPen(self.palette().color(QPalette.ColorRole.ButtonText))
        painter.drawText(words, side | Qt.AlignmentFlag.AlignVCenter, apart(text))
        # As far from the edge as it is high.
        side = self.height() / 2
        x = side if self.isRightToLeft() else self.width() - side
        draw_arrow(painter, QPointF(x, self.height() / 2), _ink(self))
        painter.end()


class FramedSpin(QSpinBox):
    """A number in a form. The wheel scrolls the page over it, unless it has the keyboard."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("framed", True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.installEventFilter(_WheelPast(self))
        # What a style sheet says of the field inside is not heard.
        self.lineEdit().setTextMargins(theme.space_8, 0, theme.space_8, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        option = QStyleOptionSpinBox()
        self.initStyleOption(option)
        control, able = QStyle.SubControl, QSpinBox.StepEnabledFlag
        painter = QPainter(self)
        for part, step, up in (
            (control.SC_SpinBoxUp, able.StepUpEnabled, True),
            (control.SC_SpinBoxDown, able.StepDownEnabled, False),
        ):
            place: QRect = self.style().subControlRect(
                QStyle.ComplexControl.CC_SpinBox, option, part, self
            )
            ink = _ink(self, able=self.isEnabled() and bool(self.stepEnabled() & step))
            draw_arrow(painter, QPointF(place.center()) + QPointF(0.5, 0.5), ink, up=up)
        painter.end()


def _ink(part: QWidget, *, able: bool | None = None) -> QColor:
    group = QPalette.ColorGroup
    is_able = part.isEnabled() if able is None else able
    return part.palette().color(
        group.Active if is_able else group.Disabled, QPalette.ColorRole.PlaceholderText
    )
