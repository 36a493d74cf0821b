"""The list of hits: its model, which asks for more as one scrolls, and its keys."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QDateTime,
    QLocale,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QWidget

from desktop.core.records import SearchHit, Tab
from desktop.ui.lines import calm
from desktop.ui.search_rows import HeadRow, HitRow, SearchRow, rows_of
from desktop.ui.visible import visible

Index = QModelIndex | QPersistentModelIndex
SEARCH_ROLE = Qt.ItemDataRole.UserRole + 1
_NOTHING = QModelIndex()


class SearchModel(QAbstractListModel):
    """Heads and hits. `more_wanted` when the end of what was read comes into view."""

    more_wanted = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[SearchRow] = []
        self._has_more = False
        self.hits = 0

    def rowCount(self, parent: Index = _NOTHING) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def row(self, at: int) -> SearchRow:
        return self._rows[at]

    def flags(self, index: Index) -> Qt.ItemFlag:
        """A head is passed over by the keys."""
        is_hit = index.isValid() and isinstance(self._rows[index.row()], HitRow)
        return super().flags(index) if is_hit else Qt.ItemFlag.NoItemFlags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row = self._rows[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return row.text if isinstance(row, HitRow) else self.title(row.title)
            case Qt.ItemDataRole.AccessibleTextRole:
                return self._spoken(row)
            case Qt.ItemDataRole.ToolTipRole:
                return visible(row.directory) if isinstance(row, HeadRow) else None
            case _:
                return row if role == SEARCH_ROLE else None

    def begin(self) -> None:
        """Another search: what was found before is gone."""
        self.beginResetModel()
        self._rows, self._has_more, self.hits = [], False, 0
        self.endResetModel()

    def add(self, hits: Sequence[SearchHit]) -> None:
        rows = list(rows_of(hits, self._rows[-1] if self._rows else None))
        if rows:
            first = len(self._rows)
            self.beginInsertRows(QModelIndex(), first, first + len(rows) - 1)
            self._rows += rows
            self.hits += len(hits)
            self.endInsertRows()

    def put_first(self, hits: Sequence[SearchHit]) -> None:
        """Newer ones, the newest first: above what is there, or below the head that is first."""
        for hit in reversed(hits):
            top = self._rows[0] if self._rows else None
            rows = list(rows_of([hit], None))
            is_below = isinstance(top, HeadRow) and top.tab_id == hit.tab_id
            at, rows = (1, rows[1:]) if is_below else (0, rows)
            self.beginInsertRows(QModelIndex(), at, at + len(rows) - 1)
            self._rows[at:at] = rows
            self.hits += 1
            self.endInsertRows()

    def follow(self, tabs: Sequence[Tab], *, gone: Set[str]) -> bool:
        """What conversations are called and where they were put now; hits in those that are `gone`
        go, too. Whether any did."""
        by_id = {one.id: one for one in tabs}
        before = self.hits
        for at in range(len(self._rows) - 1, -1, -1):
            tab_id = _tab_of(self._rows[at])
            if tab_id in gone:
                self._remove(at)
                self._join_heads(at)
            elif tab_id in by_id:
                self._rename(at, by_id[tab_id])
        return self.hits != before

    def _remove(self, at: int) -> None:
        self.beginRemoveRows(QModelIndex(), at, at)
        self.hits -= isinstance(self._rows[at], HitRow)
        del self._rows[at]
        self.endRemoveRows()

    def _join_heads(self, at: int) -> None:
        """Hits of one conversation that follow each other now stand under one head."""
        above, row = self._rows[at - 1 : at], self._rows[at : at + 1]
        if above and row and isinstance(row[0], HeadRow) and _tab_of(above[0]) == _tab_of(row[0]):
            self._remove(at)

    def _rename(self, at: int, tab: Tab) -> None:
        row = self._rows[at]
        if isinstance(row, HeadRow):
            new: SearchRow = replace(row, title=tab.title, shelf=tab.shelf)
        else:
            new = replace(row, hit=replace(row.hit, title=tab.title, shelf=tab.shelf))
        if new != row:
            self._rows[at] = new
            self.dataChanged.emit(self.index(at), self.index(at))

    def offer_more(self, has_more: bool) -> None:
        """Whether there may be hits that were not read."""
        self._has_more = has_more

    def canFetchMore(self, parent: Index) -> bool:
        return self._has_more and not parent.isValid()

    def fetchMore(self, parent: Index) -> None:
        if self.canFetchMore(parent):
            self._has_more = False  # until it is offered again
            self.more_wanted.emit()

    # -- words ----------------------------------------------------------------------------------

    def title(self, title: str) -> str:
        return visible(title) or self.tr("New conversation")

    def source(self, row: HitRow) -> str:
        """Who said it, or which tool, and when."""
        moment = QDateTime.fromMSecsSinceEpoch(row.hit.created_at)
        when = QLocale().toString(moment, QLocale.FormatType.ShortFormat)
        return f"{self._who(row.hit)} · {when}"

    def folder(self, row: HeadRow) -> str:
        return visible(PurePath(row.directory).name)

    def shelf(self, row: HeadRow) -> str:
        words = {"": "", "archived": self.tr("archived"), "bin": self.tr("in the bin")}
        return words[row.shelf]

    def _who(self, hit: SearchHit) -> str:
        match hit.type:
            case "text":
                return self.tr("You") if hit.role == "user" else self.tr("Answer")
            case "thinking":
                return self.tr("Thinking")
            case "tool_call":
                return self.tr("Call of {tool}").format(tool=visible(hit.tool))
            case "tool_result":
                return self.tr("Result of {tool}").format(tool=visible(hit.tool))
            case "error":
                return self.tr("Error")
            case "system" | "opaque":
                return self.tr("Note")

    def _spoken(self, row: SearchRow) -> str:
        if isinstance(row, HeadRow):
            return ", ".join(filter(None, (self.title(row.title), self.shelf(row))))
        where = self.tr("in “{title}”").format(title=self.title(row.hit.title))
        return f"{self.source(row)}, {where}: {row.text}"


def _tab_of(row: SearchRow) -> str:
    return row.tab_id if isinstance(row, HeadRow) else row.hit.tab_id


class SearchList(QListView):
    """Enter or a click opens a hit; ↑ on the first one `left`s the list."""

    chosen = Signal(object)
    left = Signal()

    def __init__(self, model: SearchModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("searchList")
        self.setAccessibleName(self.tr("Found in conversations"))
        calm(self)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setModel(model)
        self._model = model
        self.clicked.connect(self._choose)
        self._kept: tuple[QPersistentModelIndex, int] | None = None
        model.rowsAboutToBeInserted.connect(self._keep)
        model.rowsInserted.connect(self._put_back)

    def enter(self) -> None:
        """The keyboard comes to the hit where it was, else to the first."""
        if not self.currentIndex().isValid() and self._model.rowCount() > 1:
            self.setCurrentIndex(self._model.index(1))
        self.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index, key = self.currentIndex(), event.key()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(index)
        elif key == Qt.Key.Key_Up and index.row() <= 1:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def _keep(self, _parent: QModelIndex, first: int) -> None:
        """What is looked at stays where it is when rows come above it; at the top they are seen."""
        top = self.indexAt(self.viewport().rect().topLeft())
        is_above = top.isValid() and first <= top.row() and self.verticalScrollBar().value() > 0
        self._kept = (QPersistentModelIndex(top), self.visualRect(top).top()) if is_above else None

    def _put_back(self) -> None:
        if self._kept is not None:
            top, before = self._kept
            self.executeDelayedItemsLayout()
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() + self.visualRect(top).top() - before)

    def _choose(self, index: QModelIndex) -> None:
        row = index.data(SEARCH_ROLE) if index.isValid() else None
        if isinstance(row, HitRow):
            self.chosen.emit(row.hit)
