"""The card of a tool's call: one line when it is folded, its arguments and its output when not.

Calls of one step that stand together share a frame. While a tool runs, its card shows its last
lines and a time that is drawn anew each second and moves nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtGui import QTextCursor

from desktop.core.chunks import DamagedRow, Json, LogChunk, ToolCall, ToolResult
from desktop.core.groups import OpenRow, Row
from desktop.core.growing import Growing
from desktop.core.media import is_media
from desktop.core.printed import Printed, spans_in
from desktop.core.records import Fold
from desktop.core.shown import entries
from desktop.ui.theme import Theme
from desktop.ui.transcript.acts import subagent_of, words_of
from desktop.ui.transcript.box import Box, Panel, Space
from desktop.ui.transcript.calls import Call, Headline, argument_lines, headline, outcome
from desktop.ui.transcript.diff import Diff, diff_of
from desktop.ui.transcript.diff_piece import DiffPiece
from desktop.ui.transcript.line_piece import LinePiece
from desktop.ui.transcript.output import Look, output_pieces, seen
from desktop.ui.transcript.phrases import Context, attachment_line, size_of_whole
from desktop.ui.transcript.pictures import Gallery, attached_pieces
from desktop.ui.transcript.pieces import (
    Document,
    Paper,
    Piece,
    TextPiece,
    code_block,
    ink,
    muted_piece,
)
from desktop.ui.transcript.saying import say
from desktop.ui.words import seconds, size

HEAD_LIMIT = 16_384
TEXT_LIMIT = 262_144
OUTPUT_LINES = 20
LIVE_LINES = 3
DIFF_SHOWN = 60
REASON_LIMIT = 300

_MARKS = {
    "preparing": ("●", "muted"),
    "waiting": ("!", "warning"),
    "running": ("●", "accent"),
    "done": ("✓", "success"),
    "failed": ("✕", "danger"),
    "unfinished": ("–", "muted"),
}


@dataclass(frozen=True, slots=True)
class Cards:
    """Makes cards in one look. `now_ms` is the clock of the rows."""

    theme: Theme
    gallery: Gallery
    now_ms: Callable[[], int]

    def make(self, call: Call, row: Row, context: Context, fold: Fold) -> Box:
        theme, pad = self.theme, self.theme.space_12
        joined_above, joined_below = _neighbours(row, context)
        diff = _diff_in(call)
        pieces: list[Piece] = [self._line(call, diff, fold)]
        if fold == "folded":
            pieces.extend(self._glance(call, pad))
        else:
            pieces.extend(self._details(call, diff, fold, pad))
        if subagent_of(row, context):
            words = words_of("subagent")
            accent = Paper(theme, "accent")
            pieces.append(
                LinePiece(accent, words, kind="subagent", small=True, left=self._inset(pad))
            )
        for one in entries(call.answer) if call.answer is not None else ():
            if is_media(one):
                pieces.extend(attached_pieces(theme, self.gallery, one, pad))
        if len(pieces) > 1:
            pieces.append(Space(theme.space_8))
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
            above=0 if joined_above else theme.space_8,
            below=0 if joined_below else theme.space_8,
        )

    def _inset(self, pad: int) -> int:
        """Below the words of a card's line, not its mark."""
        return pad + self.theme.px(self.theme.measures.icon + self.theme.space_4)

    def _line(self, call: Call, diff: Diff | None, fold: Fold) -> Piece:
        mark, colour = _MARKS[call.state]
        trailing = outcome(call)
        if diff is not None and (diff.added or diff.removed) and call.state != "failed":
            counts = f"+{diff.added:,} −{diff.removed:,}" if diff.removed else f"+{diff.added:,}"
            trailing = f"{counts} · {trailing}" if trailing else counts
        return LinePiece(
            Paper(self.theme),
            _seen_in(headline(call)),
            trailing=trailing,
            ticking=self._elapsed(call, trailing),
            mark=mark,
            mark_ink=colour,
            folded=fold == "folded",
            left=self.theme.space_12,
            right=self.theme.space_12,
        )

    def _elapsed(self, call: Call, words: str) -> Callable[[], str] | None:
        """`running · 12 s`, as it is each time it is asked."""
        started = call.started
        if call.state != "running" or started is None:
            return None

        def now() -> str:
            spent = self.now_ms() - started
            return f"{words} · {seconds(spent)}" if spent >= 1_000 else words

        return now

    def _glance(self, call: Call, pad: int) -> list[Piece]:
        """What a folded card shows below its line: live output, or why it failed."""
        look = Look(self.theme, "muted", left=self._inset(pad), right=pad)
        if call.state == "failed" and call.answer is not None:
            of_command = call.name == "shell"
            lines = call.answer.result.strip()[: None if of_command else HEAD_LIMIT].splitlines()
            lines = lines[-LIVE_LINES:] if of_command else lines[:LIVE_LINES]
            ink_ = "muted" if of_command else "danger"
            return list(output_pieces(_short(lines), look.inked(ink_)))
        if call.state == "running" and call.live is not None:
            newest = call.live.newest(LIVE_LINES, width=REASON_LIMIT)
            return list(output_pieces(newest, look)) if newest.text.strip() else []
        return []

    def _details(self, call: Call, diff: Diff | None, fold: Fold, pad: int) -> list[Piece]:
        shown = frozenset({"old", "new", "content"}) if diff is not None else frozenset[str]()
        pieces: list[Piece] = []
        arguments = argument_lines(call, without=shown)
        if arguments:
            pieces.append(self._arguments(arguments, pad))
        if diff is not None:
            pieces.extend(self._diff(diff, fold, pad))
        look = Look(self.theme, left=pad, right=pad)
        output: list[Piece] = []
        if call.answer is not None:
            output = result_pieces(call.answer, fold, look)
        elif call.live is not None:
            output = growing_pieces(call.live, look)
        return [*pieces, Space(self.theme.space_8), *output] if output else pieces

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
            cursor.insertText(f"{seen(name)}  ", label)
            cursor.insertText(seen(text[:HEAD_LIMIT]).replace("\n", "\u2028"), value)
        return TextPiece(Paper(self.theme), document, left=pad, right=pad, above=0)

    def _diff(self, diff: Diff, fold: Fold, pad: int) -> list[Piece]:
        if diff.too_large:
            words = say("Too large to show line by line: {0}").format(size(diff.too_large))
            return [muted_piece(self.theme, words, left=pad)]
        lines = diff.lines
        hidden = 0 if fold == "all" else max(0, len(lines) - DIFF_SHOWN)
        shown = lines[: len(lines) - hidden]
        pieces: list[Piece] = [DiffPiece(Paper(self.theme), shown, left=pad, right=pad)]
        if hidden:
            words = say("{0} more lines · open all").format(f"{hidden:,}")
            accent = Paper(self.theme, "accent")
            pieces.append(LinePiece(accent, words, kind="all", small=True, left=pad))
        return pieces


def result_pieces(answer: ToolResult, fold: Fold, look: Look) -> list[Piece]:
    """The output of a result, with its colours, and the way to all of it."""
    text = answer.result
    if not text.strip():
        return []
    spans = spans_in(answer.extra.get("colours"), len(text))
    file, whole = size_of_whole(answer)
    return head_and_tail(Printed(text, spans), fold, look, file=file, whole=whole)


def growing_pieces(output: Growing, look: Look) -> list[Piece]:
    """The same of an output that goes on; what lies between can be opened once it is over."""
    head, tail = output.head, output.tail
    tail = tail.head(len(tail.text.rstrip("\n")))
    if not output.between:
        whole = Printed(head.text + tail.text, head.spans + tail.after(head.text))
        whole = whole.head(len(whole.text.rstrip("\n")))
        return list(output_pieces(whole, look)) if whole.text.strip() else []
    words = say("{0} lines between").format(f"{output.between:,}")
    between = LinePiece(Paper(look.theme, "muted"), words, kind="text", small=True, left=look.left)
    head = head.head(len(head.text.rstrip("\n")))
    return [*output_pieces(head, look), between, *output_pieces(tail, look)]


def head_and_tail(
    output: Printed, fold: Fold, look: Look, *, file: str = "", whole: int = 0
) -> list[Piece]:
    """The first and the last lines of an output, and between them a line that opens all of it.

    `file` holds `whole` bytes where the output is only a part of them; it is opened there then.
    """
    accent = Paper(look.theme, "accent")
    output = output.head(len(output.text.rstrip("\n")))
    lines = output.text.split("\n")
    between = len(lines) - 2 * OUTPUT_LINES
    if file:
        words = say("{0} in all · open all").format(size(whole))
        way = LinePiece(accent, words, kind="open", value=file, small=True, left=look.left)
    else:
        words = say("{0} lines between · open all").format(f"{between:,}")
        way = LinePiece(accent, words, kind="all", small=True, left=look.left)
    if fold == "all" or between <= 1:
        pieces: list[Piece] = list(output_pieces(output, look))
        return [*pieces, way] if file else pieces
    head = output.head(len("\n".join(lines[:OUTPUT_LINES])))
    tail = output.tail(len("\n".join(lines[-OUTPUT_LINES:])))
    return [*output_pieces(head, look), way, *output_pieces(tail, look)]


def text_pieces(theme: Theme, entry: Json, fold: Fold, pad: int) -> list[Piece]:
    """A text that goes with a message: a line with its name, which unfolds its head and tail."""
    muted, text = Paper(theme, "muted"), str(entry.get("text", ""))
    name = seen(attachment_line(entry))
    line = LinePiece(muted, name, folded=fold == "folded", small=True, left=pad, right=pad)
    if fold == "folded":
        return [line]
    look = Look(theme, ground="user", left=pad, right=pad)
    # What is longer than a person reads in a row is not laid out in one.
    shown = text if len(text) <= TEXT_LIMIT else f"{text[:HEAD_LIMIT]}\n…"
    return [line, *head_and_tail(Printed(shown), fold, look)]


def _diff_in(call: Call) -> Diff | None:
    """What a call changes: what it did, once that is known, else what it asks for."""
    answer = call.answer
    extra: Mapping[str, object] = answer.extra if answer is not None else {}
    return diff_of(call.name, call.arguments, extra.get("diff"))


def _seen_in(words: Headline) -> Headline:
    """The same on one line: a tab would be as wide as it likes."""
    return Headline(seen(words.before), seen(words.code).replace("\t", " "), seen(words.after))


def _short(lines: Sequence[str]) -> Printed:
    return Printed("\n".join(line[:REASON_LIMIT] for line in lines))


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
