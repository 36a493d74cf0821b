"""`nacre run --store`: a conversation kept in a file instead of the database."""

import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from tests.e2e.nacre import SECONDS, Home, ended, kill
from tests.fakes.messages_api import MessagesServer, assert_extends, reply, text, tool_use


def jsonl_lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_bytes().split(b"\n")[:-1]]


def tab_of(home: Home) -> str:
    return home.rows("select id from tabs")[0]["id"]


def test_a_conversation_in_a_file_is_continued_by_a_second_process(home: Home) -> None:
    """S01, C03, DESIGN.md §5: the rows are in the file alone, and the requests extend."""
    (home.workspace / "notes.txt").write_text("needle\u2028hay\n")
    folder = home.root / "sessions"
    script = [
        reply(tool_use("read_file", {"path": "notes.txt"}), stop_reason="tool_use"),
        reply(text("A needle.")),
        reply(text("You are welcome.")),
    ]
    with MessagesServer(script) as server:
        there = replace(home, base_url=server.base_url)
        first = there.run("what is there?", "--store", f"jsonl:{folder}")
        assert first.code == 0, first.err
        file = folder / f"{tab_of(home)}.jsonl"
        before = file.read_bytes()
        second = there.nacre(
            "run", "--json", "--store", f"jsonl:{folder}", "--tab", tab_of(home), "thanks"
        )
    assert second.code == 0, second.err
    assert server.rejected == []
    assert home.rows() == []
    assert file.read_bytes().startswith(before)
    rows = [one for one in jsonl_lines(file) if one.get("kind") == "row"]
    sealed = [*first.named("chunk-seal"), *second.named("chunk-seal")]
    assert [one["id"] for one in sealed] == [row["id"] for row in rows]
    assert [row["seq"] for row in rows] == list(range(1, len(rows) + 1))
    bodies = [request.json for request in server.requests]
    assert_extends(bodies[0], bodies[1])
    assert_extends(bodies[1], bodies[2])
    assert [one.name for one in folder.iterdir() if one.suffix == ".jsonl"] == [file.name]


@pytest.mark.in_this_process
def test_s09_f_s02_killed_and_torn_it_says_so_once_and_goes_on(home: Home) -> None:
    """S09, C15: what is intact is in the next request, the torn piece in a file of its own."""
    folder = home.root / "sessions"
    script = [
        reply(text("First answer.")),
        reply(text("Second, never finished.")).gate_after(4, "mid"),
        reply(text("Going on.")),
        reply(text("Still here.")),
    ]
    with MessagesServer(script) as server:
        there = replace(home, base_url=server.base_url)
        server.may_rewrite("the last rows were torn off the file")
        store = ("--store", f"jsonl:{folder}")
        assert there.run("begin", *store).code == 0
        again = ("run", "--json", *store, "--tab", tab_of(home))
        process = there.start(*again, "more")
        server.wait_at_gate("mid", timeout=SECONDS)
        kill(process)
        server.release("mid")
        file = folder / f"{tab_of(home)}.jsonl"
        with file.open("ab") as end:
            end.write(b'{"kind":"row","id":"torn' + bytes(1206))
        third = there.nacre(*again, "go on")
        fourth = there.nacre(*again, "and?")
    assert (third.code, fourth.code) == (0, 0), third.err + fourth.err
    assert server.rejected == []
    sent = json.dumps(server.requests[-1].json["messages"])
    assert all(words in sent for words in ("begin", "First answer.", "go on", "Going on."))
    torn = folder / f"{file.name}.torn-1"
    assert torn.read_bytes() == b'{"kind":"row","id":"torn' + bytes(1206)
    assert torn.name in third.err
    assert "Traceback" not in third.err
    assert fourth.err == ""


@pytest.mark.in_this_process
def test_s10_a_second_process_in_the_same_file_is_refused(home: Home) -> None:
    folder = home.root / "sessions"
    script = [reply(text("A long answer that waits.")).gate_after(4, "mid")]
    with MessagesServer(script) as server:
        there = replace(home, base_url=server.base_url)
        store = ("--store", f"jsonl:{folder}")
        process = there.start("run", "--json", *store, "--workspace", str(home.workspace), "begin")
        server.wait_at_gate("mid", timeout=SECONDS)
        file = folder / f"{tab_of(home)}.jsonl"
        before = file.read_bytes()
        second = there.nacre("run", *store, "--tab", tab_of(home), "me too")
        same = file.read_bytes() == before
        server.release("mid")
        process.communicate(timeout=SECONDS)
    assert second.code == 1
    assert "Another Nacre" in second.err
    assert str(process.pid) in second.err
    assert same
    assert process.returncode == 0


@pytest.mark.in_this_process
def test_s09_a_foreign_file_is_told_and_left_alone(home: Home) -> None:
    folder = home.root / "sessions"
    with MessagesServer([reply(text("Hi.")), reply(text("Never."))]) as server:
        there = replace(home, base_url=server.base_url)
        store = ("--store", f"jsonl:{folder}")
        assert there.run("begin", *store).code == 0
        file = folder / f"{tab_of(home)}.jsonl"
        file.write_bytes(b"my shopping list\n")
        found = there.nacre("run", *store, "--tab", tab_of(home), "more")
    assert found.code == 1
    assert str(file) in found.err
    assert "Traceback" not in found.err
    assert file.read_bytes() == b"my shopping list\n"
    assert len(server.requests) == 1


@pytest.mark.in_this_process
@pytest.mark.parametrize("choice", ["jsonl", "jsonl:", "file:x", "", "SQL", "null:x"])
def test_another_word_for_the_store_is_bad_use(home: Home, choice: str) -> None:
    found = home.run("hello", "--store", choice)
    assert found.code == 2
    assert "jsonl:DIR" in found.err
    assert not home.data.exists()


@pytest.mark.in_this_process
def test_a_place_that_is_no_folder_is_told(home: Home) -> None:
    (home.root / "taken").write_text("mine")
    with MessagesServer([reply(text("Never."))]) as server:
        found = replace(home, base_url=server.base_url).run(
            "hello", "--store", f"jsonl:{home.root / 'taken'}"
        )
    assert found.code == 1
    assert "is not a folder" in found.err
    assert (home.root / "taken").read_text() == "mine"
    assert server.requests == []


@pytest.mark.in_this_process
def test_a_conversation_in_a_file_is_found_by_everybody_without_the_flag(home: Home) -> None:
    """SPEC S12, C03: shown and gone on with from its file; its time and title are in the list."""
    folder = home.root / "sessions"
    with MessagesServer([reply(text("An answer.")), reply(text("Another."))]) as server:
        there = replace(home, base_url=server.base_url)
        assert there.run("what is nacre?", "--store", f"jsonl:{folder}").code == 0
        before = jsonl_lines(folder / f"{tab_of(home)}.jsonl")
        listed = json.loads(home.nacre("tabs", "--json").out)
        second = there.nacre("run", "--json", "--tab", tab_of(home), "thanks")
    assert listed["title"] == "what is nacre?"
    assert listed["lastMessageAt"] == max(one.get("at", 0) for one in before)
    assert second.code == 0, second.err
    assert_extends(*(request.json for request in server.requests))
    assert home.rows() == []
    shown = home.nacre("show", tab_of(home), "--json")
    lines = jsonl_lines(folder / f"{tab_of(home)}.jsonl")
    rows = [one for one in lines if one.get("kind") == "row"]
    assert [json.loads(line)["id"] for line in shown.out.splitlines()] == [
        row["id"] for row in rows
    ]
    later = json.loads(home.nacre("tabs", "--json").out)["lastMessageAt"]
    assert later == max(row["at"] for row in rows)


@pytest.mark.in_this_process
@pytest.mark.parametrize("other", ["sql", "null", "jsonl:elsewhere"])
def test_a_store_that_contradicts_the_conversations_own_is_refused(home: Home, other: str) -> None:
    folder = home.root / "sessions"
    with MessagesServer([reply(text("An answer.")), reply(text("Never."))]) as server:
        there = replace(home, base_url=server.base_url)
        assert there.run("hello", "--store", f"jsonl:{folder}").code == 0
        before = (folder / f"{tab_of(home)}.jsonl").read_bytes()
        found = there.nacre("run", "--store", other, "--tab", tab_of(home), "more")
    assert found.code == 1
    assert f"is kept in the folder {folder}" in found.err
    assert "Traceback" not in found.err
    assert (folder / f"{tab_of(home)}.jsonl").read_bytes() == before
    assert len(server.requests) == 1
    assert home.rows() == []


@pytest.mark.in_this_process
def test_a_folder_that_is_gone_is_named_and_never_an_empty_view(home: Home) -> None:
    """F-S02; and the conversation goes on where it is found again."""
    folder, moved = home.root / "sessions", home.root / "moved"
    with MessagesServer(
        [reply(text("One.")), reply(text("Two.")), reply(text("Three."))]
    ) as server:
        there = replace(home, base_url=server.base_url)
        assert there.run("hello", "--store", f"jsonl:{folder}").code == 0
        tab = tab_of(home)
        folder.rename(moved)
        missing = [
            home.nacre("show", tab),
            there.nacre("run", "--tab", tab, "more"),
            there.nacre("run", "--tab", tab, "--store", f"jsonl:{folder}", "more"),
        ]
        assert not folder.exists()
        named = there.nacre("run", "--json", "--tab", tab, "--store", f"jsonl:{moved}", "again")
        plain = there.nacre("run", "--json", "--tab", tab, "and again")
    for found in missing:
        assert found.code == 1
        assert found.out == ""
        assert f"the folder {folder}, which is not there" in found.err
        assert "Traceback" not in found.err
    assert (named.code, plain.code) == (0, 0), named.err + plain.err
    assert "One." in home.nacre("show", tab).out
    assert len(server.requests) == 3


@pytest.mark.in_this_process
def test_a_file_that_is_gone_is_named(home: Home) -> None:
    folder = home.root / "sessions"
    with MessagesServer([reply(text("One."))]) as server:
        there = replace(home, base_url=server.base_url)
        assert there.run("hello", "--store", f"jsonl:{folder}").code == 0
    file = folder / f"{tab_of(home)}.jsonl"
    file.unlink()
    found = home.nacre("show", tab_of(home))
    assert (found.code, found.out) == (1, "")
    assert f"the file {file}, which is not there" in found.err
    assert not file.exists()


@pytest.mark.in_this_process
def test_s06_a_conversation_that_is_not_kept_is_nowhere(home: Home) -> None:
    """S06: neither a row, nor its title, nor a file; the list does not know it."""
    script = [reply(tool_use("shell", {"command": "seq 1 30000"}), stop_reason="tool_use")]
    with MessagesServer([*script, reply(text("A pearl."))]) as server:
        there = replace(home, base_url=server.base_url)
        found = there.run("an oyster's secret", "--store", "null", "--permission", "auto")
    assert found.code == 0, found.err
    assert home.rows() == []
    assert home.rows("select * from tabs") == []
    assert home.rows("select * from agent_snapshots") == []
    assert home.nacre("tabs").out == ""
    assert home.nacre("search", "oyster").out == ""
    logs = "".join(one.read_text() for one in (home.data / "logs").iterdir())
    assert "Traceback" not in logs
    kept = [one.read_bytes() for one in home.data.rglob("*") if one.is_file()]
    assert not any(b"oyster" in content or b"pearl" in content for content in kept)
    assert not any(b"29999" in content for content in kept)


@pytest.mark.in_this_process
def test_u40_search_finds_what_is_kept_in_files_too(home: Home) -> None:
    """S09: newest conversation first, behind what the database has; what can't be read is told."""
    folder = home.root / "sessions"
    script = [reply(text(f"A pearl, number {n}.")) for n in range(4)]
    with MessagesServer(script) as server:
        there = replace(home, base_url=server.base_url)
        assert there.run("pearl in the database").code == 0
        for n in range(3):
            assert there.run(f"pearl in file {n}\u2028", "--store", f"jsonl:{folder}").code == 0
    found = home.nacre("search", "pearl", "--json")
    hits = [json.loads(line) for line in found.out.splitlines()]
    assert [one["title"] for one in hits] == [
        title
        for title in ("pearl in the database", *(f"pearl in file {n}" for n in (2, 1, 0)))
        for _ in range(2)
    ]
    assert [one["role"] for one in hits] == ["assistant", "user"] * 4
    assert {one["directory"] for one in hits} == {str(home.workspace)}
    assert all(one["snippet"][low:high] == "pearl" for one in hits for low, high in one["marks"])
    assert found.err == ""
    few = home.nacre("search", "pearl", "--limit", "2")
    assert "kept as files (3) were not looked at" in few.err
    next(folder.glob("*.jsonl")).unlink()
    some = home.nacre("search", "pearl", "--json")
    assert len(some.out.splitlines()) == 6
    assert "was not looked at" in some.err
    assert "Traceback" not in some.err


@pytest.mark.in_this_process
def test_backup_and_restore_say_what_is_kept_elsewhere(home: Home) -> None:
    """U17: and the conversation goes on from its folder after a wipe of the data folder."""
    folder = home.root / "sessions"
    with MessagesServer([reply(text("An answer.")), reply(text("Another."))]) as server:
        there = replace(home, base_url=server.base_url)
        assert there.run("hello", "--store", f"jsonl:{folder}").code == 0
        tab = tab_of(home)
        made = home.nacre("backup", "--json", str(home.root / "kept.zip"))
        shutil.rmtree(home.data)
        back = home.nacre("restore", str(home.root / "kept.zip"))
        after = there.nacre("run", "--json", "--tab", tab, "and?")
    assert (made.code, back.code, after.code) == (0, 0, 0), made.err + back.err + after.err
    assert f"kept as files in {folder} (1) are not in this backup" in made.err
    assert json.loads(made.out)["keptElsewhere"] == {str(folder): 1}
    assert f"in {folder} (1) did not come back" in back.err
    assert_extends(*(request.json for request in server.requests))


@pytest.mark.in_this_process
def test_doctor_looks_at_the_files_too(home: Home) -> None:
    folder = home.root / "sessions"
    with MessagesServer([reply(text("An answer."))]) as server:
        there = replace(home, base_url=server.base_url)
        assert there.run("hello", "--store", f"jsonl:{folder}").code == 0
    file = folder / f"{tab_of(home)}.jsonl"
    sound = home.nacre("doctor", "--json")
    whole = file.read_bytes()
    lines = whole.split(b"\n")
    lines[2] = b"}{"
    file.write_bytes(b"\n".join(lines))
    damaged = home.nacre("doctor", "--json")
    file.unlink()
    gone = home.nacre("doctor", "--json")
    assert [one.code for one in (sound, damaged, gone)] == [0, 1, 1]
    assert json.loads(sound.out)["log"]["files"] == {"ok": True, "conversations": 1, "faults": {}}
    assert "line 3" in json.loads(damaged.out)["log"]["files"]["faults"][tab_of(home)]
    assert "which is not there" in json.loads(gone.out)["log"]["files"]["faults"][tab_of(home)]


@pytest.mark.in_this_process
def test_f_s07_odd_text_in_a_file_is_sent_shown_and_found(home: Home) -> None:
    """F-S07, S09: nothing is cut at a NUL, and the next turn is kept as well."""
    folder = home.root / "sessions"
    script = [reply(text("An\x00 odd\u2028 answer.")), reply(text("And a plain one."))]
    with MessagesServer(script) as server:
        there = replace(home, base_url=server.base_url)
        store = ("--store", f"jsonl:{folder}")
        process = there.start(
            "run", "--json", *store, "--workspace", str(home.workspace), "-", stdin=PIPE
        )
        done = ended(process, "be\udcff\x00fore needle\u2028after")
        assert done.code == 0, done.err
        tab = tab_of(home)
        assert there.nacre("run", "--json", "--tab", tab, "more").code == 0
    assert server.rejected == []
    shown = home.nacre("show", tab)
    assert all(words in shown.out for words in ("needle", "odd", "And a plain one."))
    as_json = [json.loads(line) for line in home.nacre("show", tab, "--json").out.splitlines()]
    assert any(one["data"].get("text") == "be\ufffd\x00fore needle\u2028after" for one in as_json)
    (hit,) = [json.loads(one) for one in home.nacre("search", "needle", "--json").out.splitlines()]
    assert hit["tabId"] == tab


@pytest.mark.in_this_process
def test_s12_the_list_is_by_the_last_message_and_without_what_has_none(home: Home) -> None:
    """S12: opening and looking reorder nothing, whatever keeps the rows."""
    folder = home.root / "sessions"
    with MessagesServer([reply(text(f"Answer {n}.")) for n in range(4)]) as server:
        there = replace(home, base_url=server.base_url)
        assert there.run("first", "--store", f"jsonl:{folder}").code == 0
        assert there.run("second").code == 0
        assert there.run("third", "--store", f"jsonl:{folder}").code == 0
        first = home.rows("select id from tabs where title = 'first'")[0]["id"]
        begin_and_say_nothing(home)
        home.nacre("show", first)
        before = titles(home)
        assert there.nacre("run", "--json", "--tab", first, "again").code == 0
    assert before == ["first", "second", "third"]
    assert titles(home) == ["second", "third", "first"]
    assert home.rows("select count(*) n from tabs")[0]["n"] == 4


def begin_and_say_nothing(home: Home) -> None:
    """A conversation whose program died before its first message."""
    with closing(sqlite3.connect(home.database)) as connection, connection:
        connection.execute(
            "INSERT INTO tabs(id, workspace_id, title, position, is_open, created_at)"
            " SELECT 'empty', workspace_id, '', 9, 1, created_at FROM tabs LIMIT 1"
        )


def titles(home: Home) -> list[str]:
    return [json.loads(line)["title"] for line in home.nacre("tabs", "--json").out.splitlines()]
