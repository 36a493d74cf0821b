"""The texts that are looked for, marked in what is drawn, in any case of their letters.

Only boxes that are painted or jumped to are looked at; a piece is looked through again when its
text has grown.
"""

from PySide6.QtGui import QTextCursor, QTextDocument

from desktop.ui.transcript.box import Box
from desktop.ui.transcript.pieces import TextPiece

MOST = 500  # marks in one piece


class Finds:
    """What is marked; nothing where there is no text."""

    def __init__(self) -> None:
        self._texts: tuple[str, ...] = ()
        self._has_marked = False

    def look_for(self, *texts: str) -> None:
        self._texts = tuple(filter(None, texts))
        self._has_marked = self._has_marked or bool(self._texts)

    def mark(self, box: Box) -> None:
        """Sets the marks of a box that is about to be painted; nothing to do until one looks."""
        if not self._has_marked:
            return
        for piece in box.pieces:
            if isinstance(piece, TextPiece):
                key = (self._texts, piece.document.characterCount())
                if piece.found_key != key:
                    piece.found_key = key
                    piece.found = self._in(piece.document)

    def first_y(self, box: Box) -> int | None:
        """Where in a box one of the texts is first seen; None where none is."""
        self.mark(box)
        for piece in box.pieces:
            if isinstance(piece, TextPiece) and piece.found:
                return piece.y + piece.top_of(piece.found[0][0])
        return None

    def _in(self, document: QTextDocument) -> tuple[tuple[int, int], ...]:
        found: list[tuple[int, int]] = []
        for text in self._texts:
            cursor = document.find(text, 0)
            while not cursor.isNull() and len(found) < MOST:
                found.append(_span(cursor))
                cursor = document.find(text, cursor)
        return tuple(sorted(found))


def _span(cursor: QTextCursor) -> tuple[int, int]:
    return cursor.selectionStart(), cursor.selectionEnd()
