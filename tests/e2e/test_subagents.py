"""Subagents as a person or a script meets them: the real process, HTTP and database (SPEC U28)."""

import json
import signal
from dataclasses import replace
from typing import Any

import pytest

from tests.e2e.nacre import SECONDS, Home, ended, kill
from tests.fakes.messages_api import MessagesServer, Received, Reply, reply, thinking, tool_use

pytestmark = pytest.mark.timeout(300)
TASK = "Read notes.txt."


def is_of_subagent(request: Received) -> bool:
    content = request.json["messages"][0]["content"]
    return content[-1]["text"].endswith(TASK)


def family(request: Received) -> Reply:
    """The parent has notes.txt read and says so; the subagent reads it."""
    is_done = bool(request.tool_results)
    if is_of_subagent(request):
        if is_done:
            return reply(thinking("There it is."), "The marmot is blue.")
        return reply(thinking("Look."), tool_use("read_file", {"path": "notes.txt"}))
    if is_done:
        return reply(thinking("Good."), "It says: blue.")
    return reply(thinking("Give it away."), tool_use("agent", {"task": TASK, "title": "Notes"}))


def stands(request: Received) -> Reply:
    """As `family`, but the subagent's last answer stands still in its midst."""
    found = family(request)
    is_last = is_of_subagent(request) and request.tool_results
    return found.gate_after(3, "stands") if is_last else found


@pytest.fixture
def workplace(home: Home) -> Home:
    (home.workspace / "notes.txt").write_text("blue\n")
    return home


def fixed(request: Received) -> str:
    """Tools and system text as they were sent."""
    return json.dumps([request.json["tools"], request.json["system"]])


def results(request: Received) -> list[Any]:
    return [block["content"] for block in request.tool_results]


def test_u28_a_subagent_works_below_in_the_same_log(workplace: Home) -> None:
    with MessagesServer(family) as server:
        home = replace(workplace, base_url=server.base_url)
        found = home.run("What do the notes say?")
        assert found.code == 0, found.err
    assert server.rejected == []
    assert "The marmot is blue." in str(results(server.requests[-1]))
    assert len({fixed(one) for one in server.requests}) == 1
    tabs = home.rows("select * from tabs order by created_at")
    assert [(one["parent_tab_id"], one["is_open"], one["title"]) for one in tabs] == [
        (None, 1, "What do the notes say?"),
        (tabs[0]["id"], 0, "Notes"),
    ]
    assert [one["outcome"] for one in found.named("turn-done")] == ["done"]
    listed = {one["id"]: one for one in home.nacre("tabs", "--json").events}
    assert listed[tabs[1]["id"]]["parentTabId"] == tabs[0]["id"]
    assert tabs[1]["id"] in home.nacre("search", "marmot", "--json").out
    assert home.nacre("doctor").code == 0


@pytest.mark.in_this_process
def test_s06_with_the_null_store_subagents_leave_nothing(workplace: Home) -> None:
    with MessagesServer(family) as server:
        home = replace(workplace, base_url=server.base_url)
        found = home.run("What do the notes say?", "--store", "null")
    assert found.code == 0, found.err
    assert "The marmot is blue." in str(results(server.requests[-1]))
    assert home.rows("select * from tabs") == []
    assert home.rows() == []


@pytest.mark.in_this_process
def test_a_subagent_of_a_conversation_that_is_a_file_is_a_file_beside_it(workplace: Home) -> None:
    folder = workplace.root / "files"
    with MessagesServer(family) as server:
        home = replace(workplace, base_url=server.base_url)
        found = home.run("What do the notes say?", "--store", f"jsonl:{folder}")
        assert found.code == 0, found.err
        tabs = home.rows("select * from tabs order by created_at")
        assert tabs[1]["parent_tab_id"] == tabs[0]["id"]
        assert {one.stem for one in folder.glob("*.jsonl")} == {one["id"] for one in tabs}
        assert home.rows() == []
        shown = home.nacre("show", tabs[1]["id"])
    assert "The marmot is blue." in shown.out


@pytest.mark.in_this_process
def test_a07_killed_while_a_subagent_works_nothing_runs_again_by_itself(workplace: Home) -> None:
    with MessagesServer(stands) as server:
        home = replace(workplace, base_url=server.base_url)
        process = home.start("run", "--workspace", str(home.workspace), "What do the notes say?")
        server.wait_at_gate("stands", timeout=SECONDS)
        kill(process)
        asked = len(server.requests)
        parent, child = home.rows("select * from tabs order by created_at")
        again = home.nacre("run", "--tab", parent["id"], "And now?")
        assert again.code == 0, again.err
        assert "outcome unknown" in str(results(server.requests[-1]) or server.requests[-1].json)
        assert [is_of_subagent(one) for one in server.requests[asked:]] == [False]
        server.release("stands")
        alone = home.nacre("run", "--tab", child["id"], "Go on.")
        assert alone.code == 0, alone.err
    assert server.rejected == []


@pytest.mark.in_this_process
def test_c26_ctrl_c_stops_the_subagent_too(workplace: Home) -> None:
    with MessagesServer(stands) as server:
        home = replace(workplace, base_url=server.base_url)
        process = home.start("run", "--workspace", str(home.workspace), "What do the notes say?")
        server.wait_at_gate("stands", timeout=SECONDS)
        process.send_signal(signal.SIGINT)
        assert ended(process).code == 1
    ends = home.rows("select data_json from chunks where data_json like '%turn_end%'")
    assert [json.loads(one["data_json"])["outcome"] for one in ends] == ["stopped", "stopped"]
    assert home.rows("select * from leases") == []
