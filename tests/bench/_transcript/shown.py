"""A conversation of a real log in a real view, as the program shows it: read on a thread."""

import asyncio
import gc
import itertools
import os
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QApplication
from sqlalchemy import Engine, event

from desktop.core.records import Page
from desktop.feed.hub import Hub
from desktop.feed.scope import Scope
from desktop.store.log import Log
from desktop.ui.theme import Theme, theme_for
from desktop.ui.transcript.highlight import Highlighter
from desktop.ui.transcript.markdown.renderer import MarkdownRenderer
from desktop.ui.transcript.model import TranscriptModel
from desktop.ui.transcript.view import TranscriptView
from tests.bench._corpus import Corpus, open_log

WIDTH, HEIGHT = 900, 800
_NUMBERS = itertools.count()


def theme() -> Theme:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    return theme_for("light", app.palette())


class Counted:
    """A log's reader that counts what is read."""

    def __init__(self, log: Log) -> None:
        self._reader = log.reader
        self.rows = 0

    async def page(self, tab_id: str, **where: Any) -> Page:
        page = await self._reader.page(tab_id, **where)
        self.rows += len(page.rows)
        return page

    async def revision(self, tab_id: str) -> int:
        return await self._reader.revision(tab_id)

    async def blob_path(self, sha256: str) -> Path | None:
        return await self._reader.blob_path(sha256)


class Statements:
    """What SQLite was asked on any connection of any log."""

    count = 0


def _watch(connection: Any, _record: object) -> None:
    connection.set_trace_callback(_hear)


def _hear(statement: str) -> None:
    Statements.count += statement.lstrip().upper().startswith(("SELECT", "WITH"))


event.listen(Engine, "connect", _watch)


class Bench:
    """One log, and the tasks that read it."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.log = open_log(corpus.folder, f"bench-{os.getpid()}-{next(_NUMBERS)}")
        self.reader = Counted(self.log)
        self.hub = Hub()
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def settle(self, *, busy: Callable[[], bool] = lambda: False) -> None:
        """Until nothing is read and nothing waits for a frame."""
        while self._tasks or busy():  # noqa: ASYNC110 (frames are due, which nobody tells)
            await asyncio.sleep(0.002)
        # What was marked to be painted is painted when the loop comes around.
        await asyncio.sleep(0)

    async def close(self) -> None:
        await self.settle()
        await self.log.close()


class Shown:
    """The view of one conversation, from its opening on."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.view = TranscriptView(theme())
        self.view.set_renderer(MarkdownRenderer(Highlighter(bench.start)))
        self.view.resize(WIDTH, HEIGHT)
        self.view.show()

    async def open(self) -> None:
        """Until the tail is painted."""
        loop = asyncio.get_running_loop()
        bench = self.bench
        self.scope = Scope(
            bench.corpus.tab, bench.reader, bench.hub, start=bench.start, later=loop.call_later
        )
        self.scope.open()
        self.model = TranscriptModel(self.scope)
        self.view.show_model(self.model)
        await self.painted(lambda: self.scope.loaded)

    async def painted(self, ready: Callable[[], bool]) -> None:
        """Until the screen was painted when this was so."""
        shown = asyncio.Event()
        connection = self.view.painted_rows.connect(lambda: ready() and shown.set())
        await shown.wait()
        self.view.painted_rows.disconnect(connection)

    async def settle(self) -> None:
        """Until nothing more comes, and what is new is painted."""
        await self.bench.settle(busy=lambda: self.view.frame_due or self.model.frame_due)

    def close(self) -> None:
        self.view.show_model(None)
        self.model.detach()
        self.scope.close()
        self.view.close()
        self.view.deleteLater()

    def top(self) -> tuple[str, int]:
        """The row at the top of the screen, and where it stands."""
        first = self.view.layout_now.placed[0]
        return self.model.row(first.row).id, first.y

    def y_of(self, id_: str) -> int | None:
        placed = self.view.layout_now.placed
        return next((one.y for one in placed if self.model.row(one.row).id == id_), None)


async def swept() -> None:
    """What went before is gone: its widgets, its documents and its garbage."""
    await asyncio.sleep(0.002)
    gc.collect()


class Spent:
    """Processor time of the whole process (all its threads) while it is entered, in ms."""

    def __enter__(self) -> "Spent":
        self._began, self._wall = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *exc: object) -> None:
        self.ms = (time.process_time() - self._began) * 1_000
        self.wall_ms = (time.perf_counter() - self._wall) * 1_000
