"""A list of tool servers in memory, for the page that shows it."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from desktop.core.errors import ServersFileError
from desktop.core.tool_servers import ServerEntry, ServersView, ServerView, Tried


class MemoryServers:
    """Implements `core.tool_servers.ToolServerList`; `did` holds what was asked, in order.

    A test waits at `let_go`; `refusal` is raised instead of a change.
    """

    def __init__(self, *servers: ServerView) -> None:
        self.now = ServersView("/data/mcp.json", servers)
        self.did: list[tuple[object, ...]] = []
        self.refusal: ServersFileError | None = None
        self.tried = Tried()
        self.let_go = asyncio.Event()
        self.text = ""
        self.looks = 0
        self._hearers: list[Callable[[], None]] = []

    def show(self, *servers: ServerView, problem: str = "") -> None:
        self.now = replace(self.now, servers=servers, problem=problem)
        for hear in list(self._hearers):
            hear()

    def view(self) -> ServersView:
        return self.now

    def on_change(self, changed: Callable[[], None]) -> Callable[[], None]:
        self._hearers.append(changed)
        return lambda: self._hearers.remove(changed)

    async def look(self) -> None:
        self.looks += 1

    async def add(self, entry: ServerEntry) -> None:
        self._do("add", entry)
        self.show(*self.now.servers, ServerView(entry, "starting"))

    async def change(self, before: ServerView, entry: ServerEntry) -> None:
        self._do("change", before.entry.name, entry)

    async def remove(self, before: ServerView) -> None:
        self._do("remove", before.entry.name)
        self.show(*(one for one in self.now.servers if one is not before))

    async def turn(self, before: ServerView, *, on: bool) -> None:
        self._do("turn", before.entry.name, on)

    async def test(self, entry: ServerEntry) -> Tried:
        self._do("test", entry)
        try:
            await self.let_go.wait()
        except asyncio.CancelledError:
            self._do("cancelled")
            raise
        return self.tried

    async def restart(self, name: str) -> None:
        self._do("restart", name)

    async def log(self, name: str) -> tuple[str, str]:
        self._do("log", name)
        return f"/data/logs/{name}.log", self.text

    async def set_aside(self) -> str:
        self._do("set aside")
        self.show()
        return "/data/mcp.broken.json"

    def _do(self, *what: object) -> None:
        self.did.append(what)
        if self.refusal is not None:
            raise self.refusal
