"""`nacre backup` and `nacre restore` as a person uses them, and going on afterwards."""

import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.e2e.nacre import KEY, Home
from tests.fakes.messages_api import MessagesServer, assert_extends, reply, text, tool_use


def _contents(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_u17_what_was_backed_up_is_shown_again_after_a_wipe_and_the_conversation_goes_on(
    home: Home,
) -> None:
    (home.workspace / "notes.txt").write_text("hay\nneedle\n")
    (home.workspace / "large.txt").write_text("a long line of text\n" * 20_000)
    script = [
        reply(
            tool_use("read_file", {"path": "notes.txt"}),
            tool_use("shell", {"command": "cat large.txt"}),
            stop_reason="tool_use",
        ),
        reply(text("Found it.")),
        reply(text("You are welcome.")),
    ]
    archive = home.root / "kept.zip"
    with MessagesServer(script) as server:
        there = replace(home, base_url=server.base_url)
        assert there.run("find the needle", "--permission", "auto").code == 0
        tab = home.rows("select id from tabs")[0]["id"]
        shown = there.nacre("show", "--json", tab)
        made = there.nacre("backup", "--json", str(archive))
        assert made.code == 0, made.err
        doctor = json.loads(there.nacre("doctor", "--json").out)["log"]["lastBackup"]

        shutil.rmtree(home.data)
        back = there.nacre("restore", "--json", str(archive))
        assert back.code == 0, back.err
        again = there.nacre("show", "--json", tab)
        after = there.nacre("run", "--json", "--tab", tab, "thanks")
    assert again.out == shown.out
    assert len(shown.out.splitlines()) > 5
    assert after.code == 0, after.err
    assert server.rejected == []
    bodies = [request.json for request in server.requests]
    assert_extends(bodies[1], bodies[2])
    found = json.loads(made.out)
    assert found["file"] == doctor["file"] == str(archive)
    assert found["bytes"] == doctor["bytes"] == archive.stat().st_size
    assert found["blobs"] == found["counts"]["blobs"] == 1
    assert json.loads(back.out)["counts"] == found["counts"]
    assert home.nacre("doctor", "--json").code == 0


def test_no_key_is_in_a_backup(home: Home) -> None:
    with MessagesServer([reply(text("Hello."))]) as server:
        there = replace(home, base_url=server.base_url)
        assert there.run("hello").code == 0
        made = there.nacre("backup", str(home.root / "b.zip"))
    assert made.code == 0, made.err
    other = replace(home, root=home.root / "other")
    other.root.mkdir()
    assert other.nacre("restore", str(home.root / "b.zip")).code == 0
    assert b"hello" in other.database.read_bytes()
    for path in (home.root / "b.zip", *other.data.rglob("*")):
        assert path.is_dir() or KEY.encode() not in path.read_bytes(), path


@pytest.mark.in_this_process
def test_a_backup_without_a_name_goes_to_the_data_folder_and_is_told_in_words(home: Home) -> None:
    assert home.nacre("tabs").code == 0
    made = home.nacre("backup")
    assert made.code == 0, made.err
    (file,) = _contents(home.data / "backups")
    assert file.startswith("nacre-20")
    assert file.endswith(".zip")
    assert str(home.data / "backups" / file) in made.out
    assert made.err == ""
    assert f"file: {home.data / 'backups' / file}" in home.nacre("doctor").out


@pytest.mark.in_this_process
def test_restore_refuses_a_folder_with_a_database_and_says_what_to_do(home: Home) -> None:
    assert home.nacre("tabs").code == 0
    archive = home.root / "b.zip"
    assert home.nacre("backup", str(archive)).code == 0
    before = home.database.read_bytes()
    found = home.nacre("restore", str(archive))
    assert found.code == 1
    assert "There is a database already" in found.err
    assert "--data-dir" in found.err
    assert home.database.read_bytes() == before


@pytest.mark.in_this_process
def test_a_damaged_backup_leaves_no_folder_behind_and_no_traceback(home: Home) -> None:
    assert home.nacre("tabs").code == 0
    archive = home.root / "b.zip"
    assert home.nacre("backup", str(archive)).code == 0
    shutil.rmtree(home.data)
    archive.write_bytes(archive.read_bytes()[:3_000])
    found = home.nacre("restore", str(archive))
    assert found.code == 1
    assert "nacre.db: the archive is cut off in it" in found.err
    assert "Traceback" not in found.err
    assert not home.data.exists()


@pytest.mark.in_this_process
def test_without_a_database_there_is_nothing_to_back_up_and_nothing_is_made(home: Home) -> None:
    found = home.nacre("backup")
    assert found.code == 1
    assert "nothing to back up" in found.err
    assert not home.data.exists()


@pytest.mark.in_this_process
def test_a_backup_of_a_folder_in_use_and_of_one_with_a_live_log_has_all_rows(home: Home) -> None:
    """A program that died left rows in the write-ahead log alone; another still holds the file."""
    assert home.nacre("tabs").code == 0
    with closing(sqlite3.connect(home.database, isolation_level=None)) as other:
        other.execute("INSERT INTO settings VALUES ('only in the log', '1')")
        assert home.database.with_name("nacre.db-wal").stat().st_size > 0
        made = home.nacre("backup", "--json", str(home.root / "b.zip"))
    assert made.code == 0, made.err
    new = replace(home, root=home.root / "new")
    new.root.mkdir()
    assert new.nacre("restore", str(home.root / "b.zip")).code == 0
    keys = [row["key"] for row in new.rows("select key from settings")]
    assert "only in the log" in keys


@pytest.mark.in_this_process
def test_u17_the_doctor_says_when_the_last_good_backup_is_too_old(home: Home) -> None:
    assert home.nacre("tabs").code == 0
    assert home.nacre("backup", str(home.root / "b.zip")).code == 0
    assert "days old" not in home.nacre("doctor").err
    with closing(sqlite3.connect(home.database)) as plain, plain:
        plain.execute("UPDATE backups SET created_at = created_at - 10 * 86400000")
    found = home.nacre("doctor")
    assert found.code == 0
    assert "the last good backup is 10 days old. `nacre backup` makes one." in found.err
    with closing(sqlite3.connect(home.database)) as plain, plain:
        plain.execute("INSERT INTO settings VALUES ('backup.interval', 'off')")
    assert "days old" not in home.nacre("doctor").err


@pytest.mark.in_this_process
def test_a_turn_without_a_window_makes_no_scheduled_backup(home: Home) -> None:
    with MessagesServer([reply(text("Hello."))]) as server:
        assert replace(home, base_url=server.base_url).run("hello").code == 0
    assert not (home.data / "backups").exists()
