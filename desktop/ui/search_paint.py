"""How a hit is drawn: who and when, small and muted, and two lines of what stands there, marked."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import (
    QFont,
    QFontMetrics,
    QPainter,
    QPen,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from desktop.core.drafts import units
from desktop.ui.lines import draw_words
from desktop.ui.search_list import SEARCH_ROLE, Index, SearchModel
from desktop.ui.search_rows import HeadRow, HitRow, Span
from desktop.ui.theme import Theme

LINES = 2
LONG_WORD = 20


class SearchDelegate(QStyledItemDelegate):
    """Heads in one line, hits in three."""

    def __init__(self, theme: Callable[[], Theme], parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        theme, line = self._theme(), option.fontMetrics.height()
        if isinstance(index.data(SEARCH_ROLE), HeadRow):
            return QSize(0, line + theme.space_16 + theme.space_4)
        small = QFontMetrics(theme.font(theme.sizes.small)).height()
        return QSize(0, small + LINES * line + theme.space_16)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row, model = index.data(SEARCH_ROLE), index.model()
        if not isinstance(model, SearchModel):
            return
        painter.save()
        try:
            if isinstance(row, HeadRow):
                self._paint_head(painter, option, row, model)
            elif isinstance(row, HitRow):
                self._paint_hit(painter, option, row, model.source(row))
        finally:
            painter.restore()

    def _paint_head(
        self, painter: QPainter, option: QStyleOptionViewItem, row: HeadRow, model: SearchModel
    ) -> None:
        theme = self._theme()
        box = option.rect.adjusted(theme.space_12, theme.space_12, -theme.space_12, 0)
        font = QFont(option.font)
        font.setWeight(QFont.Weight.DemiBold)
        painter.setFont(font)
        painter.setPen(theme.color("text"))
        note = " · ".join(filter(None, (model.shelf(row), model.folder(row))))
        small = theme.font(theme.sizes.small)
        room = min(QFontMetrics(small).horizontalAdvance(note), box.width() // 2)
        end = _at_end(box, room, option.direction)
        draw_words(
            painter, _before(box, end, theme.space_8, option.direction), model.title(row.title)
        )
        painter.setFont(small)
        painter.setPen(theme.color("muted"))
        draw_words(painter, end, note)

    def _paint_hit(
        self, painter: QPainter, option: QStyleOptionViewItem, row: HitRow, source: str
    ) -> None:
        theme, rect = self._theme(), option.rect
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        if selected:
            painter.fillRect(rect, theme.color("selection"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, theme.color("raised"))
        left, right = theme.space_24, theme.space_12
        if option.direction == Qt.LayoutDirection.RightToLeft:
            left, right = right, left
        box = rect.adjusted(left, theme.space_4, -right, -theme.space_8)
        painter.setFont(theme.font(theme.sizes.small))
        painter.setPen(theme.color("on_selection" if selected else "muted"))
        small = painter.fontMetrics().height()
        draw_words(painter, QRect(box.left(), box.top(), box.width(), small), source)
        painter.setPen(theme.color("on_selection" if selected else "text"))
        self._paint_text(painter, option, row, box.adjusted(0, small, 0, 0))
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(theme.color("accent"), theme.measures.focus_ring))
            painter.drawRect(rect.adjusted(1, 1, -2, -2))

    def _paint_text(
        self, painter: QPainter, option: QStyleOptionViewItem, row: HitRow, box: QRect
    ) -> None:
        theme = self._theme()
        layout, end = _laid_out(row.text, row.marks, theme, option, box.width())
        if end < len(row.text):
            cut = _without_last_word(row.text[:end])
            layout, _ = _laid_out(cut, row.marks, theme, option, box.width())
        layout.draw(painter, QPointF(box.topLeft()), [], QRectF(box))


def _laid_out(
    text: str, marks: Sequence[Span], theme: Theme, option: QStyleOptionViewItem, width: int
) -> tuple[QTextLayout, int]:
    """The first lines of a text, and where they end in it. It runs in its own direction."""
    layout = QTextLayout(text, option.font)
    ways = QTextOption()
    ways.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    ways.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
    if option.direction == Qt.LayoutDirection.RightToLeft:
        ways.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignAbsolute)
    layout.setTextOption(ways)
    seen = [(low, min(high, len(text))) for low, high in marks if low < len(text)]
    layout.setFormats([_mark(theme, units(text[:low]), units(text[:high])) for low, high in seen])
    y, end = 0.0, 0
    layout.beginLayout()
    for _ in range(LINES):
        line = layout.createLine()
        if not line.isValid():
            break
        line.setLineWidth(width)
        line.setPosition(QPointF(0, y))
        y += line.height()
        end = line.textStart() + line.textLength()
    layout.endLayout()
    return layout, len(text.encode("utf-16-le")[: 2 * end].decode("utf-16-le", "ignore"))


def _without_last_word(text: str) -> str:
    """The text, to be continued: a sign for that takes the room of its last word."""
    head, _, last = text.rstrip().rpartition(" ")
    return f"{head} …" if len(last) < LONG_WORD and head else f"{text[:-2]}…"


def _mark(theme: Theme, low: int, high: int) -> QTextLayout.FormatRange:
    letters = QTextCharFormat()
    letters.setBackground(theme.color("accent"))
    letters.setForeground(theme.color("on_accent"))
    found = QTextLayout.FormatRange()
    found.start, found.length, found.format = low, high - low, letters  # pyright: ignore[reportAttributeAccessIssue]
    return found


def _at_end(box: QRect, width: int, direction: Qt.LayoutDirection) -> QRect:
    left = box.left() if direction == Qt.LayoutDirection.RightToLeft else box.right() - width
    return QRect(left, box.top(), width + 1, box.height())


def _before(box: QRect, end: QRect, space: int, direction: Qt.LayoutDirection) -> QRect:
    if direction == Qt.LayoutDirection.RightToLeft:
        return box.adjusted(end.width() + space, 0, 0, 0)
    return box.adjusted(0, 0, -end.width() - space, 0)
