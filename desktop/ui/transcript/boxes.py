"""A row as a box of pieces: one builder for each kind of row (LOOK.md "Rows of the transcript").

A box is made for one theme and one width and knows nothing of the view. What a row looks like
depends on the row, what stands around it, and whether the person unfolded it.
"""

import json
import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, assert_never

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCharFormat, QTextCursor

from desktop.core.chunks import (
    DamagedRow,
    ErrorNote,
    Json,
    LogChunk,
    Opaque,
    System,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from desktop.core.groups import OpenRow, Row
from desktop.core.media import entries, is_media
from desktop.ui.kept_files import file_of
from desktop.ui.theme import Theme
from desktop.ui.transcript.acts import subagent_of, words_of
from desktop.ui.transcript.box import Box, Panel, Space
from desktop.ui.transcript.diff import Diff, Line, diff_of
from desktop.ui.transcript.lane import lane_of
from desktop.ui.transcript.phrases import (
    Call,
    Context,
    argument_lines,
    attachment_line,
    call_in,
    error_lines,
    headline,
    notice,
    outcome,
    plain_text,
    retracted_line,
    say,
    thinking_line,
)
from desktop.ui.transcript.pieces import (
    GROUND_PROPERTY,
    Document,
    LinePiece,
    Paper,
    Piece,
    TextPiece,
    body_block,
    code_block,
    ink,
    plain_pieces,
)
from desktop.ui.transcript.writing import Renderer
from desktop.ui.visible import visible
from desktop.ui.words import size

_LOG = logging.getLogger(__name__)

WHOLE_LIMIT = 65_536
HEAD_LIMIT = 16_384
OUTPUT_LINES = 20
LIVE_LINES = 3
DIFF_SHOWN = 60
REASON_LIMIT = 300

_UNFIT = re.compile("[\\0\ud800-\udfff]")

Fold = Literal["folded", "open", "all"]


@dataclass(frozen=True, slots=True)
class Maker:
    """Makes boxes in one look."""

    theme: Theme
    renderer: Renderer
    repaint: Callable[[], None]

    def make(self, row: Row, context: Context, fold: Fold) -> Box:
        """The box of a row; a row that can't be drawn becomes plain text, and is logged."""
        try:
            return self._make(row, context, fold)
        except Exception:  # whatever a row holds, the others must still be drawn
            _LOG.exception("a row could not be drawn")
            return self._plain(plain_text(row, context))

    def _make(self, row: Row, context: Context, fold: Fold) -> Box:
        if isinstance(row, OpenRow):
            return self._open_row(row, context, fold)
        if isinstance(row, DamagedRow):
            return self._folding(
                say("This row can't be read"), f"{row.reason}\n{row.raw}", fold, mark="✕"
            )
        match row.data:
            case Text():
                if row.role == "user":
                    return self._user(row, row.data, context)
                if row.id in context.relations.retracted:
                    return self._folding(retracted_line(), row.data.text, fold)
                return self._answer(row.data, fold)
            case Thinking():
                return self._thinking(thinking_line(row, context), row.data.text, fold)
            case ToolCall():
                return self._card(row, context, fold)
            case ToolResult():
                return self._lone_result(row.data, fold)
            case ErrorNote():
                return self._error(row.data, fold)
            case System():
                return self._notice(row.data, fold)
            case Opaque():
                kind = str(row.data.block.get("type", ""))
                body = json.dumps(dict(row.data.block), ensure_ascii=False, indent=2)
                return self._folding(say("A block of the provider: {0}").format(kind), body, fold)
            case _:
                assert_never(row.data)

    def grow(self, box: Box, row: Row) -> None:
        """More text, or the whole of it, into a box that streams."""
        if box.writer is None:
            return
        if isinstance(row, OpenRow):
            box.writer.write(_cleaned_on(box, row.text), finished=False)
        elif isinstance(row, LogChunk) and isinstance(row.data, Text):
            box.writer.write(_cleaned_on(box, row.data.text), finished=True)

    def finish(self, box: Box, row: Row) -> None:
        """What a sealed answer has beside its text."""
        if isinstance(row, LogChunk) and isinstance(row.data, Text) and row.data.interrupted:
            box.pieces.append(self._muted(say("Cut off here")))

    # Kinds

    def _open_row(self, row: OpenRow, context: Context, fold: Fold) -> Box:
        opened = row.block.opened
        if opened.type == "thinking":
            return self._thinking(thinking_line(row, context), row.text, fold)
        if opened.type == "tool_call":
            return self._card(row, context, fold)
        if opened.type == "tool_result":
            return self._lone_result(ToolResult(opened.call_id, opened.name, row.text), fold)
        writer = self.renderer.writer(Paper(self.theme), self.repaint)
        box = Box(writer=writer, above=self.theme.space_4)
        self.grow(box, row)
        return box

    def _answer(self, data: Text, fold: Fold) -> Box:
        text = cleaned(data.text)
        box = Box(above=self.theme.space_4)
        paper = Paper(self.theme)
        if len(text) > WHOLE_LIMIT and fold == "all":
            box.pieces = list(plain_pieces(paper, text))
        else:
            shown = text if len(text) <= WHOLE_LIMIT else text[: _line_end(text, HEAD_LIMIT)]
            writer = self.renderer.writer(paper, self.repaint)
            writer.write(shown, finished=True)
            box.pieces = list(writer.pieces)
            if len(shown) < len(text):
                words = say("Show all of it, {0}").format(size(len(text)))
                box.pieces.append(LinePiece(Paper(self.theme, "accent"), words, kind="all"))
        if data.interrupted:
            box.pieces.append(self._muted(say("Cut off here")))
        return box

    def _user(self, row: LogChunk, data: Text, context: Context) -> Box:
        gone = row.id in context.relations.retracted
        pad = self.theme.space_16
        paper = Paper(self.theme, "muted" if gone else "text")
        pieces: list[Piece] = [Space(self.theme.space_12)]
        for piece in plain_pieces(paper, cleaned(data.text), left=pad, right=pad):
            if gone:
                _strike(piece)
            pieces.append(piece)
        pieces.extend(self._attached(one, pad) for one in data.attachments)
        pieces.append(Space(self.theme.space_12))
        line = "border" if self.theme.high_contrast else None
        panel = Panel(0, len(pieces) - 1, fill="user", line=line)
        lane = lane_of(self.theme)
        return Box(pieces, [panel], above=lane.gap, below=self.theme.space_16, lane=lane)

    def _attached(self, entry: Json, pad: int) -> Piece:
        """The line of an attachment; one that opens it where it is a kept file to be looked at."""
        line, file = cleaned(attachment_line(entry)), file_of(entry)
        if not file:
            return self._muted(line, left=pad)
        words = say("{0} · Open").format(line)
        accent = Paper(self.theme, "accent")
        return LinePiece(accent, words, kind="open", value=file, small=True, left=pad, right=pad)

    def _card_pictures(self, call: Call, pad: int) -> list[Piece]:
        found = entries(call.answer) if call.answer is not None else ()
        return [self._attached(one, pad) for one in found if is_media(one)]

    def _thinking(self, line: str, text: str, fold: Fold) -> Box:
        muted = Paper(self.theme, "muted")
        box = Box([LinePiece(muted, line, folded=fold == "folded", small=True)], below=4)
        if fold == "folded" or not text.strip():
            return box
        left = self.theme.space_16
        first = len(box.pieces)
        box.pieces.extend(plain_pieces(muted, cleaned(text.strip()), left=left))
        box.panels.append(Panel(first, len(box.pieces) - 1, fill="bg", edge="border"))
        box.below = self.theme.space_12
        return box

    def _card(self, row: Row, context: Context, fold: Fold) -> Box:
        call = call_in(row, context)
        if call is None:
            return self._plain(plain_text(row, context))
        joined_above, joined_below = _neighbours(row, context)
        diff = diff_of(call.name, call.arguments)
        pad = self.theme.space_12
        pieces: list[Piece] = [self._card_line(call, diff, fold)]
        if fold == "folded":
            pieces.extend(self._card_glance(call, pad))
        else:
            pieces.extend(self._card_details(call, diff, fold, pad))
        if subagent_of(row, context):
            accent = Paper(self.theme, "accent")
            words = words_of("subagent")
            inset = pad + self.theme.px(self.theme.measures.icon + self.theme.space_4)
            pieces.append(LinePiece(accent, words, kind="subagent", small=True, left=inset))
        pieces.extend(self._card_pictures(call, pad))
        if len(pieces) > 1:
            pieces.append(Space(self.theme.space_8))
        panel = Panel(
            0,
            len(pieces) - 1,
            fill="surface",
            line="border",
            top=not joined_above,
            bottom=not joined_below,
        )
        return Box(
            pieces,
            [panel],
            above=0 if joined_above else self.theme.space_8,
            below=0 if joined_below else self.theme.space_8,
        )

    def _card_line(self, call: Call, diff: Diff | None, fold: Fold) -> Piece:
        mark, colour = _MARKS[call.state]
        trailing = outcome(call)
        if diff is not None:
            counts = f"+{diff.added} −{diff.removed}" if diff.removed else f"+{diff.added}"
            trailing = f"{counts} · {trailing}" if trailing else counts
        return LinePiece(
            Paper(self.theme),
            cleaned(headline(call)),
            trailing=trailing,
            mark=mark,
            mark_ink=colour,
            folded=fold == "folded",
            left=self.theme.space_12,
            right=self.theme.space_12,
        )

    def _card_glance(self, call: Call, pad: int) -> list[Piece]:
        """What a folded card shows below its line: live output, or why it failed."""
        inset = pad + self.theme.px(self.theme.measures.icon + self.theme.space_4)
        if call.state == "failed" and call.answer is not None:
            reason = cleaned(call.answer.result.strip())[:REASON_LIMIT]
            lines = (
                reason.splitlines()[-LIVE_LINES:]
                if call.name == "shell"
                else (reason.splitlines()[:LIVE_LINES])
            )
            paper = Paper(self.theme, "danger" if call.name != "shell" else "muted")
            return list(plain_pieces(paper, "\n".join(lines), mono=True, left=inset, right=pad))
        if call.state == "running" and call.live is not None and call.live.text.strip():
            last = cleaned(call.live.text).rstrip("\n").rsplit("\n", LIVE_LINES)[-LIVE_LINES:]
            text = "\n".join(line[:REASON_LIMIT] for line in last)
            paper = Paper(self.theme, "muted")
            return list(plain_pieces(paper, text, mono=True, left=inset, right=pad))
        return []

    def _card_details(self, call: Call, diff: Diff | None, fold: Fold, pad: int) -> list[Piece]:
        shown = frozenset({"old", "new", "content"}) if diff is not None else frozenset[str]()
        pieces: list[Piece] = []
        arguments = argument_lines(call, without=shown)
        if arguments:
            pieces.append(self._arguments(arguments, pad))
        if diff is not None:
            pieces.extend(self._diff(diff.lines, fold, pad))
        output = call.answer.result if call.answer else call.live.text if call.live else ""
        if output.strip():
            pieces.append(Space(self.theme.space_8))
            pieces.extend(self._output(cleaned(output), fold, pad, failed=call.state == "failed"))
        return pieces

    def _arguments(self, lines: Sequence[tuple[str, str]], pad: int) -> Piece:
        document = Document(Paper(self.theme), self.theme.mono(), anywhere=True)
        cursor = QTextCursor(document)
        label = ink(self.theme.color("muted"), self.theme.font(self.theme.sizes.small))
        value = ink(self.theme.color("text"), self.theme.mono())
        for number, (name, text) in enumerate(lines):
            if number:
                cursor.insertBlock(code_block(self.theme))
            else:
                cursor.setBlockFormat(code_block(self.theme))
            cursor.insertText(f"{cleaned(name)}  ", label)
            cursor.insertText(cleaned(text)[:HEAD_LIMIT].replace("\n", "\u2028"), value)
        return TextPiece(Paper(self.theme), document, left=pad, right=pad, above=0)

    def _output(self, text: str, fold: Fold, pad: int, *, failed: bool) -> list[Piece]:
        """Head and tail of an output, and a line to open all of it."""
        del failed
        lines = text.rstrip("\n").split("\n")
        paper = Paper(self.theme)
        if fold == "all" or len(lines) <= 2 * OUTPUT_LINES + 1:
            return list(plain_pieces(paper, "\n".join(lines), mono=True, left=pad, right=pad))
        between = len(lines) - 2 * OUTPUT_LINES
        words = say("{0} lines between · open all").format(f"{between:,}")
        return [
            *plain_pieces(paper, "\n".join(lines[:OUTPUT_LINES]), mono=True, left=pad, right=pad),
            LinePiece(Paper(self.theme, "accent"), words, kind="all", small=True, left=pad),
            *plain_pieces(paper, "\n".join(lines[-OUTPUT_LINES:]), mono=True, left=pad, right=pad),
        ]

    def _diff(self, lines: Sequence[Line], fold: Fold, pad: int) -> list[Piece]:
        """Added and removed lines, by + and − as well as by colour."""
        hidden = 0 if fold == "all" else max(0, len(lines) - DIFF_SHOWN)
        document = Document(Paper(self.theme), self.theme.mono(), anywhere=True)
        cursor = QTextCursor(document)
        cursor.beginEditBlock()
        for number, line in enumerate(lines[: len(lines) - hidden]):
            block = code_block(self.theme)
            ground = _GROUNDS.get(line.sign)
            if ground is not None:
                block.setProperty(GROUND_PROPERTY, ground)
            if number:
                cursor.insertBlock(block)
            else:
                cursor.setBlockFormat(block)
            sign = "−" if line.sign == "-" else "⋯" if line.sign == "@" else line.sign
            colour = _SIGN_INKS.get(line.sign, "muted")
            cursor.insertText(f"{sign} ", ink(self.theme.color(colour), self.theme.mono()))
            cursor.insertText(visible(cleaned(line.text))[:2_000], ink(self.theme.color("text")))
        cursor.endEditBlock()
        piece = TextPiece(
            Paper(self.theme), document, left=pad, right=pad, above=self.theme.space_4
        )
        piece.has_grounds = True
        pieces: list[Piece] = [piece]
        if hidden:
            words = say("{0} more lines · open all").format(f"{hidden:,}")
            accent = Paper(self.theme, "accent")
            pieces.append(LinePiece(accent, words, kind="all", small=True, left=pad))
        return pieces

    def _lone_result(self, data: ToolResult, fold: Fold) -> Box:
        """A result whose call is not loaded stands for itself."""
        title = say("Result of {0}").format(data.name)
        box = self._folding(title, data.result, fold, mark="✕" if data.is_error else "")
        box.pieces.extend(self._attached(one, 0) for one in entries(data) if is_media(one))
        return box

    def _error(self, data: ErrorNote, fold: Fold) -> Box:
        pad = self.theme.space_16
        pieces: list[Piece] = [Space(self.theme.space_12)]
        document = Document(Paper(self.theme), self.theme.font())
        cursor = QTextCursor(document)
        cursor.setBlockFormat(body_block(self.theme, below=self.theme.space_4))
        cursor.insertText("✕ ", ink(self.theme.color("danger"), self.theme.font(bold=True)))
        cursor.insertText(cleaned(data.message), ink(self.theme.color("text")))
        for sentence in error_lines(data)[1:]:
            cursor.insertBlock(body_block(self.theme, below=0))
            cursor.insertText(cleaned(sentence), ink(self.theme.color("muted")))
        pieces.append(TextPiece(Paper(self.theme), document, left=pad, right=pad))
        detail = _detail(data)
        if detail:
            muted = Paper(self.theme, "muted")
            words = say("Details")
            pieces.append(
                LinePiece(muted, words, folded=fold == "folded", small=True, left=pad, right=pad)
            )
            if fold != "folded":
                pieces.extend(plain_pieces(muted, cleaned(detail), mono=True, left=pad, right=pad))
        pieces.append(Space(self.theme.space_12))
        panel = Panel(0, len(pieces) - 1, fill="surface", line="danger")
        return Box(pieces, [panel], above=self.theme.space_8, below=self.theme.space_8)

    def _notice(self, data: System, fold: Fold) -> Box:
        text = cleaned(notice(data))
        box = Box(above=self.theme.space_8, below=self.theme.space_8)
        if not text:
            return Box()
        box.pieces.append(self._muted(text, centred=True))
        if data.kind == "compaction" and data.text:
            muted = Paper(self.theme, "muted")
            words = say("Summary")
            box.pieces.append(LinePiece(muted, words, folded=fold == "folded", small=True))
            if fold != "folded":
                box.pieces.extend(plain_pieces(muted, cleaned(data.text)))
        return box

    def _folding(self, title: str, body: str, fold: Fold, *, mark: str = "") -> Box:
        muted = Paper(self.theme, "muted")
        line = LinePiece(
            muted,
            cleaned(title),
            mark=mark,
            mark_ink="danger",
            folded=fold == "folded",
            small=True,
        )
        box = Box([line], above=self.theme.space_4, below=self.theme.space_4)
        if fold != "folded":
            left = self.theme.space_16
            box.pieces.extend(self._output(cleaned(body), fold, left, failed=False))
        return box

    def _plain(self, text: str) -> Box:
        pieces: list[Piece] = list(plain_pieces(Paper(self.theme), cleaned(text)))
        return Box(pieces, above=self.theme.space_8, below=self.theme.space_8)

    def _muted(self, text: str, *, left: int = 0, centred: bool = False) -> Piece:
        document = Document(Paper(self.theme), self.theme.font(self.theme.sizes.small))
        cursor = QTextCursor(document)
        block = body_block(self.theme, below=0)
        if centred:
            block.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        cursor.setBlockFormat(block)
        font = self.theme.font(self.theme.sizes.small)
        cursor.insertText(text, ink(self.theme.color("muted"), font))
        return TextPiece(Paper(self.theme, "muted"), document, left=left, right=left)


_MARKS = {
    "preparing": ("●", "muted"),
    "waiting": ("!", "warning"),
    "running": ("●", "accent"),
    "done": ("✓", "success"),
    "failed": ("✕", "danger"),
    "unfinished": ("–", "muted"),
}
_GROUNDS = {"+": "added", "-": "removed"}
_SIGN_INKS = {"+": "success", "-": "danger"}


def cleaned(text: str) -> str:
    """Text that Qt can hold: lone surrogates become U+FFFD, NUL too."""
    if _UNFIT.search(text) is None:
        return text
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return whole.replace("\0", "\ufffd")


def _cleaned_on(box: Box, text: str) -> str:
    """The same of a text that grows: what was looked at once is not looked at again."""
    if _UNFIT.search(text, box.clean_to) is None:
        box.clean_to = len(text)
        return text
    return cleaned(text)


def _line_end(text: str, near: int) -> int:
    """The end of the line at `near`, so that a cut does not split it."""
    end = text.find("\n", near)
    return end + 1 if 0 <= end < near * 2 else near


def _strike(piece: TextPiece) -> None:
    cursor = QTextCursor(piece.document)
    cursor.select(QTextCursor.SelectionType.Document)
    letters = QTextCharFormat()
    letters.setFontStrikeOut(True)
    cursor.mergeCharFormat(letters)


def _neighbours(row: Row, context: Context) -> tuple[bool, bool]:
    """Whether the calls of this row's step stand right above and below it: they share a frame."""
    before = context.relations.before.get(row.id)
    after = context.relations.after.get(row.id)
    return _same_step(before, row), _same_step(row, after)


def _same_step(first: Row | None, second: Row | None) -> bool:
    if first is None or second is None:
        return False
    if isinstance(first, DamagedRow) or isinstance(second, DamagedRow):
        return False
    if not (_is_call(first) and _is_call(second)):
        return False
    return (first.turn_id, first.step) == (second.turn_id, second.step)


def _is_call(row: Row) -> bool:
    if isinstance(row, OpenRow):
        return row.block.opened.type == "tool_call"
    return isinstance(row, LogChunk) and isinstance(row.data, ToolCall)


def _detail(data: ErrorNote) -> str:
    detail = data.extra.get("detail")
    lines = [detail] if isinstance(detail, str) and detail else []
    if data.status_code is not None:
        lines.append(say("Status {0}").format(data.status_code))
    return "\n".join(lines)
