"""Markdown to pieces, block by block; while it streams only the open last block is made anew.

A block is finished when, by complete lines alone, another one begins after it: from then on nothing
that comes can change it, except a link definition, for which the finished text is written once more
(FIELD F-R05). Raw HTML is text, pictures are placeholders, and what would take too long to lay out
is shown plainly (TRANSCRIPT §2). This module loads markdown-it: only the root imports it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from markdown_it import MarkdownIt
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
    QTextList,
    QTextListFormat,
    QTextTableFormat,
)

from desktop.ui.transcript.highlight import Highlighter
from desktop.ui.transcript.phrases import say
from desktop.ui.transcript.pieces import (
    GROUND_PROPERTY,
    QUOTE_PROPERTY,
    Code,
    CodePiece,
    Document,
    Paper,
    Piece,
    Span,
    TextPiece,
    body_block,
    code_block,
    colour_code,
    ink,
    plain_pieces,
)
from desktop.ui.transcript.writing import PlainWriter, Writer

CELL_LIMIT = 2_000
LINE_LIMIT = 5_000
BLOCK_LIMIT = 65_536
OPEN_LIMIT = 16_384
# A longer open block is made anew only when it has grown by this share.
LONG = 2_048
SHARE = 16
PROSE_LIMIT = 8_192
CODE_LINES = 300

_FENCE = re.compile(r"\A(?:[ \t]*\n)*( {0,3})(`{3,}|~{3,})([^\n]*)\n")
_LINK_SCHEMES = ("http:", "https:", "mailto:")


def parser() -> MarkdownIt:
    """CommonMark with tables and strikethrough; HTML off, so that tags are text."""
    made = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    # Our own check stands at the click; here every target stays visible as written.
    made.validateLink = lambda url: True  # pyright: ignore[reportAttributeAccessIssue]
    return made


class MarkdownRenderer:
    """The renderer that is handed to the view when the libraries are loaded."""

    def __init__(self, highlighter: Highlighter) -> None:
        self._parser = parser()
        self._highlighter = highlighter

    def writer(self, paper: Paper, repaint: Callable[[], None]) -> Writer:
        def colour(code: Code) -> None:
            def done(found: Sequence[Span]) -> None:
                colour_code(code, found, paper.theme)
                repaint()

            self._highlighter.request(code.text, code.language, done)

        return MarkdownWriter(paper, self._parser, colour)


@dataclass(slots=True)
class _OpenFence:
    """A fence that streams: `scanned` and `shown` are places in the text."""

    code: Code
    mark: str
    body: int
    scanned: int
    shown: int


class MarkdownWriter:
    """Writes one answer. `renders` counts blocks made, for tests of the cost."""

    def __init__(
        self, paper: Paper, parser_: MarkdownIt, colour: Callable[[Code], None] | None = None
    ) -> None:
        self._paper = paper
        self._parser = parser_
        self._colour = colour
        self.renders = 0
        self._begin()

    def _begin(self) -> None:
        self._final: list[Piece] = []
        self._tail: list[Piece] = []
        self._prose: TextPiece | None = None
        self._offset = 0
        self._complete = 0
        self._fence: _OpenFence | None = None
        self._plain: PlainWriter | None = None
        self._next_look = 0
        self._made_to = 0
        self._raw_to = 0
        self._env: dict[str, Any] = {}

    @property
    def pieces(self) -> Sequence[Piece]:
        return [*self._final, *self._tail]

    @property
    def finished_pieces(self) -> Sequence[Piece]:
        """What no later text can change."""
        return self._final

    def write(self, text: str, *, finished: bool) -> None:
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        if finished:
            self._finish(text)
            return
        self._close_blocks(text)
        if self._fence is not None:
            return
        rest = text[self._offset :]
        if len(rest) > LONG and len(text) - self._made_to < len(rest) // SHARE:
            self._append_raw(text)
            return
        self._tail = self._plain_tail(rest) or self._made(rest, dict(self._env))
        self._made_to = self._raw_to = len(text)

    def _append_raw(self, text: str) -> None:
        """Until the open block is made anew, what came stands at its end as it is."""
        last = self._tail[-1] if self._tail else None
        if isinstance(last, TextPiece) and _is_prose(last):
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
        if "]:" in text:
            # A definition may stand below its use: now that all is there, everything is made once.
            self._begin()
        self._fence = None
        self._tail = []
        self._add(self._made(text[self._offset :], self._env))
        self._offset = len(text)

    def _close_blocks(self, text: str) -> None:
        """Moves the offset over every block that no later line can change."""
        while True:
            if self._fence is None:
                self._open_fence(text)
            if self._fence is not None:
                if not self._grow_fence(self._fence, text):
                    return
                continue
            complete = text.rfind("\n") + 1
            if complete <= max(self._complete, self._offset, self._next_look):
                return
            self._complete = complete
            if complete - self._offset > LONG:
                # Looking costs as much as the block is long: the next look waits for its share.
                self._next_look = complete + (complete - self._offset) // SHARE
            if not self._close_before_last(text[self._offset : complete]):
                return

    def _close_before_last(self, lines: str) -> bool:
        """Finishes all top-level blocks but the last; False when there is only one."""
        starts = [
            token.map[0]
            for token in self._parser.parse(lines, dict(self._env))
            if token.level == 0 and token.map and token.nesting >= 0
        ]
        if len(starts) < 2:
            return False
        closed = "\n".join(lines.split("\n")[: starts[-1]]) + "\n"
        self._tail = []
        self._add(self._made(closed, self._env))
        self._offset += len(closed)
        self._plain = None
        self._next_look = self._made_to = 0
        return True

    def _add(self, pieces: Sequence[Piece]) -> None:
        """Finished pieces join the rest; short prose goes into the piece before it."""
        for piece in pieces:
            if isinstance(piece, CodePiece) or not _is_prose(piece):
                self._prose = None
                self._final.append(piece)
                if isinstance(piece, CodePiece) and piece.last and piece.code.language:
                    self._ask_for_colours(piece.code)
            elif self._prose is not None and _fits(self._prose, piece):
                _join(self._prose, piece)
            else:
                self._final.append(piece)
                self._prose = piece if isinstance(piece, TextPiece) else None

    def _ask_for_colours(self, code: Code) -> None:
        if self._colour is not None:
            self._colour(code)

    # A fence that streams

    def _open_fence(self, text: str) -> None:
        found = _FENCE.match(text[self._offset : self._offset + LINE_LIMIT])
        if found is None or found[1] or (found[2][0] == "`" and "`" in found[3]):
            return
        start = self._offset + found.end()
        code = Code(_language(found[3]))
        code.pieces.append(CodePiece(self._paper, code))
        self._fence = _OpenFence(code, found[2], start, start, start)
        self._tail = list(code.pieces)
        self.renders += 1

    def _grow_fence(self, fence: _OpenFence, text: str) -> bool:
        """Appends what came; True when the fence was closed and more blocks may follow."""
        while (end := text.find("\n", fence.scanned)) >= 0:
            line = text[fence.scanned : end]
            if _closes(line, fence.mark):
                self._show(fence, text[fence.shown : fence.scanned])
                self._end_fence(fence, end + 1)
                return True
            fence.scanned = end + 1
        rest = text[fence.scanned :]
        hidden = len(rest) if _may_close(rest, fence.mark) else 0
        stop = len(text) - hidden
        if stop > fence.shown:
            self._show(fence, text[fence.shown : stop])
            fence.shown = stop
        return False

    def _show(self, fence: _OpenFence, more: str) -> None:
        if more:
            grow_code(self._paper, fence.code, more)
            self._tail = list(fence.code.pieces)

    def _end_fence(self, fence: _OpenFence, end: int) -> None:
        finish_code(fence.code)
        self._fence = None
        self._tail = []
        self._add(fence.code.pieces)
        self._offset = end

    # Making pieces

    def _made(self, text: str, env: dict[str, Any]) -> list[Piece]:
        if not text.strip():
            return []
        pieces: list[Piece] = []
        try:
            tokens = self._parser.parse(text, env)
        except (RecursionError, ValueError):
            return list(plain_pieces(self._paper, text))
        for block in _top_level(tokens):
            self.renders += 1
            pieces.extend(self._block(block, text))
        return pieces

    def _block(self, tokens: list[Token], text: str) -> list[Piece]:
        first = tokens[0]
        if first.type in ("fence", "code_block"):
            return list(code_pieces(self._paper, first.content, _language(first.info)))
        source = _source(tokens, text)
        if _too_heavy(tokens, source):
            return list(plain_pieces(self._paper, source))
        document = Document(self._paper, self._paper.theme.font())
        prose = _Prose(self._paper, document)
        prose.write(tokens)
        piece = TextPiece(self._paper, document)
        piece.has_grounds = prose.grounds
        return [piece]


def _is_prose(piece: Piece) -> bool:
    """Whether other prose may be joined to it: tables keep to themselves."""
    return isinstance(piece, TextPiece) and not piece.document.rootFrame().childFrames()


def _fits(prose: TextPiece, more: Piece) -> bool:
    document = more.document
    length = document.characterCount() if document is not None else 0
    return prose.document.characterCount() + length <= PROSE_LIMIT


def _join(prose: TextPiece, more: Piece) -> None:
    """Moves the text of a finished piece to the end of the one before it."""
    if not isinstance(more, TextPiece):
        return
    cursor = QTextCursor(prose.document)
    cursor.movePosition(QTextCursor.MoveOperation.End)
    source = QTextCursor(more.document)
    source.select(QTextCursor.SelectionType.Document)
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


# Code


def code_pieces(paper: Paper, text: str, language: str) -> list[CodePiece]:
    """A finished block of code; a long one in pieces of CODE_LINES lines."""
    code = Code(language)
    code.pieces.append(CodePiece(paper, code))
    grow_code(paper, code, text)
    finish_code(code)
    return code.pieces


def grow_code(paper: Paper, code: Code, more: str) -> None:
    """Appends to the last piece, and begins another where it is full."""
    code.parts.append(more)
    lines = more.split("\n")
    for number, line in enumerate(lines):
        if number:
            _new_line(paper, code)
        cursor = QTextCursor(code.pieces[-1].document)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        if not cursor.blockFormat().lineHeight():
            cursor.setBlockFormat(code_block(paper.theme))
        if line:
            cursor.insertText(line, ink(paper.colour))


def _new_line(paper: Paper, code: Code) -> None:
    piece = code.pieces[-1]
    if piece.document.blockCount() < CODE_LINES:
        cursor = QTextCursor(piece.document)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertBlock(code_block(paper.theme))
        return
    piece.last = False
    code.pieces.append(CodePiece(paper, code, first=False))


def finish_code(code: Code) -> None:
    """The newline that ends the last line is no line of its own."""
    piece = code.pieces[-1]
    if piece.document.blockCount() > 1 and piece.document.lastBlock().length() == 1:
        cursor = QTextCursor(piece.document)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.deletePreviousChar()
    elif len(code.pieces) > 1 and piece.document.isEmpty():
        code.pieces.pop()
        code.pieces[-1].last = True


def _closes(line: str, mark: str) -> bool:
    bare = line.strip()
    indent = len(line) - len(line.lstrip(" "))
    return indent < 4 and len(bare) >= len(mark) and set(bare) == {mark[0]}


def _may_close(rest: str, mark: str) -> bool:
    """Whether the line that has no end yet may turn out to be the closing fence."""
    marks = rest.lstrip(" ")
    return len(rest) - len(marks) < 4 and set(marks.rstrip(" \t")) <= {mark[0]}


def _language(info: str) -> str:
    words = info.strip().split(maxsplit=1)
    return words[0] if words else ""


# Blocks


def _top_level(tokens: Sequence[Token]) -> list[list[Token]]:
    blocks: list[list[Token]] = []
    current: list[Token] = []
    for token in tokens:
        current.append(token)
        if token.level == 0 and token.nesting <= 0:
            blocks.append(current)
            current = []
    return blocks


def _source(tokens: Sequence[Token], text: str) -> str:
    where = tokens[0].map
    if where is None:
        return ""
    return "\n".join(text.split("\n")[where[0] : where[1]])


def _too_heavy(tokens: Sequence[Token], source: str) -> bool:
    if len(source) > BLOCK_LIMIT or sum(
        token.type in ("td_open", "th_open") for token in tokens
    ) > (CELL_LIMIT):
        return True
    return any(len(line) > LINE_LIMIT for line in source.split("\n"))


class _Prose:
    """Writes the tokens of one top-level block into a document."""

    def __init__(self, paper: Paper, document: Document) -> None:
        self._paper = paper
        self._theme = paper.theme
        self._document = document
        self._cursor = QTextCursor(document)
        self._fresh = True
        self._lists: list[tuple[QTextListFormat, Any]] = []
        self._item_fresh = False
        self._quote = 0
        self._letters = [ink(paper.colour, paper.theme.font())]
        self.grounds = False

    def write(self, tokens: Sequence[Token]) -> None:
        self._cursor.beginEditBlock()
        place = 0
        while place < len(tokens):
            token = tokens[place]
            if token.type == "table_open":
                end = _closing(tokens, place, "table_close")
                self._table(tokens[place : end + 1])
                place = end
            else:
                self._token(token)
            place += 1
        self._cursor.endEditBlock()
        last = self._document.lastBlock()
        if not last.text() and last.blockNumber() and not _in_list(last):
            self._shrink(last)

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
                self._begin_list(token)
            case "bullet_list_close" | "ordered_list_close":
                self._end_list()
            case "list_item_open":
                self._item_fresh = True
            case "list_item_close":
                if self._item_fresh:
                    self._block(body_block(self._theme, below=self._theme.space_4))
            case "blockquote_open":
                self._quote += 1
                self.grounds = True
                self._letters.append(ink(self._theme.color("muted"), self._theme.font()))
            case "blockquote_close":
                self._quote -= 1
                self._letters.pop()
            case "fence" | "code_block":
                self._inner_code(token.content)
            case "hr":
                self._rule()
            case "inline":
                self._inline(token.children or [])
            case _:
                pass

    def _block(self, block: QTextBlockFormat) -> None:
        """Begins a block, in the list item or quote where it stands."""
        depth = len(self._lists)
        starts_item = self._item_fresh and depth > 0
        self._item_fresh = False
        indent = self._quote + (0 if starts_item else depth)
        block.setIndent(indent)
        if self._quote:
            block.setProperty(QUOTE_PROPERTY, self._quote)
        if self._fresh:
            self._fresh = False
            self._cursor.setBlockFormat(block)
        else:
            self._cursor.insertBlock(block)
        self._cursor.setBlockCharFormat(self._letters[-1])
        current: QTextList | None = self._cursor.currentList()
        if starts_item:
            self._join_item(block)
        elif current is not None:
            current.remove(self._cursor.block())
            self._cursor.setBlockFormat(block)

    def _join_item(self, block: QTextBlockFormat) -> None:
        style, made = self._lists[-1]
        if made is None:
            made = self._cursor.createList(style)
            self._lists[-1] = (style, made)
        else:
            made.add(self._cursor.block())
        # Joining a list resets the block's own indent to that of the list.
        merged = self._cursor.blockFormat()
        merged.setBottomMargin(block.bottomMargin())
        merged.setIndent(0)
        self._cursor.setBlockFormat(merged)

    def _begin_list(self, token: Token) -> None:
        style = QTextListFormat()
        depth = len(self._lists)
        if token.type == "ordered_list_open":
            style.setStyle(QTextListFormat.Style.ListDecimal)
            start = (token.attrs or {}).get("start", 1)
            style.setStart(min(int(start), 999_999_999))
        else:
            shapes = (QTextListFormat.Style.ListDisc, QTextListFormat.Style.ListCircle)
            style.setStyle(shapes[min(depth, 1)])
        style.setIndent(depth + 1 + self._quote)
        self._lists.append((style, None))

    def _end_list(self) -> None:
        self._lists.pop()
        self._item_fresh = False
        if not self._lists:
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
        self._letters.append(self._tiny())
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

    def _table(self, tokens: Sequence[Token]) -> None:
        rows = _cells(tokens)
        if not rows:
            return
        style = QTextTableFormat()
        style.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
        style.setBorderBrush(self._theme.color("border"))
        style.setBorder(self._theme.measures.hairline)
        style.setBorderCollapse(True)
        style.setCellPadding(self._theme.px(6))
        style.setCellSpacing(0)
        style.setBottomMargin(self._theme.space_12)
        columns = max(len(row) for row in rows)
        style.setWidth(QTextLength(QTextLength.Type.VariableLength, 0))
        self._shrink(self._cursor.block())
        self._fresh = False
        table = self._cursor.insertTable(len(rows), columns, style)
        for number, row in enumerate(rows):
            for column, (inline, align) in enumerate(row):
                self._cell(table.cellAt(number, column), inline, align, header=number == 0)
        self._cursor.movePosition(QTextCursor.MoveOperation.End)
        self._shrink(self._cursor.block())

    def _cell(self, cell: Any, inline: Token | None, align: str, *, header: bool) -> None:
        outer, self._cursor = self._cursor, cell.firstCursorPosition()
        block = body_block(self._theme, below=0)
        if align:
            block.setAlignment(_ALIGNMENTS[align])
        self._cursor.setBlockFormat(block)
        if header:
            shade = cell.format()
            shade.setBackground(self._theme.color("raised"))
            cell.setFormat(shade)
        self._letters.append(ink(self._paper.colour, self._theme.font(bold=header)))
        self._cursor.setBlockCharFormat(self._letters[-1])
        if inline is not None:
            self._inline(inline.children or [])
        self._letters.pop()
        self._cursor = outer

    def _shrink(self, block: Any) -> None:
        """Qt keeps an empty line around a table: it gets no height."""
        cursor = QTextCursor(block)
        none = QTextBlockFormat()
        none.setLineHeight(1, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        cursor.setBlockFormat(none)
        cursor.setBlockCharFormat(self._tiny())

    def _tiny(self) -> QTextCharFormat:
        letters = QTextCharFormat()
        tiny = QFont(self._theme.font())
        tiny.setPixelSize(1)
        letters.setFont(tiny)
        return letters

    def _inline(self, children: Sequence[Token]) -> None:
        depth = len(self._letters)
        for token in children:
            match token.type:
                case "text" | "html_inline":
                    self._cursor.insertText(token.content, self._letters[-1])
                case "softbreak":
                    self._cursor.insertText(" ", self._letters[-1])
                case "hardbreak":
                    self._cursor.insertText("\u2028", self._letters[-1])
                case "code_inline":
                    self._cursor.insertText(token.content, self._code_letters())
                case "image":
                    self._image(token)
                case "strong_open" | "em_open" | "s_open" | "link_open":
                    self._letters.append(self._styled(token))
                case "strong_close" | "em_close" | "s_close" | "link_close":
                    self._letters.pop()
                case _:
                    self._cursor.insertText(token.content, self._letters[-1])
        del self._letters[depth:]

    def _code_letters(self) -> QTextCharFormat:
        letters = QTextCharFormat(self._letters[-1])
        mono = self._theme.mono()
        mono.setBold(self._letters[-1].fontWeight() > QFont.Weight.Medium)
        letters.setFont(mono)
        letters.setBackground(self._theme.color("raised"))
        return letters

    def _styled(self, token: Token) -> QTextCharFormat:
        letters = QTextCharFormat(self._letters[-1])
        match token.type:
            case "strong_open":
                letters.setFontWeight(QFont.Weight.DemiBold)
            case "em_open":
                letters.setFontItalic(True)
            case "s_open":
                letters.setFontStrikeOut(True)
            case _:
                self._make_link(letters, str((token.attrs or {}).get("href", "")))
        return letters

    def _make_link(self, letters: QTextCharFormat, target: str) -> None:
        if not target.lower().startswith(_LINK_SCHEMES) and ":" in target:
            # Nothing but the web and mail is opened; other addresses are shown as text.
            return
        letters.setAnchor(True)
        letters.setAnchorHref(target)
        letters.setForeground(self._theme.color("link"))
        letters.setFontUnderline(True)

    def _image(self, token: Token) -> None:
        """Never loaded: its words, and its address as a link (FIELD: pictures leak)."""
        words = token.content or str((token.attrs or {}).get("src", ""))
        letters = QTextCharFormat(self._letters[-1])
        self._make_link(letters, str((token.attrs or {}).get("src", "")))
        self._cursor.insertText(say("[picture: {0}]").format(words), letters)


_ALIGNMENTS = {
    "left": Qt.AlignmentFlag.AlignLeft,
    "center": Qt.AlignmentFlag.AlignHCenter,
    "right": Qt.AlignmentFlag.AlignRight,
}


def _in_list(block: QTextBlock) -> bool:
    # Qt says None here, whatever its types say.
    bullets = cast("object", block.textList())
    return bullets is not None


def _closing(tokens: Sequence[Token], start: int, type_: str) -> int:
    level = tokens[start].level
    for place in range(start, len(tokens)):
        if tokens[place].type == type_ and tokens[place].level == level:
            return place
    return len(tokens) - 1


def _cells(tokens: Sequence[Token]) -> list[list[tuple[Token | None, str]]]:
    rows: list[list[tuple[Token | None, str]]] = []
    for place, token in enumerate(tokens):
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("td_open", "th_open"):
            style = str((token.attrs or {}).get("style", ""))
            align = style.removeprefix("text-align:")
            after = tokens[place + 1] if place + 1 < len(tokens) else None
            inline = after if after is not None and after.type == "inline" else None
            rows[-1].append((inline, align if align in _ALIGNMENTS else ""))
    return rows
