"""Numbers in forms, in the look of the other fields; see `framed`."""

from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSpinBox, QStyle, QStyleOptionSpinBox, QWidget

from desktop.ui.framed import WheelPast, draw_arrow, ink_of
from desktop.ui.theme import Theme


class FramedSpin(QSpinBox):
    """A number in a form. The wheel scrolls the page over it, unless it has the keyboard."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("framed", True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.installEventFilter(WheelPast(self))
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
            ink = ink_of(self, able=self.isEnabled() and bool(self.stepEnabled() & step))
            draw_arrow(painter, QPointF(place.center()) + QPointF(0.5, 0.5), ink, up=up)
        painter.end()
