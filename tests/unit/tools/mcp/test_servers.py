"""Tool servers as real processes, good ones and those of FIELD F-T07."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import psutil
import pytest

from desktop.core.errors import ToolFailed
from desktop.tools.mcp.errors_file import MOST_BYTES, file_for
from tests.architecture.source import ROOT
from tests.unit.tools.mcp.conftest import Open, full, plain, play, until


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_the_tools_of_a_real_server_are_tools_like_any_other(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "hidden")

    async def act() -> None:
        async with opened({"fake": full("--noisy", env={"OWN_TOKEN": "given"})}) as servers:
            await servers.until_offered("mcp__fake__echo")
            assert servers.names() == sorted(servers.names())
            assert (await servers.use("mcp__fake__echo", text="hallo")).text == "hallo"
            broke = await servers.use("mcp__fake__breaks")
            assert (broke.is_error, "breaks" in broke.text) == (True, True)
            long = await servers.use("mcp__fake__long", lines=20_000)
            assert len(long.text) < 70_000
            assert long.full is not None
            assert long.full.read_text("utf-8").endswith("line 19999")
            mixed = await servers.use("mcp__fake__mixed")
            assert "[A picture (image/png, 3.0 KB) is left out: picture 1 is" in mixed.text
            assert "[picture 2: a picture, 1 × 1 pixels, 67 bytes]" in mixed.text
            assert [one["mediaType"] for one in mixed.images] == ["image/png"]
            assert (await servers.use("mcp__fake__variable", name="OWN_TOKEN")).text == "given"
            scrubbed = await servers.use("mcp__fake__variable", name="SOME_API_KEY")
            assert scrubbed.text == "not set"
            errors = file_for(tmp_path / "logs", "fake").read_text("utf-8")
            assert "it starts" in errors
            assert "Welcome to the fake server!" in errors
            await servers.use("mcp__fake__grow")
            await servers.until_offered("mcp__fake__echo_again")
            child = int((await servers.use("mcp__fake__forks")).text)
            server = int((await servers.use("mcp__fake__pid")).text)
            assert is_alive(child)
        assert not is_alive(server)
        assert not is_alive(child)

    play(act)


def test_a_server_over_http_is_used_and_found_again(opened: Open, tmp_path: Path) -> None:
    """API M4: it goes, a call says so, it comes back on the same address."""
    port_file = tmp_path / "port"

    def served(*port: str) -> "subprocess.Popen[bytes]":
        port_file.unlink(missing_ok=True)
        command = [sys.executable, "-m", "tests.fakes.tool_server", "--http", str(port_file), *port]
        return subprocess.Popen(command, cwd=ROOT)

    async def act() -> None:
        process = served()
        try:
            await until(port_file.exists)
            port = port_file.read_text()
            entry = {"url": f"http://127.0.0.1:{port}/mcp", "headers": {"X-Some": "y"}}
            async with opened({"web": entry}) as servers:
                await servers.until_offered("mcp__web__echo")
                assert (await servers.use("mcp__web__echo", text="hallo")).text == "hallo"
                process.kill()
                process.wait()
                with pytest.raises(ToolFailed, match="tool server “web”"):
                    await servers.use("mcp__web__echo", text="hallo")
                assert "mcp__web__echo" in servers.names()
                process = served(port)
                await until(port_file.exists)
                assert (await servers.use("mcp__web__echo", text="again")).text == "again"
        finally:
            process.kill()
            process.wait()

    play(act)


def test_nothing_waits_for_a_server_that_hangs(opened: Open, tmp_path: Path) -> None:
    """SPEC U10, FIELD F-T07: no answer to the handshake; the others are used, the end is short."""
    pid = tmp_path / "pid"

    async def act() -> None:
        entries = {"hung": plain("silent", str(pid)), "good": plain("ok")}
        async with opened(entries) as servers:
            assert servers.names() == []
            await servers.until_offered("mcp__good__echo")
            assert (await servers.use("mcp__good__echo", text="a")).text == "a"
            assert servers.all.states()["hung"].phase == "starting"
            await until(pid.exists)
            await servers.all.close()
            assert not is_alive(int(pid.read_text()))

    play(act)


def test_a_server_that_will_not_end_is_ended(opened: Open, tmp_path: Path) -> None:
    """SPEC U32: input closed, then TERM, then KILL."""
    pid = tmp_path / "pid"

    async def act() -> None:
        async with opened({"stubborn": plain("stubborn", str(pid))}) as servers:
            await servers.until_offered("mcp__stubborn__echo")
        assert not is_alive(int(pid.read_text()))

    play(act)


HOST = """
import asyncio, os, sys
from pathlib import Path
from desktop.tools.mcp.servers import ToolServers

async def main():
    folder = Path(sys.argv[1])
    servers = ToolServers(configured=folder / "mcp.json", memory=folder / "m", logs=folder,
                          environment=dict(os.environ), version="1", report=print)
    await servers.look()
    while not servers.tools():
        await asyncio.sleep(0.02)
    print("up", flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.mark.skipif(os.name != "posix", reason="the watcher is a POSIX shell")
def test_no_server_outlives_a_killed_program(tmp_path: Path) -> None:
    """SPEC U32."""
    pid = tmp_path / "pid"
    document = {"mcpServers": {"stubborn": plain("stubborn", str(pid))}}
    (tmp_path / "mcp.json").write_text(json.dumps(document), encoding="utf-8")
    host = subprocess.Popen(
        [sys.executable, "-c", HOST, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE
    )
    with host:
        assert host.stdout is not None
        assert host.stdout.readline().strip() == b"up"
        server = int(pid.read_text())
        host.send_signal(signal.SIGKILL)
    until = time.monotonic() + 20
    while is_alive(server) and time.monotonic() < until:
        time.sleep(0.05)
    assert not is_alive(server)


def test_a_server_that_dies_in_a_call_gives_an_error_and_comes_back(opened: Open) -> None:
    """FIELD F-T07, F-W14, API M4: a call that needs it does not wait for the pause to end."""

    async def act() -> None:
        async with opened({"frail": plain("dies")}, first_pause=1_000.0) as servers:
            await servers.until_offered("mcp__frail__echo")
            for _ in range(2):
                with pytest.raises(ToolFailed) as failed:
                    await servers.use("mcp__frail__echo", text="a")
                assert "broke during the call" in str(failed.value)
                assert "exit code 7; its last words: the last words" in str(failed.value)

    play(act)


def test_a_server_that_does_not_start_is_named_with_its_last_words(opened: Open) -> None:
    """FIELD F-T07, SPEC U33: exit at once, command not found; each is told once."""

    async def act() -> None:
        entries = {"ends": plain("exits"), "lost": {"command": "no-such-command-here"}}
        async with opened({**entries, "good": plain("ok")}, first_pause=0.01) as servers:
            await servers.until_offered("mcp__good__echo")
            await until(lambda: len(servers.said) == 2)
            states = servers.all.states()
            assert states["ends"].phase == states["lost"].phase == "failed"
            told = sorted(servers.said)
            assert "“ends” can't be used: it ended with exit code 1" in told[0]
            assert "no license found" in told[0]
            assert "“lost” can't be used: its command “no-such-command-here”" in told[1]

    play(act)


@pytest.mark.parametrize(
    ("fault", "sent", "wanted"),
    [
        ("banner", "a", "a"),
        ("strange", "a", "[Something of the kind hologram, which Nacre does not know, is left"),
        ("bytes", "it is HERE", "it is \ufffd\ufffd"),
        ("floods", "a", "a"),
        ("loops", "a", "a"),
        ("pieces", "a\u00e9" * 500, "a\u00e9" * 500),
        ("at-once", "a", "a"),
    ],
)
def test_faults_that_do_no_harm(
    opened: Open, tmp_path: Path, fault: str, sent: str, wanted: str
) -> None:
    """FIELD F-T07: a banner, odd answers and ids, CRLF, invalid UTF-8, a flood, looping pages, a
    message in pieces, several in one, an answer twice."""

    async def act() -> None:
        async with opened({"odd": plain(fault)}) as servers:
            await servers.until_offered("mcp__odd__echo")
            assert wanted in (await servers.use("mcp__odd__echo", text=sent)).text
        assert sum(file.stat().st_size for file in (tmp_path / "logs").iterdir()) < 3 * MOST_BYTES

    play(act)


def test_an_answer_of_20_mb_in_one_line_is_kept_beside_its_head_and_tail(opened: Open) -> None:
    """FIELD F-T07."""

    async def act() -> None:
        async with opened({"huge": plain("huge")}) as servers:
            await servers.until_offered("mcp__huge__echo")
            outcome = await servers.use("mcp__huge__echo", text="a")
            assert len(outcome.text) < 70_000
            assert outcome.full is not None
            assert outcome.full.stat().st_size == 21_000_000

    play(act)


def test_a_call_without_an_answer_ends_at_its_limit_and_can_be_stopped(opened: Open) -> None:
    """FIELD F-T07."""

    async def act() -> None:
        async with opened({"mute": plain("mute")}) as servers:
            await servers.until_offered("mcp__mute__echo")
            calling = asyncio.create_task(servers.use("mcp__mute__echo", text="a"))
            await until(lambda: bool(servers.acts))
            await asyncio.sleep(0)
            calling.cancel()
            with pytest.raises(asyncio.CancelledError):
                await calling
            servers.scene = replace(servers.scene, time_limit=0.2)
            with pytest.raises(ToolFailed, match=r"did not answer within 0\.2 seconds"):
                await servers.use("mcp__mute__echo", text="a")

    play(act)


def test_an_answer_after_the_limit_is_dropped_and_the_next_call_gets_its_own(
    opened: Open,
) -> None:
    """FIELD F-T07."""

    async def act() -> None:
        async with opened({"late": plain("late")}) as servers:
            await servers.until_offered("mcp__late__echo")
            patient = servers.scene
            servers.scene = replace(patient, time_limit=0.2)
            with pytest.raises(ToolFailed, match="did not answer"):
                await servers.use("mcp__late__echo", text="first")
            servers.scene = patient
            assert (await servers.use("mcp__late__echo", text="second")).text == "second"

    play(act)


def test_odd_tools_cost_only_themselves(opened: Open) -> None:
    """FIELD F-T07, F-X02: hundreds of long names, dots and blanks, schemas that can't be used."""

    async def act() -> None:
        async with opened({"odd": plain("odd-tools")}) as servers:
            await servers.until_offered("mcp__odd__twice")
            names = servers.names()
            assert len(names) == len(set(names)) == 405
            assert max(len(name) for name in names) <= 64
            assert "mcp__odd__no_type" in names
            assert "mcp__odd__odd_about" in names
            assert "mcp__odd__bad_key" not in names
            long = next(name for name in names if "xxxx" in name)
            assert (await servers.use(long, text="a")).text == "a"

    play(act)


def test_another_list_is_taken_when_the_server_says_so(opened: Open, tmp_path: Path) -> None:
    """API M9, with the notification of the older protocol."""

    async def act() -> None:
        async with opened({"grows": plain("grows", str(tmp_path / "mark"))}) as servers:
            await servers.until_offered("mcp__grows__echo")
            await servers.use("mcp__grows__echo", text="a")
            await servers.until_offered("mcp__grows__added")

    play(act)


def test_what_was_offered_last_is_offered_before_the_server_is_there(opened: Open) -> None:
    """SPEC U10, API C36: the same tools at once at the next start; a call waits for the server."""
    import desktop.tools.mcp.link as link

    may_go_on = threading.Event()

    def late() -> ModuleType:
        may_go_on.wait(30)
        return link

    async def act() -> None:
        entries = {"good": plain("ok")}
        async with opened(entries) as servers:
            await servers.until_offered("mcp__good__echo")
            specs = [tool.spec for tool in servers.all.tools()]
        async with opened(entries, load_link=late) as servers:
            assert [tool.spec for tool in servers.all.tools()] == specs
            calling = asyncio.create_task(servers.use("mcp__good__echo", text="a"))
            await until(lambda: bool(servers.acts))
            may_go_on.set()
            assert (await calling).text == "a"
        async with opened({"good": plain("ok", "another")}, load_link=late) as servers:
            assert servers.names() == []

    play(act)


def test_a_memory_that_is_no_memory_is_no_trouble(opened: Open, tmp_path: Path) -> None:
    (tmp_path / "tool-servers.json").write_text('{"good": {"of": 1, "tools": [[1]]}', "utf-8")

    async def act() -> None:
        async with opened({"good": plain("ok")}) as servers:
            await servers.until_offered("mcp__good__echo")

    play(act)


def test_a_change_of_the_file_starts_and_ends_what_changed(opened: Open, tmp_path: Path) -> None:
    """SPEC U33: while the program runs; a file that is cut in two is named and ends nothing."""
    pid = tmp_path / "pid"

    async def act() -> None:
        stays, goes = plain("ok"), plain("stubborn", str(pid))
        async with opened({"stays": stays, "goes": goes}) as servers:
            await servers.until_offered("mcp__stays__echo", "mcp__goes__echo")
            before = servers.tool("mcp__stays__echo")
            file = tmp_path / "mcp.json"
            new = json.dumps({"mcpServers": {"stays": stays, "comes": plain("ok", "x")}})
            file.write_text(new, encoding="utf-8")
            await servers.all.look()
            await servers.until_offered("mcp__comes__echo")
            assert servers.names() == ["mcp__comes__echo", "mcp__stays__echo"]
            assert servers.tool("mcp__stays__echo") is before
            assert sorted(servers.all.states()) == ["comes", "stays"]
            await until(lambda: not is_alive(int(pid.read_text())))
            assert (await servers.use("mcp__comes__echo", text="a")).text == "a"
            file.write_text(new[:40], encoding="utf-8")
            await servers.all.look()
            assert "is not JSON" in servers.said[0]
            assert servers.names() == ["mcp__comes__echo", "mcp__stays__echo"]
            file.unlink()
            await servers.all.look()
            await until(lambda: not servers.names())
            with pytest.raises(ToolFailed, match="is not running"):
                await before.run(servers.acts[0], servers.scene, servers.said.append)
            file.write_text(new, encoding="utf-8")
            await servers.all.look()
            await servers.until_offered("mcp__stays__echo")

    play(act)


def test_a_server_that_is_turned_off_is_not_started(opened: Open) -> None:
    async def act() -> None:
        async with opened({"off": {**plain("ok"), "disabled": True}}) as servers:
            assert servers.all.states() == {}

    play(act)


def test_every_call_is_asked_for_and_always_means_this_tool_of_this_server(opened: Open) -> None:
    """Hints of a server are hints only."""
    from desktop.core.permissions import Rule, judge
    from desktop.tools.rules import words

    async def act() -> None:
        async with opened({"good": plain("ok")}) as servers:
            await servers.until_offered("mcp__good__echo")
            await servers.use("mcp__good__echo", text="a")
            (asked,) = servers.acts
            assert asked.sentence == "Use echo of the tool server good"
            assert asked.detail == '{\n  "text": "a"\n}'
            none: frozenset[Any] = frozenset()
            assert judge(asked, mode="ask", rules=none, workspace_id=1) == "ask"
            assert judge(asked, mode="accept-edits", rules=none, workspace_id=1) == "ask"
            assert judge(asked, mode="read-only", rules=none, workspace_id=1) == "refuse"
            kept = frozenset({Rule(1, asked.tool, asked.offer)})
            assert judge(asked, mode="ask", rules=kept, workspace_id=1) == "allow"
            assert judge(asked, mode="ask", rules=kept, workspace_id=2) == "ask"
            said = words(asked.tool, asked.offer)
            assert said == "Use echo of the tool server good, with any arguments"

    play(act)
