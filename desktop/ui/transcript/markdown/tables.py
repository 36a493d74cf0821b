"""Tables: one that stands by itself is as wide as it needs to be and scrolls inside itself.

It is cut into pieces of few rows, so that more of them never lays out again what stands there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from markdown_it.token import Token
from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QFont,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextFrameFormat,
    QTextLength,
    QTextTableCell,
    QTextTableFormat,
)

from desktop.ui.theme import Theme
from desktop.ui.transcript.markdown.letters import write_letters
from desktop.ui.transcript.pieces import Document, Paper, body_block, ink
from desktop.ui.transcript.wide import Grid, TablePiece

_ALIGNMENTS = {
    "left": Qt.AlignmentFlag.AlignLeft,
    "center": Qt.AlignmentFlag.AlignHCenter,
    "right": Qt.AlignmentFlag.AlignRight,
}


# Rows of one piece: so many are laid out at once, and made anew while the last of them streams.
PIECE_ROWS = 16


@dataclass(frozen=True, slots=True)
class Cell:
    letters: Sequence[Token]
    alignment: Qt.AlignmentFlag | None


Line = Sequence[Cell]


def table_pieces(paper: Paper, tokens: Sequence[Token], indent: int = 0) -> list[TablePiece]:
    """The table of these tokens, so many pixels to the right; a long one in pieces."""
    lines = lines_of(tokens)
    grid = Grid(max((len(line) for line in lines), default=1))
    for start in range(0, max(1, len(lines)), PIECE_ROWS):
        grid.pieces.append(table_piece(paper, grid, lines[start : start + PIECE_ROWS], indent))
    return grid.pieces


def table_piece(paper: Paper, grid: Grid, lines: Sequence[Line], indent: int = 0) -> TablePiece:
    """The next piece of a table, not yet among those of its grid. The head is in the first."""
    document = Document(paper, paper.theme.font())
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    _shrink(paper.theme, cursor.block())
    table = cursor.insertTable(max(1, len(lines)), grid.columns, _style(paper.theme))
    for number, line in enumerate(lines):
        for column, cell in enumerate(line):
            is_head = number == 0 and not grid.pieces
            _fill(paper, table.cellAt(number, column), cell, header=is_head)
    cursor.movePosition(QTextCursor.MoveOperation.End)
    _shrink(paper.theme, cursor.block())
    cursor.endEditBlock()
    return TablePiece(paper, document, grid, table, left=indent)


def _shrink(theme: Theme, block: QTextBlock) -> None:
    """Qt keeps an empty line around a table: it gets no height."""
    cursor = QTextCursor(block)
    none = QTextBlockFormat()
    none.setLineHeight(1, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
    cursor.setBlockFormat(none)
    cursor.setBlockCharFormat(tiny(theme))


def tiny(theme: Theme) -> QTextCharFormat:
    """Letters of a line that has no height of its own."""
    letters = QTextCharFormat()
    font = QFont(theme.font())
    font.setPixelSize(1)
    letters.setFont(font)
    return letters


def _style(theme: Theme) -> QTextTableFormat:
    style = QTextTableFormat()
    style.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
    style.setBorderBrush(theme.color("border"))
    style.setBorder(theme.measures.hairline)
    style.setBorderCollapse(True)
    style.setCellPadding(theme.px(6))
    style.setCellSpacing(0)
    style.setWidth(QTextLength(QTextLength.Type.VariableLength, 0))
    return style


def _fill(paper: Paper, at: QTextTableCell, cell: Cell, *, header: bool) -> None:
    cursor = at.firstCursorPosition()
    block = body_block(paper.theme, below=0)
    if cell.alignment is not None:
        block.setAlignment(cell.alignment)
    cursor.setBlockFormat(block)
    if header:
        shade = at.format()
        shade.setBackground(paper.theme.color("raised"))
        at.setFormat(shade)
    letters = ink(paper.colour, paper.theme.font(bold=header))
    cursor.setBlockCharFormat(letters)
    write_letters(paper, cursor, cell.letters, letters)


def lines_of(tokens: Sequence[Token]) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    for place, token in enumerate(tokens):
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("td_open", "th_open"):
            align = str(token.attrs.get("style", "")).removeprefix("text-align:")
            after = tokens[place + 1] if place + 1 < len(tokens) else None
            inline = after.children if after is not None and after.type == "inline" else None
            rows[-1].append(Cell(inline or (), _ALIGNMENTS.get(align)))
    return rows
