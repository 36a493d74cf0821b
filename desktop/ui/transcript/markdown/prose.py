"""Paragraphs, headings, lists, quotes and notes: the tokens of one block into a document."""

from collections.abc import Sequence
from typing import cast

from markdown_it.token import Token
from PySide6.QtGui import QTextBlock, QTextBlockFormat, QTextCursor

from desktop.ui.transcript.markdown.grammar import task_of
from desktop.ui.transcript.markdown.joining import ProsePiece
from desktop.ui.transcript.markdown.letters import note_letters, note_words, write_letters
from desktop.ui.transcript.markdown.lists import DEEPEST, Lists
from desktop.ui.transcript.markdown.tables import insert_table, shrink, tiny
from desktop.ui.transcript.pieces import (
    GROUND_PROPERTY,
    QUOTE_PROPERTY,
    Document,
    Paper,
    TextPiece,
    body_block,
    code_block,
    ink,
)


def prose_piece(paper: Paper, tokens: Sequence[Token]) -> TextPiece:
    """The piece of one top-level block. With a table inside, nothing can be joined to it."""
    document = Document(paper, paper.theme.font())
    prose = _Prose(paper, document)
    prose.write(tokens)
    kind = TextPiece if document.rootFrame().childFrames() else ProsePiece
    piece = kind(paper, document)
    piece.has_grounds = prose.grounds
    return piece


class _Prose:
    def __init__(self, paper: Paper, document: Document) -> None:
        self._paper = paper
        self._theme = paper.theme
        self._document = document
        self._cursor = QTextCursor(document)
        self._fresh = True
        self._lists = Lists()
        self._item: Token | None = None
        self._note: Token | None = None
        self._quote = 0
        self._letters = [ink(paper.colour, paper.theme.font())]
        self.grounds = False

    def write(self, tokens: Sequence[Token]) -> None:
        self._cursor.beginEditBlock()
        place = 0
        while place < len(tokens):
            token = tokens[place]
            if token.type == "table_open":
                end = _closing(tokens, place)
                self._fresh = False
                insert_table(self._paper, self._cursor, tokens[place : end + 1])
                place = end
            else:
                self._token(token)
            place += 1
        self._cursor.endEditBlock()
        last = self._document.lastBlock()
        if not last.text() and last.blockNumber() and not _in_list(last):
            shrink(self._theme, last)

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
                self.grounds = True
                self._letters.append(ink(self._theme.color("muted"), self._theme.font()))
            case "blockquote_close":
                self._quote -= 1
                self._letters.pop()
            case "footnote_reference_open":
                self._note = token
            case "footnote_reference_close":
                if self._note is not None:
                    self._block(body_block(self._theme))
            case "fence" | "code_block":
                self._inner_code(token.content)
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
        if not self._lists.depth:
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
        if self._document.characterCount() > 1 or level < 4:
            block.setTopMargin(self._theme.px(self._theme.space_8))
        block.setHeadingLevel(level)
        self._letters.append(ink(self._paper.colour, self._theme.font(size, bold=True)))
        self._block(block)

    def _rule(self) -> None:
        block = body_block(self._theme)
        block.setLineHeight(1, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        block.setTopMargin(self._theme.space_12)
        block.setBottomMargin(self._theme.space_24)
        block.setProperty(GROUND_PROPERTY, "border")
        self.grounds = True
        self._letters.append(tiny(self._theme))
        self._block(block)
        self._letters.pop()

    def _inner_code(self, content: str) -> None:
        """Code inside a list or quote: lines on a ground of their own."""
        self.grounds = True
        self._letters.append(ink(self._paper.colour, self._theme.mono()))
        lines = content.rstrip("\n").split("\n")
        for number, line in enumerate(lines):
            block = code_block(self._theme)
            block.setProperty(GROUND_PROPERTY, "code")
            if number == len(lines) - 1:
                block.setBottomMargin(self._theme.space_12)
            self._block(block)
            self._cursor.insertText(line, self._letters[-1])
        self._letters.pop()


def _in_list(block: QTextBlock) -> bool:
    # Qt says None here, whatever its types say.
    bullets = cast("object", block.textList())
    return bullets is not None


def _closing(tokens: Sequence[Token], start: int) -> int:
    level = tokens[start].level
    for place in range(start, len(tokens)):
        if tokens[place].type == "table_close" and tokens[place].level == level:
            return place
    return len(tokens) - 1
