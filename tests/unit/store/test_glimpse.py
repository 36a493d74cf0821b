"""The last conversation is seen before the log is open, as the log shows it (SPEC U10)."""

import hashlib
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from desktop.core.records import Snapshot, ViewState
from desktop.store import glimpse
from desktop.store.home_notes import Home
from desktop.store.plain import SCHEMA
from tests.unit.store.builders import chunk, new_tab, open_log, run

LIMIT = 8


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "data" / "nacre.db"


def filled(database: Path, *, rows: int = 20) -> str:
    """A conversation among others; its id."""
    database.parent.mkdir()
    with open_log(database.parent) as log:
        other, tab = new_tab(log, database.parent), new_tab(log, database.parent)
        closed = new_tab(log, database.parent)
        run(log.catalogue.rename_tab(tab, "The last one"))
        run(log.catalogue.set_tab_open(closed, is_open=False))
        run(log.catalogue.move_tabs([tab, other]))
        run(log.session(tab).append([chunk(f"c{n}", f"row {n}") for n in range(rows)]))
        run(log.catalogue.save_setting("transcript.zoom", "150"))
    return tab


def test_u10_what_is_seen_is_what_the_log_shows(database: Path) -> None:
    tab = filled(database)
    seen = glimpse.read(database, tab, limit=LIMIT)
    assert seen is not None
    with open_log(database.parent) as log:
        assert seen.page == run(log.reader.page(tab, limit=LIMIT))
        view = run(log.catalogue.view())
        assert seen.open_tabs == tuple(one for one in view.tabs if one.is_open)
        assert seen.settings == run(log.catalogue.settings())
        assert seen.place == run(log.catalogue.view_state(tab)) == ViewState()


def test_u37_rows_come_from_where_it_was_read(database: Path) -> None:
    tab = filled(database)
    place = ViewState(following=False, seq=9, offset=-3, height=400, folds=(("c9", "open"),))
    with open_log(database.parent) as log:
        run(log.catalogue.save_view_state(tab, place))
        expected = run(log.reader.page(tab, limit=LIMIT, around=9))
    seen = glimpse.read(database, tab, limit=LIMIT)
    assert seen is not None
    assert (seen.place, seen.page) == (place, expected)


def test_a_fork_is_read_through(database: Path) -> None:
    tab = filled(database)
    with open_log(database.parent, prefix="again") as log:
        fork = run(log.catalogue.fork_tab(tab, at_seq=5)).id
        run(log.session(fork).append([chunk("f1", "its own")]))
        expected = run(log.reader.page(fork, limit=LIMIT))
    seen = glimpse.read(database, fork, limit=LIMIT)
    assert seen is not None
    assert seen.page == expected
    assert len(expected.rows) == 6


def test_beside_a_log_that_is_open_it_sees_what_was_committed(database: Path) -> None:
    tab = filled(database)
    with open_log(database.parent) as log:
        run(log.session(tab).append([chunk("new", "just said")]))
        seen = glimpse.read(database, tab, limit=LIMIT)
        assert seen is not None
        assert seen.page.rows[-1].id == "new"
        run(log.session(tab).append([chunk("newer", "and more")]))  # nothing is held


def test_a_look_leaves_nothing_behind(database: Path) -> None:
    tab = filled(database)
    before = _content(database.parent)
    assert glimpse.read(database, tab, limit=LIMIT) is not None
    assert _content(database.parent) == before


def _content(folder: Path) -> dict[str, str]:
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.rglob("*")
        if file.is_file()
    }


def _change(statement: str) -> Callable[[Path, str], None]:
    def change(database: Path, tab: str) -> None:
        with closing(sqlite3.connect(database)) as plain, plain:
            plain.execute(statement, {"tab": tab})

    return change


def _damage(database: Path, tab: str) -> None:
    del tab
    database.write_bytes(b"not a database at all" * 400)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(_change(f"PRAGMA user_version = {SCHEMA + 1}"), id="a newer schema"),
        pytest.param(_change("PRAGMA user_version = 1"), id="an older schema"),
        pytest.param(_change("UPDATE tabs SET is_open = 0 WHERE id = :tab"), id="closed"),
        pytest.param(_change("UPDATE tabs SET trashed_at = 5 WHERE id = :tab"), id="in the bin"),
        pytest.param(_change("DROP TABLE view_state"), id="a table is missing"),
        pytest.param(_change("UPDATE tabs SET forked_from = 'gone' WHERE id = :tab"), id="a hole"),
        pytest.param(_damage, id="damaged"),
        pytest.param(lambda database, _: database.unlink(), id="no file"),
    ],
)
def test_what_is_odd_is_left_to_the_log(
    database: Path, change: Callable[[Path, str], None]
) -> None:
    tab = filled(database)
    assert glimpse.read(database, tab, limit=LIMIT) is not None
    change(database, tab)
    before = _content(database.parent)
    assert glimpse.read(database, tab, limit=LIMIT) is None
    assert _content(database.parent) == before


def test_one_that_is_kept_as_a_file_is_left_to_the_log(database: Path) -> None:
    tab = filled(database)
    with open_log(database.parent, prefix="again") as log:
        workspace = run(log.catalogue.tab(tab)).workspace_id
        snapshot = Snapshot("elsewhere", workspace, "", "model-1", "", "ask")
        run(log.homes.begin(snapshot, Home(database.parent / "files"), now=1))
        in_database = replace(snapshot, tab_id="here")
        run(log.homes.begin(in_database, Home(), now=1))
    assert glimpse.read(database, "elsewhere", limit=LIMIT) is None
    assert glimpse.read(database, "here", limit=LIMIT) is not None


def test_nothing_was_looked_at_last(database: Path) -> None:
    filled(database)
    assert glimpse.read(database, "", limit=LIMIT) is None
