"""The list over a message field from which the rest of what is typed can be chosen.

It never takes the focus: the field keeps the keyboard, and a screen reader is told what is on.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QPainter, QPalette
from PySide6.QtWidgets import (
    QFrame,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from desktop.ui.theme import Theme
from desktop.ui.visible import visible

ROWS = 8
NOTE = Qt.ItemDataRole.UserRole
Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class Choice:
    """One line: what is put into the text, how it is shown, and what is said of it."""

    value: str
    label: str
    note: str = ""


class Popup(QFrame):
    """`chosen(Choice)` by a click; the keys are the field's, which calls `step` and `current`."""

    chosen = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("completionFrame")
        self._choices: tuple[Choice, ...] = ()
        self._list = QListWidget(self)
        self._list.setObjectName("completionList")
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setFrameShape(QFrame.Shape.NoFrame)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setUniformItemSizes(True)
        self._list.setMouseTracking(True)
        self._line = _Line(theme, self._list)
        self._list.setItemDelegate(self._line)
        self._list.itemClicked.connect(self._clicked)
        column = QVBoxLayout(self)
        column.setContentsMargins(*[theme.space_4] * 4)
        column.addWidget(self._list)
        self.set_theme(theme)
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._line.theme = theme

    @property
    def current(self) -> Choice | None:
        row = self._list.currentRow()
        return self._choices[row] if self.isVisible() and row >= 0 else None

    def show_choices(self, name: str, choices: Sequence[Choice], over: QWidget) -> None:
        """The choices above (or, where there is no room, below) a widget; the first is chosen."""
        self._choices = tuple(choices)
        self._list.setAccessibleName(name)
        self._list.clear()
        for choice in choices:
            item = QListWidgetItem(visible(choice.label), self._list)
            item.setData(NOTE, choice.note)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, _spoken(choice))
        self._place(over)
        self.show()
        self.raise_()
        self._list.setCurrentRow(0)
        self._tell()

    def step(self, by: int) -> None:
        """To another line, around the ends."""
        self._list.setCurrentRow((self._list.currentRow() + by) % len(self._choices))
        self._tell()

    def _place(self, over: QWidget) -> None:
        rows = min(len(self._choices), ROWS)
        around = self._theme.space_4 + self._theme.measures.hairline
        height = rows * self._line.height + 2 * around
        corner = over.mapTo(self.window(), QPoint(0, 0))
        top = corner.y() - height - self._theme.space_4
        if top < 0:
            top = corner.y() + over.height() + self._theme.space_4
        self.setGeometry(QRect(corner.x(), top, over.width(), height))

    def _clicked(self, item: QListWidgetItem) -> None:
        self.chosen.emit(self._choices[self._list.row(item)])

    def _tell(self) -> None:
        choice = self.current
        if choice is None:
            return
        place = self.tr("{text}, {at} of {count}").format(
            text=_spoken(choice), at=self._list.currentRow() + 1, count=len(self._choices)
        )
        self.setAccessibleDescription(place)
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._list, place))


class _Line(QStyledItemDelegate):
    """The label, its middle left out where there is no room, and its note at the end."""

    def __init__(self, theme: Theme, parent: QListWidget) -> None:
        super().__init__(parent)
        self.theme = theme
        self._view = parent

    @property
    def height(self) -> int:
        return max(self.theme.measures.hit, self._view.fontMetrics().height() + self.theme.space_8)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(0, self.height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        rect: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue]
        state: QStyle.StateFlag = option.state  # pyright: ignore[reportAttributeAccessIssue]
        palette: QPalette = option.palette  # pyright: ignore[reportAttributeAccessIssue]
        is_on = bool(state & QStyle.StateFlag.State_Selected)
        text = palette.highlightedText() if is_on else palette.text()
        painter.save()
        if is_on:
            radius = self.theme.measures.radius
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(palette.highlight())
            painter.drawRoundedRect(rect, radius, radius)
        inner = rect.adjusted(self.theme.space_8, 0, -self.theme.space_8, 0)
        note = str(index.data(NOTE) or "")
        if note:
            painter.setPen(text.color() if is_on else self.theme.color("muted"))
            self._write(painter, inner, note, is_note=True)
        painter.setPen(text.color())
        # A path or a command reads from the left in any language.
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        self._write(painter, inner, str(index.data()), has_half=bool(note))
        painter.restore()

    def _write(
        self,
        painter: QPainter,
        inner: QRect,
        text: str,
        *,
        is_note: bool = False,
        has_half: bool = False,
    ) -> None:
        side = Qt.AlignmentFlag.AlignRight if is_note else Qt.AlignmentFlag.AlignLeft
        where = QStyle.visualAlignment(self._view.layoutDirection(), side)
        room = inner.width() // 2 - self.theme.space_8 if is_note or has_half else inner.width()
        mode = Qt.TextElideMode.ElideRight if is_note else Qt.TextElideMode.ElideMiddle
        shown = self._view.fontMetrics().elidedText(text, mode, room)
        painter.drawText(inner, int(where | Qt.AlignmentFlag.AlignVCenter), shown)


def _spoken(choice: Choice) -> str:
    label = visible(choice.label)
    return f"{label}, {choice.note}" if choice.note else label
