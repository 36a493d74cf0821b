"""What must not change: memory while one pages, the place while all else moves, and idle time."""

import asyncio
import gc
import itertools
import os
import random
import tempfile
from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication

from desktop.core.chunks import NewChunk, Text
from desktop.core.records import Fold
from tests.bench import Figure
from tests.bench._corpus import Corpus, until_the_end
from tests.bench._transcript.shown import Bench, Shown

PAGED = 20_000
SAMPLED = 20  # pages from one look at the memory to the next
MOVES = 1_000
STEPS = 300
IDLE_SECONDS = 2.0
_MEGABYTE = 1 << 20
_FOLDS: tuple[Fold, ...] = ("folded", "open", "all")


async def memory(corpora: Mapping[int, Corpus]) -> list[Figure]:
    """Pages up through PAGED rows, each page painted."""
    bench = Bench(corpora[100_000])
    await _fill_cache(bench)
    shown = Shown(bench)
    await shown.open()
    await shown.settle()
    start = _resident()
    sizes: list[float] = []
    rows = documents = 0
    last = shown.scope.window.first_seq or 0
    for number in itertools.count():
        first = shown.scope.window.first_seq or 0
        if last - first >= PAGED:
            break
        shown.view.jump(first)
        await shown.settle()
        rows = max(rows, shown.model.rowCount())
        documents = max(documents, shown.view.documents_alive)
        if number % SAMPLED == 0:
            sizes.append(_resident())
    sizes.append(_resident())
    half = sizes[len(sizes) // 2]
    shown.close()
    await bench.close()
    return [
        Figure("memory_over_tail", sizes[-1] - start, "MB", 10),
        Figure("memory_second_half", sizes[-1] - half, "MB", 2),
        Figure("rows_alive", rows, "rows", 257),
        Figure("documents_alive", documents, "documents", 64),
    ]


async def _fill_cache(bench: Bench) -> None:
    """The database keeps pages of its own, up to a bound: they are no growth of the view."""
    for before in range(256, 50_000, 256):
        await bench.reader.page(bench.corpus.tab, limit=256, before=before)


def _resident() -> float:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / _MEGABYTE


async def anchor(corpora: Mapping[int, Corpus]) -> list[Figure]:
    """Loads, evictions, folds and what others write, in any order: how far what is read moved."""
    # This one writes: a copy of its own.
    folder = until_the_end(Path(tempfile.mkdtemp(prefix="nacre-bench-anchor-")))
    bench = Bench(corpora[100_000].copy(folder / "data"))
    shown = Shown(bench)
    await shown.open()
    shown.view.jump(50_000)
    await shown.settle()
    session = bench.log.session(bench.corpus.tab)
    dice, numbers = random.Random(9), itertools.count()
    worst = lost = 0
    for _ in range(MOVES):
        id_, y = shown.top()
        kind = dice.randrange(8)
        match kind:
            case 0:
                shown.scope.fetch_older()
            case 1:
                shown.scope.fetch_newer()
            case 2 if dice.random() < 0.2:
                new = NewChunk(f"new{next(numbers)}", "t", "assistant", Text("words"))
                bench.hub.receipt(await session.append([new]))
            case _:
                _fold_one(shown, dice, id_ if y < 0 else "")
        await shown.settle()
        now = shown.y_of(id_)
        lost += now is None
        worst = max(worst, abs((now if now is not None else y) - y))
        shown.view.scroll_by(dice.choice([-700, -90, -1, 1, 60, 650]))
        await shown.settle()
    shown.close()
    await bench.close()
    return [
        Figure("anchor_movement", worst, "px", 0),
        Figure("anchor_lost", lost, "times", 0),
    ]


def _fold_one(shown: Shown, dice: random.Random, never: str) -> None:
    rows = shown.model.rows()
    row = rows[dice.randrange(len(rows))]
    if row.id != never:
        shown.view.set_fold(row.id, dice.choice(_FOLDS))


async def bar(corpora: Mapping[int, Corpus]) -> list[Figure]:
    """Steps up through unlike rows, pages loading meanwhile: how often the bar went down."""
    bench = Bench(corpora[100_000])
    shown = Shown(bench)
    await shown.open()
    values: list[int] = []
    for _ in range(STEPS):
        shown.view.scroll_by(-150)
        await shown.settle()
        values.append(shown.view.verticalScrollBar().value())
    shown.close()
    await bench.close()
    back = sum(later > before for before, later in itertools.pairwise(values))
    return [Figure("bar_steps_back", back, "steps", 0)]


class _Events(QObject):
    """Counts what happens in the program."""

    def __init__(self) -> None:
        super().__init__()
        self.paints = self.timers = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        del watched
        self.paints += event.type() == QEvent.Type.Paint
        self.timers += event.type() == QEvent.Type.Timer
        return False


async def idle(corpora: Mapping[int, Corpus]) -> list[Figure]:
    """What is painted while nothing changes."""
    bench = Bench(corpora[100_000])
    shown = Shown(bench)
    await shown.open()
    await shown.settle()
    await asyncio.sleep(1.0)
    app = QApplication.instance()
    assert app is not None
    events = _Events()
    app.installEventFilter(events)
    await asyncio.sleep(IDLE_SECONDS)
    app.removeEventFilter(events)
    shown.close()
    await bench.close()
    return [Figure("idle_paints", events.paints, "paints", 0)]
