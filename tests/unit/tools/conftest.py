"""A workspace with real files, and a way to run one tool as an agent does."""

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from desktop.core.permissions import Act
from desktop.core.tools import Scene, Tool, ToolOutcome
from desktop.tools.environment import scrubbed_environment

OWNER = "NACRE_TEST_FOLDER"  # tells the processes of one test from all others

Run = Callable[..., ToolOutcome]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def scene(workspace: Path, tmp_path: Path) -> Iterator[Scene]:
    yield Scene(
        workspace=workspace,
        spool=tmp_path / "spool",
        environment={**scrubbed_environment(os.environ), OWNER: str(tmp_path)},
        time_limit=20.0,
    )


async def prepare_and_run(
    tool: Tool, scene: Scene, reports: list[Any] | None = None, **arguments: Any
) -> tuple[Act, ToolOutcome]:
    act = await tool.prepare(arguments, scene)
    outcome = await tool.run(act, scene, [].append if reports is None else reports.append)
    return act, outcome


@pytest.fixture
def use(scene: Scene) -> Run:
    """`use(tool, **arguments)` prepares and runs it; gives the outcome."""

    def call(tool: Tool, **arguments: Any) -> ToolOutcome:
        return asyncio.run(prepare_and_run(tool, scene, **arguments))[1]

    return call


@pytest.fixture
def prepared(scene: Scene) -> Callable[..., Act]:
    """`prepared(tool, **arguments)` gives the act."""

    def call(tool: Tool, **arguments: Any) -> Act:
        async def prepare() -> Act:
            return await tool.prepare(arguments, scene)

        return asyncio.run(prepare())

    return call
