"""Where the keyboard is, shown alike on every control (LOOK.md "Measures").

A ring lies over the control that has the keyboard, along its edge, and dies with it. Buttons and
lines of text have one from the style sheet. The property `rings` says what else is: `True` of a
control that draws its own, `around` of one that is ringed by its frame, `inside` of one whose edge
has a colour already. The mouse rings nothing.
"""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QRect, QRectF, Qt
from PySide6.QtGui import QGuiApplication, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton, QTabBar, QWidget
from shiboken6 import isValid

from desktop.ui.theme import Theme


class FocusRings(QObject):
    """Follows the keyboard through the whole program."""

    def __init__(self, app: QApplication, theme: Callable[[], Theme], parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme
        self._ring: FocusRing | None = None
        app.focusChanged.connect(self._follow)

    def _follow(self, _: QWidget | None, part: QWidget | None) -> None:
        if self._ring is not None and isValid(self._ring):
            self._ring.hide()
            self._ring.deleteLater()
        self._ring = None
        by_mouse = QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton
        if part is not None and not by_mouse and not _rings_itself(part):
            self._ring = FocusRing(_ringed(part), self._theme())


class FocusRing(QWidget):
    """Lies over `part`, takes no mouse, and is nothing to a screen reader."""

    def __init__(self, part: QWidget, theme: Theme) -> None:
        super().__init__(part)
        self.setObjectName("focusRing")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._part = part
        self._theme = theme
        part.installEventFilter(self)
        if isinstance(part, QTabBar):
            part.currentChanged.connect(self._fit)
        self._fit()
        self.show()
        self.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            self._fit()
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, ring = self._theme, self._theme.measures.focus_ring
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        is_primary = isinstance(self._part, QPushButton)
        # On the accent itself a ring of its colour would not be seen: one inside, of its text's.
        is_inside = is_primary or self._part.property("rings") == "inside"
        inside = ring / 2 + (ring if is_inside else 0)
        painter.setPen(QPen(theme.color("on_accent" if is_primary else "accent"), ring))
        area = QRectF(self.rect()).adjusted(inside, inside, -inside, -inside)
        painter.drawRoundedRect(area, theme.measures.radius - 1, theme.measures.radius - 1)
        painter.end()

    def _fit(self) -> None:
        self.setGeometry(_place(self._part))


def _rings_itself(part: QWidget) -> bool:
    if isinstance(part, QPushButton):
        return not part.property("primary")
    return isinstance(part, QLineEdit) or part.property("rings") is True


def _ringed(part: QWidget) -> QWidget:
    frame = part.parentWidget()
    return frame if frame is not None and part.property("rings") == "around" else part


def _place(part: QWidget) -> QRect:
    """All of the part; of a strip of tabs the one that is chosen, if one is."""
    chosen = part.tabRect(part.currentIndex()) if isinstance(part, QTabBar) else QRect()
    return part.rect() if chosen.isEmpty() else chosen
