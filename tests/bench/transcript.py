"""What the transcript costs, on real logs of 10², 10⁵ and 10⁶ rows of every kind.

Times are processor time of the process that shows the view (so that a busy machine weighs little),
compared in the same run with a smaller log, a shorter answer, or a plain QListView with a delegate
on the same rows; the rest are counts. Each part runs in a process of its own, offscreen and, where
there is an Xvfb, on a real X server. `wall` figures are on the clock.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from statistics import median

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication

from desktop.core.groups import OpenRow, relations
from desktop.core.reducer import OpenBlock, Opened
from desktop.core.status import TabStatus
from desktop.ui.theme import Theme, theme_for
from desktop.ui.transcript.box import Box
from desktop.ui.transcript.boxes import Maker
from desktop.ui.transcript.highlight import Highlighter
from desktop.ui.transcript.markdown.grammar import Grammar
from desktop.ui.transcript.markdown.renderer import MarkdownRenderer
from desktop.ui.transcript.markdown.writer import MarkdownWriter
from desktop.ui.transcript.phrases import Context
from desktop.ui.transcript.pieces import Paper
from tests import private_session
from tests.bench import Figure
from tests.bench._mixed import mixed

ROWS = (100, 100_000, 1_000_000)
PARTS = ("tails", "pages", "jumps", "memory", "anchor", "bar", "idle", "gaps", "unseen", "keys")
TIMEOUT = 300.0  # seconds for one part
BLOCK = "A paragraph with **bold** words and `code`.\n\n- one\n- two\n\n```python\nx = 1\n```\n\n"
DELTA = "twelve chars"
FENCE = "```python\n"
CODE = "    line = call(one, two)  # some words\n"
HEAD = "| a column | another | a third |\n|---|---|---|\n"
ROW = "| some words | **bold** ones | `code` |\n"
COLUMN, SCREEN = 760, 800
DELTAS = 120


def figures() -> Iterator[Figure]:
    yield from growing()
    yield from on_platform("offscreen", {"QT_QPA_PLATFORM": "offscreen"})
    try:
        with private_session.x_server() as display:
            yield from on_platform("x", {"QT_QPA_PLATFORM": "xcb", "DISPLAY": display})
    except private_session.NotAvailable as reason:
        print(f"not on an X server: {reason}", file=sys.stderr)


def on_platform(name: str, environment: dict[str, str]) -> Iterator[Figure]:
    """Every part, in a process that shows real windows there."""
    corpora = [f"{rows}={mixed(rows).folder}:{mixed(rows).tab}" for rows in ROWS]
    for part in PARTS:
        done = subprocess.run(
            [sys.executable, "-m", "tests.bench.drivers.transcript_view", part, *corpora],
            env={**os.environ, **environment},
            capture_output=True,
            encoding="utf-8",
            timeout=TIMEOUT,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{part} ended with {done.returncode}:\n{done.stderr}")
        for line in done.stdout.splitlines():
            figure = Figure(**json.loads(line))
            yield replace(figure, id=f"transcript.{name}.{figure.id}")


def growing() -> Iterator[Figure]:
    """What one more delta costs, by how long the answer is already."""
    existing = QApplication.instance()
    app = existing if isinstance(existing, QApplication) else QApplication([])
    theme = theme_for("light", app.palette())
    # As in a program that has run for a while: until something larger was freed, glibc maps each
    # text anew that is larger than the one before.
    larger = bytearray(8_000_000)
    del larger
    yield Figure("transcript.delta_400kb_vs_4kb", ratio(theme, BLOCK, painted=False), "x", 1.5)
    yield Figure("transcript.painted_delta_400kb_vs_4kb", ratio(theme, BLOCK), "x", 1.5)
    yield Figure("transcript.code_delta_400kb_vs_4kb", ratio(theme, CODE, begin=FENCE), "x", 1.5)
    table = ratio(theme, ROW, begin=HEAD, sizes=(12_000, 1_000))
    yield Figure("transcript.table_delta_12kb_vs_1kb", table, "x", 1.5)
    remade = blocks(theme, 80_000) / blocks(theme, 40_000)
    yield Figure("transcript.blocks_80kb_vs_40kb", remade, "x", 2.1)


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
        began = time.thread_time()
        self._maker.grow(self._box, self._row)
        self._box.lay_out(COLUMN)
        if painted:
            _paint_end(self._box, self._screen, self._theme)
        return time.thread_time() - began


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
