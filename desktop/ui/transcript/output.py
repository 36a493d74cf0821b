"""What a tool printed, as pieces: the letters that the model read, with their colours over them.

What can't be seen or would reorder is shown as a sign, so that nothing in an output is read
otherwise than it was (SPEC U31).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from PySide6.QtGui import QTextCursor

from desktop.core.colouring import PLAIN
from desktop.core.printed import Printed
from desktop.ui.theme import Theme
from desktop.ui.transcript.pieces import (
    LINE_LIMIT,
    PLAIN_LIMIT,
    Document,
    Paper,
    TextPiece,
    code_block,
    ink,
    plain_pieces,
)
from desktop.ui.transcript.tints import letters_of
from desktop.ui.visible import visible

# Controls, marks that reorder, and what Qt itself takes for the end of a line.
_ODD = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\ud800-\udfff\u2028\u2029\u202a-\u202e\u2066-\u2069\ufdd0\ufdd1]"
)

_Slice = tuple[int, int]


def seen(text: str) -> str:
    """The text with a sign for each letter that can't be seen: `‹U+001B›`."""
    return _ODD.sub(lambda one: visible(one.group()), text)


@dataclass(frozen=True, slots=True)
class Look:
    """How an output is drawn: its ink, the ground below it, the spaces beside it."""

    theme: Theme
    ink: str = "text"
    ground: str = "surface"
    left: int = 0
    right: int = 0

    def inked(self, token: str) -> "Look":
        return replace(self, ink=token)


def output_pieces(output: Printed, look: Look) -> list[TextPiece]:
    """Monospace text, cut so that each piece lays out fast."""
    if not output.spans:
        paper = Paper(look.theme, look.ink)
        text = seen(output.text)
        return plain_pieces(paper, text, mono=True, left=look.left, right=look.right)
    return [_piece(output, part, look) for part in _parts(output.text)]


def _piece(output: Printed, part: list[_Slice], look: Look) -> TextPiece:
    paper = Paper(look.theme, look.ink)
    document = Document(paper, look.theme.mono(), anywhere=True)
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    plain = ink(paper.colour)
    cursor.setBlockFormat(code_block(look.theme))
    cursor.setBlockCharFormat(plain)
    letters = {PLAIN: plain}
    for number, (start, end) in enumerate(part):
        if number:
            cursor.insertText("\n", plain)
        for text, style in output.runs(start, end):
            if style not in letters:
                letters[style] = letters_of(style, look.theme, ink=look.ink, ground=look.ground)
            cursor.insertText(seen(text), letters[style])
    cursor.endEditBlock()
    return TextPiece(paper, document, left=look.left, right=look.right)


def _parts(text: str) -> Iterator[list[_Slice]]:
    """The lines of a text in groups of a length; no line is longer than LINE_LIMIT."""
    part: list[_Slice] = []
    length = 0
    for start, end in _slices(text):
        part.append((start, end))
        length += end - start + 1
        if length >= PLAIN_LIMIT:
            yield part
            part, length = [], 0
    if part:
        yield part


def _slices(text: str) -> Iterator[_Slice]:
    at = 0
    for line in text.split("\n"):
        for start in range(0, max(len(line), 1), LINE_LIMIT):
            yield at + start, at + min(start + LINE_LIMIT, len(line))
        at += len(line) + 1
