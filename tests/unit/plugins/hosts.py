"""A log, the host, and a real plugin process whose every word is a test's."""

import asyncio
import json
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from desktop.core.chunks import NewChunk
from desktop.core.errors import NacreError
from desktop.core.panels import Place
from desktop.feed.cursors import Cursors
from desktop.feed.hub import Hub
from desktop.feed.source import Door
from desktop.feed.subscriptions import Subscriptions
from desktop.plugins.bindings import Bindings
from desktop.plugins.host import Plugin, Surroundings
from desktop.plugins.manifest import READ_MESSAGES, Manifest
from desktop.plugins.methods import Doors
from desktop.store.log import Log
from desktop.tools.launching import Launch
from tests.unit.feed.times import Time
from tests.unit.store.builders import new_tab, open_log

PLAIN = Path(__file__).parents[2] / "fakes" / "plain_plugin.py"
SECONDS = 30.0
GRANTED = frozenset({READ_MESSAGES})
MANIFEST = Manifest("plain", "Plain", "1", "0", ("{python}", "main.py"), GRANTED)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(SECONDS):
        while not holds():  # noqa: ASYNC110 (a thread or a process moves it)
            await asyncio.sleep(0.005)


class Line:
    """What a test holds of one start of the plugin: its output and what it is told."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._numbers = iter(range(1, 1_000_000))
        self.unread: list[Any] = []
        self.pids: list[int] = []

    async def begin(self) -> None:
        self.pids = [int(one) for one in (await self._reader.readline()).split()[1:]]

    async def put(self, data: bytes) -> None:
        with suppress(ConnectionError):  # the host may end it before it has read all
            self._writer.write(data)
            await self._writer.drain()

    async def say(self, message: object) -> None:
        await self.put(json.dumps(message).encode() + b"\n")

    async def hear(self, fits: Callable[[Any], bool]) -> Any:
        """The first message that fits, of those that came and will come."""
        async with asyncio.timeout(SECONDS):
            while True:
                for one in self.unread:
                    if fits(one):
                        self.unread.remove(one)
                        return one
                line = await self._reader.readline()
                assert line, "the plugin is gone"
                self.unread.append(json.loads(line))

    async def asked(self, method: str) -> Any:
        """What the host asks or tells by this name."""
        return await self.hear(lambda one: one.get("method") == method)

    async def answer(self, method: str, result: Any) -> Any:
        asked = await self.asked(method)
        await self.say({"jsonrpc": "2.0", "id": asked["id"], "result": result})
        return asked["params"]

    async def call(self, method: str, **params: Any) -> Any:
        """The whole answer."""
        number = f"n{next(self._numbers)}"
        await self.say({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return await self.hear(lambda one: one.get("id") == number)

    async def get(self, method: str, **params: Any) -> Any:
        answer = await self.call(method, **params)
        assert "result" in answer, answer
        return answer["result"]

    async def fault(self, method: str, **params: Any) -> str:
        """The word for why it was refused."""
        answer = await self.call(method, **params)
        assert "error" in answer, answer
        return answer["error"]["data"]["code"]

    def close(self) -> None:
        self._writer.close()


class Stage:
    """The program's side: one log with a conversation, and one plugin on a clock of the test's."""

    def __init__(
        self,
        log: Log,
        tab: str,
        folder: Path,
        words: tuple[str, ...],
        *,
        patience: float,
        main: Path | None,
    ) -> None:
        self.log, self.tab, self.hub, self.time = log, tab, Hub(), Time()
        self.session = log.session(tab)
        self.bindings = Bindings()
        self.tasks: set[asyncio.Task[Any]] = set()
        self.lines: asyncio.Queue[Line] = asyncio.Queue()
        self.opened: list[Line] = []
        self.place = folder / "s"
        self.gate = asyncio.Event()
        self.gate.set()
        self.main = main or PLAIN
        self.words = words if main else (str(self.place), *words)
        cursors = Cursors(b"s", epoch="e", now=self.time.clock)
        door = Door(log.sources_in_use, self.bindings.access, cursors, "e")
        subscriptions = Subscriptions(
            self.hub, door, start=self.start, later=self.time.later, clock=self.time.clock
        )
        around = Surroundings(
            doors=Doors(
                door,
                subscriptions,
                self.bindings,
                self.sessions,
                self.navigate,
                self.time.clock,
            ),
            errors=lambda name: folder / f"{name}.log",
            host_version="1.0",
            start=self.start,
            later=self.time.later,
            clock=self.time.clock,
            patience=patience,
        )
        self.went: list[tuple[str, int]] = []
        self.told: list[str] = []
        self.refusal: NacreError | None = None
        self.plugin = Plugin(MANIFEST, around, launch=self.launch, granted=GRANTED)

    async def navigate(self, place: Place) -> None:
        if self.refusal is not None:
            raise self.refusal
        self.went.append((place.session_id, place.seq))

    def launch(self) -> Launch:
        words = (sys.executable, "-I", str(self.main), *self.words)
        return Launch(words, {"PATH": os.environ["PATH"]}, None)

    async def sessions(self) -> Any:
        await self.gate.wait()
        return (await self.log.catalogue.view()).tabs

    def start(self, coroutine: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.get_running_loop().create_task(coroutine, name=name)
        self.tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: "asyncio.Task[Any]") -> None:
        """An error for the person is told, as the window's tasks do."""
        self.tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, NacreError):
            self.told.append(str(error))

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = Line(reader, writer)
        self.opened.append(line)
        await line.begin()
        self.lines.put_nowait(line)

    async def started(self) -> Line:
        """The next start of the plugin, before it has said anything."""
        async with asyncio.timeout(SECONDS):
            return await self.lines.get()

    async def ready(self) -> Line:
        """A start that was greeted and knows what it is to show."""
        line = await self.started()
        await line.answer("host.initialize", {"protocolVersion": 2})
        await line.answer("panel.show", {})
        return line

    async def show(self) -> Line:
        self.plugin.show(self.tab)
        return await self.ready()

    async def write(self, *chunks: NewChunk) -> None:
        self.hub.receipt(await self.session.append(chunks))

    async def lost(self) -> str:
        """Why it was ended, once the program says so."""
        await until(lambda: self.plugin.state.phase in ("waiting", "failed"))
        return self.plugin.state.why


Story = Callable[[Stage], Coroutine[Any, Any, None]]
Tell = Callable[[Story], None]


def play(
    folder: Path, story: Story, *words: str, patience: float = SECONDS, main: Path | None = None
) -> None:
    """A story on a stage; at its end nothing of the plugin is left. `main`: another program."""
    with open_log(folder) as log:
        tab = new_tab(log, folder)

        async def run() -> None:
            async with _stage(log, tab, words, patience=patience, main=main) as stage:
                await story(stage)

        asyncio.run(run())


@asynccontextmanager
async def _stage(
    log: Log, tab: str, words: tuple[str, ...], *, patience: float, main: Path | None
) -> AsyncGenerator[Stage]:
    # The name of a socket must be short.
    folder = Path(tempfile.mkdtemp(prefix="nacre-"))
    stage = Stage(log, tab, folder, words, patience=patience, main=main)
    server = await asyncio.start_unix_server(stage.connect, stage.place, limit=2**22)
    try:
        yield stage
    finally:
        await stage.plugin.close()
        for line in stage.opened:
            line.close()
        server.close()
        for task in list(stage.tasks):
            task.cancel()
        await asyncio.gather(*stage.tasks, return_exceptions=True)
        shutil.rmtree(folder)
    await until(lambda: not any(map(is_alive, [pid for one in stage.opened for pid in one.pids])))


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
