"""How a row of the sidebar is drawn: one line, its mark or a word at the trailing end."""

from __future__ import annotations

from PySide6.QtCore import QDate, QDateTime, QLocale, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QFont, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from desktop.ui.lines import draw_words
from desktop.ui.marks import MARKS
from desktop.ui.sidebar_model import ROW_ROLE, Index
from desktop.ui.sidebar_rows import (
    BranchesRow,
    ConversationRow,
    FolderRow,
    SidebarRow,
    SpanRow,
)
from desktop.ui.theme import Theme

_INKS = {"running": "accent", "needs-you": "warning", "failed": "danger"}


class SidebarDelegate(QStyledItemDelegate):
    """The mark stands at the trailing end, the folder's arrow and the branch's fork before it."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """The same for every row: it is asked for one."""
        return QSize(0, option.fontMetrics.height() + self.theme.space_12)

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
        self._paint_ground(painter, option, row)
        box = _inset(painter, rect, self._left(row), theme.space_8)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        font, ink, title = QFont(option.font), theme.ink("text", selected=chosen), row.title
        match row:
            case FolderRow():
                font.setWeight(QFont.Weight.DemiBold)
                title = f"{_arrow(row.folded)}  {row.title}"
                box = self._paint_note(painter, box, self._note(row), chosen)
            case SpanRow():
                font = theme.font(theme.sizes.small)
                ink = theme.color("muted")
            case BranchesRow():
                font = theme.font(theme.sizes.small)
                ink = theme.ink("muted", selected=chosen)
                title = f"{_arrow(row.folded)}  {row.title}"
            case ConversationRow():
                box = self._paint_trailing(painter, box, row, chosen)
                if row.branch_of is not None:
                    box = self._paint_fork(painter, box, chosen)
        painter.setFont(font)
        painter.setPen(ink)
        elide = (
            Qt.TextElideMode.ElideMiddle
            if isinstance(row, FolderRow)
            else Qt.TextElideMode.ElideRight
        )
        draw_words(painter, box, title, elide=elide)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(theme.color("accent"), theme.measures.hairline))
            painter.drawRect(rect.adjusted(0, 0, -1, -1))

    def _paint_ground(
        self, painter: QPainter, option: QStyleOptionViewItem, row: SidebarRow
    ) -> None:
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, self.theme.color("selection"))
        elif option.state & QStyle.StateFlag.State_MouseOver and not isinstance(row, SpanRow):
            painter.fillRect(option.rect, self.theme.color("user"))

    def _left(self, row: SidebarRow) -> int:
        theme = self.theme
        match row:
            case FolderRow():
                return theme.space_8
            case BranchesRow():
                return theme.space_32 + max(0, row.level - 1) * theme.space_16
            case ConversationRow() if row.inner:
                return theme.space_24 + theme.space_16
            case ConversationRow():
                return theme.space_24 + row.level * theme.space_16
            case _:
                return theme.space_24

    def _paint_trailing(
        self, painter: QPainter, box: QRect, row: ConversationRow, chosen: bool
    ) -> QRect:
        """The mark; where there is none, a word or the time of an inner one."""
        if not row.mark:
            return self._paint_note(painter, box, self._note(row), chosen)
        painter.setPen(self.theme.ink(_INKS.get(row.mark, "muted"), selected=chosen))
        trailing = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignTrailing
        painter.drawText(box, trailing, MARKS[row.mark])
        return _inset(painter, box, 0, self.theme.space_16)

    def _note(self, row: FolderRow | ConversationRow) -> str:
        if row.archived:
            return self.tr("archived")
        if isinstance(row, ConversationRow) and row.inner:
            return _short_moment(row.moment)
        return ""

    def _paint_note(self, painter: QPainter, box: QRect, words: str, chosen: bool) -> QRect:
        if not words:
            return box
        painter.setFont(self.theme.font(self.theme.sizes.small))
        painter.setPen(self.theme.ink("muted", selected=chosen))
        trailing = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignTrailing
        painter.drawText(box, trailing, words)
        wide = painter.fontMetrics().horizontalAdvance(words)
        return _inset(painter, box, 0, wide + self.theme.space_8)

    def _paint_fork(self, painter: QPainter, box: QRect, chosen: bool) -> QRect:
        """A line that parts in two: drawn, because few fonts have one."""
        theme = self.theme
        size = theme.px(theme.space_12)
        left, top = box.left(), box.center().y() - size // 2
        if painter.layoutDirection() == Qt.LayoutDirection.RightToLeft:
            left = box.right() - size
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.ink("muted", selected=chosen), 1.4))
        stem = QPointF(left + size * 0.2, top)
        knee = QPointF(left + size * 0.2, top + size * 0.55)
        painter.drawLine(stem, QPointF(left + size * 0.2, top + size))
        painter.drawLine(knee, QPointF(left + size * 0.75, top + size * 0.2))
        painter.restore()
        return _inset(painter, box, size + theme.space_4, 0)


def _inset(painter: QPainter, box: QRect, leading: int, trailing: int) -> QRect:
    """The box without so much at its ends, in the direction of reading."""
    if painter.layoutDirection() == Qt.LayoutDirection.RightToLeft:
        leading, trailing = trailing, leading
    return box.adjusted(leading, 0, -trailing, 0)


def _arrow(folded: bool) -> str:
    return "▸" if folded else "▾"


def _short_moment(moment: int) -> str:
    """The time of today, the date of any other day."""
    when, locale = QDateTime.fromMSecsSinceEpoch(moment), QLocale()
    if when.date() == QDate.currentDate():
        return locale.toString(when.time(), QLocale.FormatType.ShortFormat)
    return locale.toString(when.date(), QLocale.FormatType.ShortFormat)
