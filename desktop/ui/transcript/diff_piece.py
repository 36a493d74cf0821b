"""A diff as a piece: signs and words in the text, the numbers of the lines beside it.

Numbers are drawn and are no text, so that what is copied is the diff alone.
"""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QTextBlockFormat, QTextCharFormat, QTextCursor

from desktop.ui.theme import Theme
from desktop.ui.transcript.diff import Line
from desktop.ui.transcript.output import seen
from desktop.ui.transcript.pieces import (
    GROUND_PROPERTY,
    LINE_LIMIT,
    Document,
    Paper,
    TextPiece,
    code_block,
    ink,
)

_GROUNDS = {"+": "added", "-": "removed"}
_SIGN_INKS = {"+": "success", "-": "danger"}
_SIGNS = {"-": "−", "@": "⋯", "!": " "}


class DiffPiece(TextPiece):
    """`left` and `right` are the spaces beside the numbers and the text."""

    def __init__(self, paper: Paper, lines: Sequence[Line], *, left: int, right: int) -> None:
        theme = paper.theme
        self._metrics = QFontMetrics(theme.mono(theme.sizes.small))
        self._numbers = [_number_of(line) for line in lines]
        widest = max((len(one) for one in self._numbers), default=0)
        self._room = self._metrics.horizontalAdvance("0" * widest) if widest else 0
        gutter = self._room + theme.px(theme.space_8) if widest else 0
        document = _written(paper, lines)
        super().__init__(paper, document, left=left + gutter, right=right, above=theme.space_4)
        self.has_grounds = True
        self._gutter = gutter

    def paint(self, painter: QPainter, clip: QRectF, marked: tuple[int, int] | None) -> None:
        if self._gutter:
            self._paint_numbers(painter, clip)
        super().paint(painter, clip, marked)

    def _paint_numbers(self, painter: QPainter, clip: QRectF) -> None:
        theme = self._paper.theme
        painter.setFont(theme.mono(theme.sizes.small))
        painter.setPen(theme.color("muted"))
        layout = self._document.documentLayout()
        block = self._document.findBlock(
            layout.hitTest(clip.topLeft(), Qt.HitTestAccuracy.FuzzyHit)
        )
        while block.isValid():
            area = layout.blockBoundingRect(block)
            top = self.above + area.top()
            if top > clip.bottom():
                return
            line, number = block.layout().lineAt(0), self._numbers[block.blockNumber()]
            left = self.left - self._gutter + self._room - self._metrics.horizontalAdvance(number)
            painter.drawText(QPointF(left, top + line.y() + line.ascent()), number)
            block = block.next()


def _number_of(line: Line) -> str:
    """Where the line stands now; of one that is gone, where it stood."""
    number = line.new if line.new is not None else line.old
    return "" if number is None else str(number)


def _written(paper: Paper, lines: Sequence[Line]) -> Document:
    theme = paper.theme
    document = Document(paper, theme.mono(), anywhere=True)
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    text = ink(theme.color("text"), theme.mono())
    for number, line in enumerate(lines):
        if number:
            cursor.insertBlock(_block(theme, line))
        else:
            cursor.setBlockFormat(_block(theme, line))
        sign = ink(theme.color(_SIGN_INKS.get(line.sign, "muted")), theme.mono())
        cursor.insertText(f"{_SIGNS.get(line.sign, line.sign)} ", sign)
        _write_words(cursor, line, sign if line.sign == "!" else text, theme)
    cursor.endEditBlock()
    return document


def _block(theme: Theme, line: Line) -> QTextBlockFormat:
    block = code_block(theme)
    if line.sign in _GROUNDS:
        block.setProperty(GROUND_PROPERTY, _GROUNDS[line.sign])
    return block


def _write_words(cursor: QTextCursor, line: Line, plain: QTextCharFormat, theme: Theme) -> None:
    """The text, with what differs on a ground of its own."""
    if not line.marks:
        cursor.insertText(seen(line.text[:LINE_LIMIT]), plain)
        return
    other = QTextCharFormat(plain)
    other.setBackground(theme.color(f"{_GROUNDS[line.sign]}_word"))
    other.setFontUnderline(theme.high_contrast)
    at = 0
    for start, length in line.marks:
        cursor.insertText(seen(line.text[at:start]), plain)
        cursor.insertText(seen(line.text[start : start + length]), other)
        at = start + length
    cursor.insertText(seen(line.text[at:]), plain)
