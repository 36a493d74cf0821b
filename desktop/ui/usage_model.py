"""The requests of a conversation as a table, the newest first: a thin model over plain rows."""

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from desktop.core.caching import RequestUsage
from desktop.ui import usage_words, words

Index = QModelIndex | QPersistentModelIndex
WHEN, MODEL, READ, WRITTEN, UNCACHED, OUTPUT, COST, ANEW = range(8)
COLUMNS = 8


class UsageModel(QAbstractTableModel):
    """`now_ms` is the clock that the times are told by."""

    def __init__(self, now_ms: Callable[[], int], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._now_ms = now_ms
        self._rows: tuple[RequestUsage, ...] = ()

    def show(self, usage: Sequence[RequestUsage]) -> None:
        """Takes requests in the order they were made. What was there stays where it is."""
        rows = tuple(reversed(usage))
        more = len(rows) - len(self._rows)
        before = [(one.started_at, one.model) for one in self._rows]
        if more < 0 or before != [(one.started_at, one.model) for one in rows[more:]]:
            self.beginResetModel()
            self._rows = rows
            self.endResetModel()
            return
        changed = [at for at, one in enumerate(self._rows) if one != rows[at + more]]
        if more:
            self.beginInsertRows(QModelIndex(), 0, more - 1)
        self._rows = rows
        if more:
            self.endInsertRows()
        for at in changed:
            self.dataChanged.emit(self.index(at + more, 0), self.index(at + more, COLUMNS - 1))

    def row(self, at: int) -> RequestUsage:
        return self._rows[at]

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else COLUMNS

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> Any:
        if orientation is Qt.Orientation.Vertical or not 0 <= section < COLUMNS:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _side(section)
        return self._titles()[section] if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row = self._rows[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self._shown(row)[index.column()]
            case Qt.ItemDataRole.TextAlignmentRole:
                return _side(index.column())
            case Qt.ItemDataRole.AccessibleTextRole:
                return self._spoken(row) if index.column() == WHEN else None
            case Qt.ItemDataRole.ToolTipRole:
                return usage_words.explained(row) or None
            case _:
                return None

    def _titles(self) -> tuple[str, ...]:
        return (
            self.tr("When"),
            self.tr("Model"),
            self.tr("Read from cache"),
            self.tr("Written to cache"),
            self.tr("Not cached"),
            self.tr("Answer"),
            self.tr("Cost"),
            self.tr("Remark"),
        )

    def _shown(self, row: RequestUsage) -> tuple[str, ...]:
        when = words.day_and_time(row.started_at, self._now_ms())
        if not row.is_answered:
            return (when, row.model, "", "", "", "", "", self.tr("No answer came"))
        counts = (row.read, row.written, row.uncached, row.output)
        return (
            when,
            row.model,
            *(words.tokens(count) for count in counts),
            words.dollars(row.dollars),
            usage_words.aside(row),
        )

    def _spoken(self, row: RequestUsage) -> str:
        titles, shown = self._titles(), self._shown(row)
        said = [f"{title} {value}" for title, value in zip(titles, shown, strict=True) if value]
        return ", ".join(said)


def _side(column: int) -> Qt.AlignmentFlag:
    is_text = column in (WHEN, MODEL, ANEW)
    side = Qt.AlignmentFlag.AlignLeft if is_text else Qt.AlignmentFlag.AlignRight
    return side | Qt.AlignmentFlag.AlignVCenter
