"""Migrations after the first, on a full database; and every released version's file (U11)."""

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from desktop.core.chunks import DamagedRow, NewChunk
from desktop.core.errors import StoreError, StoreFull
from desktop.store import schema, triggers
from desktop.store.plain import SCHEMA
from tests.data import make_legacy_database as legacy
from tests.data import make_released_database as released
from tests.unit.store.builders import chunk, new_tab, open_log, run, tool_turn
from tests.unit.store.failing import failing_at
from tests.unit.store.test_legacy_migration import everything, hashes

NEXT = SCHEMA + 1
HEAD = f'''
"""Only of the tests."""

from alembic import op

revision = "{NEXT:04}"
down_revision = "{SCHEMA:04}"


def upgrade() -> None:
    connection = op.get_bind()
'''
# What a revision may rely on: no trigger stops it, and re-creating a table cascades nothing.
RECREATES_TABS = (
    HEAD
    + """
    assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar_one() == 0
    connection.exec_driver_sql("UPDATE chunks SET model = model || '!'")
    old = connection.exec_driver_sql("SELECT sql FROM sqlite_master WHERE name = 'tabs'")
    new = old.scalar_one().replace("CREATE TABLE tabs (", "CREATE TABLE tabs_new (colour TEXT, ")
    connection.exec_driver_sql(new)
    connection.exec_driver_sql("INSERT INTO tabs_new SELECT 'red', * FROM tabs")
    connection.exec_driver_sql("DROP TABLE tabs")
    connection.exec_driver_sql("ALTER TABLE tabs_new RENAME TO tabs")
"""
)
LEAVES_ROWS_BEHIND = (
    HEAD
    + """
    connection.exec_driver_sql("DELETE FROM workspaces")
"""
)
FAILS_BY_ITSELF = HEAD + '    raise KeyError("colour")\n'
DISK_IS_FULL = HEAD + '    raise OSError(28, "No space left on device")\n'
MIGRATE = f"""
import sys
from pathlib import Path
from desktop.store import schema
schema.SCHEMA, schema.MIGRATIONS = {NEXT}, Path(sys.argv[2])
print("ready", flush=True)
sys.stdin.readline()
schema.prepare(Path(sys.argv[1]), busy_ms=30_000)
"""


@pytest.fixture
def full(tmp_path: Path) -> Path:
    """A data folder that came from a legacy one and has been worked in."""
    folder = tmp_path / "data"
    legacy.make(folder, messages=20, huge=0)
    with closing(sqlite3.connect(folder / "nacre.db")) as plain:
        # Broken by the first migration, and no reason not to have a second.
        plain.execute(
            "CREATE TRIGGER broken AFTER INSERT ON wake_schedule BEGIN DELETE FROM messages; END"
        )
        plain.execute("CREATE VIEW old_messages AS SELECT * FROM messages")
        plain.commit()
    with open_log(folder) as log:
        for _ in range(10):
            tab = new_tab(log, folder)
            run(log.session(tab).append([_of(tab, one) for one in tool_turn()]))
            run(log.catalogue.save_setting(f"kept.{tab}", "x"))
    return folder


def _of(tab: str, one: NewChunk) -> NewChunk:
    return replace(one, id=f"{tab}-{one.id}", turn_id=tab)


def _with_revision(folder: Path, text: str) -> Path:
    """The migrations with one more."""
    migrations = folder / "migrations"
    shutil.copytree(schema.MIGRATIONS, migrations, ignore=shutil.ignore_patterns("__pycache__"))
    (migrations / "versions" / f"{NEXT:04}_of_the_tests.py").write_text(text, "utf-8")
    return migrations


@pytest.fixture
def upgraded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """From here on the program is one schema further; its migrations."""
    migrations = _with_revision(tmp_path, RECREATES_TABS)
    monkeypatch.setattr(schema, "MIGRATIONS", migrations)
    monkeypatch.setattr(schema, "SCHEMA", NEXT)
    return migrations


def _rows(folder: Path, table: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(folder / "nacre.db")) as plain:
        return plain.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()


def test_a_table_is_made_anew_under_a_full_log_and_no_row_is_lost(
    full: Path, upgraded: Path
) -> None:
    database = full / "nacre.db"
    before, kept = everything(database), legacy.rows(database)
    tabs, chunks = _rows(full, "tabs"), _rows(full, "chunks")
    with open_log(full, prefix="after") as log:
        assert run(log.doctor())["ok"]
        assert len(run(log.search.find("lines", limit=20)).hits) == 10
        tab = new_tab(log, full)
        run(log.session(tab).append([chunk("new")]))
        assert run(log.reader.revision(tab)) > 0
    red = {row for row in _rows(full, "tabs") if row[0] == "red"}
    assert red == {("red", *row) for row in tabs}
    after = [row for row in _rows(full, "chunks") if row[1] != "new"]
    assert [(*row[:11], *row[12:]) for row in after] == [(*row[:11], *row[12:]) for row in chunks]
    assert legacy.rows(database) == kept
    with closing(sqlite3.connect(database)) as plain:
        found = plain.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        assert {row[0] for row in found} >= {*triggers.TRIGGERS, "broken", "touch_key"}
        assert plain.execute("PRAGMA foreign_key_check(tabs)").fetchall() == []
        with pytest.raises(sqlite3.IntegrityError):
            plain.execute("UPDATE chunks SET step = 9")
    assert everything(full / f"nacre.db.before-{NEXT}-was-{SCHEMA}") == before


def test_a_second_start_after_it_changes_no_byte(full: Path, upgraded: Path) -> None:
    with open_log(full):
        pass
    before = hashes(full)
    with open_log(full) as log:
        run(log.catalogue.view())
    assert hashes(full) == before


def test_a_later_migration_that_fails_at_any_statement_leaves_the_old_content(
    full: Path, upgraded: Path
) -> None:
    database = full / "nacre.db"
    before = everything(database)
    number, failures = 0, 0
    while True:
        number += 5
        with failing_at(number, database) as statements:
            try:
                schema.prepare(database, busy_ms=500)
            except StoreError:
                failures += 1
                assert everything(database) == before, f"statement {number}"
                assert statements.failed
                continue
        if not statements.failed:
            break
    assert failures > 10


def test_a_migration_that_leaves_rows_without_their_parents_is_rolled_back(
    full: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = everything(full / "nacre.db")
    monkeypatch.setattr(schema, "MIGRATIONS", _with_revision(tmp_path, LEAVES_ROWS_BEHIND))
    monkeypatch.setattr(schema, "SCHEMA", NEXT)
    with pytest.raises(StoreError) as caught, open_log(full):
        pass
    assert "point to nothing" in caught.value.detail
    assert everything(full / "nacre.db") == before


@pytest.mark.parametrize(
    ("revision", "kind", "told"),
    [
        (FAILS_BY_ITSELF, StoreError, "Start the version of Nacre that you had before"),
        (DISK_IS_FULL, StoreFull, "disk"),
    ],
)
def test_u35_a_migration_that_fails_says_what_to_do(
    full: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    revision: str,
    kind: type[StoreError],
    told: str,
) -> None:
    database = full / "nacre.db"
    before = everything(database)
    monkeypatch.setattr(schema, "MIGRATIONS", _with_revision(tmp_path, revision))
    monkeypatch.setattr(schema, "SCHEMA", NEXT)
    with pytest.raises(StoreError) as caught:
        schema.prepare(database, busy_ms=500)
    assert type(caught.value) is kind
    assert told in str(caught.value) + caught.value.way_out
    assert everything(database) == before


def test_two_processes_that_migrate_a_full_log_at_once_both_work(
    full: Path, upgraded: Path
) -> None:
    database = full / "nacre.db"
    before = everything(database)
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", MIGRATE, str(database), str(upgraded)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate(timeout=100)
        assert process.returncode == 0
    with open_log(full) as log:
        assert run(log.doctor())["ok"]
        assert len(run(log.catalogue.view()).tabs) == 10
    assert everything(full / f"nacre.db.before-{NEXT}-was-{SCHEMA}") == before


@pytest.mark.parametrize("version", sorted(released.SCHEMAS))
def test_u11_the_file_of_every_released_version_opens_with_the_same_rows(
    tmp_path: Path, version: int
) -> None:
    database = released.make(tmp_path / "nacre.db", version)
    before = released.content(database)
    with open_log(tmp_path) as log:
        assert run(log.doctor())["ok"]
        view = run(log.catalogue.view())
        assert {tab.title for tab in view.tabs} >= {"Open", "A fork"}
        page = run(log.reader.page("open", limit=100))
        assert (page.total, len(page.rows)) == (10, 10)
        assert not [row for row in page.rows if isinstance(row, DamagedRow)]
        assert run(log.search.find("lines", limit=20)).hits
        assert run(log.catalogue.draft("open")).text == "half a thought"
    assert released.content(database) == before
    assert before[0] == 40


def test_every_schema_has_a_released_file() -> None:
    """U11: a new schema comes with the file of the one before it."""
    assert set(released.SCHEMAS) == set(range(1, SCHEMA + 1))
