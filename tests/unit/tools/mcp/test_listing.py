"""The list of tool servers as the settings see it, with real processes (FIELD F-T07, SPEC U33)."""

import asyncio
import json
import os
import threading
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from desktop.core.errors import ServersFileError
from desktop.core.tool_servers import ServerEntry, ServerView
from desktop.tools.environment import scrubbed_environment
from desktop.tools.mcp.listing import ServerList
from desktop.tools.mcp.servers import ToolServers
from tests.unit.tools.mcp.conftest import full, plain, play, until

KEY = "sk-ant-a-key-that-must-not-be-told"


class Desk:
    """A list over servers that are begun with `entries` and ended at the end."""

    def __init__(self, folder: Path, entries: dict[str, Any] | None) -> None:
        self.path = folder / "mcp.json"
        self.logs = folder / "logs"
        self.logs.mkdir()
        if entries is not None:
            self.path.write_text(json.dumps({"mcpServers": entries}))
        self.said: list[str] = []
        self.servers = ToolServers(
            configured=self.path,
            memory=folder / "tool-servers.json",
            logs=self.logs,
            environment=scrubbed_environment(os.environ),
            version="1",
            report=self.said.append,
            first_pause=0.05,
        )
        self.list = ServerList(self.path, self.logs, self.servers)

    def server(self, name: str) -> ServerView:
        return next(one for one in self.list.view().servers if one.entry.name == name)

    async def until(self, name: str, phase: str) -> ServerView:
        await until(lambda: self.server(name).phase == phase)
        return self.server(name)


def at_desk(
    folder: Path, entries: dict[str, Any] | None, act: Callable[[Desk], Awaitable[None]]
) -> None:
    async def run() -> None:
        desk = Desk(folder, entries)
        await desk.list.look()
        try:
            await act(desk)
        finally:
            await desk.servers.close()

    play(run)


def test_every_entry_is_there_in_the_order_of_the_file_with_its_state(tmp_path: Path) -> None:
    """SPEC U33: a broken one is there too, with what is wrong with it."""
    entries = {
        "web off": {"url": "https://x.test", "disabled": True},
        "bad": {"command": "x", "args": [1, "two"], "env": 5},
        "worse": 5,
        "good": plain("ok"),
    }

    async def act(desk: Desk) -> None:
        good = await desk.until("good", "ready")
        assert [one.name for one in good.tools] == ["echo"]
        assert good.tools[0].description == "Gives back what it is given."
        found = desk.list.view().servers
        assert [one.entry.name for one in found] == list(entries)
        assert [one.phase for one in found] == ["off", "broken", "broken", "ready"]
        assert "args must be a list of texts" in found[1].why
        assert found[1].entry == ServerEntry("bad", command="x", args=("1", "two"))

    at_desk(tmp_path, entries, act)


def test_a_server_that_fails_says_why_and_what_it_said_last(tmp_path: Path) -> None:
    """FIELD F-T07: only what it said this time; a server that can't be found said nothing."""

    async def act(desk: Desk) -> None:
        exits = await desk.until("exits", "failed")
        assert "ended with exit code 1" in exits.why
        assert exits.said[-1] == "no license found"
        place, text = await desk.list.log("exits")
        assert Path(place).parent == desk.logs
        assert "no license found" in text
        gone = await desk.until("gone", "failed")
        assert "was not found" in gone.why
        assert gone.said == ()
        assert (await desk.list.log("gone"))[1] == ""

    at_desk(tmp_path, {"exits": plain("exits"), "gone": {"command": "no-such-thing"}}, act)


def test_tools_that_cannot_be_offered_are_named(tmp_path: Path) -> None:
    async def act(desk: Desk) -> None:
        odd = await desk.until("odd", "ready")
        assert any("twice" in one for one in odd.left_out)
        assert all(one.name != "a_list" for one in odd.tools)

    at_desk(tmp_path, {"odd": plain("odd-tools")}, act)


def test_adding_changing_and_removing_starts_and_ends_the_server(tmp_path: Path) -> None:
    async def act(desk: Desk) -> None:
        told = plain("ok")
        await desk.list.add(ServerEntry("new", told["command"], tuple(told["args"])))
        new = await desk.until("new", "ready")
        await desk.list.change(new, replace(new.entry, name="other"))
        other = await desk.until("other", "ready")
        assert [one.entry.name for one in desk.list.view().servers] == ["other"]
        await desk.list.turn(other, on=False)
        off = await desk.until("other", "off")
        await until(lambda: desk.servers.tools() == ())
        await desk.list.turn(off, on=True)
        await desk.list.remove(await desk.until("other", "ready"))
        assert desk.list.view().servers == ()
        await until(lambda: desk.servers.tools() == ())

    at_desk(tmp_path, None, act)


def test_what_was_seen_before_a_change_by_hand_changes_nothing(tmp_path: Path) -> None:
    async def act(desk: Desk) -> None:
        seen = desk.server("a")
        by_hand = json.dumps({"mcpServers": {"a": {"command": "else", "disabled": True}}})
        desk.path.write_text(by_hand)
        with pytest.raises(ServersFileError, match="changed in the file meanwhile"):
            await desk.list.remove(seen)
        assert desk.path.read_text() == by_hand
        assert desk.server("a").entry.command == "else"

    at_desk(tmp_path, {"a": {"command": "b", "disabled": True}}, act)


def test_a_broken_file_is_told_while_what_runs_goes_on_and_can_be_set_aside(
    tmp_path: Path,
) -> None:
    """SPEC U33, FIELD F-S05."""

    async def act(desk: Desk) -> None:
        await desk.until("good", "ready")
        desk.path.write_text('{"mcpServers": {')
        await desk.list.look()
        assert "line 1, column" in desk.list.view().problem
        assert desk.server("good").phase == "ready"
        aside = Path(await desk.list.set_aside())
        assert aside.name == "mcp.broken.json" and not desk.path.exists()
        assert (desk.list.view().problem, desk.list.view().servers) == ("", ())

    at_desk(tmp_path, {"good": plain("ok")}, act)


def test_a_server_is_restarted_in_any_state_and_never_two_of_it_live(tmp_path: Path) -> None:
    """FIELD F-T07."""

    async def act(desk: Desk) -> None:
        await desk.until("silent", "starting")
        pid_file = tmp_path / "pid"
        await until(pid_file.exists)
        first = psutil.Process(int(pid_file.read_text()))
        pid_file.unlink()
        await desk.list.restart("silent")
        await until(lambda: pid_file.exists() and bool(pid_file.read_text()))
        assert not first.is_running()
        await desk.until("exits", "failed")
        marks: list[str] = []
        desk.list.on_change(lambda: marks.append(desk.server("exits").phase))
        await desk.list.restart("exits")
        await until(lambda: "starting" in marks and marks[-1] == "failed")
        await desk.list.restart("nobody")

    at_desk(
        tmp_path, {"silent": plain("silent", str(tmp_path / "pid")), "exits": plain("exits")}, act
    )


def test_a_server_is_tested_before_it_is_kept(tmp_path: Path) -> None:
    async def act(desk: Desk) -> None:
        told = plain("ok")
        tried = await desk.list.test(ServerEntry("new", told["command"], tuple(told["args"])))
        assert (tried.problem, [one.name for one in tried.tools]) == ("", ["echo"])
        told = plain("exits")
        tried = await desk.list.test(ServerEntry("new", told["command"], tuple(told["args"])))
        assert "ended with exit code 1" in tried.problem
        assert tried.said == ("no license found",)
        with pytest.raises(ServersFileError, match="neither a command nor a url"):
            await desk.list.test(ServerEntry("new"))
        assert desk.list.view().servers == () and not desk.path.exists()

    at_desk(tmp_path, None, act)


def test_a_test_that_is_cancelled_or_cut_off_by_the_end_leaves_nothing(tmp_path: Path) -> None:
    """SPEC U32."""
    pids = [tmp_path / "one", tmp_path / "two"]
    processes: list[psutil.Process] = []
    tries: list[asyncio.Future[Any]] = []

    async def act(desk: Desk) -> None:
        for path in pids:
            told = plain("silent", str(path))
            entry = ServerEntry(path.name, told["command"], tuple(told["args"]))
            trying = asyncio.ensure_future(desk.list.test(entry))
            tries.append(trying)
            await until(lambda path=path: path.exists() and bool(path.read_text()))
            processes.append(psutil.Process(int(path.read_text())))
            if path is pids[0]:
                trying.cancel()
                await asyncio.wait({trying})
                await until(lambda: not processes[0].is_running())
        await desk.servers.close()
        await asyncio.wait(tries)

    at_desk(tmp_path, None, act)
    _, alive = psutil.wait_procs(processes, timeout=20)
    assert alive == []


def test_what_may_be_a_key_is_in_no_log_and_no_text_of_a_value(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def act(desk: Desk) -> None:
        entry = ServerEntry("a", "no-such-thing", env={"K": KEY}, url="", headers={"H": KEY})
        await desk.list.add(entry)
        view = await desk.until("a", "failed")
        assert KEY not in repr(view)
        assert KEY not in repr(desk.list.view())

    at_desk(tmp_path, None, act)
    assert KEY not in caplog.text


def test_two_looks_at_once_begin_one_thread_and_every_server(tmp_path: Path) -> None:
    async def act(desk: Desk) -> None:
        desk.path.write_text(json.dumps({"mcpServers": {"a": plain("ok")}}))
        first = asyncio.ensure_future(desk.list.look())
        desk.path.write_text(json.dumps({"mcpServers": {"a": plain("ok"), "b": full()}}))
        await asyncio.gather(first, desk.list.look(), desk.servers.look())
        await desk.until("a", "ready")
        await desk.until("b", "ready")
        names = [one.name for one in threading.enumerate()]
        assert names.count("nacre-tool-servers") == 1

    at_desk(tmp_path, None, act)


def test_without_a_file_the_list_is_empty(tmp_path: Path) -> None:
    async def act(desk: Desk) -> None:
        view = desk.list.view()
        assert (view.path, view.servers, view.problem) == (str(desk.path), (), "")

    at_desk(tmp_path, None, act)
