"""The list on the pages of what was put away: its model, how a row is drawn, its keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import (
    QDateTime,
    QLocale,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from desktop.ui.lines import calm, draw_words
from desktop.ui.long_model import LongModel
from desktop.ui.put_away_rows import AwayRow
from desktop.ui.theme import Theme

Index = QModelIndex | QPersistentModelIndex
AWAY_ROLE = Qt.ItemDataRole.UserRole + 1


class PutAwayModel(LongModel[AwayRow]):
    """`gone` is the sentence around the moment at which a row was put away."""

    def __init__(self, gone: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._gone = gone

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        row = self.rows[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return row.title
            case Qt.ItemDataRole.AccessibleTextRole | Qt.ItemDataRole.ToolTipRole:
                return f"{row.title}\n{self.detail(row)}"
            case _:
                return row if role == AWAY_ROLE else None

    def detail(self, row: AwayRow) -> str:
        """Where it was and when it went."""
        moment = QDateTime.fromMSecsSinceEpoch(row.moment)
        when = QLocale().toString(moment, QLocale.FormatType.ShortFormat)
        gone = self._gone.format(when=when)
        return f"{row.detail} · {gone}" if row.detail else gone

    def set_rows(self, rows: Sequence[AwayRow]) -> None:
        fresh = tuple(rows)
        if fresh != self.rows:
            self.reset(fresh)


class PutAwayDelegate(QStyledItemDelegate):
    """Two lines a row: the title, and where and when in muted small letters."""

    def __init__(self, theme: Callable[[], Theme], parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        theme = self._theme()
        small = QFontMetrics(theme.font(theme.sizes.small)).height()
        return QSize(0, option.fontMetrics.height() + small + theme.space_16)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row, model = index.data(AWAY_ROLE), index.model()
        if not isinstance(row, AwayRow) or not isinstance(model, PutAwayModel):
            return
        painter.save()
        try:
            self._paint_row(painter, option, row, model.detail(row))
        finally:
            painter.restore()

    def _paint_row(
        self, painter: QPainter, option: QStyleOptionViewItem, row: AwayRow, detail: str
    ) -> None:
        theme, rect = self._theme(), option.rect
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if chosen:
            painter.fillRect(rect, theme.color("selection"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, theme.color("raised"))
        left = theme.space_12 + (theme.space_16 if row.inner else 0)
        box = rect.adjusted(left, theme.space_8, -theme.space_12, -theme.space_8)
        font = QFont(option.font)
        if row.kind != "tab":
            font.setWeight(QFont.Weight.DemiBold)
        painter.setFont(font)
        painter.setPen(theme.ink("text", selected=chosen))
        line = painter.fontMetrics().height()
        draw_words(painter, QRect(box.left(), box.top(), box.width(), line), row.title)
        painter.setFont(theme.font(theme.sizes.small))
        painter.setPen(theme.ink("muted", selected=chosen))
        below = QRect(box.left(), box.top() + line, box.width(), box.height() - line)
        draw_words(painter, below, detail)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(theme.color("accent"), theme.measures.hairline))
            painter.drawRect(rect.adjusted(0, 0, -1, -1))


class PutAwayList(QListView):
    """Enter or a double click opens, Del asks for the end, several rows can be chosen."""

    open_chosen = Signal()
    purge_chosen = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("putAwayList")
        calm(self)
        self.setUniformItemSizes(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.doubleClicked.connect(lambda _: self.open_chosen.emit())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.open_chosen.emit()
        elif event.key() == Qt.Key.Key_Delete:
            self.purge_chosen.emit()
        else:
            super().keyPressEvent(event)
