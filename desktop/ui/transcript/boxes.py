"""A row as a box of pieces: one builder for each kind of row (LOOK.md "Rows of the transcript").

A box is made for one theme and one width and knows nothing of the view. What a row looks like
depends on the row, what stands around it, and whether the person unfolded it.
"""

import json
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from PySide6.QtGui import QTextCharFormat, QTextCursor

from desktop.core.chunks import (
    DamagedRow,
    ErrorNote,
    LogChunk,
    Opaque,
    System,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from desktop.core.groups import OpenRow, Row
from desktop.core.growing import Growing
from desktop.core.media import is_media
from desktop.core.printed import Printed
from desktop.core.records import Fold
from desktop.core.shown import entries
from desktop.ui.theme import Theme
from desktop.ui.transcript.box import Box, Panel, Space
from desktop.ui.transcript.card import (
    Cards,
    growing_pieces,
    head_and_tail,
    result_pieces,
    text_pieces,
)
from desktop.ui.transcript.clock import wall_ms
from desktop.ui.transcript.error_text import ErrorText
from desktop.ui.transcript.lane import lane_of
from desktop.ui.transcript.line_piece import LinePiece
from desktop.ui.transcript.output import Look
from desktop.ui.transcript.phrases import (
    Context,
    call_in,
    error_lines,
    notice,
    plain_text,
    retracted_line,
    taken_back_line,
    thinking_line,
)
from desktop.ui.transcript.pictures import Gallery, NoGallery, attached_pieces
from desktop.ui.transcript.pieces import (
    Document,
    Paper,
    Piece,
    TextPiece,
    body_block,
    ink,
    muted_piece,
    plain_pieces,
)
from desktop.ui.transcript.saying import say
from desktop.ui.transcript.writing import Renderer
from desktop.ui.words import size

_LOG = logging.getLogger(__name__)

WHOLE_LIMIT = 65_536
HEAD_LIMIT = 16_384

NO_PICTURES = NoGallery()

_UNFIT = re.compile("[\\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Maker:
    """Makes boxes in one look; `reveals` shows what code hides."""

    theme: Theme
    renderer: Renderer
    repaint: Callable[[], None]
    gallery: Gallery = NO_PICTURES
    now_ms: Callable[[], int] = wall_ms
    reveals: bool = False

    @property
    def _paper(self) -> Paper:
        """What an answer is written on."""
        return Paper(self.theme, reveals=self.reveals)

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
                    return self._user(row, row.data, context, fold)
                if row.id in context.relations.retracted:
                    return self._folding(retracted_line(), row.data.text, fold)
                return self._answer(row.data, fold)
            case Thinking():
                return self._thinking(thinking_line(row, context), row.data.text, fold)
            case ToolCall():
                return self._call(row, context, fold)
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
            box.pieces.append(muted_piece(self.theme, say("Cut off here")))

    # Kinds

    def _open_row(self, row: OpenRow, context: Context, fold: Fold) -> Box:
        opened = row.block.opened
        if opened.type == "thinking":
            return self._thinking(thinking_line(row, context), row.text, fold)
        if opened.type == "tool_call":
            return self._call(row, context, fold)
        if opened.type == "tool_result":
            return self._lone_output(opened.name, row.block.output, fold)
        writer = self.renderer.writer(self._paper, self.repaint)
        box = Box(writer=writer, above=self.theme.space_4)
        self.grow(box, row)
        return box

    def _answer(self, data: Text, fold: Fold) -> Box:
        text = cleaned(data.text)
        box = Box(above=self.theme.space_4)
        paper = self._paper
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
            box.pieces.append(muted_piece(self.theme, say("Cut off here")))
        return box

    def _user(self, row: LogChunk, data: Text, context: Context, fold: Fold) -> Box:
        gone = row.id in context.relations.retracted
        pad = self.theme.space_16
        paper = Paper(self.theme, "muted" if gone else "text")
        pieces: list[Piece] = [Space(self.theme.space_12)]
        for piece in plain_pieces(paper, cleaned(data.text), left=pad, right=pad):
            if gone:
                _strike(piece)
            pieces.append(piece)
        for one in data.attachments:
            if isinstance(one.get("text"), str):
                pieces.extend(text_pieces(self.theme, one, fold, pad))
            else:
                pieces.extend(attached_pieces(self.theme, self.gallery, one, pad))
        if gone:
            pieces.append(muted_piece(self.theme, taken_back_line(), left=pad))
        pieces.append(Space(self.theme.space_12))
        line = "border" if self.theme.high_contrast else None
        panel = Panel(0, len(pieces) - 1, fill="user", line=line)
        lane = lane_of(self.theme)
        return Box(pieces, [panel], above=lane.gap, below=self.theme.space_16, lane=lane)

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

    def _call(self, row: Row, context: Context, fold: Fold) -> Box:
        call = call_in(row, context)
        if call is None:
            return self._plain(plain_text(row, context))
        return Cards(self.theme, self.gallery, self.now_ms).make(call, row, context, fold)

    def _lone_result(self, data: ToolResult, fold: Fold) -> Box:
        """A result whose call is not loaded stands for itself."""
        title = say("Result of {0}").format(data.name)
        box = self._folding(title, "", fold, mark="✕" if data.is_error else "")
        if fold != "folded":
            look = Look(self.theme, ground="bg", left=self.theme.space_16)
            box.pieces.extend(result_pieces(data, fold, look))
        for one in entries(data):
            if is_media(one):
                box.pieces.extend(attached_pieces(self.theme, self.gallery, one, 0))
        return box

    def _lone_output(self, name: str, output: Growing | None, fold: Fold) -> Box:
        """The same while it runs."""
        box = self._folding(say("Result of {0}").format(name), "", fold)
        if fold != "folded" and output is not None:
            look = Look(self.theme, ground="bg", left=self.theme.space_16)
            box.pieces.extend(growing_pieces(output, look))
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
        pieces.append(ErrorText(Paper(self.theme), document, pad=pad))
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
        box.pieces.append(muted_piece(self.theme, text, centred=True))
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
        if fold != "folded" and body.strip():
            look = Look(self.theme, ground="bg", left=self.theme.space_16)
            box.pieces.extend(head_and_tail(Printed(cleaned(body)), fold, look))
        return box

    def _plain(self, text: str) -> Box:
        pieces: list[Piece] = list(plain_pieces(Paper(self.theme), cleaned(text)))
        return Box(pieces, above=self.theme.space_8, below=self.theme.space_8)


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


def _detail(data: ErrorNote) -> str:
    detail = data.extra.get("detail")
    lines = [detail] if isinstance(detail, str) and detail else []
    if data.status_code is not None:
        lines.append(say("Status {0}").format(data.status_code))
    return "\n".join(lines)
