"""Opening a file: made, migrated, refused, or only read."""

import hashlib
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from desktop.core.errors import NewerSchema, StoreDamaged, StoreError, StoreReadOnly
from desktop.store import schema, triggers
from desktop.store.connection import engine
from desktop.store.plain import SCHEMA
from desktop.store.tables import Row
from tests.data import make_legacy_database as legacy
from tests.unit.store import builders
from tests.unit.store.builders import chunk, new_tab, run, tool_turn

LEGACY = (
    legacy.TABLES
    + """
INSERT INTO messages VALUES('m', 't', 0, 'user', '[]', 1);
INSERT INTO tabs VALUES('t', 'Old', 'k', 'm', NULL, 'idle', 1, 0, 1, 1);
INSERT INTO settings VALUES('theme', 'dark'), ('odd', NULL);
INSERT INTO usage_cache VALUES('k', 'p', 1, '{}');
INSERT INTO wake_schedule VALUES(7, 9);
INSERT INTO credentials VALUES('k', 'p', 'a', 'r', 1, 's', 'f', 2, 3);
INSERT INTO api_keys VALUES('k', 'p', 'x', 1, 2);
"""
)
# Here a file is made by the log that is looked at.
open_log = partial(builders.open_log, is_made_here=True)
KEPT = ("settings", "usage_cache", "wake_schedule", "credentials", "api_keys")


def _hashes(folder: Path) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
        if path.is_file() and path.suffix != ".lock"
    }


def _is_mapped(name: str | None, kind: str, _parents: object) -> bool:
    """Not the full-text index, which no mapped class can say."""
    return kind != "table" or "search" not in str(name)


def _tables(database: Path, tables: tuple[str, ...]) -> dict[str, list[tuple[object, ...]]]:
    with closing(sqlite3.connect(database)) as plain:
        return {one: plain.execute(f"SELECT rowid, * FROM {one}").fetchall() for one in tables}


def test_the_migrated_file_is_what_the_tables_describe(tmp_path: Path) -> None:
    with open_log(tmp_path):
        pass
    with engine(tmp_path / "nacre.db", "read", busy_ms=100).connect() as connection:
        context = MigrationContext.configure(
            connection,
            opts={
                "compare_type": True,
                "compare_server_default": True,
                "include_name": _is_mapped,
            },
        )
        assert compare_metadata(context, Row.metadata) == []
        found = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type='trigger'")
        assert set(found.scalars()) == set(triggers.TRIGGERS)


def test_a_fresh_file_is_private_and_keeps_a_write_ahead_log(tmp_path: Path) -> None:
    with open_log(tmp_path) as log:
        new_tab(log, tmp_path)
        assert (tmp_path / "nacre.db").stat().st_mode & 0o077 == 0
        assert (tmp_path / "nacre.db-wal").exists()
    assert sorted(_hashes(tmp_path)) == ["nacre.db"]


def test_a_second_start_changes_nothing(tmp_path: Path) -> None:
    """C01."""
    with open_log(tmp_path) as log:
        new_tab(log, tmp_path)
    before = _hashes(tmp_path)
    with open_log(tmp_path):
        pass
    assert _hashes(tmp_path) == before


@pytest.mark.parametrize("unfinished", [False, True])
def test_a_newer_file_is_refused_and_no_byte_of_it_changes(
    tmp_path: Path, unfinished: bool
) -> None:
    """A09, FIELD F-S09; `unfinished`: its last process died and left a write-ahead log."""
    source, folder = tmp_path / "source", tmp_path / "data"
    source.mkdir()
    folder.mkdir()
    with open_log(source):
        pass
    plain = sqlite3.connect(source / "nacre.db")
    plain.execute("CREATE TABLE later(x NOT NULL)")
    plain.execute(f"PRAGMA user_version={SCHEMA + 1}")
    if unfinished:
        for path in source.glob("nacre.db*"):
            shutil.copy(path, folder)
        plain.close()
        (folder / "nacre.db-shm").unlink()
    else:
        plain.close()
        shutil.copy(source / "nacre.db", folder)
    before = _hashes(folder)
    with pytest.raises(NewerSchema) as caught, open_log(folder):
        pass
    assert str(folder / "nacre.db") in str(caught.value)
    assert "newer Nacre" in str(caught.value)
    after = _hashes(folder)
    after.pop("nacre.db-shm", None)
    if "nacre.db-wal" not in before:
        assert after.pop("nacre.db-wal", hashlib.sha256(b"").hexdigest()) == (
            hashlib.sha256(b"").hexdigest()
        )
    assert after == before


def test_a_file_that_became_newer_meanwhile_is_refused_inside_the_lock(tmp_path: Path) -> None:
    """A09."""
    with open_log(tmp_path):
        pass
    with closing(sqlite3.connect(tmp_path / "nacre.db")) as plain:
        plain.execute(f"PRAGMA user_version={SCHEMA + 1}")
    with pytest.raises(NewerSchema):
        schema.migrate(tmp_path / "nacre.db", busy_ms=100)


def test_a_legacy_file_loses_its_messages_and_keeps_the_five_tables(tmp_path: Path) -> None:
    """C01."""
    database = tmp_path / "nacre.db"
    with closing(sqlite3.connect(database)) as plain:
        plain.executescript(LEGACY)
    before = _tables(database, KEPT)
    with open_log(tmp_path) as log:
        assert run(log.catalogue.view()).tabs == ()
        assert run(log.catalogue.settings()) == {"theme": "dark"}
        new_tab(log, tmp_path)
    assert _tables(database, KEPT) == before
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        _tables(database, ("messages",))
    copy = tmp_path / f"nacre.db.before-{SCHEMA}-was-0"
    assert len(_tables(copy, ("messages",))["messages"]) == 1
    assert copy.stat().st_mode & 0o077 == 0


def test_a_migration_that_fails_midway_leaves_the_old_file(tmp_path: Path) -> None:
    """C01."""
    database = tmp_path / "nacre.db"
    with closing(sqlite3.connect(database)) as plain:
        plain.executescript(LEGACY + "CREATE TABLE chunks(x);")
    before = _tables(database, (*KEPT, "messages", "tabs", "chunks"))
    with pytest.raises(StoreError), open_log(tmp_path):
        pass
    assert _tables(database, (*KEPT, "messages", "tabs", "chunks")) == before
    with closing(sqlite3.connect(database)) as plain:
        assert (
            plain.execute("SELECT name FROM sqlite_master WHERE name='projects'").fetchall() == []
        )


def test_a_migration_keeps_the_rows_and_makes_the_triggers_anew(tmp_path: Path) -> None:
    database = tmp_path / "nacre.db"
    with open_log(tmp_path) as log:
        tab = new_tab(log, tmp_path)
        chunks = run(log.session(tab).append(tool_turn())).chunks
    with closing(sqlite3.connect(database)) as plain:
        plain.execute("DROP TRIGGER chunks_no_update")
        plain.execute("PRAGMA user_version=0")
    with open_log(tmp_path, prefix="b") as log:
        assert run(log.session(tab).load()).chunks == chunks
        assert run(log.doctor())["ok"]
    with closing(sqlite3.connect(database)) as plain, pytest.raises(sqlite3.IntegrityError):
        plain.execute("UPDATE chunks SET step = 9")


def test_two_processes_that_start_at_once_on_an_empty_folder_both_work(tmp_path: Path) -> None:
    program = """
import asyncio, sys, uuid
from pathlib import Path
from desktop.core.chunks import NewChunk, Text
from desktop.store.log import Log
folder = Path(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
log = Log.open(folder / "nacre.db", blobs=folder / "blobs", run=folder / "run",
               new_id=lambda: uuid.uuid4().hex, now_ms=lambda: 1)
async def main():
    workspace = await log.catalogue.open_workspace(folder)
    tab = await log.catalogue.create_tab(workspace.id)
    await log.session(tab.id).append([NewChunk(id=uuid.uuid4().hex, turn_id="t", role="user",
                                               data=Text("hello"))])
    await log.close()
asyncio.run(main())
"""
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        process.stdin.write("go\n")
        process.stdin.flush()
        with open_log(tmp_path, busy_ms=20_000) as log:
            run(log.session(new_tab(log, tmp_path)).append([chunk("here")]))
            assert process.wait(60) == 0
            view = run(log.catalogue.view())
    assert (len(view.tabs), len(view.workspaces)) == (2, 1)


@pytest.mark.parametrize("content", [b"not a database, just text" * 50, b"\0" * 4096])
def test_a_file_that_is_no_database_is_named_and_left_alone(tmp_path: Path, content: bytes) -> None:
    database = tmp_path / "nacre.db"
    database.write_bytes(content)
    with pytest.raises(StoreDamaged, match=r"nacre\.db"), open_log(tmp_path):
        pass
    assert database.read_bytes() == content


def test_a_log_opened_for_reading_shows_everything_and_refuses_every_write(
    tmp_path: Path,
) -> None:
    with open_log(tmp_path) as log:
        tab = new_tab(log, tmp_path)
        chunks = run(log.session(tab).append(tool_turn())).chunks
    before = _hashes(tmp_path)
    with open_log(tmp_path, read_only=True) as log:
        assert log.is_read_only
        assert run(log.reader.page(tab, limit=9)).rows == chunks
        assert run(log.doctor())["ok"]
        for coroutine in (
            log.session(tab).append([chunk("x")]),
            log.session(tab).acquire_lease(),
            log.session(tab).keep_file(tmp_path / "x", "text/plain"),
            log.catalogue.create_tab(1),
            log.catalogue.open_workspace(tmp_path),
            log.catalogue.scratch_workspace(),
            log.catalogue.save_setting("a", "b"),
        ):
            with pytest.raises(StoreReadOnly, match=r"nacre\.db"):
                run(coroutine)
    assert _hashes(tmp_path) == before


def test_reading_while_another_process_writes_shows_what_it_committed(tmp_path: Path) -> None:
    with open_log(tmp_path) as writer:
        tab = new_tab(writer, tmp_path)
        with open_log(tmp_path, read_only=True) as reader:
            run(writer.session(tab).append([chunk("one")]))
            assert run(reader.reader.page(tab, limit=1)).total == 1


def test_nothing_can_be_read_where_there_is_nothing(tmp_path: Path) -> None:
    with pytest.raises(StoreReadOnly), open_log(tmp_path, read_only=True):
        pass
    assert list(tmp_path.iterdir()) == []
