"""The list of tool servers as the settings see it: what stands in the file, and how each is doing.

Changes go into the file and nowhere else; the servers follow it, whoever wrote it.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, cast

from desktop.core.tool_servers import ServerEntry, ServersView, ServerTool, ServerView, Tried
from desktop.tools.mcp import writing
from desktop.tools.mcp.config import Config
from desktop.tools.mcp.errors_file import file_for, last_lines, newest, size_of
from desktop.tools.mcp.offers import Offered, Unreachable
from desktop.tools.mcp.server import State
from desktop.tools.mcp.servers import ToolServers
from desktop.tools.mcp.writing import Document, mark_of
from desktop.tools.threads import start, write_off_loop

LOG_BYTES = 200_000


class ServerList:
    """Implements `core.tool_servers.ToolServerList`."""

    def __init__(self, path: Path, logs: Path, servers: ToolServers) -> None:
        self._path = path
        self._logs = logs
        self._servers = servers
        self._document = Document(None, Config())
        self._problem = ""

    def view(self) -> ServersView:
        config = self._document.config
        usable = {entry.name: entry for entry in config.entries}
        states = self._servers.states()
        found = [
            self._shown(name, told, usable.get(name), config.broken.get(name, ""), states.get(name))
            for name, told in self._document.entries.items()
        ]
        return ServersView(str(self._path), tuple(found), self._problem)

    def on_change(self, changed: Callable[[], None]) -> Callable[[], None]:
        loop = asyncio.get_running_loop()

        def hear() -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(changed)

        return self._servers.hear(hear)

    async def look(self) -> None:
        document = await start(lambda: writing.read(self._path), "tool-servers-list")
        self._problem = document.problem
        if not document.problem:
            self._document = document
        await self._servers.look()

    async def add(self, entry: ServerEntry) -> None:
        await self._write(partial(writing.add, self._path, entry))

    async def change(self, before: ServerView, entry: ServerEntry) -> None:
        await self._write(
            partial(writing.replace, self._path, before.entry.name, before.mark, entry)
        )

    async def remove(self, before: ServerView) -> None:
        await self._write(partial(writing.remove, self._path, before.entry.name, before.mark))

    async def turn(self, before: ServerView, *, on: bool) -> None:
        await self._write(partial(writing.turn, self._path, before.entry.name, before.mark, on=on))

    async def test(self, entry: ServerEntry) -> Tried:
        writing.check(entry)
        errors = file_for(self._logs, entry.name)
        since = await start(lambda: size_of(errors), "tool-servers-test")
        try:
            found, left_out = await self._servers.test(entry)
        except Unreachable as error:
            said = await start(lambda: last_lines(errors, since=since), "tool-servers-test")
            return Tried(problem=str(error), said=said)
        return Tried(_tools(found), left_out=tuple(left_out))

    async def restart(self, name: str) -> None:
        await self._servers.restart(name)

    async def log(self, name: str) -> tuple[str, str]:
        errors = file_for(self._logs, name)
        return str(errors), await start(lambda: newest(errors, LOG_BYTES), "tool-servers-log")

    async def set_aside(self) -> str:
        aside = await write_off_loop(lambda: writing.set_aside(self._path))
        await self.look()
        return str(aside)

    async def _write(self, change: Callable[[], None]) -> None:
        try:
            await write_off_loop(change)
        finally:
            await self.look()

    def _shown(
        self, name: str, told: object, usable: ServerEntry | None, broken: str, state: State | None
    ) -> ServerView:
        mark = mark_of(told)
        if usable is None:
            return ServerView(_as_told(name, told), "broken", broken, mark=mark)
        if not usable.is_enabled:
            return ServerView(usable, "off", mark=mark)
        now = state or State("starting")
        found, left_out = self._servers.offered(name)
        return ServerView(
            usable,
            now.phase,
            now.why,
            now.said,
            _tools(found),
            mark=mark,
            left_out=tuple(left_out),
        )


def _tools(found: Sequence[Offered]) -> tuple[ServerTool, ...]:
    return tuple(ServerTool(one.tool, one.spec.description) for one in found)


def _as_told(name: str, told: object) -> ServerEntry:
    """As much of a broken entry as can be read, for a person who mends it."""
    found = cast("dict[str, Any]", told) if isinstance(told, dict) else {}
    args = found.get("args")
    return ServerEntry(
        name=name,
        command=_text(found.get("command")),
        args=tuple(map(_text, args)) if isinstance(args, list) else (),
        env=_texts(found.get("env")),
        cwd=_text(found.get("cwd")),
        url=_text(found.get("url")),
        headers=_texts(found.get("headers")),
    )


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) else ""


def _texts(value: object) -> dict[str, str]:
    found = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    return {name: _text(one) for name, one in found.items()}
