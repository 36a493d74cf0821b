"""History for a reader that comes back: SPEC P07, P08, P09, on both backends."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from desktop.core.chunks import DamagedRow, Text
from desktop.core.cursor import MOST_ROWS, Cursor
from desktop.core.errors import UnknownConversation
from desktop.core.records import TimelinePage
from desktop.store.log import Log
from desktop.store.timeline import AgentTimelineStore
from tests.unit.store.builders import AnyLog, chunk, new_tab, open_any, open_log, run


@pytest.fixture(params=["sql", "memory"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AnyLog]:
    with open_any(request.param, tmp_path) as made:
        yield made


@pytest.fixture
def tab(log: AnyLog, tmp_path: Path) -> str:
    """A conversation of ten rows, c1 to c10."""
    made = new_tab(log, tmp_path)
    run(log.session(made).append([chunk(f"c{n}") for n in range(1, 11)]))
    return made


def history(log: AnyLog) -> AgentTimelineStore:
    return AgentTimelineStore(log.reader)


def seqs(page: TimelinePage) -> list[int]:
    return [row.seq for row in page.rows]


def at(seq: int) -> Cursor:
    return Cursor(seq, f"c{seq}" if seq else "")


def test_P07_the_tail_is_the_last_rows(log: AnyLog, tab: str) -> None:
    page = run(history(log).tail(tab, limit=4))
    assert seqs(page) == [7, 8, 9, 10]
    assert (page.has_older, page.has_newer, page.is_reset) == (True, False, False)
    assert (page.first, page.last, page.revision) == (at(7), at(10), 10)
    whole = run(history(log).tail(tab, limit=10))
    assert (seqs(whole), whole.has_older) == (list(range(1, 11)), False)


@pytest.mark.parametrize(
    ("seq", "limit", "places", "older", "newer"),
    [
        (0, 4, [1, 2, 3, 4], False, True),
        (0, 10, [*range(1, 11)], False, False),
        (4, 4, [5, 6, 7, 8], True, True),
        (6, 4, [7, 8, 9, 10], True, False),
        (8, 4, [9, 10], True, False),
        (10, 4, [], True, False),
    ],
)
def test_P07_after_a_row_come_exactly_the_next(
    log: AnyLog, tab: str, seq: int, limit: int, places: list[int], older: bool, newer: bool
) -> None:
    page = run(history(log).after(tab, at(seq), limit=limit))
    assert seqs(page) == places
    assert (page.has_older, page.has_newer, page.is_reset) == (older, newer, False)
    assert page.last == (at(places[-1]) if places else at(seq))


@pytest.mark.parametrize(
    ("seq", "limit", "places", "older"),
    [
        (10, 4, [6, 7, 8, 9], True),
        (5, 4, [1, 2, 3, 4], False),
        (3, 4, [1, 2], False),
        (1, 4, [], False),
        (0, 4, [], False),
    ],
)
def test_P07_before_a_row_come_exactly_the_ones_above_it(
    log: AnyLog, tab: str, seq: int, limit: int, places: list[int], older: bool
) -> None:
    page = run(history(log).before(tab, at(seq), limit=limit))
    assert seqs(page) == places
    assert (page.has_older, page.has_newer, page.is_reset) == (older, True, False)
    assert page.first == (at(places[0]) if places else at(seq))


@pytest.mark.parametrize(
    "cursor",
    [Cursor(11), Cursor(11, "c11"), Cursor(2**61), Cursor(5, "c6"), Cursor(10, "other")],
)
def test_P07_a_cursor_of_another_log_or_beyond_this_one_resets_to_a_bounded_tail(
    log: AnyLog, tab: str, cursor: Cursor
) -> None:
    for page in (
        run(history(log).after(tab, cursor, limit=3)),
        run(history(log).before(tab, cursor, limit=3)),
    ):
        assert (seqs(page), page.is_reset) == ([8, 9, 10], True)
        assert (page.has_older, page.has_newer, page.last) == (True, False, at(10))


@pytest.mark.parametrize("limit", [0, -1, -(2**62)])
def test_P07_no_limit_means_all(log: AnyLog, tab: str, limit: int) -> None:
    """Nothing and less count as one row."""
    assert seqs(run(history(log).tail(tab, limit=limit))) == [10]
    assert seqs(run(history(log).after(tab, at(0), limit=limit))) == [1]
    assert seqs(run(history(log).before(tab, at(10), limit=limit))) == [9]
    assert seqs(run(history(log).after(tab, at(99), limit=limit))) == [10]


def test_P07_the_largest_page_is_the_same_whatever_is_asked_for(log: AnyLog, tab: str) -> None:
    run(log.session(tab).append([chunk(f"c{n}") for n in range(11, MOST_ROWS + 20)]))
    huge = 2**62
    assert len(run(history(log).tail(tab, limit=huge)).rows) == MOST_ROWS
    page = run(history(log).after(tab, at(0), limit=huge))
    assert (len(page.rows), page.has_newer) == (MOST_ROWS, True)
    assert len(run(history(log).after(tab, at(3), limit=huge)).rows) == MOST_ROWS
    page = run(history(log).before(tab, at(MOST_ROWS + 10), limit=huge))
    assert (len(page.rows), page.has_older) == (MOST_ROWS, True)


def test_P07_an_empty_conversation_has_an_empty_page_and_an_unknown_one_is_named(
    log: AnyLog, tmp_path: Path
) -> None:
    tab = new_tab(log, tmp_path)
    for page in (
        run(history(log).tail(tab, limit=5)),
        run(history(log).after(tab, Cursor(), limit=5)),
        run(history(log).before(tab, Cursor(), limit=5)),
    ):
        assert (page.rows, page.has_older, page.has_newer, page.is_reset) == (
            (),
            False,
            False,
            False,
        )
        assert page.last == Cursor()
    assert run(history(log).after(tab, Cursor(1, "x"), limit=5)).is_reset
    with pytest.raises(UnknownConversation):
        run(history(log).after("nobody", Cursor(1), limit=5))


def test_P07_a_restored_backup_that_went_on_is_another_log(tmp_path: Path) -> None:
    """The reader had read row 3 of the log that is gone; row 3 of this one is another."""
    with open_any("sql", tmp_path) as log:
        tab = new_tab(log, tmp_path)
        run(log.session(tab).append([chunk("one"), chunk("two")]))
    kept = shutil.copyfile(tmp_path / "data" / "nacre.db", tmp_path / "kept.db")
    with open_any("sql", tmp_path) as log:
        run(log.session(tab).append([chunk("lost")]))
        page = run(history(log).after(tab, Cursor(), limit=9))
        shared, read = Cursor(2, "two"), page.last
    assert read == Cursor(3, "lost")
    shutil.copyfile(kept, tmp_path / "data" / "nacre.db")
    with open_any("sql", tmp_path) as log:
        assert run(history(log).after(tab, read, limit=9)).is_reset
        run(log.session(tab).append([chunk("three"), chunk("four")]))
        page = run(history(log).after(tab, read, limit=9))
        assert (page.is_reset, [row.id for row in page.rows]) == (
            True,
            ["one", "two", "three", "four"],
        )
        # What both logs have in common is still good.
        page = run(history(log).after(tab, shared, limit=9))
        assert (page.is_reset, [row.id for row in page.rows]) == (False, ["three", "four"])


def test_P07_rows_that_were_taken_away_from_the_front_reset_a_cursor_that_needs_them(
    tmp_path: Path,
) -> None:
    with open_any("sql", tmp_path) as log:
        assert isinstance(log, Log)
        tab = new_tab(log, tmp_path)
        run(log.session(tab).append([chunk(f"c{n}") for n in range(1, 11)]))
        with closing(sqlite3.connect(log.database)) as plain, plain:
            plain.execute("UPDATE tabs SET purged_at = 1")
            plain.execute("DELETE FROM chunks WHERE seq < 6")
            plain.execute("UPDATE tabs SET purged_at = NULL")
        gone = run(history(log).after(tab, at(3), limit=2))
        assert (seqs(gone), gone.is_reset, gone.has_older) == ([9, 10], True, True)
        kept = run(history(log).after(tab, at(6), limit=2))
        assert (seqs(kept), kept.is_reset) == ([7, 8], False)


def test_P07_a_damaged_row_has_its_place_and_is_a_cursor(tmp_path: Path) -> None:
    with open_any("sql", tmp_path) as log:
        assert isinstance(log, Log)
        tab = new_tab(log, tmp_path)
        run(log.session(tab).append([chunk("c1")]))
        with closing(sqlite3.connect(log.database)) as plain, plain:
            plain.execute(
                "INSERT INTO chunks(id, tab_id, seq, turn_id, role, type, data_json, created_at)"
                " VALUES ('c2', ?, 2, 't', 'user', 'text', '{half', 1)",
                (tab,),
            )
        run(log.session(tab).append([chunk("c3")]))
        page = run(history(log).after(tab, at(1), limit=1))
        assert isinstance(page.rows[0], DamagedRow)
        assert [row.id for row in run(history(log).after(tab, page.last, limit=9)).rows] == ["c3"]


@pytest.mark.parametrize(
    ("text", "cursor"),
    [("0", Cursor()), ("7", Cursor(7)), ("7:a:b", Cursor(7, "a:b")), ("0:x", Cursor())],
)
def test_a_cursor_is_read_as_it_is_written(text: str, cursor: Cursor) -> None:
    assert Cursor.parse(text) == cursor
    assert Cursor.parse(str(cursor)) == cursor


@pytest.mark.parametrize("text", ["", ":", "-1", "x", "1.5", "٣", " 3", "9" * 19, "seven:id"])
def test_what_is_no_cursor_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="number"):
        Cursor.parse(text)


def test_P08_history_is_served_after_a_restart_and_nothing_is_touched(tmp_path: Path) -> None:
    """Not one byte of the file, so no time of last activity and no revision either."""
    with open_any("sql", tmp_path) as log:
        tab = new_tab(log, tmp_path)
        run(log.session(tab).append([chunk(f"c{n}") for n in range(1, 11)]))
    database = tmp_path / "data" / "nacre.db"
    before = database.read_bytes()
    with open_log(tmp_path / "data", read_only=True) as log:
        listed = run(log.catalogue.tab(tab))
        for _ in range(3):
            assert seqs(run(history(log).tail(tab, limit=3))) == [8, 9, 10]
            assert seqs(run(history(log).before(tab, at(8), limit=3))) == [5, 6, 7]
            assert seqs(run(history(log).after(tab, at(2), limit=3))) == [3, 4, 5]
        assert run(log.catalogue.tab(tab)) == listed
    assert database.read_bytes() == before


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    steps=st.lists(
        st.one_of(st.integers(0, 7), st.tuples(st.integers(1, 5), st.booleans())), max_size=14
    )
)
def test_P09_a_reader_that_comes_and_goes_reads_each_row_exactly_once(
    tmp_path_factory: pytest.TempPathFactory, steps: list[int | tuple[int, bool]]
) -> None:
    """A number appends so many rows; a pair reads a page and may forget all but its cursor."""
    folder = tmp_path_factory.mktemp("reader")
    for kind in ("sql", "memory"):
        (folder / kind).mkdir()
        with open_any(kind, folder / kind) as log:
            tab = new_tab(log, folder)
            read: list[str] = []
            cursor, written = Cursor(), 0
            for step in (*steps, *[(5, True)] * 25):
                if isinstance(step, int):
                    run(log.session(tab).append([chunk(f"r{written + n}") for n in range(step)]))
                    written += step
                    continue
                limit, reconnects = step
                page = run(history(log).after(tab, cursor, limit=limit))
                assert not page.is_reset
                read += [row.id for row in page.rows]
                cursor = Cursor.parse(str(page.last)) if reconnects else page.last
            assert read == [f"r{n}" for n in range(written)]


def test_P09_a_paragraph_is_one_row(log: AnyLog, tmp_path: Path) -> None:
    tab = new_tab(log, tmp_path)
    text = "One.\n\nTwo.\n\n" * 500
    run(log.session(tab).append([chunk("a", text, role="assistant"), chunk("b")]))
    [row] = run(history(log).after(tab, Cursor(), limit=1)).rows
    assert not isinstance(row, DamagedRow) and row.data == Text(text)
