"""A conversation in a view, for tests: the real log double, hub, scope, model and view."""

import asyncio
import itertools
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import qasync
from PySide6.QtCore import QModelIndex
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop.core.chunks import NewChunk, Payload, Role, System, Text, ToolResult
from desktop.core.groups import OpenRow
from desktop.core.records import Receipt, ViewState
from desktop.core.reducer import Grew, Opened
from desktop.feed.hub import Hub
from desktop.feed.scope import Scope
from desktop.feed.window import Limits
from desktop.ui.theme import Theme, theme_for
from desktop.ui.transcript.highlight import Highlighter
from desktop.ui.transcript.markdown.renderer import MarkdownRenderer
from desktop.ui.transcript.model import TranscriptModel
from desktop.ui.transcript.view import TranscriptView
from tests.fakes.stores import MemoryLog
from tests.ui.conftest import until

NEVER = 3_600.0


class Desk:
    """Holds everything; `close` ends it. The check of the feed does not run by itself."""

    def __init__(self, loop: qasync.QEventLoop, qtbot: QtBot, *, limit: int = 256) -> None:
        self.loop = loop
        self.qtbot = qtbot
        ids = itertools.count()
        clock = itertools.count(1_700_000_000_000, 1_500)
        self.log = MemoryLog(now_ms=lambda: next(clock), new_id=lambda: f"id{next(ids)}")
        self.hub = Hub()
        self.limits = Limits(limit)
        self.tasks: set[asyncio.Task[Any]] = set()
        self._numbers = itertools.count(1)
        self.tab = self.run(self.another_tab())
        self.view: TranscriptView | None = None

    async def another_tab(self) -> str:
        workspace = await self.log.catalogue.scratch_workspace()
        return (await self.log.catalogue.create_tab(workspace.id)).id

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(work)

    def start(self, coroutine: Coroutine[Any, Any, None], name: str) -> asyncio.Task[Any]:
        task = self.loop.create_task(coroutine, name=name)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    def later(self, seconds: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        return self.loop.call_later(NEVER, call)

    def say(
        self, *payloads: Payload | str, publish: bool = True, turn: str = "t1", tab: str = ""
    ) -> Receipt:
        """Appends rows; texts are answers."""
        chunks = [self.chunk(payload, turn=turn) for payload in payloads]
        return self.write(chunks, publish, tab=tab)

    def write(self, chunks: Sequence[NewChunk], publish: bool = True, *, tab: str = "") -> Receipt:
        receipt = self.run(self.log.session(tab or self.tab).append(chunks))
        if publish:
            self.hub.receipt(receipt)
        return receipt

    def chunk(
        self, payload: Payload | str, *, id_: str = "", role: Role | None = None, turn: str = "t1"
    ) -> NewChunk:
        data = Text(payload) if isinstance(payload, str) else payload
        if role is None:
            role = "assistant"
            if isinstance(data, System):
                role = "system"
            if isinstance(data, ToolResult):
                role = "tool"
        return NewChunk(id_ or f"n{next(self._numbers)}", turn, role, data)

    def open_block(self, id_: str, type_: Any = "text", call_id: str = "") -> None:
        self.hub.live(self.tab, Opened(id_, "t1", 0, "assistant", type_, "shell", call_id))

    def grow(self, id_: str, text: str) -> None:
        self.hub.live(self.tab, Grew(id_, text))

    def show(
        self,
        *,
        width: int = 800,
        height: int = 600,
        markdown: bool = True,
        state: ViewState | None = None,
    ) -> TranscriptView:
        """Opens the scope and shows the view, settled."""
        self.scope = Scope(
            self.tab,
            self.log.reader,
            self.hub,
            start=self.start,
            later=self.later,
            limits=self.limits,
        )
        self.scope.open()
        self.model = TranscriptModel(self.scope)
        view = TranscriptView(self.theme())
        self.qtbot.addWidget(view)
        view.resize(width, height)
        if markdown:
            view.set_renderer(MarkdownRenderer(Highlighter(self.start)))
        view.show_model(self.model, state)
        view.show()
        self.view = view
        self.settle()
        return view

    def theme(self) -> Theme:
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        return theme_for("light", app.palette())

    def settle(self) -> None:
        """Until nothing is read and no frame is due."""

        async def quiet() -> None:
            for _ in range(2):
                await until(lambda: not self.tasks and not self._busy())
                await asyncio.sleep(0.004)

        self.run(quiet())

    def _busy(self) -> bool:
        return self.model.frame_due or (self.view is not None and self.view.frame_due)

    def seq_at(self, at: int) -> int:
        """The seq of the sealed row at this place of the model."""
        row = self.model.row(at)
        assert not isinstance(row, OpenRow)
        return row.seq

    def changes(self) -> list[int]:
        """The rows that the model announces as changed, from now on."""
        heard: list[int] = []

        def hear(top: QModelIndex, bottom: QModelIndex) -> None:
            heard.extend(range(top.row(), bottom.row() + 1))

        self.model.dataChanged.connect(hear)
        return heard

    def close(self) -> None:
        if self.view is not None:
            self.view.show_model(None)
            self.view.close()
            self.model.detach()
            self.scope.close()
        self.settle()


def texts(count: int, *, start: int = 1) -> list[str]:
    """Rows of very unlike heights."""
    return [
        f"Row {number}.\n\n" + "A line of text. " * (number * 37 % 90)
        for number in range(start, start + count)
    ]
