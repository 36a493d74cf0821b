"""Finished pieces: short prose joins the piece before it, and a late definition remakes its users.

A document costs more to have than to fill: a piece of prose takes what follows it until it is full.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtGui import QTextCursor

from desktop.ui.transcript.markdown.grammar import uses
from desktop.ui.transcript.pieces import Piece, TextPiece

PROSE_LIMIT = 8_192


class ProsePiece(TextPiece):
    """Text that other prose may be joined to: tables and code keep to themselves."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece, the part of the text that it shows, and how many names were known when it was made.

    `known` is None where no name can change anything.
    """

    piece: Piece
    start: int
    end: int
    known: int | None = None


class Finished:
    """What no later text changes, but for links and notes that are defined below their use."""

    def __init__(self) -> None:
        self._parts: list[Part] = []
        self.pieces: list[Piece] = []

    def add(self, parts: Sequence[Part]) -> None:
        for part in parts:
            last = self._parts[-1] if self._parts else None
            if last is None or not _fits(last.piece, part.piece):
                self._parts.append(part)
                self.pieces.append(part.piece)
                continue
            _join(last.piece, part.piece)
            self._parts[-1] = replace(last, end=part.end)

    def define(
        self, text: str, names: Sequence[str], make: Callable[[int, int], Sequence[Part]]
    ) -> int:
        """Makes anew what refers to a name that came after it; where the first such piece is, a
        large number where there is none."""
        groups, self._parts, self.pieces = _grouped(self._parts), [], []
        late: dict[int, frozenset[str]] = {}
        first = sys.maxsize
        for group in groups:
            known = min((one.known for one in group if one.known is not None), default=len(names))
            start, end = group[0].start, group[-1].end
            news = late.setdefault(known, frozenset(names[known:]))
            if news and uses(text[start:end], news):
                first = min(first, len(self.pieces))
                made = Finished()
                made.add(make(start, end))
                group = made._parts
            self._parts.extend(group)
            self.pieces.extend(one.piece for one in group)
        return first


def _grouped(parts: Sequence[Part]) -> list[list[Part]]:
    """The parts that are made together: a block may be of several, and prose of several blocks."""
    groups: list[list[Part]] = []
    for part in parts:
        if groups and part.start < groups[-1][-1].end:
            groups[-1].append(part)
        else:
            groups.append([part])
    return groups


def _fits(last: Piece, more: Piece) -> bool:
    if not (isinstance(last, ProsePiece) and isinstance(more, ProsePiece)):
        return False
    return last.document.characterCount() + more.document.characterCount() <= PROSE_LIMIT


def _join(prose: Piece, more: Piece) -> None:
    """Moves the text of a finished piece to the end of the one before it."""
    if not (isinstance(prose, TextPiece) and isinstance(more, TextPiece)):
        return
    cursor = QTextCursor(prose.document)
    cursor.movePosition(QTextCursor.MoveOperation.End)
    cursor.beginEditBlock()
    _copy_blocks(cursor, more)
    cursor.endEditBlock()
    prose.has_grounds = prose.has_grounds or more.has_grounds


def _copy_blocks(cursor: QTextCursor, more: TextPiece) -> None:
    """Copies blocks with their lists, which are objects of the other document."""
    lists: dict[int, Any] = {}
    block = more.document.begin()
    while block.isValid():
        style = block.blockFormat()
        style.setObjectIndex(-1)
        cursor.insertBlock(style, block.charFormat())
        _join_list(cursor, block.textList(), lists)
        fragments = block.begin()
        while not fragments.atEnd():
            fragment = fragments.fragment()
            cursor.insertText(fragment.text(), fragment.charFormat())
            fragments += 1
        block = block.next()


def _join_list(cursor: QTextCursor, source: Any, lists: dict[int, Any]) -> None:
    if source is None:
        return
    known = lists.get(source.objectIndex())
    if known is None:
        lists[source.objectIndex()] = cursor.createList(source.format())
    else:
        known.add(cursor.block())
