"""What is drawn for one row, as a column of pieces: laid out, painted, pointed at, and copied from.

A box knows nothing of rows and of the view; `boxes` makes it.
"""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QTextCursor

from desktop.ui.theme import Theme
from desktop.ui.transcript.code_piece import Code, CodePiece
from desktop.ui.transcript.lane import Lane
from desktop.ui.transcript.pieces import (
    Hit,
    Piece,
    TextPiece,
    fill_panel,
)
from desktop.ui.transcript.signs import text_in
from desktop.ui.transcript.wide import Slide, WidePiece
from desktop.ui.transcript.writing import Writer

Spot = tuple[int, int]
"""A place in a box: (piece, character)."""


class Space(Piece):
    """Nothing, so many pixels high."""

    def __init__(self, height: int) -> None:
        super().__init__()
        self.height = height


@dataclass(frozen=True, slots=True)
class Panel:
    """A ground behind pieces `first` to `last`; open at an end where the next box goes on."""

    first: int
    last: int
    fill: str
    line: str | None = None
    top: bool = True
    bottom: bool = True
    left: int = 0
    edge: str | None = None


@dataclass(eq=False, slots=True)
class Box:
    """What is drawn for one row. `writer` grows with a row that streams.

    The first `settled` pieces stand as they were laid out last: what streams costs only its end.
    """

    pieces: list[Piece] = field(default_factory=list[Piece])
    panels: list[Panel] = field(default_factory=list[Panel])
    above: int = 0
    below: int = 0
    writer: Writer | None = None
    width: int = 0
    height: int = 0
    lane: Lane | None = None
    settled: int = 0
    clean_to: int = 0
    _settled_documents: int = 0

    def lay_out(self, width: int) -> None:
        """Lays the pieces one below the other; sets `height`."""
        if width != self.width:
            self._settle(0)
        if self.writer is not None:
            self._settle(min(self.settled, self.writer.settled))
            self.pieces[self.settled :] = self.writer.pieces_from(self.settled)
        if self.lane is not None:
            self._make_room(self.lane, width)
        self.width = width
        y = self.above
        if self.settled:
            last = self.pieces[self.settled - 1]
            y = last.y + last.height
        for piece in self.pieces[self.settled :]:
            piece.lay_out(width)
            piece.y = y
            y += piece.height
        self.height = y + self.below
        if self.writer is not None:
            self._settle(self.writer.settled)

    def _settle(self, count: int) -> None:
        if count < self.settled:
            self.settled = self._settled_documents = 0
        self._settled_documents += _documents(self.pieces[self.settled : count])
        self.settled = count

    def _make_room(self, lane: Lane, width: int) -> None:
        """What can be done with the row stands beside its text where there is room for it."""
        for piece in self.pieces:
            if isinstance(piece, TextPiece):
                piece.right = lane.pad + (lane.width if lane.fits_beside(width) else 0)

    @property
    def documents(self) -> int:
        return self._settled_documents + _documents(self.pieces[self.settled :])

    def paint(
        self,
        painter: QPainter,
        clip: QRectF,
        theme: Theme,
        marked: tuple[Spot, Spot] | None,
        *,
        seen_from: int = 0,
    ) -> None:
        """Draws what lies in `clip` (in the box's own coordinates); the screen begins at
        `seen_from`."""
        for panel in self.panels:
            self._paint_panel(painter, panel, theme)
        first = max(0, self._number_at(clip.top()))
        for number in range(first, len(self.pieces)):
            piece = self.pieces[number]
            if piece.y > clip.bottom():
                break
            painter.save()
            try:
                painter.translate(0, piece.y)
                piece.paint(painter, clip.translated(0, -piece.y), _part(marked, number, piece))
            finally:
                painter.restore()
        self._paint_stuck_head(painter, seen_from)

    def _paint_panel(self, painter: QPainter, panel: Panel, theme: Theme) -> None:
        first, last = self.pieces[panel.first], self.pieces[panel.last]
        area = QRectF(panel.left, first.y, self.width - panel.left, last.y + last.height - first.y)
        if panel.edge is not None:
            bar = QRectF(area.left(), area.top(), theme.measures.focus_ring, area.height())
            painter.fillRect(bar, theme.color(panel.edge))
            return
        fill_panel(
            painter,
            area,
            theme,
            fill=panel.fill,
            line=panel.line,
            top=panel.top,
            bottom=panel.bottom,
        )

    def _number_at(self, y: float) -> int:
        """The last piece that begins at or above this height; -1 where none does."""
        return bisect_right(self.pieces, y, key=_top) - 1

    def piece_at(self, y: float) -> Piece | None:
        number = self._number_at(y)
        piece = self.pieces[number] if number >= 0 else None
        return piece if piece is not None and y < piece.y + piece.height else None

    def codes(self) -> list[Code]:
        """Its blocks of code, in order."""
        if self.writer is not None:
            self._settle(0)
            self.pieces = list(self.writer.pieces)
        return [one.code for one in self.pieces if isinstance(one, CodePiece) and one.first]

    def slides(self) -> list[Slide]:
        """What of it scrolls sideways."""
        found = [one.slide for one in self.pieces if isinstance(one, WidePiece)]
        return [one for one in dict.fromkeys(found) if one.reach]

    def hit(self, x: float, y: float, *, seen_from: int = 0) -> Hit | None:
        stuck = self._stuck_head(seen_from)
        if stuck is not None and stuck[1] <= y < stuck[1] + stuck[0].head:
            return stuck[0].head_hit(x, y - stuck[1])
        piece = self.piece_at(y)
        return piece.hit(x, y - piece.y) if piece is not None else None

    def _stuck_head(self, seen_from: int) -> tuple[CodePiece, int] | None:
        """The head of a block of code whose own place is above the screen, and where it stands."""
        piece = self.piece_at(seen_from)
        if not isinstance(piece, CodePiece):
            return None
        first, last = piece.code.pieces[0], piece.code.pieces[-1]
        place = min(seen_from, last.y + last.height - 2 * first.head)
        return (first, place) if first.y < place else None

    def _paint_stuck_head(self, painter: QPainter, seen_from: int) -> None:
        stuck = self._stuck_head(seen_from)
        if stuck is None:
            return
        painter.save()
        try:
            painter.translate(0, stuck[1])
            stuck[0].paint_head(painter)
        finally:
            painter.restore()

    def spot_at(self, x: float, y: float) -> Spot:
        """The place in the text nearest to a point."""
        if not self.pieces:
            return (0, 0)
        best = max(0, self._number_at(y))
        return (best, self.pieces[best].char_at(x, y - self.pieces[best].y))

    @property
    def end(self) -> Spot:
        if not self.pieces:
            return (0, 0)
        return (len(self.pieces) - 1, self.length_of(len(self.pieces) - 1))

    def word_at(self, spot: Spot) -> tuple[Spot, Spot]:
        """Both ends of the word at a place."""
        document = self.pieces[spot[0]].document
        if document is None:
            return spot, spot
        cursor = QTextCursor(document)
        cursor.setPosition(min(spot[1], document.characterCount() - 1))
        cursor.select(QTextCursor.SelectionType.WordUnderCursor)
        return (spot[0], cursor.selectionStart()), (spot[0], cursor.selectionEnd())

    @property
    def start(self) -> Spot:
        """The first place in its text."""
        found = (at for at, one in enumerate(self.pieces) if one.document is not None)
        return (next(found, 0), 0)

    def length_of(self, number: int) -> int:
        """How many places a piece has after its first."""
        document = self.pieces[number].document
        return document.characterCount() - 1 if document is not None else 0

    def stepped(self, spot: Spot, move: QTextCursor.MoveOperation, way: int) -> Spot | None:
        """The place that a move of the cursor leads to; None at the end of the box."""
        number, place = min(spot[0], len(self.pieces) - 1), spot[1]
        document = self.pieces[number].document if self.pieces else None
        if document is not None:
            cursor = QTextCursor(document)
            cursor.setPosition(min(place, document.characterCount() - 1))
            cursor.movePosition(move)
            if cursor.position() != place:
                return number, cursor.position()
        others = range(number + 1, len(self.pieces)) if way > 0 else range(number - 1, -1, -1)
        for other in others:
            if self.pieces[other].document is not None:
                return other, 0 if way > 0 else self.length_of(other)
        return None

    def caret(self, spot: Spot) -> QRectF:
        """Where a place is, in the box."""
        if not self.pieces:
            return QRectF(0, 0, 1, self.height)
        piece = self.pieces[min(spot[0], len(self.pieces) - 1)]
        return piece.caret_at(spot[1]).translated(0, piece.y)

    def text_between(self, start: Spot, end: Spot) -> str:
        """The plain text of a stretch, a line break between pieces."""
        parts: list[str] = []
        for number, piece in enumerate(self.pieces[start[0] : end[0] + 1], start[0]):
            if piece.document is None:
                continue
            part = _part((start, end), number, piece)
            if part is not None:
                parts.append(_text_of(piece, part))
        return "\n".join(parts)


def _documents(pieces: Iterable[Piece]) -> int:
    return sum(piece.document is not None for piece in pieces)


def _top(piece: Piece) -> int:
    return piece.y


def _part(marked: tuple[Spot, Spot] | None, number: int, piece: Piece) -> tuple[int, int] | None:
    """What of a piece is marked."""
    if marked is None or piece.document is None:
        return None
    (first, start), (last, end) = marked
    if not first <= number <= last:
        return None
    length = piece.document.characterCount() - 1
    begin = start if number == first else 0
    stop = end if number == last else length
    return (begin, stop) if stop > begin else None


def _text_of(piece: Piece, part: tuple[int, int]) -> str:
    document = piece.document
    if document is None:
        return ""
    text = text_in(document, *part)
    for mark in ("\u2029", "\u2028", "\ufdd0", "\ufdd1"):
        text = text.replace(mark, "\n")
    return text
