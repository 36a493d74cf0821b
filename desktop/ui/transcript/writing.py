"""What turns growing text into pieces: the plain writer here, the markdown writer handed in later.

A writer owns the pieces of one text. `write` gets the whole text so far; what is finished is never
touched again, so the cost of more text does not grow with what stands there (SPEC U03, A10).
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from PySide6.QtGui import QTextCursor

from desktop.ui.transcript.pieces import (
    PLAIN_LIMIT,
    Document,
    Paper,
    Piece,
    TextPiece,
    body_block,
    ink,
)


class Writer(Protocol):
    """Writes one text. `pieces` are all of it, in order; the last may be replaced by `write`."""

    @property
    def pieces(self) -> Sequence[Piece]: ...

    @property
    def settled(self) -> int:
        """So many first pieces no later text changes. At a `finished` text the number may sink:
        those above it were written anew."""
        ...

    def pieces_from(self, start: int) -> Sequence[Piece]:
        """All pieces but the first `start`."""
        ...

    def write(self, text: str, *, finished: bool) -> None:
        """The whole text so far; a `finished` text is written as if it had come at once."""
        ...


class Renderer(Protocol):
    """Makes writers."""

    def writer(self, paper: Paper, repaint: Callable[[], None]) -> Writer:
        """`repaint` is called when colours came in after the text."""
        ...


class PlainWriter:
    """The text as it is, a new piece every PLAIN_LIMIT letters so that growing stays cheap."""

    def __init__(self, paper: Paper) -> None:
        self._paper = paper
        self._pieces: list[TextPiece] = []
        self._written = 0
        self._in_piece = 0

    @property
    def pieces(self) -> Sequence[Piece]:
        return self._pieces

    @property
    def settled(self) -> int:
        return max(0, len(self._pieces) - 1)

    def pieces_from(self, start: int) -> Sequence[Piece]:
        return self._pieces[start:]

    def write(self, text: str, *, finished: bool) -> None:
        del finished
        while self._written < len(text):
            if not self._pieces or self._in_piece >= PLAIN_LIMIT:
                self._begin_piece()
            part = text[self._written : self._written + PLAIN_LIMIT - self._in_piece]
            cursor = QTextCursor(self._pieces[-1].document)
            cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertText(part)
            self._written += len(part)
            self._in_piece += len(part)

    def _begin_piece(self) -> None:
        theme = self._paper.theme
        document = Document(self._paper, theme.font())
        cursor = QTextCursor(document)
        cursor.setBlockFormat(body_block(theme, below=0))
        cursor.setBlockCharFormat(ink(self._paper.colour))
        self._pieces.append(TextPiece(self._paper, document))
        self._in_piece = 0


class PlainRenderer:
    """Before the text libraries are loaded: everything as plain text."""

    def writer(self, paper: Paper, repaint: Callable[[], None]) -> Writer:
        del repaint
        return PlainWriter(paper)
