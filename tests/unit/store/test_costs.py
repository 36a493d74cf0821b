"""What an append costs as a log grows: SPEC P11, in counted bytes and never in time."""

import sqlite3
import uuid
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from desktop.store.connection import driver
from desktop.store.log import Log
from tests.unit.store.builders import chunk, fill, new_tab, open_log, run

APPENDS = 40


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    (tmp_path / "data").mkdir()
    with open_log(tmp_path / "data") as made:
        yield made


def written_bytes(log: Log, tab: str) -> float:
    """What one append adds to the write-ahead log, the mean of some."""
    with closing(sqlite3.connect(log.database)) as plain:
        busy, _, _ = plain.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        assert not busy
    wal = log.database.with_name(f"{log.database.name}-wal")
    assert wal.stat().st_size == 0
    for _ in range(APPENDS):
        row = chunk(str(uuid.uuid4()), f"some words to look for {uuid.uuid4()} ".ljust(1_000, "y"))
        run(log.session(tab).append([row]))
    return wal.stat().st_size / APPENDS


def test_P11_an_append_writes_as_much_to_a_long_log_as_to_a_short_one(
    log: Log, tmp_path: Path
) -> None:
    """A log forty times as long; one that is rewritten, or merged in passing, would show."""
    tab = new_tab(log, tmp_path)
    fill(log, tab, rows=500, size=1_000)
    short = written_bytes(log, tab)
    fill(log, tab, rows=20_000, size=1_000)
    long = written_bytes(log, tab)
    assert long / short <= 1.5, (short, long)


def test_a_page_anywhere_is_two_statements(log: Log, tmp_path: Path) -> None:
    """One says what the log is made of, where it ends and how far it is, one reads the rows."""
    tab = new_tab(log, tmp_path)
    fill(log, tab, rows=500, size=10)
    for where in ({}, {"before": 300}, {"after": 300}, {"around": 300}, {"around": 498}):
        with asked(log) as heard:
            page = run(log.reader.page(tab, limit=100, **where))
        assert len(page.rows) == 100
        assert page.total == 500
        assert len(heard) == 2, heard


@contextmanager
def asked(log: Log) -> Generator[list[str]]:
    """What the pages' connection is asked meanwhile, the transaction's own words aside."""
    heard: list[str] = []

    def hear(statement: str) -> None:
        if statement.startswith(("SELECT", "WITH")):
            heard.append(statement)

    def trace(callback: Callable[[str], None] | None) -> None:
        reader = log._lanes._reader  # pyright: ignore[reportPrivateUsage]
        reader.submit(lambda one: driver(one).set_trace_callback(callback)).result()

    trace(hear)
    yield heard
    trace(None)
