"""`nacre run` as a person or a script uses it: the real process, HTTP, files and database."""

import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from tests.e2e.nacre import SECONDS, Home, ended, kill, types_of
from tests.fakes.messages_api import (
    MessagesServer,
    assert_extends,
    fails,
    reply,
    text,
    thinking,
    tool_use,
)


def three_steps() -> list[object]:
    return [
        reply(
            thinking("Look around first."),
            text("Let me look."),
            tool_use("list_dir", {"path": "."}),
            tool_use("read_file", {"path": "notes.txt"}),
            stop_reason="tool_use",
        ),
        reply(
            thinking("Search it."),
            tool_use("grep", {"pattern": "needle"}),
            stop_reason="tool_use",
        ),
        reply(text("Found the needle in notes.txt.")),
    ]


def test_a_three_step_turn_prints_its_events_and_leaves_exactly_the_sealed_chunks(
    home: Home,
) -> None:
    """SPEC C02, C04, A01, S02: the whole line from the provider to the database."""
    (home.workspace / "notes.txt").write_text("hay\nneedle\n")
    with MessagesServer(three_steps()) as server:  # pyright: ignore[reportArgumentType]
        found = replace(home, base_url=server.base_url).run("find the needle")
    assert found.code == 0, found.err
    assert server.rejected == []
    assert [one["outcome"] for one in found.named("turn-done")] == ["done"]
    rows = home.rows()
    assert [row["seq"] for row in rows] == list(range(1, len(rows) + 1))
    assert [one["seq"] for one in found.named("chunk-seal")] == [row["seq"] for row in rows]
    sealed = {one["id"]: one["data"] for one in found.named("chunk-seal")}
    assert sealed == {row["id"]: json.loads(row["data_json"]) for row in rows}
    assert types_of(rows) == [
        "text",
        "thinking",
        "text",
        "tool_call",
        "tool_call",
        "tool_result",
        "tool_result",
        "thinking",
        "tool_call",
        "tool_result",
        "text",
    ]
    bodies = [request.json for request in server.requests]
    assert len(bodies) == 3
    assert_extends(bodies[0], bodies[1])
    assert_extends(bodies[1], bodies[2])


def test_c03_a_second_process_extends_the_first_ones_requests(home: Home) -> None:
    (home.workspace / "notes.txt").write_text("hay\nneedle\n")
    script = [*three_steps(), reply(text("You are welcome."))]
    with MessagesServer(script) as server:  # pyright: ignore[reportArgumentType]
        there = replace(home, base_url=server.base_url)
        assert there.run("find the needle").code == 0
        tab = home.rows("select id from tabs")[0]["id"]
        second = there.nacre("run", "--json", "--tab", tab, "thanks")
    assert second.code == 0, second.err
    assert server.rejected == []
    bodies = [request.json for request in server.requests]
    assert_extends(bodies[2], bodies[3])


@pytest.mark.in_this_process
def test_a01_ten_thousand_deltas_make_one_row(home: Home) -> None:
    long = "abcdefgh" * 10_000
    with MessagesServer([reply(text(long, chunk=8))]) as server:
        found = replace(home, base_url=server.base_url).run("write a lot")
    assert found.code == 0, found.err
    texts = [row for row in home.rows() if row["role"] == "assistant"]
    assert [json.loads(row["data_json"]) for row in texts] == [{"text": long}]
    deltas = "".join(one["text"] for one in found.named("chunk-delta"))
    assert deltas == long


@pytest.mark.in_this_process
def test_c15_killed_in_mid_answer_the_next_request_is_valid(home: Home) -> None:
    """SPEC C15, C09, A07: at most the open block is lost, and nothing is run again by itself."""
    (home.workspace / "notes.txt").write_text("hay\n")
    script = [
        reply(
            text("First."),
            tool_use("read_file", {"path": "notes.txt"}),
            stop_reason="tool_use",
        ),
        reply(text("A long answer that never comes to its end.")).gate_after(4, "mid"),
        reply(text("Going on.")),
    ]
    with MessagesServer(script) as server:
        there = replace(home, base_url=server.base_url)
        process = there.start("run", "--json", "--workspace", str(home.workspace), "begin")
        server.wait_at_gate("mid", timeout=SECONDS)
        kill(process)
        server.release("mid")
        tab = home.rows("select id from tabs")[0]["id"]
        before = [row["id"] for row in home.rows()]
        second = there.nacre("run", "--json", "--tab", tab, "go on")
    assert second.code == 0, second.err
    assert server.rejected == []
    assert [row["id"] for row in home.rows()][: len(before)] == before
    assert home.nacre("doctor", "--json").code == 0
    ends = [
        json.loads(row["data_json"])["outcome"]
        for row in home.rows()
        if row["type"] == "system" and "turn_end" in row["data_json"]
    ]
    assert ends == ["interrupted", "done"]


@pytest.mark.in_this_process
def test_c15_killed_while_a_command_runs_its_result_says_so(home: Home) -> None:
    marker = home.workspace / "started"
    command = f"touch {marker.name}; sleep 30"
    script = [
        reply(tool_use("shell", {"command": command}), stop_reason="tool_use"),
        reply(text("Understood.")),
    ]
    with MessagesServer(script) as server:
        there = replace(home, base_url=server.base_url)
        process = there.start(
            "run", "--json", "--permission", "auto", "--workspace", str(home.workspace), "do it"
        )
        _until_exists(marker, process)
        kill(process)
        tab = home.rows("select id from tabs")[0]["id"]
        second = there.nacre("run", "--json", "--tab", tab, "and now?")
    assert second.code == 0, second.err
    assert server.rejected == []
    results = [json.loads(row["data_json"]) for row in home.rows() if row["type"] == "tool_result"]
    assert [one["isError"] for one in results] == [True]
    assert "outcome" in results[0]["result"].lower()


@pytest.mark.in_this_process
def test_c26_ctrl_c_stops_the_turn_and_keeps_what_was_shown(home: Home) -> None:
    """SPEC C26, A03: the text shown is the text of the next request."""
    script = [
        reply(text("Shown so far and not finished")).gate_after(4, "mid"),
        reply(text("Yes.")),
    ]
    with MessagesServer(script) as server:
        there = replace(home, base_url=server.base_url)
        process = there.start("run", "--json", "--workspace", str(home.workspace), "begin")
        server.wait_at_gate("mid", timeout=SECONDS)
        process.send_signal(signal.SIGINT)
        first = ended(process)
        server.release("mid")
        shown = "".join(one["text"] for one in first.named("chunk-delta"))
        assert first.code == 1
        assert [one["outcome"] for one in first.named("turn-done")] == ["stopped"]
        tab = home.rows("select id from tabs")[0]["id"]
        assert there.nacre("run", "--json", "--tab", tab, "again").code == 0
    assert server.rejected == []
    sent = [
        block["text"]
        for message in server.requests[-1].json["messages"]
        for block in message["content"]
        if message["role"] == "assistant"
    ]
    assert sent == ([shown] if shown.strip() else [])


@pytest.mark.in_this_process
def test_the_failures_of_a_request_are_told_in_a_sentence(home: Home) -> None:
    with MessagesServer([fails(400, "invalid_request_error", "no")]) as server:
        found = replace(home, base_url=server.base_url).nacre(
            "run", "--workspace", str(home.workspace), "hello"
        )
    assert found.code == 1
    assert "Traceback" not in found.err
    assert found.err.strip()


def test_an_invalid_key_is_told_and_nothing_of_it_is_written(home: Home) -> None:
    key = "invalid-key-0123456789"
    with MessagesServer() as server:
        there = replace(home, base_url=server.base_url, key=key)
        found = there.nacre("run", "--workspace", str(home.workspace), "hello")
    assert found.code == 1
    assert "key" in found.err
    for path in home.root.rglob("*"):
        if path.is_file():
            assert key.encode() not in path.read_bytes(), path
    assert key not in found.err + found.out


def test_without_a_credential_it_says_so_and_exits_3(home: Home) -> None:
    found = replace(home, key="").run("hello")
    assert found.code == 3
    assert "ANTHROPIC_API_KEY" in found.err
    assert found.out == ""


@pytest.mark.in_this_process
def test_no_server_at_the_address_is_a_sentence(home: Home) -> None:
    found = replace(home, base_url="http://127.0.0.1:9").run("hello")
    assert found.code == 1
    assert "Traceback" not in found.err


@pytest.mark.in_this_process
def test_without_a_place_it_lists_the_folders_and_exits_2(home: Home) -> None:
    with MessagesServer([reply(text("Hi."))]) as server:
        there = replace(home, base_url=server.base_url)
        assert there.run("hello").code == 0
        found = there.nacre("run", "hello")
    assert found.code == 2
    assert str(home.workspace) in found.err


@pytest.mark.in_this_process
def test_a_folder_that_is_not_there_is_named(home: Home) -> None:
    found = home.nacre("run", "--workspace", str(home.root / "gone"), "hello")
    assert found.code == 1
    assert "gone" in found.err
    assert "Traceback" not in found.err


@pytest.mark.in_this_process
def test_p14_s06_with_the_null_store_nothing_is_kept(home: Home) -> None:
    with MessagesServer([reply(text("Hi."))]) as server:
        found = replace(home, base_url=server.base_url).run("hello", "--store", "null")
    assert found.code == 0, found.err
    assert home.rows() == []


@pytest.mark.in_this_process
def test_writing_without_a_person_is_refused_and_the_turn_goes_on(home: Home) -> None:
    script = [
        reply(tool_use("write_file", {"path": "a.txt", "content": "x"}), stop_reason="tool_use"),
        reply(text("I may not.")),
    ]
    with MessagesServer(script) as server:
        found = replace(home, base_url=server.base_url).run("write it")
    assert found.code == 0, found.err
    assert not (home.workspace / "a.txt").exists()
    results = [json.loads(row["data_json"]) for row in home.rows() if row["type"] == "tool_result"]
    assert [one["isError"] for one in results] == [True]


@pytest.mark.in_this_process
def test_tabs_and_show_look_at_the_same_log(home: Home) -> None:
    with MessagesServer([reply(text("Hi there."))]) as server:
        assert replace(home, base_url=server.base_url).run("hello you").code == 0
    listed = [json.loads(line) for line in home.nacre("tabs", "--json").out.splitlines()]
    assert [one["title"] for one in listed] == ["hello you"]
    shown = home.nacre("show", listed[0]["id"][:8], "--json")
    texts = [json.loads(line)["data"].get("text") for line in shown.out.splitlines()]
    assert "Hi there." in texts
    assert home.nacre("show", "no-such-tab").code == 1


@pytest.mark.in_this_process
@pytest.mark.parametrize("hostile", ["a\ud800b", "nul\0byte", "\u2028line\u2029sep"])
def test_f_s07_odd_text_is_sent_and_kept(home: Home, hostile: str) -> None:
    """FIELD F-S07, F-W05: standard input carries any bytes."""
    data = hostile.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")
    with MessagesServer([reply(text("Hi."))]) as server:
        found = replace(home, base_url=server.base_url).nacre(
            "run", "--json", "--workspace", str(home.workspace), "-", text=data
        )
    assert found.code == 0, found.err
    assert server.rejected == []
    assert home.nacre("doctor").code == 0


def test_a08_a_read_only_data_folder_is_told_and_nothing_is_sent(home: Home) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere; the store's tests cover it on a read-only file")
    home.data.mkdir()
    home.data.chmod(0o500)
    found = home.run("hello")
    assert found.code == 1
    assert str(home.data) in found.err


def _until_exists(path: Path, process: object) -> None:
    import time

    for _ in range(600):
        if path.exists():
            return
        if process.poll() is not None:  # pyright: ignore
            break
        time.sleep(0.05)
    raise AssertionError(f"{path} did not appear")


@pytest.mark.in_this_process
def test_f_x03_a_wait_is_told_on_standard_error_and_a_long_one_is_not_waited_for(
    home: Home,
) -> None:
    """FIELD F-X03, API §1.13: with the time in words, and the turn failed."""
    script = [fails(529, retry_after=1), reply(text("Here.")), fails(429, retry_after=86_400)]
    with MessagesServer(script) as server:
        there = replace(home, base_url=server.base_url)
        words = ("run", "--workspace", str(home.workspace))
        waited = there.nacre(*words, "hello")
        given_up = there.nacre(*words, "again")
        assert len(server.requests) == 3
    assert (waited.code, waited.out) == (0, "Here.\n")
    assert "overloaded. Trying again in 1 s (attempt 2). Ctrl+C gives it up." in waited.err
    assert given_up.code == 1
    assert "The server asks to wait about 24 hours. Try again then." in given_up.err


@pytest.mark.in_this_process
def test_a02_a_cut_answer_ends_with_1_and_says_what_was_kept(home: Home) -> None:
    """SPEC A02, DESIGN §5."""
    with MessagesServer([reply(text("Half of it", chunk=4)).cut_after(5)]) as server:
        there = replace(home, base_url=server.base_url)
        found = there.nacre("run", "--workspace", str(home.workspace), "hello")
        assert len(server.requests) == 1
    assert found.code == 1
    assert "kept, marked as cut off" in found.err
    texts = [json.loads(row["data_json"]) for row in home.rows() if row["type"] == "text"]
    assert texts[-1] == {"text": found.out.removesuffix("\n"), "interrupted": True}


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="nothing can be stopped here")
def test_u29_a_program_that_stood_still_for_a_moment_goes_on(home: Home) -> None:
    """SPEC U29: what came meanwhile is read, nothing is cut and nothing sent twice."""
    answer = reply(text("Before and after.", chunk=7)).gate_after(4, "mid")
    with MessagesServer([answer]) as server:
        there = replace(home, base_url=server.base_url)
        process = there.start("run", "--json", "--workspace", str(home.workspace), "begin")
        server.wait_at_gate("mid", timeout=SECONDS)
        process.send_signal(signal.SIGSTOP)
        server.release("mid")
        assert server.wait_until_done(1).status == 200
        process.send_signal(signal.SIGCONT)
        found = ended(process)
        assert len(server.requests) == 1
    assert found.code == 0
    assert "".join(one["text"] for one in found.named("chunk-delta")) == "Before and after."
