"""Thousands of conversations, some of them huge: lists come from metadata (FIELD F-S10, U09)."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection

from desktop.store.connection import driver
from desktop.store.log import Log
from tests.unit.store.builders import new_tab, open_log, run

TABS, LONG, LARGE = 3_000, 20_000, 30_000_000


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    with open_log(tmp_path) as made:
        new_tab(made, tmp_path)
        with closing(sqlite3.connect(tmp_path / "nacre.db", isolation_level=None)) as plain:
            plain.execute("BEGIN")
            plain.executemany(
                "INSERT INTO tabs(id, workspace_id, title, position, is_open, created_at)"
                " VALUES (?, 1, ?, ?, 0, 1)",
                [(f"tab-{n}", f"Title {n}", n) for n in range(TABS)],
            )
            insert = (
                "INSERT INTO chunks(id, tab_id, seq, turn_id, role, type, data_json, created_at)"
                " VALUES (?, ?, ?, 't', 'assistant', 'text', ?, 1)"
            )
            rows = [(f"c{n}", "tab-7", n, '{"text": "row"}') for n in range(1, LONG + 1)]
            plain.executemany(insert, rows)
            plain.execute(insert, ("huge", "tab-8", 1, f'{{"text": "{"x" * LARGE}"}}'))
            plain.execute("COMMIT")
        yield made


def _tables_read(log: Log, seen: set[str]) -> None:
    """Has the reader's connection note every table it reads from now on."""

    def watch(connection: Connection) -> None:
        def note(action: int, table: str | None, *_: object) -> int:
            if action == sqlite3.SQLITE_READ and table:
                seen.add(table)
            return sqlite3.SQLITE_OK

        driver(connection).set_authorizer(note)

    log._lanes._reader.submit(watch).result()  # pyright: ignore[reportPrivateUsage]


def test_f_s10_the_list_comes_from_metadata_and_reads_no_row_of_a_log(log: Log) -> None:
    seen: set[str] = set()
    _tables_read(log, seen)
    view = run(log.catalogue.view())
    assert len(view.tabs) == TABS + 1
    assert "tabs" in seen
    assert "chunks" not in seen


def test_f_s10_a_huge_conversation_opens_at_its_end_and_jumps_to_its_start(log: Log) -> None:
    tail = run(log.reader.page("tab-7", limit=100))
    assert [row.seq for row in tail.rows] == list(range(LONG - 99, LONG + 1))
    assert (tail.total, tail.has_older) == (LONG, True)
    start = run(log.reader.page("tab-7", limit=100, after=0))
    assert [row.seq for row in start.rows] == list(range(1, 101))
    assert len(run(log.reader.page("tab-8", limit=100)).rows) == 1
