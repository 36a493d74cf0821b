"""The lines of an outline as a Qt model: a window over them that grows and is cut at its ends.

What is known of turns, taken back prompts and compactions counts for lines that come later too.
"""

from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from desktop.core.outline import Heading, Piece
from desktop.ui.outline import phrases
from desktop.ui.outline.line import Line

MOST = 1_000  # lines that are kept
LINE_ROLE = int(Qt.ItemDataRole.UserRole)
Index = QModelIndex | QPersistentModelIndex


class OutlineModel(QAbstractListModel):
    """Covers the rows from `first` to `last` of a log; `has_older`, `has_newer` say what is not."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._headings: list[Heading] = []
        self._ends: dict[str, str] = {}
        self._retracted: set[str] = set()
        self._compacted = 0
        self._bookmarks: frozenset[int] = frozenset()
        self._current = 0
        self.first = 1
        self.last = 0
        self.has_older = False
        self.has_newer = False

    # What Qt asks

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._headings)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._headings):
            return None
        line = self.line(index.row())
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return phrases.words_of(line.heading)
            case Qt.ItemDataRole.ToolTipRole:
                return phrases.tip_of(line)
            case Qt.ItemDataRole.AccessibleTextRole:
                return phrases.spoken(line)
            case _:
                return line if role == LINE_ROLE else None

    # What the list asks

    def line(self, at: int) -> Line:
        heading = self._headings[at]
        return Line(
            heading,
            end=self._ends.get(heading.turn_id, "") if heading.is_prompt else "",
            is_bookmarked=heading.seq in self._bookmarks,
            is_retracted=heading.row_id in self._retracted,
            is_compacted=heading.seq < self._compacted,
            is_current=at == self.current,
        )

    @property
    def current(self) -> int:
        """The place of the line that the person is at; -1 where it is not among these."""
        if not self.first <= self._current <= self.last:
            return -1
        places = range(len(self._headings) - 1, -1, -1)
        here = (at for at in places if self._headings[at].seq <= self._current)
        return next((at for at in here if self._headings[at].is_prompt), -1)

    def covers(self, seq: int) -> bool:
        """Whether the line of the prompt that this row belongs to is known to be here, or that
        there is none."""
        before = any(one.is_prompt and one.seq <= seq for one in self._headings)
        return self.first <= seq <= self.last and (before or not self.has_older)

    # What changes

    def show(self, piece: Piece, bookmarks: frozenset[int]) -> None:
        """These lines and no others; what was known of turns stays."""
        self.beginResetModel()
        self._headings = list(piece.headings)
        self._bookmarks = bookmarks
        self.first, self.last = piece.first, piece.last
        self.has_older, self.has_newer = piece.has_older, piece.has_newer
        self._learn(piece)
        self.endResetModel()

    def forget(self) -> None:
        """Another conversation is shown next."""
        self._ends, self._retracted, self._compacted = {}, set(), 0
        self._current = 0
        self.show(Piece(), frozenset())

    def join_older(self, piece: Piece) -> None:
        """A piece that ends right before `first`."""
        # Bounds first, here and below: whoever hears of the lines may ask for the next piece.
        self.first, self.has_older = piece.first, piece.has_older
        over = max(len(self._headings) + len(piece.headings) - MOST, 0)
        if over:
            self.last, self.has_newer = self._headings[-over].seq - 1, True
            self._remove(len(self._headings) - over, over)
        self._insert(0, piece.headings)
        self.learn(piece)

    def join_newer(self, piece: Piece) -> None:
        """A piece that begins right after `last`."""
        self.last, self.has_newer = piece.last, piece.has_newer
        over = max(len(self._headings) + len(piece.headings) - MOST, 0)
        if over:
            self.first, self.has_older = self._headings[over].seq, True
            self._remove(0, over)
        self._insert(len(self._headings), piece.headings)
        self.learn(piece)

    def learn(self, piece: Piece) -> None:
        """What these rows say about lines, wherever they are."""
        before = (dict(self._ends), set(self._retracted), self._compacted)
        self._learn(piece)
        if before != (self._ends, self._retracted, self._compacted):
            self._announce(0, len(self._headings) - 1)

    def show_current(self, seq: int) -> bool:
        """The person reads the row of this seq; whether that is another line than before."""
        before, self._current = self.current, seq
        after = self.current
        if before == after:
            return False
        for at in (before, after):
            if at >= 0:
                self._announce(at, at)
        return True

    def _learn(self, piece: Piece) -> None:
        self._ends |= piece.ends
        self._retracted |= piece.retracted
        self._compacted = max(self._compacted, piece.compacted)

    def _insert(self, at: int, headings: tuple[Heading, ...]) -> None:
        if headings:
            self.beginInsertRows(QModelIndex(), at, at + len(headings) - 1)
            self._headings[at:at] = headings
            self.endInsertRows()

    def _remove(self, at: int, count: int) -> None:
        self.beginRemoveRows(QModelIndex(), at, at + count - 1)
        del self._headings[at : at + count]
        self.endRemoveRows()

    def _announce(self, first: int, last: int) -> None:
        if last >= first:
            self.dataChanged.emit(self.index(first), self.index(last))
