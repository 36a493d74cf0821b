"""All tool servers of one program, on a thread with a loop of its own.

Nothing waits for them (SPEC U10): what is offered is what was offered last, and a call waits for
its server. A conversation keeps the tools it began with: a server that comes, goes or lists anew
changes what the next one is offered, and what the person may have a running one take (API C36, M9).
"""

import asyncio
import importlib
import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from desktop.core.errors import ToolFailed
from desktop.core.loading import at_rest
from desktop.core.logged import Word
from desktop.core.tool_servers import ServerEntry
from desktop.core.tools import Tool
from desktop.tools.mcp import config, remembered
from desktop.tools.mcp.contents import Reply
from desktop.tools.mcp.enclosure import Enclosure
from desktop.tools.mcp.errors_file import file_for, last_lines, size_of
from desktop.tools.mcp.names import PREFIX
from desktop.tools.mcp.offers import Offer, Offered, Unreachable, usable
from desktop.tools.mcp.server import CONNECT_SECONDS, FIRST_PAUSE, Connect, Server, State
from desktop.tools.mcp.tool import GoneTool, ServerTool
from desktop.tools.threads import start

THREAD_NAME = "nacre-tool-servers"
CLOSE_SECONDS = 1.4
_MISSING = "the library of tool servers is missing"
_NOT_RUNNING = "The tool server “{}” is not running."

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Running:
    entry: ServerEntry
    server: Server
    owner: "asyncio.Task[None]"


def _load_link() -> Any:
    """The module that loads the library (most of a second), on the thread that asks."""
    with at_rest():
        return importlib.import_module("desktop.tools.mcp.link")


class ToolServers:
    """`look` reads what there is, again and again; `close` ends it all.

    `report` gets sentences for the person, on any thread; `enclosure` is the sandbox of those that
    are started by a command.
    """

    def __init__(
        self,
        *,
        configured: Path,
        memory: Path,
        logs: Path,
        environment: Mapping[str, str],
        version: str,
        report: Callable[[str], None],
        enclosure: Enclosure | None = None,
        first_pause: float = FIRST_PAUSE,
        load_link: Callable[[], Any] = _load_link,
    ) -> None:
        self._configured = configured
        self._memory = memory
        self._logs = logs
        self._environment = environment
        self._version = version
        self._report = report
        self._enclosure = enclosure
        self._first_pause = first_pause
        self._load_link = load_link
        self._looking = asyncio.Lock()
        self._seen: object = None
        self._told: set[str] = set()
        self._link: Any = None
        self._running: dict[str, _Running] = {}
        self._owners: set[asyncio.Task[None]] = set()
        self._offers: dict[str, tuple[ServerEntry, Sequence[Offer]]] = {}
        self._tools: dict[str, tuple[Tool, ...]] = {}
        self._offered: dict[str, tuple[Sequence[Offered], Sequence[str]]] = {}
        self._states: dict[str, State] = {}
        self._begun_at: dict[str, int] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._over: Future[None] = Future()
        self._hearers: tuple[Callable[[], None], ...] = ()

    def hear(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Calls `changed`, on any thread, when a state or an offer is another; what is returned
        ends that."""
        self._hearers += (changed,)

        def end() -> None:
            self._hearers = tuple(one for one in self._hearers if one is not changed)

        return end

    async def look(self) -> None:
        """Reads the file where it is new or changed, and has its servers connect by themselves."""
        async with self._looking:
            await self._look()

    async def _look(self) -> None:
        seen = await start(lambda: _mark_of(self._configured), "tool-servers-look")
        if seen == self._seen:
            return
        self._seen = seen
        read = await start(lambda: config.read(self._configured), "tool-servers-read")
        for problem in read.problems:
            self._report(problem)
        if not read.is_read:
            return  # it may be half written; what runs goes on
        entries = tuple(entry for entry in read.entries if entry.is_enabled)
        memory = await start(
            lambda: remembered.read(self._memory, entries), "tool-servers-remember"
        )
        if self._loop is not None:
            with suppress(RuntimeError):  # it was closed meanwhile
                self._loop.call_soon_threadsafe(self._arrange, entries, memory)
        elif entries:
            self._recall(entries, memory)
            self._begin(entries, memory)

    def tools(self) -> tuple[Tool, ...]:
        """What a new conversation is offered now, sorted by name."""
        found = [tool for tools in self._tools.values() for tool in tools]
        return tuple(sorted(found, key=lambda tool: tool.spec.name))

    def gone(self, name: str) -> Tool | None:
        """What answers for a tool of a server that is not offered now; None for other names."""
        return GoneTool(name) if name.startswith(PREFIX) else None

    def server_of(self, name: str) -> str:
        """The server that offers a tool of this name now; '' for none."""
        for server, tools in self._tools.items():
            if any(tool.spec.name == name for tool in tools):
                return server
        return ""

    def states(self) -> Mapping[str, State]:
        """How each server is doing, by its name."""
        return self._states

    def offered(self, name: str) -> tuple[Sequence[Offered], Sequence[str]]:
        """What a server offers, and a sentence about each tool of its that can't be."""
        return self._offered.get(name, ((), ()))

    async def restart(self, name: str) -> None:
        """Ends a server and starts it anew, whatever its state; unknown or turned off: a no-op."""
        if self._loop is not None:
            with suppress(RuntimeError):  # it was closed meanwhile
                self._loop.call_soon_threadsafe(self._restart, name)

    async def test(self, entry: ServerEntry) -> tuple[Sequence[Offered], Sequence[str]]:
        """Connects once, beside what runs; what it offers as `offered`. Raises Unreachable.

        Cancelling it ends the connection.
        """
        loop = self._loop or self._begin((), {})
        try:
            trying = asyncio.run_coroutine_threadsafe(self._test_here(entry), loop)
        except RuntimeError as error:
            raise Unreachable("Nacre is closing") from error
        return await asyncio.wrap_future(trying)

    async def close(self) -> None:
        """Ends every server with all its processes; gives up waiting after a moment."""
        if self._loop is None:
            return
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._loop.stop)
        await asyncio.wait({asyncio.wrap_future(self._over)}, timeout=CLOSE_SECONDS)

    def _begin(
        self, entries: Sequence[ServerEntry], memory: Mapping[str, Sequence[Offer]]
    ) -> asyncio.AbstractEventLoop:
        """The thread and its loop, on which the first thing is to start these."""
        self._loop = asyncio.new_event_loop()
        self._loop.call_soon(self._start, entries, memory)
        threading.Thread(
            target=self._serve, args=(self._loop,), name=THREAD_NAME, daemon=True
        ).start()
        return self._loop

    # -- on the loop of the servers ----------------------------------------------------------

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
            loop.run_until_complete(_end(self._owners))
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            loop.close()
            self._over.set_result(None)

    def _start(self, entries: Sequence[ServerEntry], memory: Mapping[str, Sequence[Offer]]) -> None:
        try:
            self._link = self._load_link()
        except ImportError as error:
            _log.exception("the library of tool servers can't be loaded")
            self._report(f"Tool servers can't be used: their library is missing ({error}).")
            self._states = dict.fromkeys(self._states, State("failed", _MISSING))
            self._changed()
            return
        self._arrange(entries, memory)

    def _arrange(
        self, entries: Sequence[ServerEntry], memory: Mapping[str, Sequence[Offer]]
    ) -> None:
        """Lets go of servers that are not wanted as they are, and starts those that are missing."""
        if self._link is None:
            return
        wanted = {entry.name: entry for entry in entries}
        ending: dict[str, asyncio.Task[None]] = {}
        for name, running in list(self._running.items()):
            if running.entry != wanted.get(name):
                running.owner.cancel()
                ending[name] = running.owner
                del self._running[name]
        self._recall(entries, memory)
        for entry in entries:
            if entry.name not in self._running:
                self._running[entry.name] = self._run(entry, after=ending.get(entry.name))

    def _restart(self, name: str) -> None:
        running = self._running.get(name)
        if running is not None:
            running.owner.cancel()
            self._tell(running.entry, State("starting"))
            self._running[name] = self._run(running.entry, after=running.owner)

    async def _test_here(self, entry: ServerEntry) -> tuple[Sequence[Offered], Sequence[str]]:
        task = asyncio.current_task()
        if self._link is None or task is None:
            raise Unreachable(_MISSING)
        self._owners.add(task)  # so that it is waited for at the end
        task.add_done_callback(self._owners.discard)
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                async with self._connect(self._link)(entry, lambda: None) as link:
                    return usable(entry.name, await link.offers())
        except TimeoutError as error:
            raise Unreachable(f"it did not answer within {CONNECT_SECONDS:g} seconds") from error

    def _run(self, entry: ServerEntry, *, after: "asyncio.Task[None] | None") -> "_Running":
        """Has a server owned, once the one that it takes the place of has ended."""
        server = Server(
            entry,
            connect=self._connect(self._link),
            take=self._take,
            tell=self._tell,
            pause=self._first_pause,
        )

        async def own() -> None:
            if after is not None:
                await asyncio.wait({after})
            await server.own()

        owner = asyncio.get_running_loop().create_task(own(), name=f"tool server {entry.name}")
        self._owners.add(owner)
        owner.add_done_callback(self._owners.discard)
        return _Running(entry, server, owner)

    def _recall(
        self, entries: Sequence[ServerEntry], memory: Mapping[str, Sequence[Offer]]
    ) -> None:
        """What is offered from now on: of servers that stay what they offer, else what they did."""
        names = {entry.name for entry in entries}
        self._tools = {name: tools for name, tools in self._tools.items() if name in self._running}
        self._offers = {name: told for name, told in self._offers.items() if name in self._running}
        self._offered = {name: self._offered[name] for name in self._offers}
        running = {name: self._states[name] for name in self._running}
        self._states = {name: running.get(name, State("starting")) for name in sorted(names)}
        for entry in entries:
            if entry.name in memory and entry.name not in self._running:
                self._offer(entry, memory[entry.name])
        self._changed()

    def _connect(self, link: Any) -> Connect:
        return lambda entry, on_change: link.connect(
            entry,
            environment=self._environment,
            errors=file_for(self._logs, entry.name),
            on_change=on_change,
            version=self._version,
            enclosure=self._enclosure,
        )

    def _take(self, entry: ServerEntry, offers: Sequence[Offer]) -> None:
        self._offer(entry, offers)
        remembered.write(self._memory, dict(self._offers))

    def _offer(self, entry: ServerEntry, offers: Sequence[Offer]) -> None:
        found, problems = usable(entry.name, offers)
        self._offers[entry.name] = (entry, offers)
        self._offered = {**self._offered, entry.name: (found, problems)}
        tools = tuple(ServerTool(entry.name, one.tool, one.spec, self._call) for one in found)
        # Another thread reads these: they are replaced, never changed.
        self._tools = {**self._tools, entry.name: tools}
        self._changed()
        if problems:
            _log.warning("%d tools of a server can't be used", len(problems))

    def _changed(self) -> None:
        for hear in self._hearers:
            hear()

    def _tell(self, entry: ServerEntry, state: State) -> None:
        if entry.name not in self._states:
            return  # it was taken out and is just ending
        errors = file_for(self._logs, entry.name)
        if state.phase == "starting":
            self._begun_at[entry.name] = size_of(errors)
        elif state.why:
            since = self._begun_at.get(entry.name, 0)
            state = replace(state, said=last_lines(errors, since=since))
        self._states = {**self._states, entry.name: state}
        self._changed()
        if state.phase in ("waiting", "failed"):
            _log.warning("a tool server is %s", Word(state.phase))
        if state.phase == "failed" and entry.name not in self._told:
            self._told.add(entry.name)
            self._report(
                f"The tool server “{entry.name}” can't be used: {state.why}."
                f" What it wrote is in {errors}."
            )

    # -- from the agents' loop ---------------------------------------------------------------

    async def _call(
        self, server: str, tool: str, arguments: Mapping[str, Any], seconds: float
    ) -> Reply:
        loop = self._loop
        if loop is None or loop.is_closed():
            raise ToolFailed(_NOT_RUNNING.format(server))
        calling = self._call_here(server, tool, arguments, seconds)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(calling, loop))

    async def _call_here(
        self, server: str, tool: str, arguments: Mapping[str, Any], seconds: float
    ) -> Reply:
        running = self._running.get(server)
        if running is None:
            raise ToolFailed(_NOT_RUNNING.format(server))
        return await running.server.call(tool, arguments, seconds)


def _mark_of(path: Path) -> object:
    """Tells whether a file is another one than before; one that is not there is no other."""
    try:
        found = path.stat()
    except OSError as error:
        return error.errno
    return found.st_mtime_ns, found.st_size, found.st_ino


async def _end(owners: "Iterable[asyncio.Task[None]]") -> None:
    """Ends the owners, which end their servers, and then whatever is still under way."""
    owners = list(owners)
    for owner in owners:
        owner.cancel()
    if owners:
        await asyncio.wait(owners)
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    if rest:
        await asyncio.wait(rest, timeout=0.3)
