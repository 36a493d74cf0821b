"""Lists of rows of one or two lines: how they behave, how a row's ground and words are drawn."""

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QStyle,
    QStyleOptionViewItem,
)

from desktop.ui.theme import Theme
from desktop.ui.visible import apart

LEADING = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading


def calm(view: QListView) -> None:
    """No frame, no editing, nothing sideways; rows hear the mouse over them."""
    view.setFrameShape(QFrame.Shape.NoFrame)
    view.setMouseTracking(True)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)


def draw_words(
    painter: QPainter,
    room: QRect,
    words: str,
    *,
    elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
) -> None:
    """One line from the leading side, cut where the room ends: of a name that is written the other
    way than the window its own end is cut."""
    shown = painter.fontMetrics().elidedText(words, elide, room.width())
    painter.drawText(room, LEADING, apart(shown))


def paint_hover(painter: QPainter, option: QStyleOptionViewItem, theme: Theme) -> None:
    """The ground of the row that the mouse is over."""
    if option.state & QStyle.StateFlag.State_MouseOver:
        painter.fillRect(option.rect, theme.color("border"))


def paint_focus(painter: QPainter, option: QStyleOptionViewItem, theme: Theme) -> None:
    """The ring of the row that the keyboard is on, in a list without a selection."""
    if option.state & QStyle.StateFlag.State_HasFocus:
        painter.setPen(QPen(theme.color("accent"), theme.measures.focus_ring))
        painter.drawRect(option.rect.adjusted(1, 1, -1, -1))
