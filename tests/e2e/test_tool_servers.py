"""Tool servers with the real program: what its conversations are offered, and when."""

import json
import signal
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.e2e.nacre import SECONDS, Home, ended
from tests.fakes.messages_api import MessagesServer, assert_extends, reply, text, tool_use

PLAIN = Path(__file__).parents[1] / "fakes" / "plain_tool_server.py"
ECHO = "mcp__plain__echo"


def configure(home: Home, servers: dict[str, Any]) -> None:
    home.data.mkdir(exist_ok=True)
    (home.data / "mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")


def plain(fault: str, *more: str) -> dict[str, Any]:
    """With `more` it writes its number into a file; it has another number in a sandbox."""
    entry: dict[str, Any] = {"command": sys.executable, "args": [str(PLAIN), fault, *more]}
    return {**entry, "sandbox": False} if more else entry


def offered(body: Any) -> list[str]:
    return [tool["name"] for tool in body["tools"]]


def results(home: Home, tab_id: str) -> list[dict[str, Any]]:
    rows = home.rows("select * from chunks where type = 'tool_result' order by ordinal")
    return [json.loads(row["data_json"]) for row in rows if row["tab_id"] == tab_id]


@contextmanager
def passed_on(memory: Path, heard: Path) -> Generator[None]:
    """A command can't see what Nacre remembers; a file in its workspace tells it."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.02):
            if memory.exists():
                heard.touch()

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.mark.timeout(300)  # five starts of the program
def test_a_conversation_keeps_the_tools_it_began_with(home: Home) -> None:
    """SPEC U10, U33, API C36, M9, FIELD F-X02: a hung server and a bad entry change nothing; a
    server that connects late is the next conversation's; one that is taken out answers in words."""
    memory = home.data / "tool-servers.json"
    heard = home.workspace / "heard"
    hung = plain("silent", str(home.root / "pid"))
    configure(home, {"plain": plain("ok"), "hung": hung, "bad": {"command": 5}})
    script = [
        # The first conversation goes on until the server has been heard.
        reply(
            tool_use("shell", {"command": "until test -f heard; do sleep 0.05; done"}),
            stop_reason="tool_use",
        ),
        reply(text("One.")),
        reply(tool_use(ECHO, {"text": "over there"}), stop_reason="tool_use"),
        reply(text("Two.")),
        reply(text("One again.")),
        reply(tool_use(ECHO, {"text": "again"}), stop_reason="tool_use"),
        reply(text("Two again.")),
    ]

    with MessagesServer(script) as server:
        there = replace(home, base_url=server.base_url)
        with passed_on(memory, heard):
            one = there.run("first", "--permission", "auto")
        assert one.code == 0, one.err
        assert "The tool server “bad” in" in one.err
        two = there.run("second", "--permission", "auto")
        assert two.code == 0, two.err
        first, second = (row["id"] for row in home.rows("select id from tabs order by created_at"))
        go_on = ("run", "--json", "--permission", "auto", "--tab")
        assert there.nacre(*go_on, first, "go on").code == 0
        configure(home, {"hung": hung})
        assert there.nacre(*go_on, second, "go on").code == 0
        bodies = [json.loads(request.body) for request in server.requests]
    assert server.rejected == []
    assert [ECHO in offered(body) for body in bodies] == [
        False,
        False,
        True,
        True,
        False,
        True,
        True,
    ]
    brought, gone = results(home, second)
    assert brought["result"] == "over there"
    assert gone["isError"]
    assert f"The tool {ECHO} is not there any more" in gone["result"]
    for earlier, later in ((0, 1), (1, 4), (2, 3), (3, 5), (5, 6)):
        assert_extends(bodies[earlier], bodies[later])


def test_the_window_comes_up_and_ends_whatever_its_tool_servers_do(home: Home) -> None:
    """SPEC U10, U32: one that never answers and one that will not end; none is left behind."""
    pids = [home.root / "silent", home.root / "stubborn"]
    configure(home, {path.name: plain(path.name, str(path)) for path in pids})
    window = home.start()
    try:
        until = time.monotonic() + SECONDS
        while not all(path.exists() for path in pids) and time.monotonic() < until:
            time.sleep(0.05)
        children = [psutil.Process(int(path.read_text())) for path in pids]
        window.send_signal(signal.SIGTERM)
        found = ended(window)
    finally:
        window.kill()
    _, alive = psutil.wait_procs(children, timeout=20)
    assert alive == []
    assert found.code == 0, found.err
    assert "Traceback" not in found.err
    assert "took too long" not in found.err
