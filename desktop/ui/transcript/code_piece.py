"""Code in its own box: a line with its language and what can be done with it, and the lines.

A long block is cut into several pieces that share one frame. Lines are as long as they are and the
block scrolls sideways, until the person wraps it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QTextCursor, QTextLayout, QTextOption

from desktop.ui.hidden import Hidden, hidden_in
from desktop.ui.theme import Theme
from desktop.ui.transcript.pieces import (
    Document,
    Hit,
    HitKind,
    Paper,
    Span,
    code_block,
    fill_panel,
    ink,
)
from desktop.ui.transcript.saying import say
from desktop.ui.transcript.wide import UNBOUND, Slide, WidePiece
from desktop.ui.visible import visible


@dataclass(eq=False, slots=True)
class Code:
    """A block of code as it is copied and coloured, whatever pieces it is drawn in.

    `column` is how long its last line is on the screen, in letters; `indent` is in pixels. `hidden`
    is what its text hides, `revealed` whether signs stand for that.
    """

    language: str = ""
    parts: list[str] = field(default_factory=list[str])
    pieces: list["CodePiece"] = field(default_factory=list["CodePiece"])
    wrapped: bool = False
    slide: Slide = field(default_factory=Slide)
    column: int = 0
    indent: int = 0
    hidden: Hidden = ""
    revealed: bool = False

    def look_into(self, more: str) -> None:
        """Whether what comes hides something, or what stood there does before it."""
        if self.hidden != "order":
            before = self.parts[-1][-2:] if self.parts else ""
            self.hidden = hidden_in(before + more) or self.hidden

    @property
    def text(self) -> str:
        return "".join(self.parts)


class CodePiece(WidePiece):
    """Some lines of a block of code; the `first` has the head, the `last` the end of the frame."""

    def __init__(self, paper: Paper, code: Code, *, first: bool = True) -> None:
        theme = paper.theme
        document = Document(paper, theme.mono(), anywhere=True)
        QTextCursor(document).setBlockFormat(code_block(theme))
        pad = theme.space_12
        super().__init__(paper, document, slide=code.slide, left=code.indent + pad, right=pad)
        self.code = code
        self.first = first
        self.last = True
        self.head = theme.px(theme.measures.hit) if first else 0
        # The space to whatever comes next.
        self.bar_below = theme.px(theme.space_12)
        self._wraps = True

    def lay_out(self, width: int) -> None:
        theme = self._paper.theme
        self.width = width
        self.above = self.head + self._told
        self._set_wrapping()
        room, document = self.room, self._document
        wanted = room if self.code.wrapped else UNBOUND
        if document.textWidth() != wanted:
            document.setTextWidth(wanted)
        below = theme.space_12 + self.bar_below if self.last else 0
        self.height = self.above + round(document.size().height()) + below
        self._fit(room)

    def _set_wrapping(self) -> None:
        if self._wraps == self.code.wrapped:
            return
        self._wraps = self.code.wrapped
        option = self._document.defaultTextOption()
        modes = QTextOption.WrapMode
        option.setWrapMode(modes.WrapAnywhere if self._wraps else modes.NoWrap)
        self._document.setDefaultTextOption(option)

    def _fit(self, room: int) -> None:
        """The widest piece says how far all of them scroll."""
        slide = self.slide
        if self.code.wrapped:
            slide.fit(room, room)
        else:
            slide.fit(room, max(room, slide.content, math.ceil(self._document.idealWidth())))

    @property
    def _told(self) -> int:
        """How high the line is that says what the code hides."""
        return self._paper.theme.px(self._paper.theme.measures.hit) if self._tells else 0

    @property
    def _tells(self) -> bool:
        return self.first and bool(self.code.hidden)

    @property
    def has_bar(self) -> bool:
        return self.last and super().has_bar

    @property
    def _box(self) -> QRectF:
        below = self.bar_below if self.last else 0
        indent = self.code.indent
        return QRectF(indent, 0, self.width - indent, self.height - below)

    def paint(self, painter: QPainter, clip: QRectF, marked: tuple[int, int] | None) -> None:
        theme = self._paper.theme
        fill_panel(
            painter,
            self._box,
            theme,
            fill="code",
            line="border",
            top=self.first,
            bottom=self.last,
        )
        if self.first:
            self._paint_words(painter)
        if self._tells:
            self._paint_told(painter)
        super().paint(painter, clip, marked)

    def _paint_told(self, painter: QPainter) -> None:
        """What the code hides, and behind it the words that show it."""
        theme = self._paper.theme
        font = theme.font(theme.sizes.small)
        metrics = QFontMetricsF(font)
        offer = reveal_words(self.code)
        room = self.width - self.left - self.right
        wide = metrics.horizontalAdvance(offer) + 1
        told = metrics.elidedText(
            told_words(self.code),
            Qt.TextElideMode.ElideRight,
            max(0.0, room - wide - theme.space_12),
        )
        painter.setFont(font)
        painter.setPen(theme.color("muted"))
        area = QRectF(self.left, self.head, room, self._told)
        painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, told)
        painter.setPen(theme.color("accent"))
        area.setLeft(self.left + metrics.horizontalAdvance(told) + theme.space_12)
        painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, offer)

    # The head

    def paint_head(self, painter: QPainter) -> None:
        """The head alone, over the lines: it stays while the block scrolls under it."""
        theme = self._paper.theme
        area = QRectF(self.code.indent, 0, self.width - self.code.indent, self.head)
        painter.fillRect(area, theme.color("code"))
        painter.setPen(theme.color("border"))
        painter.drawRect(area.adjusted(0.5, -0.5, -0.5, -0.5))
        self._paint_words(painter)

    def _paint_words(self, painter: QPainter) -> None:
        theme = self._paper.theme
        font = theme.font(theme.sizes.small)
        painter.setFont(font)
        painter.setPen(theme.color("accent"))
        left = float(self.width)
        for _, words, area in self._acts():
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, words)
            left = min(left, area.left())
        painter.setPen(theme.color("muted"))
        room = QRectF(self.left, 0, max(0.0, left - self.left), self.head)
        language = visible(self.code.language) or say("Text")
        elided = QFontMetricsF(font).elidedText(language, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, elided)

    def _acts(self) -> list[tuple[HitKind, str, QRectF]]:
        """What can be done, from right to left: the kind, its words, where they stand."""
        theme = self._paper.theme
        metrics = QFontMetricsF(theme.font(theme.sizes.small))
        acts: tuple[tuple[HitKind, str], ...] = (
            ("copy", say("Copy")),
            ("save", say("Save…")),
            ("wrap", say("Unwrap") if self.code.wrapped else say("Wrap")),
        )
        placed: list[tuple[HitKind, str, QRectF]] = []
        right = float(self.width)
        for kind, words in acts:
            wide = metrics.horizontalAdvance(words) + 2 * theme.space_12
            right -= wide
            placed.append((kind, words, QRectF(right, 0, wide, self.head)))
        return placed

    def head_hit(self, x: float, y: float) -> Hit | None:
        for kind, _, area in self._acts() if self.first else ():
            if area.contains(QPointF(x, y)):
                return Hit(kind, self.code.text if kind == "copy" else "")
        return None

    def hit(self, x: float, y: float) -> Hit | None:
        if self._tells and self.head <= y < self.above:
            return Hit("reveal")
        return self.head_hit(x, y) or super().hit(x, y)


def told_words(code: Code) -> str:
    """What the code hides, as a line says it."""
    if code.hidden == "order":
        return say("This code contains characters that change its reading order")
    return say("This code contains characters that can't be seen")


def reveal_words(code: Code) -> str:
    """What can be done about it."""
    return say("Hide them") if code.revealed else say("Show them")


def colour_code(code: Code, spans: Sequence[Span], theme: Theme) -> None:
    """Lays colours over the code: no text changes, so no height does. None lie among signs."""
    if code.revealed and code.hidden:
        return
    offset = 0
    place = 0
    for piece in code.pieces:
        length = piece.document.characterCount() - 1
        block = piece.document.begin()
        while block.isValid():
            start = offset + block.position()
            end = start + block.length() - 1
            while place > 0 and spans[place - 1].start + spans[place - 1].length > start:
                place -= 1
            ranges: list[QTextLayout.FormatRange] = []
            while place < len(spans) and spans[place].start < end:
                span = spans[place]
                stop = span.start + span.length
                if stop > start:
                    ranges.append(_range(span, start, end, theme))
                if stop > end:
                    break
                place += 1
            block.layout().setFormats(ranges)
            block = block.next()
        offset += length + 1
        piece.document.markContentsDirty(0, piece.document.characterCount())


def _range(span: Span, start: int, end: int, theme: Theme) -> QTextLayout.FormatRange:
    made = QTextLayout.FormatRange()
    first = max(span.start, start)
    made.start = first - start
    made.length = min(span.start + span.length, end) - first
    made.format = ink(theme.color(span.token))
    return made
