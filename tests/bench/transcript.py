"""What the transcript costs, as ratios of two sizes measured in the same run.

The tail of a long log over that of a short one, a delta of a long answer over one of a short
answer, and counts that do not depend on the machine.
"""

import asyncio
import itertools
import os
import time
from collections.abc import Callable, Coroutine
from statistics import median
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication

from desktop.core.chunks import NewChunk, Text
from desktop.core.groups import OpenRow, relations
from desktop.core.reducer import OpenBlock, Opened
from desktop.core.status import TabStatus
from desktop.feed.hub import Hub
from desktop.feed.scope import Scope
from desktop.ui.theme import Theme, theme_for
from desktop.ui.transcript.box import Box
from desktop.ui.transcript.boxes import Maker
from desktop.ui.transcript.highlight import Highlighter
from desktop.ui.transcript.markdown.grammar import Grammar
from desktop.ui.transcript.markdown.renderer import MarkdownRenderer
from desktop.ui.transcript.markdown.writer import MarkdownWriter
from desktop.ui.transcript.model import TranscriptModel
from desktop.ui.transcript.phrases import Context
from desktop.ui.transcript.pieces import Paper
from desktop.ui.transcript.view import TranscriptView
from tests.bench import Figure
from tests.fakes.stores import MemoryLog

ROUNDS = 7
BLOCK = "A paragraph with **bold** words and `code`.\n\n- one\n- two\n\n```python\nx = 1\n```\n\n"
DELTA = "twelve chars"
FENCE = "```python\n"
CODE = "    line = call(one, two)  # some words\n"
HEAD = "| a column | another | a third |\n|---|---|---|\n"
ROW = "| some words | **bold** ones | `code` |\n"
COLUMN, SCREEN = 760, 800
DELTAS = 120


def figures() -> list[Figure]:
    existing = QApplication.instance()
    app = existing if isinstance(existing, QApplication) else QApplication([])
    theme = theme_for("light", app.palette())
    short, _, _ = tail(theme, 100)
    long, built, seen = tail(theme, 100_000)
    return [
        Figure("transcript.tail_100k_vs_100", long / short, "x", 1.5),
        Figure("transcript.documents_over_rows_seen", built - seen, "documents", 2),
        Figure("transcript.delta_400kb_vs_4kb", ratio(theme, BLOCK, painted=False), "x", 1.5),
        Figure("transcript.painted_delta_400kb_vs_4kb", ratio(theme, BLOCK), "x", 1.5),
        Figure("transcript.code_delta_400kb_vs_4kb", ratio(theme, CODE, begin=FENCE), "x", 1.5),
        Figure(
            "transcript.table_delta_12kb_vs_1kb",
            ratio(theme, ROW, begin=HEAD, sizes=(12_000, 1_000)),
            "x",
            1.5,
        ),
        Figure(
            "transcript.blocks_80kb_vs_40kb",
            blocks(theme, 80_000) / blocks(theme, 40_000),
            "x",
            2.1,
        ),
    ]


def ratio(
    theme: Theme,
    part: str,
    *,
    begin: str = "Begin.\n\n",
    painted: bool = True,
    sizes: tuple[int, int] = (400_000, 4_000),
) -> float:
    """A delta of a long answer over one of a short answer. Both grow in turns, so that what else
    the machine does meets both alike."""
    long, short = Answer(theme, begin), Answer(theme, begin)
    long.grow_to(sizes[0], part)
    short.grow_to(sizes[1], part)
    times = [(long.delta(painted=painted), short.delta(painted=painted)) for _ in range(DELTAS)]
    return median(one for one, _ in times) / median(one for _, one in times)


def tail(theme: Theme, rows: int) -> tuple[float, int, int]:
    """Median seconds from opening to the painted tail; documents built; rows on the screen."""
    return asyncio.run(_tail(theme, rows))


async def _tail(theme: Theme, rows: int) -> tuple[float, int, int]:
    ids = itertools.count()
    log = MemoryLog(now_ms=lambda: 0, new_id=lambda: f"id{next(ids)}")
    workspace = await log.catalogue.scratch_workspace()
    tab = (await log.catalogue.create_tab(workspace.id)).id
    await log.session(tab).append(
        [NewChunk(f"n{number}", "t", "assistant", Text(BLOCK)) for number in range(rows)]
    )
    times: list[float] = []
    built = seen = 0
    for _ in range(ROUNDS):
        tasks: list[asyncio.Task[Any]] = []
        start = _starter(tasks)
        view = TranscriptView(theme)
        view.set_renderer(MarkdownRenderer(Highlighter(lambda work, name: work.close())))
        view.resize(900, 800)
        began = time.perf_counter()
        loop = asyncio.get_running_loop()
        scope = Scope(tab, log.reader, Hub(), start=start, later=loop.call_later)
        scope.open()
        await asyncio.gather(*tasks)
        model = TranscriptModel(scope)
        view.show_model(model)
        view.grab()
        times.append(time.perf_counter() - began)
        built, seen = (
            view.documents_built,
            sum(
                len(box.pieces)
                for one in view.layout_now.placed
                if (box := view.box_of(model.row(one.row).id)) is not None
            ),
        )
        view.show_model(None)
        model.detach()
        scope.close()
    return median(times), built, seen


def _starter(
    tasks: list[asyncio.Task[Any]],
) -> Callable[[Coroutine[Any, Any, None], str], object]:
    def start(work: Coroutine[Any, Any, None], name: str) -> None:
        tasks.append(asyncio.get_running_loop().create_task(work, name=name))

    return start


class Answer:
    """An answer that streams, from the open row to the painted end of its box."""

    def __init__(self, theme: Theme, begin: str) -> None:
        renderer = MarkdownRenderer(Highlighter(lambda work, name: work.close()))
        self._theme = theme
        self._maker = Maker(theme, renderer, lambda: None)
        self._block = OpenBlock(Opened("b", "t", 0, "assistant", "text"), [begin])
        self._row = OpenRow(self._block)
        context = Context(relations([self._row]), TabStatus("tab"))
        self._box = self._maker.make(self._row, context, "open")
        self._screen = QImage(COLUMN, SCREEN, QImage.Format.Format_RGB32)

    def grow_to(self, size: int, part: str) -> None:
        while len(self._block.text) < size:
            self._block.parts.append(part)
            self._maker.grow(self._box, self._row)
        self.delta(painted=True)

    def delta(self, *, painted: bool) -> float:
        """Seconds of one more delta."""
        self._block.parts.append(DELTA)
        began = time.perf_counter()
        self._maker.grow(self._box, self._row)
        self._box.lay_out(COLUMN)
        if painted:
            _paint_end(self._box, self._screen, self._theme)
        return time.perf_counter() - began


def _paint_end(box: Box, screen: QImage, theme: Theme) -> None:
    top = box.height - SCREEN
    painter = QPainter(screen)
    painter.translate(0, -top)
    box.paint(painter, QRectF(0, top, COLUMN, SCREEN), theme, None)
    painter.end()


def blocks(theme: Theme, size: int) -> int:
    """How many blocks were made while an answer of this size streamed in parts of 64 letters."""
    writer = MarkdownWriter(Paper(theme), Grammar())
    text = BLOCK * (size // len(BLOCK))
    for end in range(64, len(text), 64):
        writer.write(text[:end], finished=False)
    return writer.renders
