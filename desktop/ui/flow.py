"""Parts whose height goes with their width: a row that goes on in the next line where the width
ends, and what such parts need and like to have."""

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLayout, QLayoutItem, QVBoxLayout, QWidget


class FlowLayout(QLayout):
    """In the direction of the language, each as wide as it wants; hidden ones take no room. With
    `last_at_end` the last one stands at the end of its line."""

    def __init__(self, spacing: int, *, last_at_end: bool = False) -> None:
        super().__init__()
        self._last_at_end = last_at_end
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
        top = area.y()
        for line in self._lines(area.width()):
            height = max(size.height() for _, size in line)
            left = area.x()
            for item, size in line:
                if self._last_at_end and item is self._items[-1]:
                    left = area.right() + 1 - size.width()
                if moves:
                    place = QRect(QPoint(left, top + (height - size.height()) // 2), size)
                    item.setGeometry(self._mirrored(place, area))
                left += size.width() + self.spacing()
            top += height + self.spacing()
        return max(0, top - self.spacing() - area.y())

    def _lines(self, width: int) -> list[list[tuple[QLayoutItem, QSize]]]:
        """What stands beside each other; what is wider than a line gets all of it."""
        lines: list[list[tuple[QLayoutItem, QSize]]] = []
        left = 0
        for item in self._shown():
            hint = item.sizeHint()
            size = QSize(min(hint.width(), max(width, item.minimumSize().width())), hint.height())
            if not lines or left + size.width() > width:
                lines.append([])
                left = 0
            lines[-1].append((item, size))
            left += size.width() + self.spacing()
        return lines

    def _mirrored(self, place: QRect, area: QRect) -> QRect:
        parent = self.parentWidget()
        if not isinstance(parent, QWidget) or not parent.isRightToLeft():
            return place
        return QRect(QPoint(area.left() + area.right() - place.right(), place.top()), place.size())


def least_at_width(part: QWidget, layout: QLayout) -> QSize:
    """The least size of a part whose words and rows get higher as it gets narrower: a window's
    layout knows nothing of that, and would cut them."""
    least = layout.totalMinimumSize()
    if layout.hasHeightForWidth():
        least.setHeight(layout.totalMinimumHeightForWidth(max(part.width(), least.width())))
    return least


def hint_at_width(part: QWidget, layout: QLayout) -> QSize:
    """As `least_at_width`, for what it likes to have. A part that says both itself, and that its
    height does not depend on its width, is never cut: a box takes what a part of such a height
    wants for the least it needs, and cuts the highest where there is less."""
    hint = layout.totalSizeHint()
    if layout.hasHeightForWidth():
        hint.setHeight(
            layout.totalHeightForWidth(max(part.width(), layout.totalMinimumSize().width()))
        )
    return hint


class Stack(QWidget):
    """Parts below each other, in `column`, that get lower where they can before any is cut."""

    def __init__(self, spacing: int, parent: QWidget) -> None:
        super().__init__(parent)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(spacing)

    def hasHeightForWidth(self) -> bool:
        return False

    def sizeHint(self) -> QSize:
        return hint_at_width(self, self.column)

    def minimumSizeHint(self) -> QSize:
        return least_at_width(self, self.column)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()
