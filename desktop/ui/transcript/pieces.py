"""The parts a row is drawn from: rich text, code, a line that folds. Each knows its own height.

A piece is laid out once for a width and painted from then on. Text of a piece lives in a
`QTextDocument` that never loads anything: what a model writes may name files and addresses.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from PySide6.QtCore import QPointF, QRectF, Qt, QUrl
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QFont,
    QImage,
    QPainter,
    QPainterPath,
    QPalette,
    QPen,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextOption,
)

from desktop.ui.theme import Theme

# Of a block's format: how deep it is quoted, and the colour token of the ground it stands on.
QUOTE_PROPERTY = int(QTextFormat.Property.UserProperty) + 1
GROUND_PROPERTY = int(QTextFormat.Property.UserProperty) + 2

HitKind = Literal[
    "text", "link", "fold", "copy", "save", "wrap", "slide", "all", "subagent", "open", "reveal"
]


@dataclass(frozen=True, slots=True)
class Hit:
    """What lies under a point: `value` is a link's target, the text to copy, or a kept file."""

    kind: HitKind
    value: str = ""


@dataclass(frozen=True, slots=True)
class Paper:
    """What pieces are made for: the theme, and the colour of plain text.

    `reveals`: code shows a sign for each letter that it hides.
    """

    theme: Theme
    ink: str = "text"
    reveals: bool = False

    @property
    def colour(self) -> QColor:
        return self.theme.color(self.ink)


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of code and what it is, by the name of a colour token."""

    start: int
    length: int
    token: str


class Document(QTextDocument):
    """A document without margins and undo that loads no picture and no file."""

    def __init__(self, paper: Paper, font: QFont, *, anywhere: bool = False) -> None:
        super().__init__()
        self.setUndoRedoEnabled(False)
        self.setDocumentMargin(0)
        self.setDefaultFont(font)
        self.setIndentWidth(paper.theme.px(paper.theme.space_24))
        option = QTextOption()
        # Every paragraph has the direction of its own text (SPEC U38).
        option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        wrap = QTextOption.WrapMode
        option.setWrapMode(wrap.WrapAnywhere if anywhere else wrap.WrapAtWordBoundaryOrAnywhere)
        self.setDefaultTextOption(option)

    def loadResource(self, type: int, name: QUrl | str) -> Any:
        """A picture of one pixel: returning nothing would make Qt open the file."""
        del type, name
        return QImage(1, 1, QImage.Format.Format_ARGB32)


def body_block(theme: Theme, *, below: int | None = None) -> QTextBlockFormat:
    """The format of a paragraph."""
    block = QTextBlockFormat()
    height = theme.px(theme.sizes.body * theme.sizes.body_line)
    block.setLineHeight(height, QTextBlockFormat.LineHeightTypes.MinimumHeight.value)
    block.setBottomMargin(theme.px(theme.space_12 if below is None else below))
    return block


def code_block(theme: Theme) -> QTextBlockFormat:
    """The format of a line of code or output."""
    block = QTextBlockFormat()
    height = theme.px(theme.sizes.code * theme.sizes.code_line)
    block.setLineHeight(height, QTextBlockFormat.LineHeightTypes.MinimumHeight.value)
    # Code keeps its direction, whatever its letters are.
    block.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    return block


def ink(colour: QColor | str, font: QFont | None = None) -> QTextCharFormat:
    """A character format of a colour and, where given, a font."""
    letters = QTextCharFormat()
    letters.setForeground(QColor(colour))
    if font is not None:
        letters.setFont(font)
    return letters


class Piece:
    """One part of a row, at `y` in it. `rounded` says which corners of a panel it has."""

    def __init__(self, *, left: int = 0, right: int = 0, above: int = 0) -> None:
        self.left = left
        self.right = right
        self.above = above
        self.y = 0
        self.width = 0
        self.height = 0

    @property
    def document(self) -> QTextDocument | None:
        return None

    def lay_out(self, width: int) -> None:
        """Sets `height` for this width."""
        self.width = width

    def paint(self, painter: QPainter, clip: QRectF, marked: tuple[int, int] | None) -> None:
        """Draws itself with its own top left corner at the origin."""

    def hit(self, x: float, y: float) -> Hit | None:
        del x, y
        return None

    def char_at(self, x: float, y: float) -> int:
        del x, y
        return 0

    def caret_at(self, place: int) -> QRectF:
        """Where a character begins, in the piece."""
        del place
        return QRectF(self.left, 0, 1, self.height)


class TextPiece(Piece):
    """Rich or plain text."""

    def __init__(
        self,
        paper: Paper,
        document: QTextDocument,
        *,
        left: int = 0,
        right: int = 0,
        above: int = 0,
    ) -> None:
        super().__init__(left=left, right=right, above=above)
        self._paper = paper
        self._document = document
        self.has_grounds = False
        # Stretches that hold a text that is looked for, and what they were found for.
        self.found: Sequence[tuple[int, int]] = ()
        self.found_key: tuple[tuple[str, ...], int] = ((), 0)

    @property
    def document(self) -> QTextDocument:
        return self._document

    def lay_out(self, width: int) -> None:
        self.width = width
        inner = max(1, width - self.left - self.right)
        if self._document.textWidth() != inner:
            self._document.setTextWidth(inner)
        # Qt leaves out the space below the last block; what comes next needs it.
        below = self._document.lastBlock().blockFormat().bottomMargin()
        self.height = self.above + round(self._document.size().height() + below)

    def paint(self, painter: QPainter, clip: QRectF, marked: tuple[int, int] | None) -> None:
        painter.translate(self.left, self.above)
        clip = clip.translated(-self.left, -self.above)
        context = QAbstractTextDocumentLayout.PaintContext()
        context.palette.setColor(QPalette.ColorRole.Text, self._paper.colour)
        context.clip = clip
        chosen = [self._marking(one, "accent", "on_accent") for one in self.found]
        if marked is not None:
            chosen.append(self._marking(marked, "selection", "on_selection"))
        if chosen:
            context.selections = chosen
        painter.setClipRect(clip, Qt.ClipOperation.IntersectClip)
        if self.has_grounds:
            self._paint_grounds(painter, clip)
        self._document.documentLayout().draw(painter, context)

    def _marking(
        self, marked: tuple[int, int], ground: str, letter: str
    ) -> QAbstractTextDocumentLayout.Selection:
        selection = QAbstractTextDocumentLayout.Selection()
        cursor = QTextCursor(self._document)
        last = self._document.characterCount() - 1
        cursor.setPosition(min(marked[0], last))
        cursor.setPosition(min(marked[1], last), QTextCursor.MoveMode.KeepAnchor)
        letters = QTextCharFormat()
        letters.setBackground(self._paper.theme.color(ground))
        letters.setForeground(self._paper.theme.color(letter))
        selection.cursor = cursor  # pyright: ignore[reportAttributeAccessIssue]
        selection.format = letters  # pyright: ignore[reportAttributeAccessIssue]
        return selection

    def _paint_grounds(self, painter: QPainter, clip: QRectF) -> None:
        """Grounds and quote bars, on whole pixels so that lines meet without a gap."""
        layout = self._document.documentLayout()
        theme = self._paper.theme
        block = self._document.begin()
        while block.isValid():
            style = block.blockFormat()
            area = layout.blockBoundingRect(block)
            top, bottom = round(area.top()), round(area.bottom())
            after = block.next()
            if after.isValid() and not style.bottomMargin():
                bottom = round(layout.blockBoundingRect(after).top())
            bottom = max(bottom, top + theme.measures.hairline)
            if top <= clip.bottom() and bottom >= clip.top():
                ground = style.property(GROUND_PROPERTY)
                left = style.indent() * self._document.indentWidth()
                if isinstance(ground, str):
                    wide = self._document.textWidth() - left
                    painter.fillRect(QRectF(left, top, wide, bottom - top), theme.color(ground))
                self._paint_quote(painter, block, top, bottom)
            block = after

    def _paint_quote(self, painter: QPainter, block: QTextBlock, top: int, bottom: int) -> None:
        """The lines of a quotation stand where its text begins."""
        depth = block.blockFormat().property(QUOTE_PROPERTY)
        theme, wide = self._paper.theme, self._paper.theme.measures.focus_ring
        leftwards = block.textDirection() == Qt.LayoutDirection.RightToLeft
        for level in range(depth if isinstance(depth, int) else 0):
            left = level * self._document.indentWidth()
            left = self._document.textWidth() - wide - left if leftwards else left
            bar = QRectF(left, top, wide, bottom - top)
            painter.fillRect(bar, theme.color("border"))

    def top_of(self, place: int) -> int:
        """Where the line of a character begins, in the piece."""
        block = self._document.findBlock(place)
        area = self._document.documentLayout().blockBoundingRect(block)
        line = block.layout().lineForTextPosition(place - block.position())
        return self.above + round(area.top() + (line.y() if line.isValid() else 0))

    def caret_at(self, place: int) -> QRectF:
        block = self._document.findBlock(min(place, self._document.characterCount() - 1))
        area = self._document.documentLayout().blockBoundingRect(block)
        inside = place - block.position()
        line = block.layout().lineForTextPosition(inside)
        if not line.isValid():
            return QRectF(self.left, self.above + area.top(), 1, area.height())
        x = cast("tuple[float, int]", line.cursorToX(inside))[0]
        return QRectF(
            self.left + area.left() + x, self.above + area.top() + line.y(), 1, line.height()
        )

    def hit(self, x: float, y: float) -> Hit | None:
        point = QPointF(x - self.left, y - self.above)
        anchor = self._document.documentLayout().anchorAt(point)
        if anchor:
            return Hit("link", anchor)
        return Hit("text") if 0 <= point.y() < self.height else None

    def char_at(self, x: float, y: float) -> int:
        point = QPointF(x - self.left, y - self.above)
        if point.y() < 0:
            return 0
        if point.y() > self._document.size().height():
            return self._document.characterCount() - 1
        return self._document.documentLayout().hitTest(point, Qt.HitTestAccuracy.FuzzyHit)


def fill_panel(
    painter: QPainter,
    area: QRectF,
    theme: Theme,
    *,
    fill: str,
    line: str | None,
    top: bool = True,
    bottom: bool = True,
) -> None:
    """A filled area with rounded corners at its top and bottom, where it has these."""
    radius = theme.measures.card_radius
    if line is not None:
        half = theme.measures.hairline / 2
        area = area.adjusted(half, half if top else -radius, -half, -half if bottom else radius)
    elif not (top and bottom):
        area = area.adjusted(0, 0 if top else -radius, 0, 0 if bottom else radius)
    path = QPainterPath()
    path.addRoundedRect(area, radius, radius)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    clip = area.adjusted(-1, 1 if top else radius, 1, 0 if bottom else -radius)
    if not (top and bottom):
        clip.setTop(area.top() - 1 if top else area.top() + radius)
        painter.setClipRect(clip, Qt.ClipOperation.IntersectClip)
    painter.fillPath(path, theme.color(fill))
    if line is not None:
        painter.setPen(QPen(theme.color(line), theme.measures.hairline))
        painter.drawPath(path)
        if not top:
            # Several boxes share one frame: a line between them.
            y = clip.top()
            painter.setClipping(False)
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
    painter.restore()


def paint_chevron(painter: QPainter, at: QPointF, theme: Theme, *, down: bool) -> None:
    """The sign of what folds: to the right when folded, down when open."""
    arm = theme.px(theme.space_4)
    points = (
        [QPointF(-arm, -arm / 2), QPointF(0, arm / 2), QPointF(arm, -arm / 2)]
        if down
        else [QPointF(-arm / 2, -arm), QPointF(arm / 2, 0), QPointF(-arm / 2, arm)]
    )
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme.color("muted"), 1.5))
    painter.drawPolyline([at + point - QPointF(arm, 0) for point in points])
    painter.restore()


def muted_piece(theme: Theme, text: str, *, left: int = 0, centred: bool = False) -> TextPiece:
    """A small remark."""
    font = theme.font(theme.sizes.small)
    document = Document(Paper(theme), font)
    cursor = QTextCursor(document)
    block = body_block(theme, below=0)
    if centred:
        block.setAlignment(Qt.AlignmentFlag.AlignHCenter)
    cursor.setBlockFormat(block)
    cursor.insertText(text, ink(theme.color("muted"), font))
    return TextPiece(Paper(theme, "muted"), document, left=left, right=left)


PLAIN_LIMIT = 16_384
LINE_LIMIT = 2_000


def plain_pieces(
    paper: Paper, text: str, *, mono: bool = False, left: int = 0, right: int = 0
) -> list[TextPiece]:
    """Text as it is, cut into pieces that each lay out fast; no line is longer than LINE_LIMIT."""
    theme = paper.theme
    made: list[TextPiece] = []
    for part in _cut(text):
        document = Document(paper, theme.mono() if mono else theme.font(), anywhere=mono)
        cursor = QTextCursor(document)
        cursor.setBlockFormat(code_block(theme) if mono else body_block(theme, below=0))
        cursor.setBlockCharFormat(ink(paper.colour))
        cursor.insertText(part, ink(paper.colour))
        made.append(TextPiece(paper, document, left=left, right=right))
    return made


def _cut(text: str) -> list[str]:
    parts: list[str] = []
    lines: list[str] = []
    length = 0
    for line in text.replace("\u2029", "\n").split("\n"):
        for start in range(0, max(len(line), 1), LINE_LIMIT):
            lines.append(line[start : start + LINE_LIMIT])
            length += len(lines[-1]) + 1
            if length >= PLAIN_LIMIT:
                parts.append("\n".join(lines))
                lines, length = [], 0
    if lines or not parts:
        parts.append("\n".join(lines))
    return parts
