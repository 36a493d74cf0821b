"""A list of Qt's that lays nothing out: the geometry is its heir's.

It stays a QListView, because that one alone has an accessible list with its items (TRANSCRIPT §6).
"""

from collections.abc import Sequence

from PySide6.QtCore import (
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    Qt,
)
from PySide6.QtGui import QRegion
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QWidget

Index = QModelIndex | QPersistentModelIndex


class BareList(QListView):
    """Overrides everything by which a QListView would measure all of its rows."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # Always there (empty when there is nowhere to go): the column must not shift.
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        # The row that the keyboard is on moves nothing by being it.
        self.setAutoScroll(False)
        self.setMouseTracking(True)
        self.viewport().setMouseTracking(True)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_AcceptTouchEvents)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def doItemsLayout(self) -> None:
        """Rows are never laid out all at once."""

    def updateGeometries(self) -> None:
        """The bar is set with the layout."""

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """The bar counts rows: its moves are no pixels."""
        del dx, dy

    def dataChanged(
        self, topLeft: Index, bottomRight: Index, roles: Sequence[int] | None = None
    ) -> None:
        del topLeft, bottomRight, roles

    def moveCursor(
        self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier
    ) -> QModelIndex:
        del action, modifiers
        return self.currentIndex()

    def horizontalOffset(self) -> int:
        return 0

    def verticalOffset(self) -> int:
        return 0

    def setSelection(self, rect: QRect, command: QItemSelectionModel.SelectionFlag) -> None:
        """Text is marked, not rows."""
        del rect, command

    def visualRegionForSelection(self, selection: QItemSelection) -> QRegion:
        del selection
        return QRegion()
