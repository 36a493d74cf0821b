"""Paragraphs, headings, lists, quotes and notes: the tokens of one block into pieces.

Code and tables inside are pieces of their own, as they are outside: the text goes on behind them
on another sheet, in the list and the quote where it was.
"""

from collections.abc import Sequence
from typing import cast

from markdown_it.token import Token
from PySide6.QtGui import QTextBlockFormat, QTextCursor

from desktop.ui.transcript.markdown.code import code_pieces
from desktop.ui.transcript.markdown.fences import language_of
from desktop.ui.transcript.markdown.grammar import task_of
from desktop.ui.transcript.markdown.joining import ProsePiece
from desktop.ui.transcript.markdown.letters import (
    math_letters,
    note_letters,
    note_words,
    write_letters,
)
from desktop.ui.transcript.markdown.lists import DEEPEST, Lists
from desktop.ui.transcript.markdown.tables import table_pieces, tiny
from desktop.ui.transcript.pieces import (
    GROUND_PROPERTY,
    QUOTE_PROPERTY,
    Document,
    Paper,
    Piece,
    body_block,
    ink,
)
from desktop.ui.transcript.wide import WidePiece


def prose_pieces(paper: Paper, tokens: Sequence[Token]) -> list[Piece]:
    """The pieces of one top-level block."""
    prose = _Prose(paper)
    prose.write(tokens)
    return prose.pieces


class _Prose:
    def __init__(self, paper: Paper) -> None:
        self._paper = paper
        self._theme = paper.theme
        self._lists = Lists()
        self._item: Token | None = None
        self._note: Token | None = None
        self._quote = 0
        self._letters = [ink(paper.colour, paper.theme.font())]
        self.pieces: list[Piece] = []
        self._begin_sheet()

    def _begin_sheet(self) -> None:
        self._document = Document(self._paper, self._theme.font())
        self._cursor = QTextCursor(self._document)
        self._cursor.beginEditBlock()
        self._fresh = True
        self._grounds = self._quote > 0
        self._lists.turn_over()

    def _end_sheet(self) -> None:
        self._cursor.endEditBlock()
        if not self._fresh:
            piece = ProsePiece(self._paper, self._document)
            piece.has_grounds = self._grounds
            self.pieces.append(piece)

    def write(self, tokens: Sequence[Token]) -> None:
        place = 0
        while place < len(tokens):
            token = tokens[place]
            if token.type == "table_open":
                end = _closing(tokens, place)
                table = table_pieces(self._paper, tokens[place : end + 1], self._indent)
                self._stand_apart(table)
                place = end
            elif token.type in ("fence", "code_block"):
                language = language_of(token.info)
                code = code_pieces(self._paper, token.content, language, self._indent)
                self._stand_apart(code)
            else:
                self._token(token)
            place += 1
        self._end_sheet()

    @property
    def _indent(self) -> int:
        depth = min(self._quote + self._lists.depth, DEEPEST)
        return depth * self._theme.px(self._theme.space_24)

    def _stand_apart(self, pieces: Sequence[WidePiece]) -> None:
        if self._item is not None or self._note is not None:
            # The sign of the item stands above what it begins with.
            self._block(body_block(self._theme, below=self._theme.space_4))
        self._end_sheet()
        for piece in pieces:
            piece.quoted = min(self._quote, DEEPEST)
        self.pieces.extend(pieces)
        self._begin_sheet()

    def _token(self, token: Token) -> None:
        match token.type:
            case "paragraph_open":
                tight = self._theme.space_4 if token.hidden else None
                self._block(body_block(self._theme, below=tight))
            case "heading_open":
                self._heading(int(token.tag[1]))
            case "heading_close":
                self._letters.pop()
            case "bullet_list_open" | "ordered_list_open":
                self._lists.begin(token, self._quote)
            case "bullet_list_close" | "ordered_list_close":
                self._end_list()
            case "list_item_open":
                self._item = token
            case "list_item_close":
                if self._item is not None:
                    self._block(body_block(self._theme, below=self._theme.space_4))
            case "blockquote_open":
                self._quote += 1
                self._grounds = True
                self._letters.append(ink(self._theme.color("muted"), self._theme.font()))
            case "blockquote_close":
                self._quote -= 1
                self._letters.pop()
            case "footnote_reference_open":
                self._note = token
            case "footnote_reference_close":
                if self._note is not None:
                    self._block(body_block(self._theme))
            case "math_block":
                self._math(token)
            case "hr":
                self._rule()
            case "inline":
                children = token.children or ()
                write_letters(self._paper, self._cursor, children, self._letters[-1])
            case _:
                pass

    def _block(self, block: QTextBlockFormat) -> None:
        """Begins a block, in the list item or quote where it stands."""
        item, self._item = self._item, None
        starts_item = item is not None and self._lists.depth > 0
        indent = self._quote + (0 if starts_item else self._lists.depth)
        block.setIndent(min(indent, DEEPEST))
        if self._quote:
            block.setProperty(QUOTE_PROPERTY, min(self._quote, DEEPEST))
        if self._fresh:
            self._fresh = False
            self._cursor.setBlockFormat(block)
        else:
            self._cursor.insertBlock(block)
        self._cursor.setBlockCharFormat(self._letters[-1])
        # Qt says None here, whatever its types say.
        current = cast("object", self._cursor.currentList())
        if item is not None and starts_item:
            self._lists.join(self._cursor, block)
            self._mark_task(item)
        elif current is not None:
            self._cursor.currentList().remove(self._cursor.block())
            self._cursor.setBlockFormat(block)
        self._write_note()

    def _mark_task(self, item: Token) -> None:
        done = task_of(item)
        if done is not None:
            marked = self._cursor.blockFormat()
            marks = QTextBlockFormat.MarkerType
            marked.setMarker(marks.Checked if done else marks.Unchecked)
            self._cursor.setBlockFormat(marked)

    def _write_note(self) -> None:
        """The name of a footnote before its first words."""
        note, self._note = self._note, None
        if note is not None:
            letters = note_letters(self._paper, self._letters[-1])
            self._cursor.insertText(note_words(note), letters)
            self._cursor.insertText("\u00a0", self._letters[-1])

    def _end_list(self) -> None:
        self._lists.end()
        self._item = None
        if not self._lists.depth and not self._fresh:
            last = self._cursor.blockFormat()
            last.setBottomMargin(self._theme.px(self._theme.space_12))
            self._cursor.setBlockFormat(last)

    def _heading(self, level: int) -> None:
        sizes = self._theme.sizes.headings
        size = sizes[min(level, len(sizes)) - 1]
        block = body_block(self._theme, below=self._theme.space_8)
        block.setLineHeight(
            self._theme.px(size * 1.35), QTextBlockFormat.LineHeightTypes.MinimumHeight.value
        )
        if self.pieces or self._document.characterCount() > 1 or level < 4:
            block.setTopMargin(self._theme.px(self._theme.space_8))
        block.setHeadingLevel(level)
        self._letters.append(ink(self._paper.colour, self._theme.font(size, bold=True)))
        self._block(block)

    def _math(self, token: Token) -> None:
        block = body_block(self._theme)
        block.setLeftMargin(self._theme.px(self._theme.space_24))
        self._block(block)
        letters = math_letters(self._paper, self._letters[-1])
        self._cursor.insertText(token.content.replace("\n", "\u2028"), letters)

    def _rule(self) -> None:
        block = body_block(self._theme)
        block.setLineHeight(1, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        block.setTopMargin(self._theme.space_12)
        block.setBottomMargin(self._theme.space_24)
        block.setProperty(GROUND_PROPERTY, "border")
        self._grounds = True
        self._letters.append(tiny(self._theme))
        self._block(block)
        self._letters.pop()


def _closing(tokens: Sequence[Token], start: int) -> int:
    level = tokens[start].level
    for place in range(start, len(tokens)):
        if tokens[place].type == "table_close" and tokens[place].level == level:
            return place
    return len(tokens) - 1
