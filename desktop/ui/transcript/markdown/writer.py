"""The writer of one answer: finished blocks stay, only the open last one is made anew.

A block is finished when, by complete lines alone, another one begins after it: from then on nothing
that comes can change it, except a definition below its use, for which it is written once more at
the end (FIELD F-R05). What an open block costs does not grow with what stands before it (SPEC U03).
"""

import sys
from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtGui import QTextCursor

from desktop.ui.transcript.code_piece import Code, CodePiece
from desktop.ui.transcript.markdown.code import code_pieces
from desktop.ui.transcript.markdown.fences import OpenFence, language_of, open_fence
from desktop.ui.transcript.markdown.grammar import (
    Block,
    Definitions,
    Grammar,
    Names,
    is_code,
    is_too_heavy,
)
from desktop.ui.transcript.markdown.joining import Finished, Part, ProsePiece
from desktop.ui.transcript.markdown.open_table import OpenTable, open_table
from desktop.ui.transcript.markdown.prose import prose_pieces
from desktop.ui.transcript.pieces import Paper, Piece, plain_pieces
from desktop.ui.transcript.writing import PlainWriter

OPEN_LIMIT = 16_384
# A longer open block is made anew only when it has grown by this share.
LONG = 2_048
SHARE = 16


class MarkdownWriter:
    """Writes one answer. `renders` counts blocks made, for tests of the cost."""

    def __init__(
        self, paper: Paper, grammar: Grammar, colour: Callable[[Code], None] | None = None
    ) -> None:
        self._paper = paper
        self._grammar = grammar
        self._colour = colour
        self.renders = 0
        self._definitions = Definitions()
        self._finished = Finished()
        self._tail: Sequence[Piece] = ()
        self._offset = 0
        self._fence: OpenFence | None = None
        self._table: OpenTable | None = None
        self._no_table = -1
        self._plain: PlainWriter | None = None
        self._next_look = 0
        self._made_to = 0
        self._raw_to = 0
        self._clean_to = 0
        self._remade_from = sys.maxsize

    @property
    def pieces(self) -> Sequence[Piece]:
        return [*self._finished.pieces, *self._tail]

    @property
    def finished_pieces(self) -> Sequence[Piece]:
        """What no later text can change."""
        return self._finished.pieces

    @property
    def settled(self) -> int:
        # The last of the finished pieces may take more prose.
        return min(max(0, len(self._finished.pieces) - 1), self._remade_from)

    def pieces_from(self, start: int) -> Sequence[Piece]:
        return [*self._finished.pieces[start:], *self._tail]

    def write(self, text: str, *, finished: bool) -> None:
        text = self._with_plain_ends(text)
        if finished:
            self._finish(text)
            return
        self._close_blocks(text)
        if self._fence is None and self._table is None:
            self._show_open(text)

    def _with_plain_ends(self, text: str) -> str:
        if text.find("\r", self._clean_to) < 0:
            self._clean_to = len(text)
            return text
        return text.replace("\r\n", "\n").replace("\r", "\n")

    # The open block

    def _show_open(self, text: str) -> None:
        length = len(text) - self._offset
        if length > LONG and len(text) - self._made_to < length // SHARE:
            self._append_raw(text)
            return
        rest = text[self._offset :]
        self._tail = self._plain_tail(rest) or self._trial(rest)
        self._made_to = self._raw_to = len(text)

    def _trial(self, rest: str) -> list[Piece]:
        """What the open block looks like so far."""
        return [part.piece for part in self._made(rest, 0, Names(self._definitions))]

    def _append_raw(self, text: str) -> None:
        """Until the open block is made anew, what came stands at its end as it is."""
        last = self._tail[-1] if self._tail else None
        if isinstance(last, ProsePiece):
            cursor = QTextCursor(last.document)
            cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertText(text[self._raw_to :].replace("\n", "\u2028"))
            self._raw_to = len(text)

    def _plain_tail(self, rest: str) -> list[Piece]:
        """A block that has become too long to make anew each time grows as plain text."""
        if len(rest) <= OPEN_LIMIT:
            return []
        if self._plain is None:
            self._plain = PlainWriter(self._paper)
        self._plain.write(rest, finished=False)
        return list(self._plain.pieces)

    # What is finished

    def _finish(self, text: str) -> None:
        if self._fence is not None:
            end = self._fence.grow(text)
            self._end_fence(self._fence, text, len(text) if end is None else end)
        if self._table is not None and not self._grow_table(self._table, text):
            self._end_table(self._table, self._table.end(text))
        self._settle(text, len(text))
        names = self._definitions.names
        self._remade_from = self._finished.define(text, names, self._remade(text))

    def _remade(self, text: str) -> Callable[[int, int], Sequence[Part]]:
        def make(start: int, end: int) -> Sequence[Part]:
            parts = self._made(text[start:end], start, Names(self._definitions))
            self._ask_for_colours(parts)
            return parts

        return make

    def _close_blocks(self, text: str) -> None:
        """Moves the offset over every block that no later line can change."""
        while True:
            if self._table is None:
                self._open_table(text)
            if self._table is not None and not self._grow_table(self._table, text):
                return
            if self._fence is None:
                self._open_fence(text)
            if self._fence is not None:
                end = self._fence.grow(text)
                self._tail = list(self._fence.code.pieces)
                if end is None:
                    return
                self._end_fence(self._fence, text, end)
                continue
            complete = text.rfind("\n", self._offset) + 1
            if complete <= max(self._offset, self._next_look):
                return
            self._next_look = complete
            if complete - self._offset > LONG:
                # Looking costs as much as the block is long: the next look waits for its share.
                self._next_look += (complete - self._offset) // SHARE
            if not self._close_before_last(text, complete):
                return

    def _close_before_last(self, text: str, complete: int) -> bool:
        """Finishes all top-level blocks but the last; False when there is only one."""
        lines = text[self._offset : complete]
        blocks = self._grammar.blocks(lines, Names(self._definitions))
        end = _settled_end(blocks, lines)
        if not end:
            return False
        self._settle(text, self._offset + end)
        return True

    def _settle(self, text: str, end: int) -> None:
        """All up to `end` is finished."""
        names = Names(self._definitions)
        parts = self._made(text[self._offset : end], self._offset, names)
        names.settle()
        self._add(parts)
        self._offset = end
        self._plain = None
        self._next_look = self._made_to = 0

    def _add(self, parts: Sequence[Part]) -> None:
        self._tail = ()
        self._finished.add(parts)
        self._ask_for_colours(parts)

    def _ask_for_colours(self, parts: Sequence[Part]) -> None:
        for part in parts:
            piece = part.piece
            if isinstance(piece, CodePiece) and piece.last and piece.code.language and self._colour:
                self._colour(piece.code)

    # A fence that streams

    def _open_fence(self, text: str) -> None:
        self._fence = open_fence(self._paper, text, self._offset)
        if self._fence is not None:
            self.renders += 1

    def _end_fence(self, fence: OpenFence, text: str, end: int) -> None:
        fence.end(text)
        self._fence = None
        self._add([Part(piece, self._offset, end) for piece in fence.code.pieces])
        self._offset = end
        self._next_look = self._made_to = 0

    # A table that streams

    def _open_table(self, text: str) -> None:
        if self._fence is not None or self._no_table == self._offset:
            return
        names = partial(Names, self._definitions)
        self._table = open_table(self._paper, self._grammar, names, text, self._offset)
        if self._table is not None:
            self.renders += 1

    def _grow_table(self, table: OpenTable, text: str) -> bool:
        """Whether something else goes on behind it, or instead of it where it is too heavy."""
        end = table.grow(text)
        if table.is_heavy:
            self._table, self._no_table = None, self._offset
            return True
        if end is None:
            self._tail = table.pieces
            return False
        self._end_table(table, end)
        return True

    def _end_table(self, table: OpenTable, end: int) -> None:
        self._table = None
        known = len(self._definitions.names)
        self._add([Part(piece, table.start, end, known) for piece in table.pieces])
        self._offset = end
        self._next_look = self._made_to = 0

    # Making pieces

    def _made(self, text: str, base: int, names: Names) -> list[Part]:
        """The pieces of a text that begins at `base` in the whole."""
        if not text.strip():
            return []
        known = len(self._definitions.names)
        parts: list[Part] = []
        for block in self._grammar.blocks(text, names):
            self.renders += 1
            start, end = base + block.start, base + block.end
            as_written = is_code(block) or is_too_heavy(block)
            pieces = self._as_written(block) if as_written else self._spelled(block, names)
            parts.extend(Part(piece, start, end, None if as_written else known) for piece in pieces)
        return parts

    def _as_written(self, block: Block) -> Sequence[Piece]:
        if is_code(block):
            first = block.tokens[0]
            return code_pieces(self._paper, first.content, language_of(first.info))
        return plain_pieces(self._paper, block.source)

    def _spelled(self, block: Block, names: Names) -> Sequence[Piece]:
        return prose_pieces(self._paper, self._grammar.spell(block, names))


def _settled_end(blocks: Sequence[Block], lines: str) -> int:
    """How much of these lines no later one can change: all before the last block.

    A definition right above it may yet get a title, so it waits; a blank line ends it.
    """
    if not blocks:
        return 0
    start = blocks[-1].start
    line_before = lines.rfind("\n", 0, max(start - 1, 0)) + 1
    if not lines[line_before:start].strip():
        return start
    return min(blocks[-2].end, start) if len(blocks) > 1 else 0
