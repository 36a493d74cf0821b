"""The first check of the one-shot migration: conversations go, the five kept tables stay (C01)."""

import hashlib
import logging
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from desktop.core.errors import NacreError, NewerSchema
from desktop.store import schema
from desktop.store.plain import SCHEMA
from tests.data import make_legacy_database as legacy
from tests.unit.store.builders import chunk, new_tab, open_log, run
from tests.unit.store.failing import failing_at

OPEN = """
import sys, uuid
from pathlib import Path
from desktop.store.log import Log
folder = Path(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
Log.open(folder / "nacre.db", blobs=folder / "blobs", run=folder / "run",
         new_id=lambda: uuid.uuid4().hex, now_ms=lambda: 1, busy_ms=30_000)
"""


def everything(database: Path) -> dict[str, object]:
    """All that a file says: its schema, its versions, and every value of every ordinary table."""
    with closing(sqlite3.connect(database)) as plain:
        plain.text_factory = bytes
        master = plain.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY 1, 2")
        found: dict[str, object] = {"schema": master.fetchall()}
        for pragma in ("user_version", "application_id"):
            found[pragma] = plain.execute(f"PRAGMA {pragma}").fetchone()
        tables = plain.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")
        for (name,) in tables.fetchall():
            digest = hashlib.sha256()
            for row in plain.execute(f"SELECT * FROM {name.decode()}"):
                digest.update(repr(row).encode())
            found[name.decode()] = digest.hexdigest()
        return found


def hashes(folder: Path) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
        if path.is_file() and path.suffix != ".lock"
    }


def copy_of(database: Path, version: int = 0) -> Path:
    return database.with_name(f"{database.name}.before-{SCHEMA}-was-{version}")


def test_c01_thousands_of_odd_rows_are_the_same_when_the_log_opens(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    database = legacy.make(tmp_path)
    before, whole = legacy.rows(database), everything(database)
    with caplog.at_level(logging.INFO, "desktop"), open_log(tmp_path) as log:
        assert legacy.rows(database) == before
        view = run(log.catalogue.view())
        assert (view.tabs, view.workspaces) == ((), ())
        assert run(log.catalogue.settings())["theme"] == "dark"
        assert run(log.doctor())["ok"]
        tab = new_tab(log, tmp_path)
        run(log.session(tab).append([chunk("one")]))
    assert f"from schema 0 to {SCHEMA} in " in caplog.text
    assert legacy.rows(database) == before
    with closing(sqlite3.connect(database)) as plain:
        names = {row[0] for row in plain.execute("SELECT name FROM sqlite_master")}
    assert "messages" not in names
    # What nobody promised is left alone too.
    assert names >= {"attachments", "audit", "keys_by_provider", "touch_key", "only_says"}
    assert everything(copy_of(database)) == whole
    assert copy_of(database).stat().st_mode & 0o077 == 0


def test_c01_a_second_start_changes_no_byte(tmp_path: Path) -> None:
    legacy.make(tmp_path, messages=50, huge=0)
    with open_log(tmp_path):
        pass
    before = hashes(tmp_path)
    for _ in range(2):
        with open_log(tmp_path) as log:
            run(log.catalogue.view())
    assert hashes(tmp_path) == before


def test_c01_a_failure_at_any_statement_leaves_the_old_content(tmp_path: Path) -> None:
    database = legacy.make(tmp_path, messages=50, huge=0, journal=False)
    before, kept = everything(database), legacy.rows(database)
    number, failures = 0, 0
    while True:
        number += 1
        with failing_at(number, database) as statements:
            try:
                schema.prepare(database, busy_ms=500)
            except NacreError:
                failures += 1
                assert everything(database) == before, f"statement {number}"
                assert statements.failed
                continue
        if not statements.failed:
            break
    assert failures > 60
    assert legacy.rows(database) == kept
    assert everything(copy_of(database)) == before
    assert not list(tmp_path.glob("*.part*"))
    with open_log(tmp_path) as log:
        assert run(log.doctor())["ok"]


def test_two_processes_that_migrate_at_once_both_work_and_keep_the_old_file(
    tmp_path: Path,
) -> None:
    database = legacy.make(tmp_path, messages=500, huge=1)
    before, whole = legacy.rows(database), everything(database)
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", OPEN, str(tmp_path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate(timeout=100)
        assert process.returncode == 0
    assert legacy.rows(database) == before
    assert everything(copy_of(database)) == whole


def test_a_process_that_comes_too_late_does_not_copy_the_new_file_over_the_old_ones_copy(
    tmp_path: Path,
) -> None:
    database = legacy.make(tmp_path, messages=5, huge=0)
    whole = everything(database)
    with open_log(tmp_path):
        pass
    # It had read the old version before the other one migrated.
    schema.migrate(database, busy_ms=500)
    assert everything(copy_of(database)) == whole


def test_a_copy_that_a_killed_process_left_half_made_is_swept(tmp_path: Path) -> None:
    database = legacy.make(tmp_path, messages=5, huge=0)
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    left = database.with_name(f"{copy_of(database).name}.{dead.pid}.part")
    for name in (left.name, left.name + "-journal"):
        database.with_name(name).write_bytes(b"half")
    with open_log(tmp_path):
        pass
    assert not list(tmp_path.glob("*.part*"))
    assert copy_of(database).exists()


@pytest.mark.parametrize("version", [SCHEMA, SCHEMA + 7])
def test_a_legacy_file_that_counted_its_own_versions_is_migrated(
    tmp_path: Path, version: int
) -> None:
    database = legacy.make(tmp_path, messages=5, huge=0)
    with closing(sqlite3.connect(database)) as plain:
        plain.execute(f"PRAGMA user_version={version}")
    before = legacy.rows(database)
    with open_log(tmp_path) as log:
        assert run(log.doctor())["ok"]
    assert legacy.rows(database) == before


def test_a09_a_log_of_a_newer_version_with_a_table_of_that_name_is_not_taken_for_legacy(
    tmp_path: Path,
) -> None:
    """A09, F-S09."""
    with open_log(tmp_path):
        pass
    with closing(sqlite3.connect(tmp_path / "nacre.db")) as plain:
        plain.execute("CREATE TABLE messages(id)")
        plain.execute(f"PRAGMA user_version={SCHEMA + 1}")
    before = hashes(tmp_path)
    with pytest.raises(NewerSchema), open_log(tmp_path):
        pass
    assert hashes(tmp_path) == before


def test_a_log_with_a_table_named_messages_keeps_its_conversations(tmp_path: Path) -> None:
    with open_log(tmp_path) as log:
        tab = new_tab(log, tmp_path)
        run(log.session(tab).append([chunk("one")]))
    with closing(sqlite3.connect(tmp_path / "nacre.db")) as plain:
        plain.execute("CREATE TABLE messages(id)")
    with open_log(tmp_path) as log:
        assert run(log.reader.page(tab, limit=1)).total == 1


def test_legacy_tabs_are_cleared_where_the_messages_are_gone_already(tmp_path: Path) -> None:
    database = legacy.make(tmp_path, messages=5, huge=0)
    with closing(sqlite3.connect(database)) as plain:
        plain.execute("DROP TABLE messages")
    before = legacy.rows(database)
    with open_log(tmp_path) as log:
        assert run(log.catalogue.view()).tabs == ()
    assert legacy.rows(database) == before


def test_a_legacy_file_whose_program_was_killed_in_a_write_is_recovered_first(
    tmp_path: Path,
) -> None:
    """F-S02: the rollback journal of a dead process lies beside the file."""
    source, folder = tmp_path / "source", tmp_path / "data"
    database = legacy.make(source, messages=200, huge=0)
    before = legacy.rows(database)
    folder.mkdir()
    with closing(sqlite3.connect(database, isolation_level=None)) as plain:
        plain.execute("PRAGMA cache_size=1")
        plain.execute("BEGIN")
        plain.execute("UPDATE settings SET value = 'half written ' || zeroblob(2000)")
        plain.execute("DELETE FROM api_keys")
        for path in source.glob("nacre.db*"):
            shutil.copy(path, folder)
        plain.execute("ROLLBACK")
    assert (folder / "nacre.db-journal").stat().st_size > 0
    with open_log(folder) as log:
        assert run(log.doctor())["ok"]
    assert legacy.rows(folder / "nacre.db") == before
