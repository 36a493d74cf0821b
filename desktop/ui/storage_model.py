"""What each conversation takes on disk, as a table: a thin model over the report's plain rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from desktop.ui.visible import apart, in_order
from desktop.ui.words import size, tokens

if TYPE_CHECKING:
    from desktop.core.records import TabStorage

Index = QModelIndex | QPersistentModelIndex
TITLE, ENTRIES, SIZE = range(3)


class StorageModel(QAbstractTableModel):
    """Rows as they are handed in, the largest first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tabs: tuple[TabStorage, ...] = ()

    def show(self, tabs: Sequence[TabStorage]) -> None:
        self.beginResetModel()
        self._tabs = tuple(tabs)
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._tabs)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else 3

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> Any:
        if orientation is Qt.Orientation.Vertical or not 0 <= section < 3:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _side(section)
        if role == Qt.ItemDataRole.DisplayRole:
            return (self.tr("Conversation"), self.tr("Entries"), self.tr("Size"))[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._tabs):
            return None
        tab = self._tabs[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self._shown(tab, index.column())
            case Qt.ItemDataRole.TextAlignmentRole:
                return _side(index.column())
            case Qt.ItemDataRole.AccessibleTextRole:
                return self._spoken(tab) if index.column() == TITLE else None
            case Qt.ItemDataRole.ToolTipRole:
                return self._tip(tab)
            case _:
                return None

    def _shown(self, tab: TabStorage, column: int) -> str:
        match column:
            case 0:
                return apart(self._title(tab))
            case 1:
                return tokens(tab.rows)
            case _:
                return size(tab.row_bytes + tab.blob_bytes)

    def _title(self, tab: TabStorage) -> str:
        return in_order(" ".join(tab.title.split())) or self.tr("(no title)")

    def _spoken(self, tab: TabStorage) -> str:
        return self.tr("{title}, {size}, {entries} entries").format(
            title=self._title(tab),
            size=size(tab.row_bytes + tab.blob_bytes),
            entries=tokens(tab.rows),
        )

    def _tip(self, tab: TabStorage) -> str:
        return self.tr("{title}\nText {text} · large results and attachments {files}").format(
            title=self._title(tab), text=size(tab.row_bytes), files=size(tab.blob_bytes)
        )


def _side(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignLeft if column == TITLE else Qt.AlignmentFlag.AlignRight
    return side | Qt.AlignmentFlag.AlignVCenter
