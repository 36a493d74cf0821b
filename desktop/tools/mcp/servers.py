"""All tool servers of one program, on a thread with a loop of its own.

Nothing waits for them (SPEC U10): what is offered is what was offered last, and a call waits for
its server. A conversation keeps the tools it began with, so a server that comes, goes or lists
anew changes only what the next conversation is offered (API C36, M9).
"""

import asyncio
import importlib
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any

from desktop.core.errors import ToolFailed
from desktop.core.tools import Tool
from desktop.tools.mcp import config, remembered
from desktop.tools.mcp.config import Entry
from desktop.tools.mcp.contents import Reply
from desktop.tools.mcp.errors_file import file_for
from desktop.tools.mcp.names import PREFIX
from desktop.tools.mcp.offers import Offer, usable
from desktop.tools.mcp.server import FIRST_PAUSE, Connect, Server, State
from desktop.tools.mcp.tool import GoneTool, ServerTool
from desktop.tools.threads import start

THREAD_NAME = "nacre-tool-servers"
CLOSE_SECONDS = 1.4

_log = logging.getLogger(__name__)


def _load_link() -> Any:
    """The module that loads the library (most of a second), on the thread that asks."""
    return importlib.import_module("desktop.tools.mcp.link")


class ToolServers:
    """`begin` reads what there is, `close` ends it all. `report` gets sentences, on any thread."""

    def __init__(
        self,
        *,
        configured: Path,
        memory: Path,
        logs: Path,
        environment: Mapping[str, str],
        version: str,
        report: Callable[[str], None],
        first_pause: float = FIRST_PAUSE,
        load_link: Callable[[], Any] = _load_link,
    ) -> None:
        self._configured = configured
        self._memory = memory
        self._logs = logs
        self._environment = environment
        self._version = version
        self._report = report
        self._first_pause = first_pause
        self._load_link = load_link
        self._entries: tuple[Entry, ...] = ()
        self._offers: dict[str, tuple[Entry, Sequence[Offer]]] = {}
        self._tools: dict[str, tuple[Tool, ...]] = {}
        self._told: set[str] = set()
        self._states: dict[str, State] = {}
        self._servers: Future[dict[str, Server]] = Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._over: Future[None] = Future()

    async def begin(self) -> None:
        """Reads the file and what is remembered; then connects in the background. Once only."""
        read = await start(lambda: config.read(self._configured), "tool-servers-read")
        for problem in read.problems:
            self._report(problem)
        self._entries = tuple(entry for entry in read.entries if entry.is_enabled)
        if not self._entries:
            return
        memory = await start(
            lambda: remembered.read(self._memory, self._entries), "tool-servers-remember"
        )
        for entry in self._entries:
            self._states = {**self._states, entry.name: State("starting")}
            if entry.name in memory:
                self._offer(entry, memory[entry.name])
        self._loop = asyncio.new_event_loop()
        threading.Thread(
            target=self._serve, args=(self._loop,), name=THREAD_NAME, daemon=True
        ).start()

    def tools(self) -> tuple[Tool, ...]:
        """What a new conversation is offered now, sorted by name."""
        found = [tool for tools in self._tools.values() for tool in tools]
        return tuple(sorted(found, key=lambda tool: tool.spec.name))

    def gone(self, name: str) -> Tool | None:
        """What answers for a tool of a server that is not offered now; None for other names."""
        return GoneTool(name) if name.startswith(PREFIX) else None

    def states(self) -> Mapping[str, State]:
        """How each server is doing, by its name."""
        return self._states

    async def close(self) -> None:
        """Ends every server with all its processes; gives up waiting after a moment."""
        if self._loop is None:
            return
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._loop.stop)
        await asyncio.wait({asyncio.wrap_future(self._over)}, timeout=CLOSE_SECONDS)

    # -- on the loop of the servers ----------------------------------------------------------

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        owners: list[asyncio.Task[None]] = []
        try:
            loop.call_soon(self._start, loop, owners)
            loop.run_forever()
            loop.run_until_complete(_end(owners))
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            loop.close()
            self._over.set_result(None)

    def _start(self, loop: asyncio.AbstractEventLoop, owners: "list[asyncio.Task[None]]") -> None:
        try:
            link = self._load_link()
        except ImportError as error:
            _log.exception("the library of tool servers can't be loaded")
            self._servers.set_exception(ToolFailed("Tool servers can't be used here."))
            self._report(f"Tool servers can't be used: their library is missing ({error}).")
            return
        servers: dict[str, Server] = {}
        for entry in self._entries:
            server = Server(
                entry,
                connect=self._connect(link),
                take=self._take,
                tell=self._tell,
                pause=self._first_pause,
            )
            servers[entry.name] = server
            owners.append(loop.create_task(server.own(), name=f"tool server {entry.name}"))
        self._servers.set_result(servers)

    def _connect(self, link: Any) -> Connect:
        return lambda entry, on_change: link.connect(
            entry,
            environment=self._environment,
            errors=file_for(self._logs, entry.name),
            on_change=on_change,
            version=self._version,
        )

    def _take(self, entry: Entry, offers: Sequence[Offer]) -> None:
        self._offer(entry, offers)
        remembered.write(self._memory, dict(self._offers))

    def _offer(self, entry: Entry, offers: Sequence[Offer]) -> None:
        found, problems = usable(entry.name, offers)
        self._offers[entry.name] = (entry, offers)
        tools = tuple(ServerTool(entry.name, one.tool, one.spec, self._call) for one in found)
        # Another thread reads these: they are replaced, never changed.
        self._tools = {**self._tools, entry.name: tools}
        for problem in problems:
            _log.warning("tool server %s: %s", entry.name, problem)

    def _tell(self, entry: Entry, state: State) -> None:
        self._states = {**self._states, entry.name: state}
        if state.phase in ("waiting", "failed"):
            _log.warning("tool server %s: %s", entry.name, state.why)
        if state.phase == "failed" and entry.name not in self._told:
            self._told.add(entry.name)
            self._report(
                f"The tool server “{entry.name}” can't be used: {state.why}."
                f" What it wrote is in {file_for(self._logs, entry.name)}."
            )

    # -- from the agents' loop ---------------------------------------------------------------

    async def _call(
        self, server: str, tool: str, arguments: Mapping[str, Any], seconds: float
    ) -> Reply:
        loop = self._loop
        if loop is None or loop.is_closed():
            raise ToolFailed(f"The tool server “{server}” is not running.")
        # Shielded: who stops waiting must not take it from the others.
        servers = await asyncio.shield(asyncio.wrap_future(self._servers))
        calling = servers[server].call(tool, arguments, seconds)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(calling, loop))


async def _end(owners: "Sequence[asyncio.Task[None]]") -> None:
    """Ends the owners, which end their servers, and then whatever is still under way."""
    for owner in owners:
        owner.cancel()
    if owners:
        await asyncio.wait(owners)
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    if rest:
        await asyncio.wait(rest, timeout=0.3)
