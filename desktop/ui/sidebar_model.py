"""The sidebar's rows as a Qt model, and what is said of each aloud and in its tooltip."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import (
    QDateTime,
    QLocale,
    QModelIndex,
    QPersistentModelIndex,
    Qt,
)

from desktop.ui.long_model import LongModel
from desktop.ui.marks import MARK_WORDS
from desktop.ui.sidebar_rows import (
    BranchesRow,
    ConversationRow,
    FolderRow,
    SidebarRow,
    SpanRow,
)

Index = QModelIndex | QPersistentModelIndex
ROW_ROLE = Qt.ItemDataRole.UserRole + 1


class SidebarModel(LongModel[SidebarRow]):
    """The rows as they are. Rows that keep their key keep their selection."""

    def index_of(self, key: str) -> QModelIndex:
        for at, row in enumerate(self.rows):
            if row.key == key:
                return self.index(at)
        return QModelIndex()

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        row = self.rows[index.row()]
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
        if isinstance(self.rows[index.row()], SpanRow):
            return Qt.ItemFlag.ItemIsEnabled
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    def set_rows(self, rows: Sequence[SidebarRow]) -> None:
        """Announces the least: nothing, changed rows, or a reset when rows came, went or moved."""
        fresh, old = tuple(rows), self.rows
        if [row.key for row in fresh] != [row.key for row in old]:
            self.reset(fresh)
            return
        self.rows = fresh
        for at, (before, after) in enumerate(zip(old, fresh, strict=True)):
            if before != after:
                self.dataChanged.emit(self.index(at), self.index(at))

    def _spoken(self, row: SidebarRow) -> str:
        match row:
            case ConversationRow():
                parts = [row.title, MARK_WORDS[row.mark], self._branch_words(row)]
                parts.append(self._subagent_words(row))
                parts.append(self.tr("archived") if row.archived else "")
                return ", ".join(part for part in parts if part)
            case FolderRow() if row.archived:
                return self.tr("{title}, archived").format(title=row.title)
            case FolderRow() | BranchesRow():
                folded = self.tr("folded") if row.folded else self.tr("unfolded")
                return f"{row.title}, {folded}"
            case SpanRow():
                return row.title

    def _tip(self, row: SidebarRow) -> str | None:
        match row:
            case FolderRow():
                return row.detail
            case ConversationRow():
                moment = QDateTime.fromMSecsSinceEpoch(row.moment)
                when = QLocale().toString(moment, QLocale.FormatType.ShortFormat)
                lines = (row.title, self._branch_words(row), self._subagent_words(row), when)
                return "\n".join(line for line in lines if line)
            case SpanRow() | BranchesRow():
                return None

    def _subagent_words(self, row: ConversationRow) -> str:
        if row.subagent_of is None:
            return ""
        return self.tr("subagent of “{title}”").format(title=row.subagent_of)

    def _branch_words(self, row: ConversationRow) -> str:
        if row.branch_of is None:
            return ""
        if row.branch_of == row.title:
            return self.tr("a branch")
        return self.tr("branch of “{title}”").format(title=row.branch_of)
