"""A migration of a released file that is killed at any of its statements (U11, A07).

Afterwards the file is of the one schema or of the other, with every row; the copy that was made
before it is whole and of the old schema, and the next start finishes the work.
"""

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from desktop.core.errors import StoreError, StoreFull
from desktop.store import copies
from desktop.store.plain import SCHEMA
from tests.architecture.source import ROOT
from tests.data import make_released_database as released
from tests.unit.store.builders import open_log, run

# Counts the statements of all connections; the numbered one is the last that the process begins.
MIGRATES = """
import os, signal, sqlite3, sys
from pathlib import Path
from desktop.store import schema
seen, last, connect = [0], int(sys.argv[2]), sqlite3.connect
def begin(statement):
    seen[0] += 1
    if seen[0] == last:
        os.kill(os.getpid(), signal.SIGKILL)
def watched(*arguments, **options):
    connection = connect(*arguments, **options)
    connection.set_trace_callback(begin)
    return connection
sqlite3.connect = watched
schema.prepare(Path(sys.argv[1]), busy_ms=5_000)
print(seen[0])
"""
KILLS = 8  # places of one migration, spread over all of it
OLDER = sorted(set(released.SCHEMAS) - {SCHEMA})


def migrate(database: Path, *, last: int = 0) -> subprocess.CompletedProcess[str]:
    """In a process of its own, which is killed as it begins its statement `last`."""
    command = [sys.executable, "-c", MIGRATES, str(database), str(last)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def version_of(database: Path) -> int:
    with closing(sqlite3.connect(database)) as plain:
        assert plain.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return int(plain.execute("PRAGMA user_version").fetchone()[0])


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such kill")
@pytest.mark.parametrize("version", OLDER)
def test_u11_a_migration_that_is_killed_anywhere_loses_no_row_and_is_finished_later(
    tmp_path: Path, version: int
) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    done = migrate(released.make(whole / "nacre.db", version))
    assert done.returncode == 0, done.stderr
    statements = int(done.stdout)
    reached: set[int] = set()
    for number in range(1, statements + 1, max(1, statements // KILLS)):
        folder = tmp_path / str(number)
        folder.mkdir()
        database = released.make(folder / "nacre.db", version)
        before = released.content(database)
        assert migrate(database, last=number).returncode == -signal.SIGKILL
        assert released.content(database) == before
        reached.add(version_of(database))
        with open_log(folder) as log:
            assert run(log.doctor())["ok"]
        assert version_of(database) == SCHEMA
        assert released.content(database) == before
        copy = folder / f"nacre.db.before-{SCHEMA}-was-{version}"
        assert version_of(copy) == version, "the program of before can open it"
        assert released.content(copy) == before
        assert not list(folder.glob("*.part*")), "what was left half made is swept"
    assert version in reached


def test_u11_there_is_an_older_schema_to_be_killed_on_the_way() -> None:
    assert OLDER


@pytest.mark.parametrize("version", OLDER)
def test_u11_a_file_that_can_not_be_copied_is_not_migrated(
    tmp_path: Path, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = released.make(tmp_path / "nacre.db", version)
    before = released.content(database)

    def full(folder: Path) -> None:
        raise OSError(28, "No space left on device", str(folder))

    monkeypatch.setattr(copies, "sync_folder", full)
    with pytest.raises(StoreError) as caught, open_log(tmp_path):
        pass
    assert isinstance(caught.value, StoreFull)
    assert version_of(database) == version
    assert released.content(database) == before
