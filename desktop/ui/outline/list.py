"""The list of an outline: how a line is drawn, and which pieces are wanted when it is scrolled."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from desktop.ui.lines import LEADING, calm, paint_focus, paint_hover
from desktop.ui.outline import phrases
from desktop.ui.outline.line import Line
from desktop.ui.outline.model import LINE_ROLE, Index, OutlineModel
from desktop.ui.transcript.ribbon import paint_ribbon
from desktop.ui.visible import apart

if TYPE_CHECKING:
    from desktop.ui.theme import Theme

_JUMPING = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_DANGER = ("failed", "refused")


class OutlineDelegate(QStyledItemDelegate):
    """One line: its words, at the trailing end its bookmark and how its turn ended. A bookmarked
    row of an answer stands a step in, under its prompt."""

    def __init__(self, theme: Callable[[], Theme], parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        theme = self._theme()
        return QSize(0, max(option.fontMetrics.height() + theme.space_12, theme.measures.hit))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        line = index.data(LINE_ROLE)
        if not isinstance(line, Line):
            return
        painter.save()
        try:
            self._paint_ground(painter, option, line)
            self._paint_line(painter, option, line)
        finally:
            painter.restore()

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem, line: Line) -> None:
        theme, rect = self._theme(), option.rect
        paint_hover(painter, option, theme)
        if line.is_current:
            bar = QRect(rect.topLeft(), QSize(theme.space_4, rect.height()))
            shown = QStyle.visualRect(option.direction, rect, bar)
            painter.fillRect(shown, theme.color("accent"))
        paint_focus(painter, option, theme)

    def _paint_line(self, painter: QPainter, option: QStyleOptionViewItem, line: Line) -> None:
        theme = self._theme()
        room = option.rect.adjusted(theme.space_12, 0, -theme.space_8, 0)
        room = self._paint_marks(painter, option, room, line)
        if not line.heading.is_prompt:
            step = room.adjusted(theme.space_16, 0, 0, 0)
            room = QStyle.visualRect(option.direction, room, step)
        font = QFont(option.font)
        font.setWeight(QFont.Weight.DemiBold if line.is_current else QFont.Weight.Normal)
        font.setStrikeOut(line.is_retracted)
        is_quiet = line.is_retracted or line.is_compacted or not line.heading.is_prompt
        painter.setFont(font)
        painter.setPen(theme.color("muted" if is_quiet else "text"))
        words = phrases.words_of(line.heading)
        shown = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, LEADING, apart(shown))

    def _paint_marks(
        self, painter: QPainter, option: QStyleOptionViewItem, room: QRect, line: Line
    ) -> QRect:
        """The marks from the trailing end; what is left for the words. Their room is kept always:
        a line must not be cut elsewhere when a bookmark comes."""
        theme = self._theme()
        icon = theme.measures.icon
        places = [
            QRect(room.right() - at * icon + 1, room.top(), icon, room.height()) for at in (1, 2)
        ]
        end, ribbon = (QStyle.visualRect(option.direction, room, place) for place in places)
        if sign := phrases.end_mark(line.end):
            painter.setPen(theme.color("danger" if line.end in _DANGER else "muted"))
            painter.drawText(end, Qt.AlignmentFlag.AlignCenter, sign)
        if line.is_bookmarked:
            paint_ribbon(painter, ribbon, theme.color("accent"), is_set=True)
        left = room.adjusted(0, 0, -2 * icon - theme.space_4, 0)
        return QStyle.visualRect(option.direction, room, left)


class OutlineList(QListView):
    """`jump_wanted(seq)` by click or Enter; `older_wanted` and `newer_wanted` near an end."""

    jump_wanted = Signal(int)
    older_wanted = Signal()
    newer_wanted = Signal()

    def __init__(
        self, model: OutlineModel, theme: Callable[[], Theme], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("outlineList")
        self.setAccessibleName(self.tr("Prompts and bookmarks"))
        self._lines = model
        self._kept: tuple[QPersistentModelIndex, int] | None = None
        calm(self)
        self.setUniformItemSizes(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setModel(model)
        self.setItemDelegate(OutlineDelegate(theme, self))
        self.clicked.connect(self._jump)
        model.modelReset.connect(self._begin)
        model.rowsAboutToBeInserted.connect(lambda _, first: self._keep(first))
        model.rowsAboutToBeRemoved.connect(lambda _, first: self._keep(first))
        model.rowsInserted.connect(self._put_back)
        model.rowsRemoved.connect(self._put_back)
        self.verticalScrollBar().valueChanged.connect(self.look)
        self.verticalScrollBar().rangeChanged.connect(self.look)

    def look(self) -> None:
        """Asks for what is near an end of what is there."""
        if not self.isVisible():
            return
        self.executeDelayedItemsLayout()
        bar = self.verticalScrollBar()
        if self._lines.has_older and bar.value() - bar.minimum() <= bar.pageStep():
            self.older_wanted.emit()
        if self._lines.has_newer and bar.maximum() - bar.value() <= bar.pageStep():
            self.newer_wanted.emit()

    def show_place(self) -> None:
        """Brings the line that the person is at into sight."""
        if self._lines.current >= 0:
            self.scrollTo(self._lines.index(self._lines.current))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _JUMPING and self.currentIndex().isValid():
            self._jump(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _begin(self) -> None:
        """Other lines: where the person is stands in the middle, else the end is seen."""
        self.executeDelayedItemsLayout()
        if self._lines.current >= 0:
            middle = QAbstractItemView.ScrollHint.PositionAtCenter
            self.scrollTo(self._lines.index(self._lines.current), middle)
        else:
            self.scrollToBottom()

    def _jump(self, index: QModelIndex) -> None:
        self.jump_wanted.emit(self._lines.line(index.row()).heading.seq)

    def _keep(self, first: int) -> None:
        """What comes or goes above must not move what is looked at."""
        top = self.indexAt(QPoint(1, 1))
        if first == 0 and top.isValid():
            self._kept = QPersistentModelIndex(top), self.visualRect(top).top()

    def _put_back(self) -> None:
        kept, self._kept = self._kept, None
        if kept is None or not kept[0].isValid():
            return
        self.doItemsLayout()
        bar = self.verticalScrollBar()
        moved = self.visualRect(self._lines.index(kept[0].row())).top() - kept[1]
        bar.setValue(bar.value() + moved)
