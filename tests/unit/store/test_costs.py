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


PLACES: list[dict[str, int]] = [
    {}, {"before": 300}, {"after": 300}, {"around": 300}, {"around": 498}
]  # fmt: skip


def test_a_page_anywhere_is_one_statement(log: Log, tmp_path: Path) -> None:
    """In a fork too, whose log is in two places."""
    tab = new_tab(log, tmp_path)
    fill(log, tab, rows=250, size=10)
    fork = run(log.catalogue.fork_tab(tab, at_seq=250)).id
    for one in (tab, fork):
        run(log.session(one).append([chunk(f"{one}-{number}") for number in range(250)]))
        for where in PLACES:
            with asked(log) as heard:
                page = run(log.reader.page(one, limit=100, **where))
            assert len(page.rows) == 100
            assert page.total == 500
            assert len(heard) == 1, heard


def test_a_log_with_a_hole_is_paged_through_all_the_same(log: Log, tmp_path: Path) -> None:
    """Something else than Nacre wrote it, or the file is damaged: nothing may stand still."""
    tab = new_tab(log, tmp_path)
    fill(log, tab, rows=20, size=10)
    with closing(sqlite3.connect(log.database)) as plain, plain:
        plain.execute(
            "INSERT INTO chunks(id, tab_id, seq, turn_id, role, type, data_json, created_at)"
            " SELECT 'far-' || id, tab_id, seq + 1000, turn_id, role, type, data_json, created_at"
            " FROM chunks WHERE tab_id = ?",
            (tab,),
        )
    everything = [*range(1, 21), *range(1_001, 1_021)]
    up: list[int] = []
    page = run(log.reader.page(tab, limit=15))
    while page.rows:
        up = [row.seq for row in page.rows] + up
        page = run(log.reader.page(tab, limit=15, before=up[0]))
    down: list[int] = []
    page = run(log.reader.page(tab, limit=15, after=0))
    while page.rows:
        down += [row.seq for row in page.rows]
        page = run(log.reader.page(tab, limit=15, after=down[-1]))
    assert (up, down) == (everything, everything)


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
