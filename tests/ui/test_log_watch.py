"""The watcher of the log's files: real files, Qt's real watcher (DESIGN.md §7)."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from desktop.app.log_watch import LogWatch
from desktop.store.plain import write_ahead_log


class Database:
    """A database in WAL mode that another program opens, writes and closes."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "nacre.db"
        self.connection = self.opened()
        self.connection.execute("CREATE TABLE t(a)")

    def opened(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, isolation_level=None)
        connection.execute("PRAGMA journal_mode=WAL")
        return connection

    def write(self) -> None:
        self.connection.execute("INSERT INTO t VALUES (1)")

    def make_anew(self) -> None:
        """The last one to close folds the log in, and its file goes."""
        self.connection.close()
        assert not write_ahead_log(self.path).exists()
        self.connection = self.opened()
        self.write()


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = Database(tmp_path)
    with closing(made.connection):
        yield made
    made.connection.close()


@pytest.fixture
def watch(database: Database, qapp: object) -> Iterator[LogWatch]:
    made = LogWatch(database.path)
    yield made
    made.close()


class Told:
    """How often the watcher told, from the moment that it watches."""

    def __init__(self, watch: LogWatch, qtbot: QtBot) -> None:
        self.times = -1  # the first is told for having begun
        self._watch, self._qtbot = watch, qtbot
        watch.woken.connect(self._hear)
        watch.arm()
        self.until(0)

    def _hear(self) -> None:
        self.times += 1

    def until(self, times: int) -> None:
        self._qtbot.waitUntil(lambda: self.times >= times)

    def hears(self, database: Database) -> None:
        before = self.times
        self._watch.arm()
        database.write()
        self.until(before + 1)


def test_a_write_is_told_once_for_each_time_that_it_was_asked_for(
    database: Database, watch: LogWatch, qtbot: QtBot
) -> None:
    told = Told(watch, qtbot)
    watch.arm()
    for _ in range(50):
        database.write()
    told.until(1)
    for _ in range(50):
        database.write()
    assert told.times == 1
    watch.arm()
    told.until(2)


def test_what_was_written_before_it_was_asked_for_again_is_told_at_once(
    database: Database, watch: LogWatch, qtbot: QtBot
) -> None:
    told = Told(watch, qtbot)
    database.write()
    told.hears(database)
    database.write()
    watch.arm()
    told.until(2)


def test_a_log_that_was_folded_in_and_made_anew_is_watched_on(
    database: Database, watch: LogWatch, qtbot: QtBot
) -> None:
    told = Told(watch, qtbot)
    for _ in range(2):
        database.make_anew()
        for _ in range(5):
            told.hears(database)


def test_a_file_that_is_not_there_yet_is_watched_once_it_is(
    tmp_path: Path, qapp: object, qtbot: QtBot
) -> None:
    watch = LogWatch(tmp_path / "nacre.db")
    told = Told(watch, qtbot)
    watch.arm()
    made = Database(tmp_path)
    told.until(1)
    for _ in range(5):
        told.hears(made)
    made.connection.close()
    watch.close()


def test_closing_ends_its_thread_and_closing_twice_is_harmless(
    database: Database, qapp: object
) -> None:
    watch = LogWatch(database.path)
    watch.arm()
    watch.close()
    watch.close()
