"""Killed: one death looked at closely, and the kill campaign at the size that the suite takes
(`python -m tests.bench kill`)."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.e2e.nacre import Home, kill
from tests.fakes.messages_api import MessagesServer, reply, tool_use

RUNS = 10
COMMANDS = ("echo one", "sleep 600", "echo three", "sleep 601", "sleep 602")


@pytest.mark.skipif(os.name != "posix", reason="kills by signal")
@pytest.mark.timeout(600)
def test_killed_at_any_moment_nothing_that_was_promised_is_lost() -> None:
    """SPEC C01, C09, C15, A07, S02, U12, U17, U21: conversations, migrations, backups."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench", "kill", "--runs", str(RUNS), "--seed", "1"],
        capture_output=True,
        encoding="utf-8",
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "kill.violations 0 violations <=0 ok" in lines, done.stderr
    hits = sum(int(line.split()[1]) for line in lines if line.startswith("kill.hits."))
    assert hits >= RUNS // 2, done.stdout


@pytest.mark.skipif(os.name != "posix", reason="kills by signal")
def test_f_w14_killed_when_two_of_five_have_finished_all_five_are_answered_in_order(
    home: Home,
) -> None:
    """The two keep what they brought, the three read interrupted, and nothing is run again."""
    calls = [tool_use("shell", {"command": one}, id=f"c{at}") for at, one in enumerate(COMMANDS)]
    with MessagesServer([reply(*calls), reply("Then so.")]) as server:
        there = replace(home, base_url=server.base_url)
        process = there.start(
            *("run", "--json", "--workspace", str(home.workspace)),
            *("--permission", "auto", "Run all five."),
        )
        assert process.stdout is not None
        results = 0
        for line in process.stdout:
            event = json.loads(line)
            results += event["event"] == "chunk-seal" and "isError" in event["data"]
            if results == 2:
                break
        kill(process)
        tab = home.rows("select id from tabs")[0]["id"]
        assert there.nacre("run", "--json", "--tab", tab, "Go on.").code == 0
    assert server.rejected == []
    assert len(server.requests) == 2
    answer = server.requests[1].messages[2]["content"]
    found = [block for block in answer if block["type"] == "tool_result"]
    assert [block["tool_use_id"] for block in found] == [f"c{at}" for at in range(5)]
    texts = [block["content"][0]["text"] for block in found]
    assert [bool(block.get("is_error")) for block in found] == [False, True, False, True, True]
    assert ("one" in texts[0], "three" in texts[2]) == (True, True)
    assert all("nterrupted" in texts[at] for at in (1, 3, 4))
