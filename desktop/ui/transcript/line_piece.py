"""A line of a row that does something when it is clicked: the head of a card, a way to more."""

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QTextCharFormat, QTextLayout, QTextOption

from desktop.core.drafts import units
from desktop.ui.transcript.calls import Headline
from desktop.ui.transcript.pieces import Hit, HitKind, Paper, Piece, paint_chevron
from desktop.ui.visible import apart

# Less of a command than this says nothing: then the whole sentence gives way.
LEAST_CODE = "abc…xyz"


class LinePiece(Piece):
    """One line that folds and unfolds what is below it, or does something when it is clicked."""

    def __init__(
        self,
        paper: Paper,
        text: str | Headline,
        *,
        trailing: str = "",
        ticking: Callable[[], str] | None = None,
        mark: str = "",
        mark_ink: str = "muted",
        folded: bool | None = None,
        kind: HitKind = "fold",
        value: str = "",
        small: bool = False,
        bold: bool = False,
        left: int = 0,
        right: int = 0,
    ) -> None:
        super().__init__(left=left, right=right)
        self._paper = paper
        self._words = text if isinstance(text, Headline) else Headline(text)
        self._trailing = trailing
        # What trails it now, where that changes with the time alone.
        self.ticking = ticking
        self._mark = mark
        self._mark_ink = mark_ink
        self._folded = folded
        self._hit = Hit(kind, value)
        self._small = small
        sizes = paper.theme.sizes
        self._font = paper.theme.font(sizes.small if small else sizes.body, bold=bold)
        self._code_font = paper.theme.mono()

    @property
    def offer(self) -> tuple[str, Hit]:
        """Its words, and what a click on it does."""
        return self._words.plain, self._hit

    def lay_out(self, width: int) -> None:
        self.width = width
        theme = self._paper.theme
        hit = theme.measures.hit + (0 if self._small else theme.space_8)
        self.height = max(hit, theme.px(hit))

    def paint(self, painter: QPainter, clip: QRectF, marked: tuple[int, int] | None) -> None:
        del clip, marked
        theme = self._paper.theme
        middle = Qt.AlignmentFlag.AlignVCenter
        x = float(self.left)
        step = theme.px(theme.measures.icon + theme.space_4)
        if self._mark:
            self._paint_mark(painter, x)
            x += step
        right = self.width - self.right
        if self._folded is not None:
            # A small line is only as wide as its words; a card's sign stands at its right edge.
            words = x + self._advance() + step
            at = min(words, right) if self._small else right
            middle_point = QPointF(at - theme.space_4, self.height / 2)
            paint_chevron(painter, middle_point, theme, down=not self._folded)
            right -= step
        small = theme.font(theme.sizes.small)
        ending = self.ticking() if self.ticking is not None else self._trailing
        trailing = QFontMetricsF(small).horizontalAdvance(ending) if ending else 0
        room = right - x - (trailing + theme.space_12 if trailing else 0)
        self._paint_words(painter, QRectF(x, 0, room, self.height))
        if trailing:
            painter.setFont(small)
            painter.setPen(theme.color("muted"))
            area = QRectF(right - trailing - 1, 0, trailing + 1, self.height)
            painter.drawText(area, middle, ending)

    def _advance(self) -> float:
        """How wide its words are when nothing is left out."""
        plain, code = QFontMetricsF(self._font), QFontMetricsF(self._code_font)
        words = self._words
        around = plain.horizontalAdvance(words.before) + plain.horizontalAdvance(words.after)
        return around + (code.horizontalAdvance(words.code) if words.code else 0)

    def fitted(self, room: float) -> Headline:
        """Its words in so much room: what is code gives way first, in its middle."""
        if self._advance() <= room:
            return self._words
        words, middle = self._words, Qt.TextElideMode.ElideMiddle
        plain, code = QFontMetricsF(self._font), QFontMetricsF(self._code_font)
        left = room - plain.horizontalAdvance(words.before) - plain.horizontalAdvance(words.after)
        if words.code and left >= code.horizontalAdvance(LEAST_CODE):
            return replace(words, code=code.elidedText(words.code, middle, left))
        return Headline(plain.elidedText(words.plain, middle, max(room, 0)))

    def _paint_words(self, painter: QPainter, area: QRectF) -> None:
        words = self.fitted(area.width())
        painter.setPen(self._paper.colour)
        if not words.code:
            painter.setFont(self._font)
            painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, words.before)
            return
        # What stands in the sentence keeps its own direction and turns nothing around it.
        code = apart(words.code)
        letters = QTextCharFormat()
        letters.setFont(self._code_font)
        stretch = QTextLayout.FormatRange()
        stretch.start, stretch.length = units(words.before), units(code)  # pyright: ignore[reportAttributeAccessIssue]
        stretch.format = letters  # pyright: ignore[reportAttributeAccessIssue]
        layout = QTextLayout(words.before + code + words.after, self._font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.NoWrap)
        layout.setTextOption(option)
        layout.setFormats([stretch])
        layout.beginLayout()
        line = layout.createLine()
        line.setLineWidth(area.width())
        layout.endLayout()
        layout.draw(painter, QPointF(area.left(), area.center().y() - line.height() / 2))

    def _paint_mark(self, painter: QPainter, x: float) -> None:
        theme = self._paper.theme
        painter.setFont(theme.font(bold=True))
        painter.setPen(theme.color(self._mark_ink))
        area = QRectF(x, 0, theme.px(theme.measures.icon), self.height)
        painter.drawText(area, Qt.AlignmentFlag.AlignCenter, self._mark)

    def hit(self, x: float, y: float) -> Hit | None:
        del x
        return self._hit if 0 <= y < self.height else None
