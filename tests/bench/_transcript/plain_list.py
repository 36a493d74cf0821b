"""What one would build first: a QListView whose delegate draws rows and tells their sizes.

It has the same rows, boxes and reads as Nacre's view, and keeps its boxes; it differs only in that
a QListView asks for the size of every row that is loaded. What is read is kept in place by hand.
"""

from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QRectF, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QListView, QStyledItemDelegate, QStyleOptionViewItem

from desktop.core.groups import Row, relations, takes_space
from desktop.core.status import TabStatus
from desktop.feed.window import DEFAULT_LIMITS
from desktop.ui.transcript.box import Box
from desktop.ui.transcript.boxes import Maker
from desktop.ui.transcript.highlight import Highlighter
from desktop.ui.transcript.markdown.renderer import MarkdownRenderer
from desktop.ui.transcript.phrases import Context
from tests.bench._transcript.shown import HEIGHT, WIDTH, Bench, theme


class PlainModel(QAbstractListModel):
    """The rows that are loaded."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[Row] = []
        self.context = Context(relations(()), TabStatus(""))

    def rowCount(self, parent: Any = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.rows)

    def data(self, index: Any, role: int = 0) -> Any:
        del index, role
        return None

    def show(self, rows: list[Row]) -> None:
        self.beginResetModel()
        self.rows = rows
        self._relate()
        self.endResetModel()

    def prepend(self, rows: list[Row]) -> None:
        self.beginInsertRows(QModelIndex(), 0, len(rows) - 1)
        self.rows[:0] = rows
        self._relate()
        self.endInsertRows()
        over = len(self.rows) - DEFAULT_LIMITS.limit
        if over > 0:
            first = len(self.rows) - over
            self.beginRemoveRows(QModelIndex(), first, len(self.rows) - 1)
            del self.rows[first:]
            self.endRemoveRows()

    def _relate(self) -> None:
        self.context = Context(relations(self.rows), TabStatus(""))


class PlainDelegate(QStyledItemDelegate):
    """Draws Nacre's boxes, and keeps them."""

    def __init__(self, model: PlainModel, bench: Bench, width: int) -> None:
        super().__init__()
        self._model = model
        self._theme = theme()
        self._maker = Maker(self._theme, MarkdownRenderer(Highlighter(bench.start)), lambda: None)
        self._boxes: dict[str, Box] = {}
        self._width = width

    def box(self, row: Row) -> Box:
        box = self._boxes.get(row.id)
        if box is None:
            box = self._maker.make(row, self._model.context, "folded")
            box.lay_out(self._width)
            self._boxes[row.id] = box
        return box

    def sizeHint(self, option: QStyleOptionViewItem, index: Any) -> QSize:
        del option
        row = self._model.rows[index.row()]
        seen = takes_space(row, self._model.context.relations)
        return QSize(self._width, self.box(row).height if seen else 0)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Any) -> None:
        row = self._model.rows[index.row()]
        if not takes_space(row, self._model.context.relations):
            return
        area = option.rect  # pyright: ignore[reportAttributeAccessIssue]
        painter.save()
        painter.translate(area.topLeft())
        clip = QRectF(0, max(0, -area.top()), area.width(), HEIGHT)
        self.box(row).paint(painter, clip, self._theme, None)
        painter.restore()


class PlainList:
    """The list with its model, from its opening on."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self.model = PlainModel()
        self._delegate = PlainDelegate(self.model, bench, 760)
        self.view = QListView()
        self.view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.view.setItemDelegate(self._delegate)
        self.view.setModel(self.model)
        self.view.resize(WIDTH, HEIGHT)
        self.view.show()

    async def open(self) -> None:
        """Until the tail is painted."""
        corpus = self._bench.corpus
        page = await self._bench.reader.page(corpus.tab, limit=DEFAULT_LIMITS.initial)
        self.model.show(list(page.rows))
        self.view.scrollToBottom()
        self.view.viewport().repaint()

    async def page_up(self) -> None:
        """Until the rows before are there and what was at the top is painted where it was."""
        first = self.model.rows[0]
        seq = first.seq  # pyright: ignore[reportAttributeAccessIssue]
        page = await self._bench.reader.page(
            self._bench.corpus.tab, limit=DEFAULT_LIMITS.page, before=seq
        )
        self.model.prepend(list(page.rows))
        index = self.model.index(len(page.rows))
        self.view.scrollTo(index, QListView.ScrollHint.PositionAtTop)
        self.view.viewport().repaint()

    def close(self) -> None:
        self.view.close()
        self.view.deleteLater()
