"""Pieces that may be wider than the column: they scroll sideways inside themselves.

Nothing around them moves, and a long line or a table of many columns is never squeezed.
"""

import math
from dataclasses import dataclass, field

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QTextDocument, QTextLength, QTextTable

from desktop.ui.theme import Theme
from desktop.ui.transcript.pieces import Hit, Paper, TextPiece

# Wider than any line of code may be: nothing wraps.
UNBOUND = 1 << 20
# A table is squeezed until its columns have this width on average, unscaled; then it scrolls.
COLUMN = 120


@dataclass(eq=False, slots=True)
class Slide:
    """How far it is scrolled to the side: `room` pixels of `content` are seen, from `at` on."""

    room: int = 0
    content: int = 0
    at: int = 0

    @property
    def reach(self) -> int:
        return max(0, self.content - self.room)

    def by(self, pixels: int) -> bool:
        """Moves to the right (or left, when negative); whether there was anywhere to go."""
        before = self.at
        self.at = min(max(0, self.at + pixels), self.reach)
        return self.at != before

    def drag(self, pixels: int) -> bool:
        """Moves as far as its bar was dragged."""
        return self.by(round(pixels * self.content / max(1, self.room)))

    def fit(self, room: int, content: int) -> None:
        self.room, self.content = room, content
        self.at = min(self.at, self.reach)


class WidePiece(TextPiece):
    """Text in a room of its own. Its bar stands `bar_below` pixels above the piece's bottom."""

    def __init__(
        self,
        paper: Paper,
        document: QTextDocument,
        *,
        slide: Slide,
        left: int = 0,
        right: int = 0,
    ) -> None:
        super().__init__(paper, document, left=left, right=right)
        self.slide = slide
        self.bar_below = 0
        self.quoted = 0

    @property
    def room(self) -> int:
        return max(1, self.width - self.left - self.right)

    @property
    def has_bar(self) -> bool:
        return self.slide.reach > 0

    def paint(self, painter: QPainter, clip: QRectF, marked: tuple[int, int] | None) -> None:
        at = self.slide.at
        painter.save()
        try:
            seen = QRectF(self.left, self.above, self.room, self.height - self.above)
            painter.setClipRect(seen, Qt.ClipOperation.IntersectClip)
            painter.translate(-at, 0)
            super().paint(painter, clip.intersected(seen).translated(at, 0), marked)
        finally:
            painter.restore()
        self._paint_quoting(painter)
        if self.has_bar:
            _paint_bar(painter, self._bar, self.slide, self._paper.theme)

    def _paint_quoting(self, painter: QPainter) -> None:
        """It stands in a quote: the quote's bars go on beside it."""
        theme = self._paper.theme
        for level in range(self.quoted):
            left = level * self._document.indentWidth()
            bar = QRectF(left, 0, theme.measures.focus_ring, self.height)
            painter.fillRect(bar, theme.color("border"))

    @property
    def _bar(self) -> QRectF:
        thick = self._paper.theme.space_8
        return QRectF(self.left, self.height - self.bar_below - thick, self.room, thick)

    def hit(self, x: float, y: float) -> Hit | None:
        if self.has_bar and self._bar.contains(x, y):
            return Hit("slide")
        return super().hit(x + self.slide.at, y)

    def char_at(self, x: float, y: float) -> int:
        return super().char_at(x + self.slide.at, y)

    def caret_at(self, place: int) -> QRectF:
        return super().caret_at(place).translated(-self.slide.at, 0)


@dataclass(eq=False, slots=True)
class Grid:
    """What the pieces of one table share: its columns, as wide as in the first piece, and how far
    it is scrolled."""

    columns: int
    slide: Slide = field(default_factory=Slide)
    pieces: list["TablePiece"] = field(default_factory=list["TablePiece"])
    widths: tuple[float, ...] = ()


class TablePiece(WidePiece):
    """Some rows of a table. It is squeezed to the column while its columns stay readable."""

    def __init__(
        self, paper: Paper, document: QTextDocument, grid: Grid, table: QTextTable, *, left: int = 0
    ) -> None:
        super().__init__(paper, document, slide=grid.slide, left=left)
        self._grid = grid
        self._table = table
        self._first = not grid.pieces
        self._natural = 0
        self._widths: tuple[float, ...] = ()
        self._laid_out = (0, False)
        if not self._first:
            # Over the line that Qt keeps around each table, and over the border above.
            self.above = -2 * (1 + self._border)

    @property
    def last(self) -> bool:
        return self._grid.pieces[-1] is self

    @property
    def has_bar(self) -> bool:
        return self.last and super().has_bar

    def lay_out(self, width: int) -> None:
        theme = self._paper.theme
        room = max(1, width - self.left - self.right)
        self.width = width
        if self._first:
            self._lay_out_first(room)
        else:
            self._set_widths(self._grid.widths)
            # Qt lays out again even for the same width.
            if self._document.textWidth() != UNBOUND:
                self._document.setTextWidth(UNBOUND)
        size = self._document.size()
        if self._first:
            self.slide.fit(room, max(room, math.ceil(size.width())))
        self.bar_below = theme.space_8
        below = theme.space_12 + (self.bar_below if self.has_bar else 0) if self.last else 0
        self.height = self.above + round(size.height()) + below

    def _lay_out_first(self, room: int) -> None:
        """As wide as its cells want, within limits; with more below, no column is too narrow."""
        goes_on = len(self._grid.pieces) > 1
        if self._laid_out == (room, goes_on):
            return
        self._laid_out = (room, goes_on)
        self._set_widths(())
        least = self._paper.theme.px(COLUMN)
        most = self._grid.columns * least
        # Where all columns have room enough, what the cells want needs no layout of its own.
        wanted = max(room, min(self._natural_width(), most)) if most > room else room
        self._document.setTextWidth(wanted)
        widths = tuple(self._width_of(at) for at in range(self._grid.columns))
        readable = tuple(max(one, least) for one in widths)
        if goes_on and sum(readable) + self._border <= room:
            widths = readable
            self._set_widths(widths)
        self._grid.widths = widths

    def _natural_width(self) -> int:
        if not self._natural:
            self._document.setTextWidth(UNBOUND)
            self._natural = math.ceil(self._document.idealWidth()) + self._border
        return self._natural

    @property
    def _border(self) -> int:
        return self._paper.theme.measures.hairline

    def _width_of(self, column: int) -> float:
        """With its padding and its border."""
        cell = self._table.cellAt(0, column).firstCursorPosition().block()
        inside = self._document.documentLayout().blockBoundingRect(cell).width()
        return inside + 2 * self._table.format().cellPadding() + self._border

    def _set_widths(self, widths: tuple[float, ...]) -> None:
        """Fixes the columns; none lets them be as their cells want."""
        if widths == self._widths:
            return
        self._widths = widths
        style = self._table.format()
        fixed = QTextLength.Type.FixedLength
        style.setColumnWidthConstraints([QTextLength(fixed, one) for one in widths])
        self._table.setFormat(style)


def _paint_bar(painter: QPainter, area: QRectF, slide: Slide, theme: Theme) -> None:
    """The part that is seen, as long as it is of the whole."""
    share = area.width() / slide.content
    thumb = QRectF(
        area.left() + slide.at * share, area.top() + 2, slide.room * share, area.height() - 4
    )
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color("muted"))
    painter.drawRoundedRect(thumb, thumb.height() / 2, thumb.height() / 2)
    painter.restore()
