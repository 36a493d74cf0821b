"""What the world throws at the program: each has a sentence for the person and loses nothing.

The rest of these stand in `test_run` (keys, servers, odd text, a read-only folder) and in the unit
tests of the layers.
"""

import contextlib
import json
import os
import shlex
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from desktop.settings import TOOL_OUTPUT_LIMIT
from tests.e2e.disk import fill, locked, remount, small_disk
from tests.e2e.nacre import SECONDS, Ended, Home, ended
from tests.fakes.messages_api import MessagesServer, Reply, assert_extends, reply, text, tool_use

LOCKED_SECONDS = 8.0  # longer than a writer waits for another program
MEGABYTE = 1024 * 1024


# -- folders and files ------------------------------------------------------------------------


@pytest.mark.in_this_process
def test_a_folder_that_vanished_between_two_turns_is_told_to_the_model(home: Home) -> None:
    script = [
        reply("Here I am."),
        reply(
            tool_use("list_dir", {"path": "."}),
            tool_use("read_file", {"path": "notes.txt"}),
            tool_use("glob", {"pattern": "*"}),
            tool_use("write_file", {"path": "new.txt", "content": "x"}),
            tool_use("shell", {"command": "ls"}),
        ),
        reply("Your folder is gone."),
    ]
    with MessagesServer(script) as server:
        there = replace(home, base_url=server.base_url)
        assert there.run("hello", "--permission", "auto").code == 0
        shutil.rmtree(home.root / "workspace")
        found = go_on(there, "look again")
    assert_calm(home, found)
    assert found.code == 0
    assert server.rejected == []
    assert [one["isError"] for one in results(home)] == [True] * 5
    assert not (home.root / "workspace").exists()
    assert_extends(server.requests[0].json, server.requests[1].json)
    assert_extends(server.requests[1].json, server.requests[2].json)


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_loop(path: Path) -> None:
    path.symlink_to(path.name)


def make_dangling(path: Path) -> None:
    path.symlink_to("nowhere")


def make_folder(path: Path) -> None:
    path.mkdir()


def make_binary(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 64)


def make_forbidden(path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    path.write_text("secret")
    path.chmod(0)


@pytest.mark.in_this_process
@pytest.mark.skipif(sys.platform == "win32", reason="pipes and links of POSIX")
@pytest.mark.parametrize(
    "make", [make_pipe, make_loop, make_dangling, make_folder, make_binary, make_forbidden]
)
def test_a_file_that_cannot_be_read_is_an_error_for_the_model(
    home: Home, make: Callable[[Path], None]
) -> None:
    make(home.workspace / "odd")
    script = [reply(tool_use("read_file", {"path": "odd"})), reply("I can't read it.")]
    with MessagesServer(script) as server:
        found = replace(home, base_url=server.base_url).run("read it")
    assert_calm(home, found)
    assert found.code == 0
    (result,) = results(home)
    assert result["isError"] is True
    assert "odd" in result["result"] or "nowhere" in result["result"]


# -- what the model and its tools say ---------------------------------------------------------


@pytest.mark.in_this_process
@pytest.mark.parametrize("arguments", ['{"path": ', "not json at all", "[1, 2]", '"notes.txt"', ""])
def test_tool_arguments_that_are_no_json_object_are_answered_and_the_turn_goes_on(
    home: Home, arguments: str
) -> None:
    script = [reply(tool_use("read_file", arguments)), reply("I try another way.")]
    with MessagesServer(script) as server:
        found = replace(home, base_url=server.base_url).run("read it")
    assert_calm(home, found)
    assert found.code == 0
    assert server.rejected == []
    (result,) = results(home)
    assert result["isError"] is True


@pytest.mark.in_this_process
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")
@pytest.mark.timeout(300)
def test_three_hundred_megabytes_of_broken_text_stay_small(home: Home) -> None:
    """The output is cut at its limit, its bytes are made valid, the memory does not follow it."""
    junk = home.workspace / "junk"
    junk.write_bytes(b"caf\xe9 \xff\xfe \xf0\x9f\n")
    command = f"yes {shlex.quote('x')} | head -c {MEGABYTE} >> junk; "
    command += "for i in $(seq 300); do cat junk; done; echo the very end"
    script = [reply(tool_use("shell", {"command": command})), reply("That was a lot.")]
    with MessagesServer(script) as server:
        there = replace(home, base_url=server.base_url)
        assert there.nacre("doctor").code == 0
        set_setting(home, TOOL_OUTPUT_LIMIT.key, "1")
        process = there.start(
            *("run", "--json", "--permission", "auto", "--workspace", str(home.workspace), "go")
        )
        with memory_watched(process) as peaks:
            found = ended(process)
    assert_calm(home, found)
    assert found.code == 0
    assert server.rejected == []
    assert 0 < max(peaks) < 500 * MEGABYTE
    (result,) = results(home)
    assert result["isError"] is False
    assert "caf\ufffd" in result["result"]
    assert "the very end" in result["result"][-500:]
    assert len(result["result"]) < MEGABYTE
    assert home.database.stat().st_size < MEGABYTE
    assert sum(path.stat().st_size for path in home.data.rglob("*") if path.is_file()) < (
        10 * MEGABYTE
    )


# -- the database -----------------------------------------------------------------------------


@pytest.mark.in_this_process
def test_a_database_locked_before_a_start_is_waited_for_or_told(home: Home) -> None:
    with MessagesServer() as server:
        there = replace(home, base_url=server.base_url)
        assert there.run("one").code == 0
        with locked(home.database):
            process = there.start("run", "--json", *tab_of(home), "two")
            found = ended_within(process, LOCKED_SECONDS)
        found = found or ended(process)
        assert_calm(home, found)
        if found.code:
            assert str(home.database) in found.err
        assert go_on(there, "three").code == 0
    assert server.rejected == []
    said = [json.loads(row["data_json"])["text"] for row in home.rows() if row["role"] == "user"]
    assert said == (["one", "three"] if found.code else ["one", "two", "three"])
    assert home.nacre("doctor").code == 0


@pytest.mark.in_this_process
def test_a_database_locked_in_mid_answer_loses_nothing_that_was_shown(home: Home) -> None:
    """SPEC A08: what could not be written at once is written later, in order."""
    script = [reply(text("All of this was shown.")).gate_after(4, "mid"), reply("Going on.")]
    with MessagesServer(script) as server:
        there = replace(home, base_url=server.base_url)
        process = there.start("run", "--workspace", str(home.workspace), "begin")
        server.wait_at_gate("mid", timeout=SECONDS)
        with locked(home.database):
            server.release("mid")
            early = ended_within(process, LOCKED_SECONDS)
        found = early or ended(process)
        assert_calm(home, found)
        if found.code:
            assert str(home.database) in found.err
        second = go_on(there, "and now?")
        assert second.code == 0, second.err
    assert server.rejected == []
    shown = found.out.strip()
    assert shown == "All of this was shown."
    texts = [json.loads(row["data_json"])["text"] for row in home.rows() if row["type"] == "text"]
    assert texts == ["begin", shown, "and now?", "Going on."]


@pytest.mark.in_this_process
def test_a_full_data_folder_is_told_and_after_making_room_it_goes_on(home: Home) -> None:
    with small_disk(home.data, "6m"), MessagesServer(chatty()) as server:
        there = replace(home, base_url=server.base_url)
        assert there.run("one").code == 0
        before = [row["id"] for row in home.rows()]
        tab = tab_of(home)
        filler = home.data / "filler"
        fill(filler)
        found = there.nacre("run", *tab, "two")
        assert "no room" in found.err.lower(), found.err
        assert found.code == 1
        assert "Traceback" not in found.err
        filler.unlink()
        assert [row["id"] for row in home.rows()][: len(before)] == before
        again = go_on(there, "three")
        assert again.code == 0, again.err
        assert home.nacre("doctor").code == 0
        assert server.rejected == []


@pytest.mark.in_this_process
def test_a_data_folder_that_gets_full_in_mid_answer_keeps_the_log_sound(home: Home) -> None:
    """SPEC A08: the turn ends with a sentence; the next one is a valid request."""
    with small_disk(home.data, "6m"):
        script = [reply(text("Shown, and then no room. " * 20)).gate_after(6, "mid")]
        with MessagesServer(script) as server:
            there = replace(home, base_url=server.base_url)
            process = there.start("run", "--workspace", str(home.workspace), "begin")
            server.wait_at_gate("mid", timeout=SECONDS)
            fill(home.data / "filler")
            server.release("mid")
            found = ended(process)
            assert "Traceback" not in found.err
            (home.data / "filler").unlink()
            again = go_on(there, "go on")
            assert again.code == 0, again.err
            assert server.rejected == []
        assert home.nacre("doctor").code == 0
        assert found.code == 0 or "no room" in found.err.lower(), found.err


def test_a_read_only_data_folder_can_be_looked_at_and_says_why_not_more(home: Home) -> None:
    with small_disk(home.data, "20m"), MessagesServer() as server:
        there = replace(home, base_url=server.base_url)
        assert there.run("one").code == 0
        tab = tab_of(home)
        remount(home.data, "ro")
        found = there.nacre("run", *tab, "two")
        assert found.code == 1
        assert str(home.data) in found.err
        assert "Traceback" not in found.err
        listed = home.nacre("tabs", "--json")
        assert [one["title"] for one in (json.loads(x) for x in listed.out.splitlines())] == ["one"]
        remount(home.data, "rw")
        assert go_on(there, "three").code == 0
    assert len(server.requests) == 2


def test_a09_a_database_of_a_newer_version_is_refused_and_not_touched(home: Home) -> None:
    with MessagesServer() as server:
        there = replace(home, base_url=server.base_url)
        assert there.run("one").code == 0
        with contextlib.closing(sqlite3.connect(home.database)) as connection:
            connection.execute("pragma user_version = 9999")
        before = home.database.read_bytes()
        for command in (("run", *tab_of(home), "two"), ("tabs",), ("doctor",)):
            found = there.nacre(*command)
            assert found.code == 1, command
            assert "newer" in found.err
            assert "Traceback" not in found.err
        window = there.nacre("--selftest-window", str(home.root / "window.png"))
        assert "Traceback" not in window.err
    assert home.database.read_bytes() == before
    assert len(server.requests) == 1


@pytest.mark.in_this_process
@pytest.mark.parametrize(
    "content", [b"not a database, but my notes\n" * 200, b"\0" * 8192, b"x" * 99, b"x"]
)
def test_a_file_that_is_no_database_is_refused_and_not_touched(home: Home, content: bytes) -> None:
    home.data.mkdir(mode=0o700)
    home.database.write_bytes(content)
    there = replace(home, base_url="http://127.0.0.1:9")
    for command in (("run", "--workspace", str(home.workspace), "one"), ("tabs",)):
        found = there.nacre(*command)
        assert found.code == 1, found.err
        assert str(home.database) in found.err
        assert "Traceback" not in found.err
    assert home.database.read_bytes() == content


# -- the server -------------------------------------------------------------------------------


@pytest.mark.in_this_process
def test_a_server_that_answers_with_a_web_page_is_told(home: Home) -> None:
    page = Reply(headers=(("content-type", "text/html"),), body=b"<html>Welcome</html>")
    with MessagesServer([page], otherwise=lambda _: page, strict=False) as server:
        found = replace(home, base_url=server.base_url).nacre(
            "run", "--workspace", str(home.workspace), "hello"
        )
    assert_calm(home, found)
    assert found.code == 1
    assert found.err.strip()
    assert "<html>" not in found.err


# -- words of these tests ---------------------------------------------------------------------


def tab_of(home: Home) -> tuple[str, str]:
    """The words that name the one conversation."""
    return "--tab", home.rows("select id from tabs")[0]["id"]


def go_on(home: Home, text_: str) -> Ended:
    """The next turn of the one conversation."""
    return home.nacre("run", *tab_of(home), text_)


def set_setting(home: Home, key: str, value: str) -> None:
    """A setting as the settings dialog keeps it."""
    with contextlib.closing(sqlite3.connect(home.database)) as connection, connection:
        connection.execute("insert into settings (key, value) values (?, ?)", (key, value))


def results(home: Home) -> list[dict[str, Any]]:
    """The tool results in the database."""
    return [json.loads(row["data_json"]) for row in home.rows() if row["type"] == "tool_result"]


def assert_calm(home: Home, found: Ended) -> None:
    """No traceback reached the person or the log."""
    assert "Traceback" not in found.err + found.out, found.err
    for log in (home.data / "logs").glob("*"):
        assert "Traceback" not in log.read_text("utf-8"), log.read_text("utf-8")


def chatty() -> list[Reply]:
    return [reply(f"Answer {number}.") for number in range(1, 6)]


def ended_within(process: "subprocess.Popen[str]", seconds: float) -> Ended | None:
    """The process if it ends within so many seconds."""
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        return None
    return Ended(process.returncode, out, err)


@contextlib.contextmanager
def memory_watched(process: "subprocess.Popen[str]") -> Generator[list[int]]:
    """Grows by the most bytes that the process has held so far, seen from outside."""
    peaks: list[int] = []
    over = threading.Event()
    status = Path(f"/proc/{process.pid}/status")

    def watch() -> None:
        while not over.wait(0.1):
            with contextlib.suppress(OSError):
                peaks.extend(
                    int(line.split()[1]) * 1024
                    for line in status.read_text().splitlines()
                    if line.startswith("VmHWM:")
                )

    watcher = threading.Thread(target=watch, name="memory")
    watcher.start()
    try:
        yield peaks
    finally:
        over.set()
        watcher.join()


@pytest.mark.in_this_process
def test_a_damaged_file_is_found_in_the_background_and_the_turn_goes_on(home: Home) -> None:
    """F-S02: every open has the file looked over; what can be read stays readable."""
    with MessagesServer([reply("One."), reply("Two.")]) as server:
        there = replace(home, base_url=server.base_url)
        assert there.run("hello").code == 0
        (root,) = home.rows("SELECT rootpage FROM sqlite_master WHERE name = 'bookmarks'")
        (size,) = home.rows("PRAGMA page_size")
        with home.database.open("r+b") as file:
            file.seek((root[0] - 1) * size[0])
            file.write(b"\xff" * size[0])
        found = go_on(there, "and on")
    assert_calm(home, found)
    assert found.code == 0
    assert f"{home.database} is damaged" in found.err
    assert "nacre doctor" in found.err
