"""The obsolete journal goes: five tables, the triggers that write to them, three files (R15)."""

import logging
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from desktop.store import legacy_journal
from tests.data import make_legacy_database as legacy
from tests.unit.store.builders import open_log, run
from tests.unit.store.failing import failing_at
from tests.unit.store.test_legacy_migration import everything, hashes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A log of today with the whole journal in it: only this check has something to do."""
    folder = tmp_path / "data"
    folder.mkdir()
    with open_log(folder):
        pass
    with closing(sqlite3.connect(folder / "nacre.db")) as plain:
        plain.executescript(legacy.JOURNAL_TABLES)
        for name, body in legacy.JOURNAL_TRIGGERS.items():
            if "ON messages" not in body:
                plain.execute(f"CREATE TRIGGER {name} {body}")
        plain.execute(
            "CREATE TRIGGER only_says AFTER UPDATE ON settings BEGIN"
            " SELECT 'delete from conversation_turn_versions' -- update conversation_journal_meta\n"
            " FROM conversation_journal_meta; END"
        )
        plain.execute("INSERT INTO conversation_session_events(payload) VALUES ('x')")
        plain.commit()
    legacy.make_host(folder)
    return folder


def _names(folder: Path) -> set[str]:
    with closing(sqlite3.connect(folder / "nacre.db")) as plain:
        return {str(row[0]) for row in plain.execute("SELECT name FROM sqlite_master")}


def _host(folder: Path) -> set[str]:
    host = folder / ".host"
    return {str(path.relative_to(host)) for path in host.rglob("*") if not path.is_dir()}


def _open(folder: Path) -> None:
    with open_log(folder) as log:
        run(log.catalogue.view())


def test_r15_exactly_the_journal_goes_and_its_time_is_logged(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = _names(folder)
    size = (folder / "nacre.db").stat().st_size
    with caplog.at_level(logging.INFO, "desktop"):
        _open(folder)
    gone = before - _names(folder)
    triggers = set(legacy.JOURNAL_TRIGGERS) - {"journal_message"}
    indexes = {name for name in gone if name.startswith(("sqlite_autoindex", "events_of"))}
    assert gone - indexes == set(legacy.JOURNAL) | triggers
    assert _host(folder) == set(legacy.OTHER_HOST_FILES)
    assert "removed the obsolete journal in 0." in caplog.text
    assert "3 files" in caplog.text
    # No VACUUM: the pages are free, and the file is no smaller.
    assert (folder / "nacre.db").stat().st_size >= size


def test_r15_a_second_start_finds_nothing_and_changes_no_byte(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    _open(folder)
    before = hashes(folder)
    caplog.clear()
    with caplog.at_level(logging.INFO, "desktop"):
        _open(folder)
    assert hashes(folder) == before
    assert "journal" not in caplog.text


def _half_of_the_tables(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "nacre.db")) as plain:
        for name in legacy.JOURNAL[::2]:
            plain.execute(f"DROP TABLE {name}")


def _only_triggers(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "nacre.db")) as plain:
        for name in legacy.JOURNAL:
            plain.execute(f"DROP TABLE {name}")


def _only_files(folder: Path) -> None:
    _only_triggers(folder)
    with closing(sqlite3.connect(folder / "nacre.db")) as plain:
        for name in set(legacy.JOURNAL_TRIGGERS) - {"journal_message"}:
            plain.execute(f"DROP TRIGGER {name}")


def _no_files(folder: Path) -> None:
    shutil.rmtree(folder / ".host")


def _one_file(folder: Path) -> None:
    for name in legacy.JOURNAL_FILES[:2]:
        (folder / ".host" / name).unlink()


@pytest.mark.parametrize(
    "already", [_half_of_the_tables, _only_triggers, _only_files, _no_files, _one_file]
)
def test_r15_what_is_partly_gone_ends_in_the_same_state(
    folder: Path, tmp_path: Path, already: Callable[[Path], None]
) -> None:
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    already(other)
    _open(folder)
    _open(other)
    assert everything(other / "nacre.db") == everything(folder / "nacre.db")
    assert not _host(other) & set(legacy.JOURNAL_FILES)


def test_r15_a_failure_at_any_statement_leaves_the_tables_and_the_files_and_the_log_opens(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    database = folder / "nacre.db"
    before = everything(database)
    number, failures = 0, 0
    while True:
        number += 1
        with failing_at(number, database) as statements:
            legacy_journal.remove(database, busy_ms=500)
        if not statements.failed:
            break
        if everything(database) != before:
            # The statement that failed was the last one, after the commit.
            assert not set(legacy.JOURNAL) & _names(folder)
            continue
        failures += 1
        assert str(database) in caplog.text
        assert set(legacy.JOURNAL_FILES) <= _host(folder)
        caplog.clear()
    assert failures > 10
    _open(folder)
    assert not set(legacy.JOURNAL) & _names(folder)
    assert _host(folder) == set(legacy.OTHER_HOST_FILES)


def _link(path: Path, elsewhere: Path) -> None:
    path.unlink()
    path.symlink_to(elsewhere / "precious")


def _folder(path: Path, _elsewhere: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "inside").write_bytes(b"stays")


def _pipe(path: Path, _elsewhere: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.skipif(os.name != "posix", reason="links and pipes are made the POSIX way")
@pytest.mark.parametrize("make", [_link, _folder, _pipe])
def test_r15_what_is_not_the_expected_file_stays_and_is_logged_at_each_start(
    folder: Path,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    make: Callable[[Path, Path], None],
) -> None:
    (tmp_path / "precious").write_bytes(b"precious")
    path = folder / ".host" / legacy.JOURNAL_FILES[0]
    make(path, tmp_path)
    for _ in range(2):
        caplog.clear()
        _open(folder)
        assert f"{path} stays" in caplog.text
        assert os.path.lexists(path)
    assert (tmp_path / "precious").read_bytes() == b"precious"
    assert not set(legacy.JOURNAL_FILES[1:]) & _host(folder)


@pytest.mark.skipif(os.name != "posix", reason="links are made the POSIX way")
def test_r15_a_folder_that_is_a_link_is_not_followed(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    elsewhere = tmp_path / "elsewhere"
    (folder / ".host").rename(elsewhere)
    (folder / ".host").symlink_to(elsewhere, target_is_directory=True)
    _open(folder)
    assert {path.name for path in elsewhere.iterdir()} >= set(legacy.JOURNAL_FILES)
    assert caplog.text.count("is not a folder") == 3


@pytest.mark.skipif(os.name != "posix", reason="links are made the POSIX way")
def test_r15_a_file_with_a_second_name_loses_only_the_journals_name(
    folder: Path, tmp_path: Path
) -> None:
    os.link(folder / ".host" / legacy.JOURNAL_FILES[0], tmp_path / "kept by a backup")
    _open(folder)
    assert _host(folder) == set(legacy.OTHER_HOST_FILES)
    assert b"not to be opened" in (tmp_path / "kept by a backup").read_bytes()


def test_a_database_that_is_held_keeps_its_journal_until_the_next_start(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(sqlite3.connect(folder / "nacre.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        legacy_journal.remove(folder / "nacre.db", busy_ms=50)
        other.execute("ROLLBACK")
    assert f"stays in {folder / 'nacre.db'}" in caplog.text
    assert set(legacy.JOURNAL) <= _names(folder)
    assert set(legacy.JOURNAL_FILES) <= _host(folder)
    _open(folder)
    assert not set(legacy.JOURNAL) & _names(folder)


def test_the_doctor_says_what_of_the_journal_waits(folder: Path) -> None:
    with open_log(folder, read_only=True) as log:
        found = run(log.doctor())["legacy"]
    assert set(found["journalInDatabase"]) >= set(legacy.JOURNAL)
    assert len(found["journalFiles"]) == 3
    with open_log(folder) as log:
        found = run(log.doctor())["legacy"]
    assert (found["journalInDatabase"], found["journalFiles"]) == ([], [])


@pytest.mark.parametrize(
    ("sql", "written"),
    [
        ("CREATE TRIGGER a AFTER UPDATE ON b BEGIN INSERT INTO c VALUES(1); END", {"on", "c"}),
        (
            "create trigger a after update of x on b begin update or fail C set x=1; end",
            {"of", "c"},
        ),
        ("BEGIN REPLACE INTO 'c''d' SELECT * FROM e; DELETE FROM [f g]; END", {"c'd", "f g"}),
        ("BEGIN INSERT/**/INTO--x\n\"c\" VALUES('update d'); SELECT 1 FROM e; END", {"c"}),
        ("BEGIN INSERT INTO c VALUES(1) ON CONFLICT DO UPDATE SET x = 1; END", {"c", "set"}),
        ("BEGIN DELETE FROM", set()),
    ],
)
def test_what_a_trigger_writes_to_is_read_from_its_sql(sql: str, written: set[str]) -> None:
    assert set(legacy_journal.written_by(sql)) == written
