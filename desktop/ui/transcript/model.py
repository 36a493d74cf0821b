"""The rows of a scope as a Qt model: a thin adapter over a list.

`canFetchMore` and `fetchMore` speak of newer rows only, as Qt means them; older rows come by
`fetch_older`. A row that grows is announced at most once a frame (SPEC A10). Painting reads
`row(i)` directly: it costs a thirtieth of `data`.
"""

from collections.abc import Iterable, Sequence
from typing import Any, assert_never

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from desktop.core.chunks import LogChunk, System, ToolCall
from desktop.core.conversation import marked_subagent
from desktop.core.groups import OpenRow, Relations, Row, call_of, relations, takes_space
from desktop.core.status import TabStatus
from desktop.feed.scope import Scope
from desktop.feed.shown import Change, Changed, Failed, Grown, Newer, Reset, Status
from desktop.feed.window import Inserted, Moved, Removed
from desktop.ui.transcript.clock import FrameClock
from desktop.ui.transcript.phrases import Context, accessible_text
from desktop.ui.transcript.saying import say

ROW_ROLE = int(Qt.ItemDataRole.UserRole)
Index = QModelIndex | QPersistentModelIndex


class TranscriptModel(QAbstractListModel):
    """Rows of one scope, oldest first. `failed(sentence, detail)`: rows could not be read."""

    newer_changed = Signal(int)
    status_changed = Signal()
    failed = Signal(str, str)

    def __init__(self, scope: Scope, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.scope = scope
        self.reset_around: int | None = None
        self._rows: list[Row] = list(scope.rows)
        self._places: dict[str, int] | None = None
        self._relations: Relations | None = None
        self._status = scope.status_now
        self._bookmarks: frozenset[int] = frozenset()
        self._dirty: set[str] = set()
        self._clock = FrameClock(parent=self)
        self._clock.tick.connect(self._announce_growth)
        scope.listen(self._apply)

    # What Qt asks

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row = self._rows[index.row()]
        if role == ROW_ROLE:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            words = accessible_text(row, self.context())
            return f"{words}\n{say('Bookmarked')}" if self.is_bookmarked(row) else words
        return None

    def canFetchMore(self, parent: Index) -> bool:
        return not parent.isValid() and self.scope.has_newer

    def fetchMore(self, parent: Index) -> None:
        if not parent.isValid():
            self.scope.fetch_newer()

    def fetch_older(self) -> bool:
        """Asks for a page of older rows; False when there is none or one is on its way."""
        return self.scope.fetch_older()

    # What the view asks

    def row(self, at: int) -> Row:
        return self._rows[at]

    def rows(self) -> Sequence[Row]:
        return self._rows

    def place(self, id_: str) -> int | None:
        """Where the row with this id stands now."""
        if self._places is None:
            self._places = {row.id: at for at, row in enumerate(self._rows)}
        return self._places.get(id_)

    def place_of_seq(self, seq: int) -> int | None:
        """Where the row of this seq, or the next one that is loaded, stands."""
        return next((at for at in range(len(self._rows)) if self.seq_of(at) >= seq), None)

    def holds(self, seq: int) -> bool:
        """Whether the row of this seq is loaded, or streams."""
        return bool(self._rows) and self.seq_of(0) <= seq <= self.seq_of(len(self._rows) - 1)

    def seq_of(self, at: int) -> int:
        """The seq of a row; an open row's is what it would get."""
        row = self._rows[at]
        if not isinstance(row, OpenRow):
            return row.seq
        sealed = len(self.scope.window.rows)
        return (self.scope.window.last_seq or 0) + at - sealed + 1

    def takes_space(self, row: Row) -> bool:
        """Whether the row is seen: neither silent nor shown inside the card of its call."""
        return takes_space(row, self.relations())

    def is_bookmarked(self, row: Row) -> bool:
        return not isinstance(row, OpenRow) and row.seq in self._bookmarks

    def show_bookmarks(self, bookmarks: frozenset[int]) -> None:
        """The seqs of the rows that have a bookmark now."""
        changed, self._bookmarks = self._bookmarks ^ bookmarks, bookmarks
        rows = (row for row in self._rows if not isinstance(row, OpenRow))
        self._announce([row.id for row in rows if row.seq in changed] if changed else [])

    def relations(self) -> Relations:
        if self._relations is None:
            self._relations = relations(self._rows)
        return self._relations

    def context(self) -> Context:
        return Context(self.relations(), self._status)

    @property
    def frame_due(self) -> bool:
        """Whether growth waits to be announced with the next frame."""
        return self._clock.running

    def detach(self) -> None:
        """Hears nothing more; the scope may go."""
        self.scope.listen(None)
        self._clock.stop()

    # Changes of the scope

    def _apply(self, change: Change) -> None:
        match change:
            case Inserted():
                self._insert(change.at, change.rows)
            case Removed():
                self._remove(change.at, change.count)
            case Moved():
                self._move(change.at, change.to)
            case Changed():
                self._replace(change.at, change.row)
            case Grown():
                self._grow(self._rows[change.at])
            case Reset():
                self._reset(change)
            case Status():
                self._take_status(change.status)
            case Newer():
                self.newer_changed.emit(change.count)
            case Failed():
                self.failed.emit(str(change.error), change.error.detail)
            case _:
                assert_never(change)

    def _insert(self, at: int, rows: tuple[Row, ...]) -> None:
        self.beginInsertRows(QModelIndex(), at, at + len(rows) - 1)
        self._rows[at:at] = rows
        self._forget()
        self.endInsertRows()
        self._announce(self._touched(rows))

    def _remove(self, at: int, count: int) -> None:
        self.beginRemoveRows(QModelIndex(), at, at + count - 1)
        gone = self._rows[at : at + count]
        del self._rows[at : at + count]
        self._dirty.difference_update(row.id for row in gone)
        self._forget()
        self.endRemoveRows()
        self._announce(self._touched(gone))

    def _move(self, at: int, to: int) -> None:
        self.beginMoveRows(QModelIndex(), at, at, QModelIndex(), to)
        self._rows.insert(to, self._rows.pop(at))
        self._forget()
        self.endMoveRows()

    def _replace(self, at: int, row: Row) -> None:
        self._rows[at] = row
        self._dirty.discard(row.id)
        self._forget()
        self._announce({row.id, *self._touched((row,))})

    def _reset(self, change: Reset) -> None:
        self.beginResetModel()
        self.reset_around = change.around
        self._rows = list(change.rows)
        self._dirty.clear()
        self._forget()
        self.endResetModel()
        self.reset_around = None

    def _grow(self, row: Row) -> None:
        call = call_of(row)
        owner = self.relations().calls.get(call) if call is not None else None
        self._dirty.add(owner or row.id)
        self._clock.mark()

    def _announce_growth(self) -> None:
        dirty, self._dirty = self._dirty, set()
        self._announce(dirty)

    def _take_status(self, status: TabStatus) -> None:
        before, self._status = self._status, status
        self.status_changed.emit()
        if _run(before) != _run(status):
            known = self.relations()
            calls = {id_ for call, id_ in known.calls.items() if call not in known.results}
            self._announce(calls)

    def _touched(self, rows: Iterable[Row]) -> set[str]:
        """The other loaded rows that look different because these came or went."""
        known = self.relations()
        ids: set[str] = set()
        for row in rows:
            call = call_of(row)
            if call is not None and call in known.calls:
                ids.add(known.calls[call])
            if isinstance(row, LogChunk) and isinstance(row.data, ToolCall):
                result = known.results.get(row.data.call_id)
                before = known.before.get(row.id)
                ids.update(one.id for one in (result, before) if one is not None)
            if isinstance(row, LogChunk) and isinstance(row.data, System):
                ids.update(str(one) for one in row.data.fields.get("chunkIds", ()))
                mark = marked_subagent(row.data)
                if mark is not None and mark[0] in known.calls:
                    ids.add(known.calls[mark[0]])
        return ids

    def _announce(self, ids: Iterable[str]) -> None:
        for id_ in ids:
            at = self.place(id_)
            if at is not None:
                index = self.index(at)
                self.dataChanged.emit(index, index)

    def _forget(self) -> None:
        self._places = None
        self._relations = None


def _run(status: TabStatus) -> tuple[object, ...]:
    """What of a status the cards of calls show."""
    return (status.phase, status.turn_id, tuple(one.call_id for one in status.questions))
