"""The sentences of an error, and the room that they keep for what can be done about it."""

from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtCore import QRect
from PySide6.QtGui import QFontMetrics, QTextDocument

from desktop.core.ways import WAYS, Way
from desktop.ui.theme import Theme
from desktop.ui.transcript.acts import way_words
from desktop.ui.transcript.lane import lane_of
from desktop.ui.transcript.pieces import Paper, TextPiece


@dataclass(frozen=True, slots=True)
class Room:
    """What all buttons take, in pixels, and how wide a column has them beside the text."""

    width: int
    height: int
    beside_from: int


@lru_cache(maxsize=16)
def room_of(theme: Theme) -> Room:
    """The room in one look."""
    gaps = theme.space_8 * (len(WAYS) - 1)
    width = sum(width_of(theme, way) for way in WAYS) + gaps
    return Room(width, lane_of(theme).height, 3 * width)


def width_of(theme: Theme, way: Way) -> int:
    """How wide the button of a way is."""
    metrics = QFontMetrics(theme.font(theme.sizes.small))
    return metrics.horizontalAdvance(way_words(way)) + 2 * theme.space_12


class ErrorText(TextPiece):
    """With room for buttons beside the sentences or, in a narrow column, below them."""

    def __init__(self, paper: Paper, document: QTextDocument, *, pad: int) -> None:
        super().__init__(paper, document, left=pad, right=pad)
        self._pad = pad
        self._room = room_of(paper.theme)
        self._is_beside = True

    def lay_out(self, width: int) -> None:
        gap = self._paper.theme.space_12
        self._is_beside = width >= self._room.beside_from
        self.right = self._pad + (self._room.width + gap if self._is_beside else 0)
        super().lay_out(width)
        if self._is_beside:
            self.height = max(self.height, self._room.height)
        else:
            self.height += self._room.height + gap

    @property
    def room(self) -> QRect:
        """Where the buttons stand, in the piece."""
        size = self._room
        left = self.width - self._pad - size.width
        top = 0 if self._is_beside else self.height - size.height
        return QRect(left, top, size.width, size.height)
