"""Tool servers as a program has them: real processes, a real file, a thread of their own."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from desktop.core.permissions import Act
from desktop.core.tools import Scene, Tool, ToolOutcome
from desktop.tools.environment import scrubbed_environment
from desktop.tools.mcp.servers import ToolServers
from tests.architecture.source import ROOT

PLAIN = Path(__file__).parents[3] / "fakes" / "plain_tool_server.py"
SECONDS = 60.0


def plain(fault: str, *more: str) -> dict[str, Any]:
    """The entry of a server of the older protocol with a fault."""
    return {"command": sys.executable, "args": [str(PLAIN), fault, *more]}


def full(*more: str, **keys: Any) -> dict[str, Any]:
    """The entry of a server made with the library's own server side."""
    arguments = ["-m", "tests.fakes.tool_server", *more]
    return {"command": sys.executable, "args": arguments, "cwd": str(ROOT), **keys}


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(SECONDS):
        while not holds():  # noqa: ASYNC110 (another thread or process moves it)
            await asyncio.sleep(0.01)


@dataclass
class Servers:
    """What one program sees of its tool servers."""

    all: ToolServers
    scene: Scene
    said: list[str]
    acts: list[Act] = field(default_factory=list[Act])

    async def until_offered(self, *names: str) -> None:
        await until(lambda: set(names) <= set(self.names()))

    def names(self) -> list[str]:
        return [tool.spec.name for tool in self.all.tools()]

    def tool(self, name: str) -> Tool:
        return next(tool for tool in self.all.tools() if tool.spec.name == name)

    async def use(self, name: str, /, **arguments: Any) -> ToolOutcome:
        tool = self.tool(name)
        act = await tool.prepare(arguments, self.scene)
        self.acts.append(act)
        return await tool.run(act, self.scene, lambda told: self.said.append(str(told)))


Open = Callable[..., Any]


@pytest.fixture
def opened(tmp_path: Path, scene: Scene) -> Open:
    """`async with opened({name: entry}) as servers`: begun, and ended at the end."""
    return partial(_opened, tmp_path, scene)


@asynccontextmanager
async def _opened(
    folder: Path, scene: Scene, entries: dict[str, Any], **keys: Any
) -> AsyncGenerator[Servers]:
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": entries}), encoding="utf-8")
    (folder / "logs").mkdir(exist_ok=True)
    said: list[str] = []
    servers = ToolServers(
        configured=folder / "mcp.json",
        memory=folder / "tool-servers.json",
        logs=folder / "logs",
        environment=scrubbed_environment(os.environ),
        version="1",
        report=said.append,
        **keys,
    )
    await servers.look()
    try:
        yield Servers(servers, scene, said)
    finally:
        await servers.close()


def play(act: Callable[[], Awaitable[None]]) -> None:
    async def run() -> None:
        await act()

    asyncio.run(run())
