"""What the agents of a data folder can do: within the limits that are set, and ended with it."""

import asyncio
from pathlib import Path

import psutil
import pytest

from desktop.core.records import Tab, Workspace
from desktop.headless.preferred import Preferred
from desktop.headless.toolbox import MEGABYTE, Toolbox
from desktop.paths import DataFolder
from desktop.settings import SHELL_MEMORY_LIMIT, SHELL_TIME_LIMIT, Preferences
from tests.unit.store.builders import new_tab, open_log, run


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    made = DataFolder(tmp_path / "data")
    made.prepare()
    return made


def _conversation(folder: DataFolder, work: Path) -> tuple[Tab, Workspace]:
    work.mkdir()
    with open_log(folder.root) as log:
        tab = run(log.catalogue.tab(new_tab(log, work)))
        return tab, run(log.catalogue.workspace(tab.workspace_id))


def test_a_limit_that_is_changed_counts_for_the_next_conversation(
    folder: DataFolder, tmp_path: Path
) -> None:
    tab, workspace = _conversation(folder, tmp_path / "work")
    preferred = Preferred(Preferences().changed(SHELL_TIME_LIMIT.key, 7))

    async def both() -> None:
        toolbox = Toolbox(folder, preferred, report=lambda _: None)
        first = toolbox.place_of(tab, workspace).scene
        assert (first.workspace, first.spool) == (tmp_path / "work", folder.spool)
        assert first.time_limit == 7.0
        preferred.current = preferred.current.changed(SHELL_MEMORY_LIMIT.key, 3)
        assert toolbox.place_of(tab, workspace).scene.memory_bytes == 3 * MEGABYTE
        await (await toolbox.close())

    asyncio.run(both())


def test_u32_what_a_command_left_running_ends_with_the_tools(
    folder: DataFolder, tmp_path: Path
) -> None:
    tab, workspace = _conversation(folder, tmp_path / "work")

    def sleeping() -> list[int]:
        return [
            one.pid
            for one in psutil.process_iter(["cmdline"])
            if str(tmp_path) in " ".join(one.info["cmdline"] or ())
        ]

    async def leave() -> None:
        toolbox = Toolbox(folder, Preferred(Preferences()), report=lambda _: None)
        scene = toolbox.place_of(tab, workspace).scene
        (shell,) = [one for one in toolbox.own if one.spec.name == "shell"]
        loop = f"while :; do sleep 0.05; done # {tmp_path}"
        act = await shell.prepare({"command": f"sh -c '{loop}' >/dev/null 2>&1 &"}, scene)
        await shell.run(act, scene, lambda _: None)
        assert sleeping()
        await (await toolbox.close())

    asyncio.run(leave())
    assert not sleeping()
