"""The conversations in the sidebar: a thin model over `sidebar_rows`, its view, and what was heard.

Loaded once the catalogue can be read. Everything comes from metadata and the running statuses.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QAbstractListModel,
    QDateTime,
    QLocale,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QFont, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from desktop.ui.marks import MARK_WORDS, MARKS, Mark
from desktop.ui.sidebar_rows import (
    ConversationRow,
    FolderRow,
    SidebarRow,
    SpanRow,
    sidebar_rows,
)
from desktop.ui.theme import Theme

if TYPE_CHECKING:
    from desktop.core.records import CatalogueView
    from desktop.core.status import TabStatus

Index = QModelIndex | QPersistentModelIndex
ROW_ROLE = Qt.ItemDataRole.UserRole + 1


class SidebarModel(QAbstractListModel):
    """The rows as they are. Rows that keep their key keep their selection."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[SidebarRow, ...] = ()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._rows)

    def row(self, index: int) -> SidebarRow:
        return self._rows[index]

    def index_of(self, key: str) -> QModelIndex:
        for at, row in enumerate(self._rows):
            if row.key == key:
                return self.index(at)
        return QModelIndex()

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row = self._rows[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return row.title
            case Qt.ItemDataRole.AccessibleTextRole:
                return self._spoken(row)
            case Qt.ItemDataRole.ToolTipRole:
                return self._tip(row)
            case _:
                return row if role == ROW_ROLE else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        if isinstance(self._rows[index.row()], SpanRow):
            return Qt.ItemFlag.ItemIsEnabled
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    def set_rows(self, rows: Sequence[SidebarRow]) -> None:
        """Announces the least: nothing, changed rows, or a reset when rows came, went or moved."""
        fresh, old = tuple(rows), self._rows
        if [row.key for row in fresh] != [row.key for row in old]:
            self.beginResetModel()
            self._rows = fresh
            self.endResetModel()
            return
        self._rows = fresh
        for at, (before, after) in enumerate(zip(old, fresh, strict=True)):
            if before != after:
                self.dataChanged.emit(self.index(at), self.index(at))

    def _spoken(self, row: SidebarRow) -> str:
        if not isinstance(row, ConversationRow) or not row.mark:
            return row.title
        return f"{row.title}, {MARK_WORDS[row.mark]}"

    @staticmethod
    def _tip(row: SidebarRow) -> str | None:
        match row:
            case FolderRow():
                return row.detail
            case ConversationRow():
                moment = QDateTime.fromMSecsSinceEpoch(row.moment)
                when = QLocale().toString(moment, QLocale.FormatType.ShortFormat)
                return f"{row.title}\n{when}"
            case SpanRow():
                return None


class SidebarDelegate(QStyledItemDelegate):
    """One line a row; the mark stands at the right, the folder's arrow at the left."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        row = index.data(ROW_ROLE)
        line = option.fontMetrics.height()
        room = self.theme.space_4 if isinstance(row, SpanRow) else self.theme.space_12
        return QSize(0, line + room)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = index.data(ROW_ROLE)
        if row is None:
            return
        painter.save()
        try:
            self._paint_row(painter, option, row)
        finally:
            painter.restore()

    def _paint_row(self, painter: QPainter, option: QStyleOptionViewItem, row: SidebarRow) -> None:
        theme, rect = self.theme, option.rect
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        if selected:
            painter.fillRect(rect, theme.color("selection"))
        elif option.state & QStyle.StateFlag.State_MouseOver and not isinstance(row, SpanRow):
            painter.fillRect(rect, theme.color("border"))
        left = theme.space_8 if isinstance(row, FolderRow) else theme.space_24
        box = rect.adjusted(left, 0, -theme.space_8, 0)
        font = QFont(option.font)
        ink = theme.color("text")
        title = row.title
        match row:
            case FolderRow():
                font.setWeight(QFont.Weight.DemiBold)
                title = f"{'▸' if row.folded else '▾'}  {row.title}"
            case SpanRow():
                font.setPointSizeF(font.pointSizeF() * 0.86)
                ink = theme.color("muted")
            case ConversationRow():
                box = self._paint_mark(painter, box, row.mark)
        painter.setFont(font)
        painter.setPen(ink)
        elide = (
            Qt.TextElideMode.ElideMiddle
            if isinstance(row, FolderRow)
            else Qt.TextElideMode.ElideRight
        )
        text = painter.fontMetrics().elidedText(title, elide, box.width())
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading, text)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(theme.color("accent"))
            painter.drawRect(rect.adjusted(0, 0, -1, -1))

    def _paint_mark(self, painter: QPainter, box: QRect, mark: Mark) -> QRect:
        if not mark:
            return box
        colour = {"running": "accent", "needs-you": "warning", "failed": "danger"}.get(
            mark, "muted"
        )
        painter.setPen(self.theme.color(colour))
        painter.drawText(
            box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignTrailing, MARKS[mark]
        )
        return box.adjusted(0, 0, -self.theme.space_16, 0)


class SidebarView(QListView):
    """Enter or a click opens a conversation or folds a folder."""

    chosen = Signal(QModelIndex)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setUniformItemSizes(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.clicked.connect(self.chosen)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.chosen.emit(self.currentIndex())
            return
        super().keyPressEvent(event)


class ConversationList(SidebarView):
    """Emits what the person wants: a conversation opened, a new one in a folder, a new title.

    `filled(bool)` says whether there is a row to show.
    """

    open_wanted = Signal(str)
    new_wanted = Signal(int)
    rename_wanted = Signal(str)
    filled = Signal(bool)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("conversationList")
        self.setAccessibleName(self.tr("Conversations"))
        self._view_data: CatalogueView | None = None
        self._statuses: dict[str, TabStatus] = {}
        self._unseen: frozenset[str] = frozenset()
        self._folded: frozenset[int] = frozenset()
        self._current = ""
        self._words = ""
        self.rows = SidebarModel(self)
        self._delegate = SidebarDelegate(theme, self)
        self.setModel(self.rows)
        self.setItemDelegate(self._delegate)
        self.chosen.connect(self._choose)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._open_menu)
        # One rebuild for a burst of changes; nothing ticks while nothing changes.
        self._soon = QTimer(self, singleShot=True, interval=30)
        self._soon.timeout.connect(self._rebuild)

    def show_catalogue(self, view: CatalogueView) -> None:
        self._view_data = view
        self._soon.start()

    def show_status(self, status: TabStatus) -> None:
        self._statuses[status.tab_id] = status
        self._soon.start()

    def show_unseen(self, tab_ids: frozenset[str]) -> None:
        self._unseen = tab_ids
        self._soon.start()

    def show_words(self, words: str) -> None:
        """Only conversations that hold every word are listed."""
        self._words = words
        self._soon.start()

    def show_current(self, tab_id: str) -> None:
        """The conversation in view is the selected one, also when its row comes later."""
        self._current = tab_id
        index = self.rows.index_of(tab_id)
        if index.isValid():
            self.setCurrentIndex(index)
        else:
            self.clearSelection()

    def set_theme(self, theme: Theme) -> None:
        self._delegate.theme = theme
        self.viewport().update()

    def _rebuild(self) -> None:
        if self._view_data is None:
            return
        self.rows.set_rows(
            sidebar_rows(
                self._view_data,
                words=self._words,
                folded=self._folded,
                statuses=self._statuses,
                unseen=self._unseen,
                span_of=self._span_of,
                untitled=self.tr("New conversation"),
            )
        )
        self.show_current(self._current)
        self.filled.emit(self.rows.rowCount() > 0)

    def _span_of(self, moment: int) -> str:
        day = datetime.fromtimestamp(moment / 1000).astimezone().date()
        today = datetime.now().astimezone().date()
        if day >= today:
            return self.tr("Today")
        if day == today - timedelta(days=1):
            return self.tr("Yesterday")
        return self.tr("7 days") if day > today - timedelta(days=7) else self.tr("Older")

    def _choose(self, index: QModelIndex) -> None:
        row = self.rows.row(index.row())
        if isinstance(row, ConversationRow):
            self.open_wanted.emit(row.tab_id)
        elif isinstance(row, FolderRow):
            self._folded = self._folded ^ {row.workspace_id}
            self._rebuild()

    def _open_menu(self, place: QPoint) -> None:
        index = self.indexAt(place)
        if not index.isValid():
            return
        row = self.rows.row(index.row())
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if isinstance(row, ConversationRow):
            menu.addAction(self.tr("Open"), lambda: self.open_wanted.emit(row.tab_id))
            menu.addAction(self.tr("Rename…"), lambda: self.rename_wanted.emit(row.tab_id))
        elif isinstance(row, FolderRow):
            menu.addAction(
                self.tr("New conversation here"), lambda: self.new_wanted.emit(row.workspace_id)
            )
        menu.popup(self.viewport().mapToGlobal(place))
