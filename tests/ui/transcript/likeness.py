"""Everything of pieces that a person sees, as plain values that can be compared."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtGui import QTextBlock, QTextCharFormat, QTextCursor

from desktop.ui.transcript.code_piece import CodePiece
from desktop.ui.transcript.markdown.grammar import Grammar
from desktop.ui.transcript.markdown.writer import MarkdownWriter
from desktop.ui.transcript.pieces import GROUND_PROPERTY, QUOTE_PROPERTY, Paper, Piece, TextPiece

GRAMMAR = Grammar()  # keeps nothing of what it reads


def likeness(pieces: Sequence[Piece]) -> list[tuple[Any, ...]]:
    """Each block of text with its look; where pieces begin and end is not seen."""
    seen: list[tuple[Any, ...]] = []
    for piece in pieces:
        assert isinstance(piece, TextPiece)
        kind = "text"
        if isinstance(piece, CodePiece):
            kind = f"code {piece.code.language}: {piece.code.text}"
        block = piece.document.begin()
        while block.isValid():
            seen.append((kind, *_block(block)))
            block = block.next()
    return seen


def texts(pieces: Sequence[Piece]) -> list[str]:
    return [line[1] for line in likeness(pieces)]


def _block(block: QTextBlock) -> tuple[Any, ...]:
    style = block.blockFormat()
    items = block.textList()
    return (
        block.text(),
        items.itemText(block) if items else "",
        items.format().indent() if items else 0,
        style.indent(),
        style.headingLevel(),
        style.marker(),
        style.alignment(),
        (style.topMargin(), style.bottomMargin(), style.lineHeight()),
        (style.property(QUOTE_PROPERTY), style.property(GROUND_PROPERTY)),
        _cell(block),
        _runs(block),
    )


def _cell(block: QTextBlock) -> tuple[int, int] | None:
    cursor = QTextCursor(block)
    table: Any = cursor.currentTable()
    if table is None:
        return None
    cell = table.cellAt(cursor)
    return cell.row(), cell.column()


def _runs(block: QTextBlock) -> tuple[tuple[Any, ...], ...]:
    runs: list[tuple[Any, ...]] = []
    fragments = block.begin()
    while not fragments.atEnd():
        fragment = fragments.fragment()
        runs.append((fragment.text(), *_letters(fragment.charFormat())))
        fragments += 1
    return tuple(runs)


def _letters(style: QTextCharFormat) -> tuple[Any, ...]:
    return (
        style.fontWeight(),
        style.fontItalic(),
        style.fontStrikeOut(),
        style.fontUnderline(),
        style.font().family(),
        style.font().pixelSize(),
        style.foreground().color().name(),
        style.verticalAlignment(),
        style.anchorHref(),
    )


def links(pieces: Sequence[Piece]) -> list[str]:
    """Where the links lead, in order."""
    return [run[-1] for line in likeness(pieces) for run in line[-1] if run[-1]]


def written(paper: Paper, text: str) -> MarkdownWriter:
    """The whole text at once."""
    writer = MarkdownWriter(paper, GRAMMAR)
    writer.write(text, finished=True)
    return writer


def whole(paper: Paper, text: str) -> list[tuple[Any, ...]]:
    return likeness(written(paper, text).pieces)


def streamed(paper: Paper, text: str, sizes: Sequence[int]) -> MarkdownWriter:
    """The text in parts of these sizes, over and over; the end is written as finished."""
    writer = MarkdownWriter(paper, GRAMMAR)
    at = number = 0
    while at < len(text):
        at += sizes[number % len(sizes)]
        number += 1
        writer.write(text[:at], finished=False)
    writer.write(text, finished=True)
    return writer
