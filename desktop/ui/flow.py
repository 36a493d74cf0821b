"""A row of widgets that goes on in the next line where the width ends."""

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class FlowLayout(QLayout):
    """In the direction of the language, each as wide as it wants; hidden ones take no room."""

    def __init__(self, spacing: int) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)

    def addItem(self, arg__1: QLayoutItem) -> None:
        self._items.append(arg__1)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:  # pyright: ignore[reportIncompatibleMethodOverride] (None is Qt's own word for no item)
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, arg__1: int) -> int:
        return self._arrange(QRect(0, 0, arg__1, 0), moves=False)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        """As wide as the widest of them."""
        size = QSize()
        for item in self._shown():
            size = size.expandedTo(item.minimumSize())
        return size

    def setGeometry(self, arg__1: QRect) -> None:
        super().setGeometry(arg__1)
        self._arrange(arg__1, moves=True)

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _arrange(self, area: QRect, *, moves: bool) -> int:
        """The height that the lines take; with `moves` the widgets go to their places."""
        at, line = area.topLeft(), 0
        for item in self._shown():
            size = item.sizeHint()
            if at.x() > area.x() and at.x() + size.width() > area.right() + 1:
                at = QPoint(area.x(), at.y() + line + self.spacing())
                line = 0
            if moves:
                place = QRect(at, size)
                item.setGeometry(self._mirrored(place, area))
            at = QPoint(at.x() + size.width() + self.spacing(), at.y())
            line = max(line, size.height())
        return at.y() + line - area.y()

    def _mirrored(self, place: QRect, area: QRect) -> QRect:
        parent = self.parentWidget()
        if not isinstance(parent, QWidget) or not parent.isRightToLeft():
            return place
        return QRect(QPoint(area.left() + area.right() - place.right(), place.top()), place.size())
