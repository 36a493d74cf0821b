"""The rows of a plugin's panel: what a plugin said, in the program's own look.

Nothing of it is markup, nothing in it is invisible or turns the reading around.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QAbstractListModel,
    QCoreApplication,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from desktop.core.panels import PanelRow
from desktop.ui.lines import LEADING, calm, paint_focus, paint_hover
from desktop.ui.visible import apart, visible
from desktop.ui.words import day_and_time, seconds

if TYPE_CHECKING:
    from desktop.ui.theme import Theme

ROW_ROLE = int(Qt.ItemDataRole.UserRole)
Index = QModelIndex | QPersistentModelIndex
_CHOOSING = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_SIGNS = {"failed": "✕", "stopped": "■", "running": "…"}


def say(text: str) -> str:
    """The sentence in the person's language."""
    return QCoreApplication.translate("plugin rows", text)


def details(row: PanelRow, now: int) -> list[str]:
    """The parts of the second line: when it was, how long it took, and what the plugin adds, which
    may be long."""
    took = seconds(row.duration_ms) if row.duration_ms is not None else ""
    when = day_and_time(row.time, now) if row.time else ""
    return [part for part in (when, took, visible(row.subtitle)) if part]


def mark_words(row: PanelRow) -> str:
    words = {"failed": say("Failed"), "stopped": say("Stopped"), "running": say("Running")}
    return words.get(row.mark, "")


class PluginRows(QAbstractListModel):
    """The rows that the filter lets through. `now_ms` is the time that days are told from."""

    def __init__(self, now_ms: Callable[[], int], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._now_ms = now_ms
        self._rows: tuple[PanelRow, ...] = ()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row = self._rows[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return visible(row.title)
            case Qt.ItemDataRole.ToolTipRole:
                return "\n".join(self._parts(row))
            case Qt.ItemDataRole.AccessibleTextRole:
                return ". ".join(self._parts(row))
            case _:
                return row if role == ROW_ROLE else None

    def row(self, at: int) -> PanelRow:
        return self._rows[at]

    def details(self, row: PanelRow) -> list[str]:
        return details(row, self._now_ms())

    def show(self, rows: Sequence[PanelRow]) -> None:
        if tuple(rows) != self._rows:
            self.beginResetModel()
            self._rows = tuple(rows)
            self.endResetModel()

    def place_of(self, id_: str) -> int:
        """Where the row of this id is; -1 where it is not."""
        return next((at for at, row in enumerate(self._rows) if row.id == id_), -1)

    def _parts(self, row: PanelRow) -> list[str]:
        parts = (visible(row.title), mark_words(row), " · ".join(self.details(row)))
        return [part for part in parts if part]


class _Delegate(QStyledItemDelegate):
    """Two lines; at the trailing end how it went."""

    def __init__(self, theme: Callable[[], Theme], model: PluginRows, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._rows = model

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        theme = self._theme()
        height = 2 * option.fontMetrics.height() + theme.space_12
        return QSize(0, max(height, theme.measures.hit))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = index.data(ROW_ROLE)
        if not isinstance(row, PanelRow):
            return
        painter.save()
        try:
            self._paint_ground(painter, option)
            self._paint_words(painter, option, row)
        finally:
            painter.restore()

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        theme = self._theme()
        paint_hover(painter, option, theme)
        paint_focus(painter, option, theme)

    def _paint_words(self, painter: QPainter, option: QStyleOptionViewItem, row: PanelRow) -> None:
        theme = self._theme()
        room = option.rect.adjusted(theme.space_12, theme.space_4, -theme.space_8, -theme.space_4)
        icon = theme.measures.icon
        end = QRect(room.right() - icon + 1, room.top(), icon, room.height() // 2)
        painter.setPen(theme.color("danger" if row.mark == "failed" else "muted"))
        shown = QStyle.visualRect(option.direction, room, end)
        painter.drawText(shown, Qt.AlignmentFlag.AlignCenter, _SIGNS.get(row.mark, ""))
        # Each part keeps its own direction.
        about = " · ".join(map(apart, self._rows.details(row)))
        lines = ((visible(row.title), "text"), (about, "muted"))
        for number, (words, colour) in enumerate(lines):
            top = room.top() + number * (room.height() // 2)
            line = QRect(room.left(), top, room.width() - icon - theme.space_4, room.height() // 2)
            self._paint_line(
                painter, QStyle.visualRect(option.direction, room, line), words, colour
            )

    def _paint_line(self, painter: QPainter, room: QRect, words: str, colour: str) -> None:
        painter.setPen(self._theme().color(colour))  # pyright: ignore[reportArgumentType]
        shown = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, LEADING, apart(shown))


class PluginList(QListView):
    """`chosen(row)` by click or Enter. What is looked at stays in sight when rows change."""

    chosen = Signal(object)

    def __init__(
        self, model: PluginRows, theme: Callable[[], Theme], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("pluginList")
        self._rows = model
        self._current_id = ""  # it may come back after rows that do not hold it
        calm(self)
        self.setUniformItemSizes(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setModel(model)
        self.setItemDelegate(_Delegate(theme, model, self))
        self.clicked.connect(self._choose)

    def show_rows(self, rows: Sequence[PanelRow]) -> None:
        top = self.indexAt(self.viewport().rect().topLeft())
        is_at_top = self.verticalScrollBar().value() == self.verticalScrollBar().minimum()
        top_id = self._rows.row(top.row()).id if top.isValid() else ""
        self._rows.show(rows)
        now, first = (self._rows.place_of(one) for one in (self._current_id, top_id))
        if now >= 0 and not self.currentIndex().isValid():
            self.setCurrentIndex(self._rows.index(now))
        if first >= 0 and not is_at_top:
            self.scrollTo(self._rows.index(first), QAbstractItemView.ScrollHint.PositionAtTop)

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        if current.isValid():
            self._current_id = self._rows.row(current.row()).id

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _CHOOSING and self.currentIndex().isValid():
            self._choose(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _choose(self, index: QModelIndex) -> None:
        self.chosen.emit(self._rows.row(index.row()))
