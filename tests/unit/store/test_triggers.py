"""What the database refuses and counts, tried from a connection that knows nothing of Nacre."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from desktop.core.records import RequestRecord
from tests.unit.store.builders import chunk, new_tab, open_log, run, tool_turn


@pytest.fixture
def tab(tmp_path: Path) -> str:
    with open_log(tmp_path) as log:
        id_ = new_tab(log, tmp_path)
        run(log.session(id_).append(tool_turn()))
        run(log.session(id_).start_request(RequestRecord("q", id_, "t", 0, "p", "m", 1)))
    return id_


@pytest.fixture
def plain(tmp_path: Path, tab: str) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(tmp_path / "nacre.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys=ON")
        yield connection


def _rows(plain: sqlite3.Connection) -> list[tuple[object, ...]]:
    return plain.execute("SELECT * FROM chunks ORDER BY ordinal").fetchall()


def _revision(plain: sqlite3.Connection) -> int:
    return plain.execute("SELECT revision FROM conversation_session_revisions").fetchone()[0]


def _catalogue(plain: sqlite3.Connection) -> int:
    return plain.execute("SELECT revision FROM catalogue_revision").fetchone()[0]


_COPY = "(SELECT max(ordinal) + 1 FROM chunks)"
_TAIL = "turn_id, step, role, type, data_json, created_at FROM chunks WHERE seq = 1"
_HEAD = "INTO chunks(ordinal, id, tab_id, seq, turn_id, step, role, type, data_json, created_at)"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE chunks SET data_json = '{}' WHERE seq = 1",
        "UPDATE OR IGNORE chunks SET seq = 99 WHERE seq = 1",
        "UPDATE OR REPLACE chunks SET seq = 2 WHERE seq = 1",
        "DELETE FROM chunks WHERE seq = 5",
        "DELETE FROM chunks",
        f"REPLACE {_HEAD} SELECT {_COPY}, id, tab_id, 99, {_TAIL}",
        f"REPLACE {_HEAD} SELECT {_COPY}, 'new', tab_id, 1, {_TAIL}",
        f"REPLACE {_HEAD} SELECT ordinal, 'new', tab_id, 99, {_TAIL}",
        f"INSERT {_HEAD} SELECT {_COPY}, id, tab_id, 99, {_TAIL}",
        f"INSERT OR IGNORE {_HEAD} SELECT {_COPY}, 'new', tab_id, 1, {_TAIL}",
        f"INSERT {_HEAD} SELECT {_COPY}, id, tab_id, 99, {_TAIL}"
        " ON CONFLICT(id) DO UPDATE SET data_json = '{}'",
        "REPLACE INTO tabs SELECT * FROM tabs",
        "REPLACE INTO workspaces SELECT * FROM workspaces",
        "REPLACE INTO projects SELECT * FROM projects",
    ],
)
def test_the_database_refuses_to_rewrite_the_log(plain: sqlite3.Connection, statement: str) -> None:
    """R02."""
    before, revision = _rows(plain), _revision(plain)
    with pytest.raises(sqlite3.IntegrityError, match=r"never|only with its tab"):
        plain.execute(statement)
    assert _rows(plain) == before
    assert _revision(plain) == revision


def test_roles_that_no_type_has_are_refused(plain: sqlite3.Connection) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        plain.execute(
            "INSERT INTO chunks(id, tab_id, seq, turn_id, role, type, data_json, created_at)"
            " SELECT 'new', tab_id, 6, 't', 'user', 'tool_call', '{}', 1 FROM chunks WHERE seq = 1"
        )


def test_a_row_by_direct_sql_moves_the_revision_by_one(plain: sqlite3.Connection) -> None:
    """R01."""
    before = _revision(plain)
    insert = f"INSERT {_HEAD} SELECT {_COPY}, 'new', tab_id, 6, {_TAIL}"
    plain.execute("BEGIN")
    plain.execute(insert)
    plain.execute("ROLLBACK")
    assert _revision(plain) == before
    plain.execute(insert)
    assert _revision(plain) == before + 1


def test_a_request_moves_the_revision_only_when_it_changes(plain: sqlite3.Connection) -> None:
    """R01."""
    before = _revision(plain)
    plain.execute("UPDATE model_requests SET model = model")
    assert _revision(plain) == before
    plain.execute("UPDATE model_requests SET cache_json = '{}'")
    assert _revision(plain) == before + 1


def test_a_request_that_moves_counts_for_both_conversations(
    plain: sqlite3.Connection, tab: str
) -> None:
    """R01."""
    plain.execute(
        "INSERT INTO tabs SELECT 'other', workspace_id, '', 1, 1, NULL, NULL, NULL, 1, NULL, NULL,"
        " NULL, NULL FROM tabs"
    )
    before = _revision(plain)
    plain.execute("UPDATE model_requests SET tab_id = 'other'")
    found = plain.execute("SELECT session_id, revision FROM conversation_session_revisions")
    assert dict(found.fetchall()) == {tab: before + 1, "other": 1}


def test_a_purge_takes_rows_counts_each_and_clears_the_search(plain: sqlite3.Connection) -> None:
    """R01."""
    found = "SELECT count(*) FROM chunks_search WHERE chunks_search MATCH 'lines'"
    assert plain.execute(found).fetchone() == (1,)
    plain.execute("UPDATE tabs SET purged_at = 1")
    before = _revision(plain)
    plain.execute("DELETE FROM chunks WHERE seq > 3")
    assert _revision(plain) == before + 2
    assert plain.execute(found).fetchone() == (0,)
    plain.execute("INSERT INTO chunks_search(chunks_search, rank) VALUES ('integrity-check', 1)")


def test_a_deleted_project_takes_its_conversations_along(plain: sqlite3.Connection) -> None:
    """R01: a tab's deletion leaves no revision row; the catalogue counts each row that went."""
    before = _catalogue(plain)
    plain.execute("DELETE FROM projects")
    for table in ("tabs", "chunks", "model_requests", "conversation_session_revisions"):
        assert plain.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table
    assert _catalogue(plain) == before + 3


def test_a_thousand_writes_make_one_revision_row(tmp_path: Path, tab: str) -> None:
    """R03."""
    with open_log(tmp_path, prefix="b") as log:
        run(log.session(tab).append([chunk(f"c{n}") for n in range(1_000)]))
    with closing(sqlite3.connect(tmp_path / "nacre.db")) as plain:
        rows = plain.execute("SELECT revision FROM conversation_session_revisions").fetchall()
    assert rows == [(1_006,)]


def test_a_tab_that_nothing_was_written_to_has_revision_0(tmp_path: Path) -> None:
    """R02."""
    with open_log(tmp_path) as log:
        assert run(log.reader.revision(new_tab(log, tmp_path))) == 0
