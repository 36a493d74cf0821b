"""A table that streams: each row is final when its line is whole, and only the last rows are made
anew.

What makes a table and what ends it is asked of the grammar, line by line below the table's head:
no row knows of the ones above it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from desktop.ui.transcript.markdown.grammar import (
    BLOCK_LIMIT,
    CELL_LIMIT,
    Block,
    Grammar,
    Names,
    is_too_heavy,
)
from desktop.ui.transcript.markdown.tables import PIECE_ROWS, Line, lines_of, table_piece
from desktop.ui.transcript.pieces import Paper
from desktop.ui.transcript.wide import Grid, TablePiece

HEAD_LIMIT = 10_000

_HEAD = re.compile(r"(?:[ \t]*\n)*([^\n]*\n {0,3}[|:-][-:| \t]*\n)")

Read = Callable[[str], Sequence[Line] | None]


@dataclass(slots=True)
class OpenTable:
    """`start` is where it begins in the text, `scanned` how far its rows are known; once it
    `is_heavy` it is to be shown as written."""

    paper: Paper
    read: Read
    grid: Grid
    start: int
    scanned: int
    is_heavy: bool = False
    pieces: list[TablePiece] = field(default_factory=list[TablePiece])
    _done: list[TablePiece] = field(default_factory=list[TablePiece])
    _open: list[Line] = field(default_factory=list[Line])
    _rows: int = 0

    def begin(self, head: Line) -> None:
        self._take(head, self.scanned)

    def grow(self, text: str) -> int | None:
        """Takes what came; where the table ends once that is known."""
        end = self._take_lines(text)
        partial = self._row(text[self.scanned :]) if end is None and not self.is_heavy else None
        self._show(partial)
        return end

    def end(self, text: str) -> int:
        """Nothing more comes: a line without an end is a row, or stands behind the table."""
        last = self._row(text[self.scanned :])
        if last is not None and "\n" not in text[self.scanned :]:
            self._take(last, len(text))
        self._show(None)
        return self.scanned

    def _take_lines(self, text: str) -> int | None:
        while (end := text.find("\n", self.scanned)) >= 0:
            if self._take_some(text):
                continue
            row = self._row(text[self.scanned : end])
            if self.is_heavy or row is None:
                return None if self.is_heavy else self.scanned
            self._take(row, end + 1)
        return None

    def _take_some(self, text: str) -> bool:
        """Takes the next lines at once where each is a row, which costs less than one by one."""
        lines = text[self.scanned :].split("\n", PIECE_ROWS)[:-1]
        rows = self.read("\n".join(lines)) if len(lines) > 1 else None
        if rows is None or len(rows) != len(lines):
            return False
        for line, row in zip(lines, rows, strict=True):
            if not self.is_heavy:
                self._take(row, self.scanned + len(line) + 1)
        return not self.is_heavy

    def _row(self, line: str) -> Line | None:
        """The cells of a line, None where it is no row."""
        if not line.strip():
            return None
        rows = self.read(line)
        self.is_heavy = self.is_heavy or rows is None
        return rows[0] if rows is not None and len(rows) == 1 else None

    def _take(self, row: Line, end: int) -> None:
        self.scanned = end
        self._rows += 1
        self._open.append(row)
        cells = self._rows * self.grid.columns
        self.is_heavy = cells > CELL_LIMIT or end - self.start > BLOCK_LIMIT
        if len(self._open) == PIECE_ROWS:
            self._done.append(self._piece(self._open))
            self._open = []

    def _show(self, partial: Line | None) -> None:
        lines = self._open if partial is None else [*self._open, partial]
        self.pieces = [*self._done, self._piece(lines)] if lines else list(self._done)
        self.grid.pieces[:] = self.pieces

    def _piece(self, lines: Sequence[Line]) -> TablePiece:
        self.grid.pieces[:] = self._done
        return table_piece(self.paper, self.grid, lines)


def open_table(
    paper: Paper, grammar: Grammar, names: Callable[[], Names], text: str, offset: int
) -> OpenTable | None:
    """The table that begins here, once its first two lines are whole."""
    found = _HEAD.match(text, offset, offset + HEAD_LIMIT)
    if found is None:
        return None
    head = found[1]

    def read(lines: str) -> Sequence[Line] | None:
        """The rows below the head; none where these are no rows, None where they are too heavy."""
        known = names()
        blocks = grammar.blocks(f"{above}{lines}\n", known)
        if len(blocks) != 1 or blocks[0].kind != "table_open":
            return ()
        return None if is_too_heavy(blocks[0]) else _lines(grammar, blocks[0], known)[1:]

    known = names()
    blocks = grammar.blocks(head, known)
    if len(blocks) != 1 or blocks[0].kind != "table_open" or is_too_heavy(blocks[0]):
        return None
    first = _lines(grammar, blocks[0], known)
    # For a row only the number of columns counts: the words of the head are read once.
    _, delimiter, _ = head.split("\n")
    above = f"|{' |' * len(first[0])}\n{delimiter}\n"
    table = OpenTable(paper, read, Grid(len(first[0])), found.start(1), found.end(1))
    table.begin(first[0])
    return table


def _lines(grammar: Grammar, block: Block, names: Names) -> Sequence[Line]:
    return lines_of(grammar.spell(block, names))
