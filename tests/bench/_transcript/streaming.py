"""While answers stream: how long the window is held up, and what a key costs.

A gap is the processor time of the window's thread between two beats of a timer, which is what one
would wait on a machine with nothing else to do; `wall` gaps are on the clock, with all its noise.
"""

import asyncio
import itertools
import time
from collections.abc import Mapping
from statistics import median, quantiles

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop.core.chunks import Type
from desktop.core.reducer import Dropped, Grew, Opened
from desktop.feed.scope import Scope
from desktop.ui.composer import Composer
from desktop.ui.transcript.model import TranscriptModel
from tests.bench import Figure
from tests.bench._corpus import Corpus
from tests.bench._transcript.shown import Bench, Shown, theme
from tests.bench.drivers.heart import Heart

SECONDS = 4.0
KEYS = 120
LETTERS = 12  # in a delta
_TABLE = "| a name | 12 | some words |\n"
# What stands there already, and what comes.
CONTENTS = {
    "prose": ("A paragraph, **bold** words.\n\n- one\n- two\n\n" * 500, "some words, and more. "),
    "table": ("| a | b | c |\n|---|---|---|\n" + _TABLE * 30, _TABLE),
    "code": ("```python\n" + "line = call(one, two)  # words\n" * 2_900, "x = call(one, 2)\n"),
}


class Stream:
    """Grows an open block of a conversation at a rate, however late its timer is."""

    def __init__(self, bench: Bench, tab: str, id_: str, rate: int, text: str) -> None:
        self._bench, self._tab, self._id = bench, tab, id_
        letters = itertools.cycle(text)
        self._parts = ("".join(itertools.islice(letters, LETTERS)) for _ in itertools.count())
        self._rate = rate
        self._sent = 0
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(max(1, 1_000 // rate))
        self._timer.timeout.connect(self._send)

    def begin(self, text: str, type_: Type = "text") -> None:
        hub = self._bench.hub
        hub.live(self._tab, Opened(self._id, "t", 0, "assistant", type_))
        for start in range(0, len(text), 4_096):
            hub.live(self._tab, Grew(self._id, text[start : start + 4_096]))

    def run(self) -> None:
        self._began = time.monotonic()
        self._timer.start()

    def end(self) -> None:
        self._timer.stop()
        self._bench.hub.live(self._tab, Dropped(self._id))

    def _send(self) -> None:
        due = int((time.monotonic() - self._began) * self._rate)
        for _ in range(min(due - self._sent, self._rate // 10)):
            self._bench.hub.live(self._tab, Grew(self._id, next(self._parts)))
        self._sent = due


async def gaps(corpora: Mapping[int, Corpus]) -> list[Figure]:
    """At 200 and 500 deltas a second, into prose, a table and a block of 3,000 lines."""
    figures: list[Figure] = []
    bench = Bench(corpora[100_000])
    for (name, (text, more)), rate in itertools.product(CONTENTS.items(), (200, 500)):
        shown = Shown(bench)
        await shown.open()
        await shown.settle()
        stream = Stream(bench, bench.corpus.tab, f"{name}{rate}", rate, more)
        stream.begin(text)
        await shown.settle()
        updates: list[int] = []
        shown.model.dataChanged.connect(lambda *_, updates=updates: updates.append(1))
        stream.run()
        await asyncio.sleep(0.3)
        heart = Heart()
        heart.start()
        updates.clear()
        await asyncio.sleep(SECONDS)
        heart.stop()
        assert shown.view.following and shown.view.layout_now.at_end
        figures += _of_gaps(f"gap_{name}_{rate}", heart)
        figures.append(Figure(f"updates_{name}_{rate}", len(updates) / SECONDS, "a second", 62))
        stream.end()
        await shown.settle()
        shown.close()
    await bench.close()
    return figures


def _of_gaps(name: str, heart: Heart) -> list[Figure]:
    p99, wall_p99 = (_p99(found) for found in (heart.cpu, heart.wall))
    return [
        Figure(f"{name}_p50", median(heart.cpu), "ms", 8),
        Figure(f"{name}_p99", p99, "ms", 16),
        Figure(f"{name}_max", max(heart.cpu), "ms", 33),
        Figure(f"{name}_wall_p50", median(heart.wall), "ms", 8),
        Figure(f"{name}_wall_p99", wall_p99, "ms", 16),
        Figure(f"{name}_wall_max", max(heart.wall), "ms", 33),
    ]


def _p99(found: list[float]) -> float:
    return quantiles(found, n=100, method="inclusive")[-1]


class Paints(QObject):
    """Notes when a widget is painted."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.count = 0
        self.at = (0.0, 0.0)
        self.next = asyncio.Event()
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        del watched
        if event.type() == QEvent.Type.Paint:
            self.count += 1
            self.at = time.thread_time(), time.perf_counter()
            self.next.set()
        return False


async def unseen(corpora: Mapping[int, Corpus]) -> list[Figure]:
    """An answer streams far below what is read: nothing is made, nothing is painted."""
    bench = Bench(corpora[100_000])
    shown = Shown(bench)
    await shown.open()
    stream = Stream(bench, bench.corpus.tab, "below", 500, CONTENTS["prose"][1])
    stream.begin(CONTENTS["prose"][0])
    await shown.settle()
    shown.view.jump((shown.scope.window.last_seq or 0) - 100)
    await shown.settle()
    documents, paints = shown.view.documents_built, Paints(shown.view.viewport())
    stream.run()
    await asyncio.sleep(1.5)
    built, painted = shown.view.documents_built - documents, paints.count
    stream.end()
    await shown.settle()
    shown.close()
    await bench.close()
    return [
        Figure("unseen_stream_documents", built, "documents", 0),
        Figure("unseen_stream_paints", painted, "paints", 0),
    ]


async def keys(corpora: Mapping[int, Corpus]) -> list[Figure]:
    """From a key to its letter on the screen, while three conversations stream."""
    bench = Bench(corpora[100_000])
    window = QWidget()
    shown = Shown(bench)
    composer = Composer(theme())
    column = QVBoxLayout(window)
    column.addWidget(shown.view)
    column.addWidget(composer)
    window.resize(900, 900)
    window.show()
    await shown.open()
    tabs = [bench.corpus.tab, *[await _other_tab(bench) for _ in range(2)]]
    hidden = [_subscribed(bench, tab) for tab in tabs[1:]]
    streams = [Stream(bench, tab, f"s{n}", 200, "some words. ") for n, tab in enumerate(tabs)]
    await shown.settle()
    for stream in streams:
        stream.begin(CONTENTS["prose"][0])
        stream.run()
    paints = Paints(composer.field.viewport())
    cpu: list[float] = []
    wall: list[float] = []
    for _ in range(KEYS):
        await asyncio.sleep(0.02)
        paints.next.clear()
        begun = time.thread_time(), time.perf_counter()
        key = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_A, Qt.KeyboardModifier.NoModifier, "a")
        QCoreApplication.postEvent(composer.field, key)
        await paints.next.wait()
        cpu.append((paints.at[0] - begun[0]) * 1_000)
        wall.append((paints.at[1] - begun[1]) * 1_000)
    for stream in streams:
        stream.end()
    await shown.settle()
    for scope, model in hidden:
        model.detach()
        scope.close()
    shown.close()
    window.close()
    await bench.close()
    return [
        Figure("key_to_paint_p95", quantiles(cpu, n=20)[-1], "ms", 8),
        Figure("key_to_paint_wall_p50", median(wall), "ms", 8),
        Figure("key_to_paint_wall_p95", quantiles(wall, n=20)[-1], "ms", 8),
    ]


async def _other_tab(bench: Bench) -> str:
    workspace = await bench.log.catalogue.open_workspace(bench.corpus.folder)
    return (await bench.log.catalogue.create_tab(workspace.id)).id


def _subscribed(bench: Bench, tab: str) -> tuple[Scope, TranscriptModel]:
    later = asyncio.get_running_loop().call_later
    scope = Scope(tab, bench.reader, bench.hub, start=bench.start, later=later)
    scope.open()
    return scope, TranscriptModel(scope)
