"""Texts and buttons of pages and boxes, made alike: with a fixed name, plain, and never the button
that Enter presses by itself."""

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton, QSizePolicy, QToolButton, QWidget

from desktop.ui.visible import apart


def text_label(parent: QWidget, name: str, text: str = "", *, narrows: bool = True) -> QLabel:
    """Plain text that wraps. With `narrows` a path without a place to break it does not widen what
    it stands on."""
    label = QLabel(text, parent)
    label.setObjectName(name)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    if narrows:
        policy = label.sizePolicy()
        policy.setHorizontalPolicy(QSizePolicy.Policy.Ignored)
        label.setSizePolicy(policy)
    return label


def act_button(parent: QWidget, text: str, name: str, act: Callable[[], object]) -> QPushButton:
    """A button that does `act`."""
    button = QPushButton(text, parent)
    button.setObjectName(name)
    button.setAutoDefault(False)
    button.clicked.connect(lambda _=False: act())
    return button


def make_clearable(field: QLineEdit) -> None:
    """Gives it the button that empties it, which Qt leaves without a name. The keyboard has its own
    way: mark all and delete."""
    field.setClearButtonEnabled(True)
    for button in field.findChildren(QToolButton):
        button.setAccessibleName(field.tr("Empty this field"))


class OneLine(QLabel):
    """Words in one line, cut where the room ends; a screen reader hears them whole."""

    def __init__(self, parent: QWidget, name: str, text: str) -> None:
        super().__init__(text, parent)
        self.setObjectName(name)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setToolTip(text)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        room = self.contentsRect()
        shown = self.fontMetrics().elidedText(
            self.text(), Qt.TextElideMode.ElideRight, room.width()
        )
        painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
        leading = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading
        painter.drawText(room, leading, apart(shown))
        painter.end()
