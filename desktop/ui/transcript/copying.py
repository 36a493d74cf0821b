"""What is copied of the marked rows: as it is seen, or as Markdown.

A few rows that are loaded are copied at once. Others are read from the log page by page and drawn
in short slices, so that the window goes on whatever was marked; no more is kept of them than is
copied.
"""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtGui import QClipboard, QGuiApplication

from desktop.core.chunks import LogChunk, Text, Thinking, ToolResult
from desktop.core.errors import NacreError
from desktop.core.groups import OpenRow, Relations, Row, relations, takes_space
from desktop.core.protocols import LogReader
from desktop.ui.transcript.acts import is_answer
from desktop.ui.transcript.as_markdown import markdown_part
from desktop.ui.transcript.box import Box, Spot
from desktop.ui.transcript.page import Page
from desktop.ui.transcript.phrases import Context, plain_text
from desktop.ui.transcript.saying import say
from desktop.ui.transcript.selection import Stretch

AT_ONCE = 32  # rows
PAGE = 256
MOST_LETTERS = 32_000_000
# Of what is only offered, each time that something is marked.
MOST_OFFERED = 1_000_000
_SLICE = 0.006  # seconds
_PAUSE = 0.001

Form = Literal["plain", "markdown"]
Target = Literal["clipboard", "primary"]


class TooMuchToCopy(NacreError):
    """More is marked than a clipboard should hold."""


@dataclass(frozen=True, slots=True)
class Copying:
    """One wish to copy, with what was marked when it was made."""

    page: Page
    stretch: Stretch
    form: Form
    target: Target = "clipboard"

    @property
    def at_hand(self) -> bool:
        """Whether it can be copied at once."""
        return self._loaded is not None

    @property
    def text(self) -> str:
        """The marked text; empty where not all of it is at hand."""
        rows = self._loaded or ()
        return "".join(_joined(self._parts(rows, relations(rows))))

    @property
    def _loaded(self) -> Sequence[Row] | None:
        rows, stretch = self.page.rows, self.stretch
        first, last = rows.place_of_seq(stretch.first_seq), rows.rowCount() - 1
        if first is None:
            first = rows.place(stretch.first.id)
        if first is None or rows.seq_of(first) != stretch.first_seq:
            return None
        stop = first + stretch.last_seq - stretch.first_seq
        return rows.rows()[first : stop + 1] if stop <= min(last, first + AT_ONCE - 1) else None

    async def read(self, reader: LogReader) -> str:
        """The marked text, whatever of it is loaded.

        Raises StoreError, or TooMuchToCopy above MOST_LETTERS (MOST_OFFERED to a middle click).
        """
        if self.at_hand:
            return self.text
        rows = await self._read_rows(reader)
        known = await asyncio.to_thread(relations, rows)
        said: list[str] = []
        begun = time.monotonic()
        for part in _joined(self._parts(rows, known)):
            said.append(part)
            if time.monotonic() - begun > _SLICE:
                await asyncio.sleep(_PAUSE)
                begun = time.monotonic()
        return "".join(said)

    async def _read_rows(self, reader: LogReader) -> Sequence[Row]:
        stretch, rows = self.stretch, self.page.rows
        found: list[Row] = []
        after, letters = stretch.first_seq - 1, 0
        streaming = [row for row in rows.rows() if isinstance(row, OpenRow)]
        while after < stretch.last_seq:
            page = await reader.page(rows.scope.tab_id, limit=PAGE, after=after)
            found.extend(row for row in page.rows if row.seq <= stretch.last_seq)
            letters += sum(_letters(row) for row in page.rows)
            if letters > (MOST_LETTERS if self.target == "clipboard" else MOST_OFFERED):
                raise TooMuchToCopy(say("Too much is marked to be copied at once."))
            if not page.rows or not page.has_newer:
                break
            after = page.rows[-1].seq
        held = {row.id for row in found}
        room = stretch.last_seq - stretch.first_seq + 1 - len(found)
        return [*found, *[row for row in streaming if row.id not in held][: max(0, room)]]

    def _parts(self, rows: Sequence[Row], known: Relations) -> Iterator[str]:
        context = Context(known, self.page.rows.context().status)
        for seq, row in enumerate(rows, self.stretch.first_seq):
            part = self.stretch.part_of(seq)
            if part is None or not takes_space(row, context.relations):
                continue
            if self.stretch.whole:
                yield plain_text(row, context)
            else:
                yield _words(row, context, self._box(context), part, self.form)

    def _box(self, context: Context) -> Callable[[Row], Box]:
        shelf = self.page.shelf
        return lambda row: shelf.kept(row.id) or shelf.apart(row, context)


def marked_at_hand(page: Page, form: Form = "plain") -> str:
    """What is marked, where all of it is at hand; else nothing."""
    stretch = page.marking.stretch
    return Copying(page, stretch, form).text if stretch is not None else ""


def put(text: str, target: Target) -> None:
    """Onto the clipboard, or where a middle click takes it from."""
    if not text:
        return
    modes = QClipboard.Mode
    mode = modes.Clipboard if target == "clipboard" else modes.Selection
    QGuiApplication.clipboard().setText(text, mode)


def _joined(parts: Iterator[str]) -> Iterator[str]:
    """With an empty line between rows."""
    begun = False
    for part in parts:
        if part:
            yield f"\n\n{part}" if begun else part
            begun = True


def _words(
    row: Row,
    context: Context,
    box_of: Callable[[Row], Box],
    part: tuple[Spot | None, Spot | None],
    form: Form,
) -> str:
    """What of a row is marked. A row that is no answer is said whole as its own words say it."""
    begin, stop = part
    if begin is None and stop is None and (form == "markdown" or not is_answer(row)):
        return plain_text(row, context)
    box = box_of(row)
    first, last = begin or (0, 0), box.end if stop is None else stop
    if first <= (0, 0) and last >= box.end and (form == "markdown" or not is_answer(row)):
        return plain_text(row, context)
    text = box.text_between(first, last)
    if form == "plain" or not is_answer(row):
        return text
    before, after = box.text_between((0, 0), first), box.text_between(last, box.end)
    if last[0] < box.end[0] and last >= (last[0], box.length_of(last[0])):
        after = f"\n{after}"
    if before and first[1] == 0:
        before = f"{before}\n"
    return markdown_part(plain_text(row, context), before, text, after)


def _letters(row: Row) -> int:
    match row:
        case LogChunk(data=Text(text=text) | Thinking(text=text) | ToolResult(result=text)):
            return len(text)
        case _:
            return 0
