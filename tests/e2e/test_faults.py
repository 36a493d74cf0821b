"""Real processes on damaged, full, locked and read-only data folders (FIELD F-S, F-C)."""

import contextlib
import json
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.disk import fill, locked, remount, small_disk
from tests.e2e.nacre import SECONDS, Ended, Home, ended, kill
from tests.fakes.messages_api import (
    MessagesServer,
    Received,
    Reply,
    assert_extends,
    reply,
    text,
    tool_use,
)

LOCKED_SECONDS = 8.0  # longer than a writer waits for another program
DELTA_MS = 50  # twenty a second


def tab_of(home: Home) -> str:
    return home.rows("select id from tabs")[0]["id"]


def tabs_of(home: Home) -> list[str]:
    return [row["id"] for row in home.rows("select id from tabs order by created_at")]


def said(home: Home) -> list[str]:
    """The texts of the persons and the model, conversation by conversation."""
    return [json.loads(row["data_json"])["text"] for row in home.rows() if row["type"] == "text"]


def shown(found: Ended) -> dict[str, str]:
    """What was shown of each block, by its id."""
    blocks: dict[str, str] = {}
    for one in found.named("chunk-delta"):
        blocks[one["id"]] = blocks.get(one["id"], "") + one["text"]
    return blocks


# -- two processes and a third that holds the database (F-S01) --------------------------------


def long_answer(received: Received) -> Reply:
    """Twenty blocks of ten deltas: some ten seconds."""
    name = received.last_text
    return reply(*(text(f"{name} {n:02d} " * 12, chunk=12) for n in range(20))).paced(DELTA_MS)


@pytest.mark.in_this_process
@pytest.mark.timeout(300)
def test_f_s01_two_processes_stream_while_a_third_holds_the_database(home: Home) -> None:
    """FIELD F-S01, SPEC A08, U16: nothing that was shown is lost; who gives up says why."""
    with MessagesServer(otherwise=long_answer) as server:
        there = replace(home, base_url=server.base_url)
        assert there.nacre("tabs").code == 0
        words = ("run", "--json", "--workspace", str(home.workspace))
        processes = [there.start(*words, name) for name in ("one", "two")]
        outputs = [Listener(process) for process in processes]
        for output in outputs:
            output.wait_for("chunk-delta")
        with locked(home.database):
            outputs[0].over.wait(LOCKED_SECONDS)
        found = [output.ended() for output in outputs]
        assert server.rejected == []
    rows = {row["id"]: json.loads(row["data_json"]) for row in home.rows()}
    for one in found:
        assert "Traceback" not in one.err
        if one.code:
            assert str(home.database) in one.err
        blocks = shown(one)
        assert blocks
        assert {id_: rows[id_]["text"] for id_ in blocks} == blocks
        assert all(rows[event["id"]] == event["data"] for event in one.named("chunk-seal"))
    assert home.nacre("doctor").code == 0


@pytest.mark.in_this_process
def test_f_s01_two_processes_send_in_one_conversation(home: Home) -> None:
    """FIELD F-S01, SPEC C14, U15: one turn at a time; the other is told who works there."""
    slow = reply(text("Slowly, slowly.", chunk=4)).gate_after(5, "mid")
    with MessagesServer([reply("Hello."), slow, reply("Quickly.")]) as server:
        there = replace(home, base_url=server.base_url)
        assert there.run("begin").code == 0
        tab = tab_of(home)
        first = Listener(there.start("run", "--json", "--tab", tab, "first"))
        first.wait_for("chunk-delta")
        second = there.nacre("run", "--json", "--tab", tab, "second")
        server.release("mid")
        done = first.ended()
        third = there.nacre("run", "--json", "--tab", tab, "third")
        assert server.rejected == []
    assert (done.code, second.code, third.code) == (0, 1, 0)
    assert "working in this conversation" in second.err
    assert "Traceback" not in second.err
    assert said(home) == ["begin", "Hello.", "first", "Slowly, slowly.", "third", "Quickly."]
    seqs = [row["seq"] for row in home.rows()]
    assert seqs == list(range(1, len(seqs) + 1))
    bodies = [request.json for request in server.requests]
    assert_extends(bodies[0], bodies[1])
    assert_extends(bodies[1], bodies[2])


def test_c14_two_processes_that_start_at_once_in_one_conversation(home: Home) -> None:
    """SPEC C14, U15: whoever comes second waits or is refused; no text is lost or said twice."""
    with MessagesServer() as server:
        there = replace(home, base_url=server.base_url)
        assert there.run("begin").code == 0
        words = ("run", "--json", "--tab", tab_of(home))
        processes = [there.start(*words, name) for name in ("left", "right")]
        found = dict(zip(("left", "right"), map(ended, processes), strict=True))
        assert server.rejected == []
    assert 0 in {one.code for one in found.values()}
    for name, one in found.items():
        assert said(home).count(name) == (one.code == 0)
        assert one.code == 0 or "working in this conversation" in one.err, one.err
    seqs = [row["seq"] for row in home.rows()]
    assert seqs == list(range(1, len(seqs) + 1))


# -- damaged files (F-S02) --------------------------------------------------------------------


@pytest.mark.in_this_process
def test_f_s02_a_row_of_half_a_json_text_is_told_and_the_conversation_goes_on(home: Home) -> None:
    """FIELD F-S02 b, SPEC C12: the intact rows are shown, the damaged one stays where it is."""
    with MessagesServer([reply("One."), reply("Two.")]) as server:
        there = replace(home, base_url=server.base_url)
        assert there.run("first").code == 0
        tab = tab_of(home)
        whole = home.rows()
        with contextlib.closing(sqlite3.connect(home.database)) as plain, plain:
            plain.execute(
                "insert into chunks(id, tab_id, seq, turn_id, role, type, data_json, created_at)"
                " values ('half', ?, ?, 't', 'assistant', 'text', '{\"text\": \"secret ha', 1)",
                (tab, len(whole) + 1),
            )
        shown_rows = there.nacre("show", "--json", tab)
        again = there.nacre("run", "--json", "--tab", tab, "second")
        assert server.rejected == []
    assert shown_rows.code == 0
    assert len(shown_rows.out.splitlines()) == len(whole) + 1
    assert again.code == 0, again.err
    assert "Traceback" not in again.err
    rows = home.rows()
    assert [tuple(row) for row in rows[: len(whole)]] == [tuple(row) for row in whole]
    assert rows[len(whole)]["data_json"] == '{"text": "secret ha'
    assert_extends(server.requests[0].json, server.requests[1].json)
    report = json.loads(home.nacre("doctor", "--json").out)["log"]
    assert (report["ok"], report["damagedRows"]) == (False, 1)


@pytest.mark.in_this_process
def test_f_s02_a_log_whose_last_pages_are_torn_opens_and_goes_on(home: Home) -> None:
    """FIELD F-S02 a, c: copied while it streams, and the tail of the copy is damaged."""
    script = [
        reply("One."),
        reply(text("Two. "), text("And a half.")).gate_after(8, "mid"),
        reply("Three."),
    ]
    other = replace(home, root=home.root / "other")
    other.root.mkdir()
    with MessagesServer(script) as server:
        there = replace(home, base_url=server.base_url)
        server.may_rewrite("the copy lacks the last rows")
        assert there.run("first").code == 0
        tab = tab_of(home)
        process = there.start("run", "--json", "--tab", tab, "second")
        server.wait_at_gate("mid", timeout=SECONDS)
        other.data.mkdir()
        for end in ("", "-wal"):
            shutil.copy(home.data / f"nacre.db{end}", other.data)
        kill(process)
        server.release("mid")
        wal = other.data / "nacre.db-wal"
        content = wal.read_bytes()
        wal.write_bytes(content[:-4096] + bytes(min(4096, len(content))))
        # The workspace is the first home's.
        found = replace(other, base_url=server.base_url).nacre(
            "run", "--json", "--tab", tab, "third"
        )
        assert server.rejected == []
    assert found.code == 0, found.err
    assert {"first", "One.", "third", "Three."} <= set(said(other))
    assert other.nacre("doctor").code == 0


@pytest.mark.in_this_process
def test_f_s02_a_lock_file_of_a_dead_process_blocks_nobody(home: Home) -> None:
    """FIELD F-S02 e."""
    with MessagesServer([reply("One."), reply("Two.")]) as server:
        there = replace(home, base_url=server.base_url)
        assert there.run("first").code == 0
        tab = tab_of(home)
        (home.data / "run" / "4242-dead.lock").touch()
        with contextlib.closing(sqlite3.connect(home.database)) as plain, plain:
            plain.execute("insert into leases values (?, '4242-dead', 1)", (tab,))
        assert there.nacre("run", "--tab", tab, "second").code == 0


# -- full disks (F-S04) -----------------------------------------------------------------------


def test_f_s04_a_full_temporary_folder_stops_nothing(home: Home) -> None:
    """FIELD F-S04, third run: nothing of a conversation lies in the temporary folder."""
    temporary = home.root / "temporary"
    command = "seq 200000"
    script = [reply(tool_use("shell", {"command": command})), reply("Counted."), reply("Still.")]
    with small_disk(temporary, "1m"), MessagesServer(script) as server:
        fill(temporary / "filler")
        full = {name: str(temporary) for name in ("TMPDIR", "TEMP", "TMP", "SQLITE_TMPDIR")}
        there = replace(home, base_url=server.base_url, extra=full)
        found = there.run("count", "--permission", "auto")
        assert found.code == 0, found.err
        assert "Traceback" not in found.err
        assert there.nacre("search", "Counted").code == 0
        assert there.nacre("run", "--tab", tab_of(home), "again").code == 0
        made = there.nacre("backup", str(home.root / "kept.zip"))
        assert made.code == 0, made.err
        assert server.rejected == []
    (result,) = [row for row in home.rows() if row["type"] == "tool_result"]
    assert json.loads(result["data_json"])["isError"] is False


@pytest.mark.in_this_process
def test_f_s04_a_file_that_finds_no_room_is_an_error_and_the_old_one_stays(home: Home) -> None:
    """FIELD F-S04: the workspace is on a full disk, the data folder is not."""
    old = "old and whole\n" * 100
    script = [
        reply(
            tool_use("write_file", {"path": "notes.txt", "content": "new\n" * 50_000}),
            tool_use("edit_file", {"path": "notes.txt", "old": "whole", "new": "w" * 90_000}),
        ),
        reply("There is no room."),
    ]
    workspace = home.root / "workspace"
    with small_disk(workspace, "1m"), MessagesServer(script) as server:
        (workspace / "notes.txt").write_text(old)
        fill(workspace / "filler")
        found = replace(home, base_url=server.base_url).run("write", "--permission", "auto")
        assert (workspace / "notes.txt").read_text() == old
        assert sorted(path.name for path in workspace.iterdir()) == ["filler", "notes.txt"]
        assert server.rejected == []
    assert found.code == 0, found.err
    results = [json.loads(row["data_json"]) for row in home.rows() if row["type"] == "tool_result"]
    assert [one["isError"] for one in results] == [True, True]


# -- read-only folders (F-C05) ----------------------------------------------------------------


def closed(home: Home) -> None:
    """The last process ended well: no write-ahead log, no shared memory."""
    assert sorted(path.name for path in home.data.glob("nacre.db*")) == ["nacre.db"]


def killed(home: Home) -> None:
    """The last process did not: what it wrote last is in the write-ahead log alone."""
    program = (
        "import os, sqlite3, sys; plain = sqlite3.connect(sys.argv[1]);"
        "plain.execute(\"insert into settings values ('theme', 'dark')\"); plain.commit();"
        "os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", program, str(home.database)], check=False)
    assert (home.data / "nacre.db-wal").stat().st_size > 0


@pytest.mark.in_this_process
@pytest.mark.parametrize("leave", [closed, killed])
def test_f_c05_a_history_on_a_read_only_disk_is_read_and_searched(
    home: Home, leave: Callable[[Home], None]
) -> None:
    """FIELD F-C05: looking works, and what can't be kept is said before anything is sent."""
    with small_disk(home.data, "20m"), MessagesServer([reply("A needle.")]) as server:
        there = replace(home, base_url=server.base_url)
        assert there.run("one").code == 0
        tab = tab_of(home)
        leave(there)
        sent = len(server.requests)
        before = files(home.data)
        remount(home.data, "ro")
        try:
            commands: dict[str, Ended] = {
                words[0]: there.nacre(*words)
                for words in (
                    ("tabs",),
                    ("show", tab),
                    ("search", "needle"),
                    ("run", "--tab", tab, "two"),
                    ("doctor",),
                )
            }
        finally:
            remount(home.data, "rw")
        assert files(home.data) == before
    for name, found in commands.items():
        assert "Traceback" not in found.err + found.out, name
    for name in ("tabs", "show", "search", "doctor"):
        assert commands[name].code == 0, (name, commands[name].err)
    assert "needle" in commands["search"].out
    assert "A needle." in commands["show"].out
    assert commands["run"].code == 1
    assert str(home.data) in commands["run"].err
    assert len(server.requests) == sent


@pytest.mark.in_this_process
def test_f_c05_a_copy_of_an_unclosed_log_on_a_read_only_disk_says_what_to_do(home: Home) -> None:
    """FIELD F-C05: the shared memory did not come along; an incomplete history is never shown."""
    with small_disk(home.data, "20m"), MessagesServer([reply("A needle.")]) as server:
        there = replace(home, base_url=server.base_url)
        assert there.run("one").code == 0
        tab = tab_of(home)
        killed(there)
        (home.data / "nacre.db-shm").unlink()
        remount(home.data, "ro")
        try:
            found = there.nacre("show", tab)
        finally:
            remount(home.data, "rw")
        assert there.nacre("show", tab).code == 0
    assert found.code == 1
    assert found.out == ""
    assert "did not end well" in found.err
    assert "--data-dir" in found.err


def files(folder: Path) -> dict[str, bytes]:
    """What a folder holds, without what only living processes share."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith("-shm")
    }


# -- words of these tests ---------------------------------------------------------------------


class Listener:
    """Reads what a running process prints, so that it never waits for its reader."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.over = threading.Event()
        self._process = process
        self._news = threading.Condition()
        self._lines: list[str] = []
        self._errors = ""
        self._threads = [
            threading.Thread(target=work, name="listener") for work in (self._out, self._err)
        ]
        for thread in self._threads:
            thread.start()

    def wait_for(self, event: str) -> None:
        """Until an event of this name was printed."""

        def has_come() -> bool:
            return self.over.is_set() or any(
                json.loads(line)["event"] == event for line in self._lines
            )

        with self._news:
            assert self._news.wait_for(has_come, SECONDS)
        assert not self.over.is_set(), self._errors

    def ended(self) -> Ended:
        code = self._process.wait(SECONDS)
        for thread in self._threads:
            thread.join()
        return Ended(code, "".join(self._lines), self._errors)

    def _out(self) -> None:
        out: Any = self._process.stdout
        with out:
            for line in out:
                with self._news:
                    self._lines.append(line)
                    self._news.notify_all()
        with self._news:
            self.over.set()
            self._news.notify_all()

    def _err(self) -> None:
        err: Any = self._process.stderr
        with err:
            self._errors = err.read()
