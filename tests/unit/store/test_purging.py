"""Emptying the bin: what goes, what stays for forks, and what a crash in its middle leaves."""

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import Connection

from desktop.core.errors import StoreError, UnknownConversation
from desktop.core.records import RequestRecord, ViewState
from desktop.core.status import QueuedMessage
from desktop.store import purging
from desktop.store.log import Log
from tests.unit.store.builders import (
    AnyLog,
    chunk,
    new_tab,
    open_any,
    open_log,
    put_in_bin,
    run,
    take_out_of_bin,
)
from tests.unit.store.test_branches import branches, fork, hits, ids, say, tab_of, turn


@pytest.fixture(params=["sql", "memory"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AnyLog]:
    (tmp_path / "data").mkdir()
    with open_any(request.param, tmp_path) as made:
        yield made


@pytest.fixture
def sql(tmp_path: Path) -> Iterator[Log]:
    with open_log(tmp_path) as made:
        yield made


@pytest.fixture
def tab(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    name = "sql" if "sql" in request.fixturenames else "log"
    log: AnyLog = request.getfixturevalue(name)
    made = new_tab(log, tmp_path)
    say(log, made, "a", "b", "c")
    return made


def purge(log: AnyLog, tab: str) -> None:
    put_in_bin(log, tab)
    run(log.catalogue.purge_tab(tab))


def is_known(log: AnyLog, tab: str) -> bool:
    try:
        run(log.catalogue.tab(tab))
    except UnknownConversation:
        return False
    return True


def ask(log: Log, sql: str, *values: object) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(log.database)) as connection:
        return connection.execute(sql, values).fetchall()


def kept(log: Log, tab: str) -> list[object]:
    return [row[0] for row in ask(log, "SELECT id FROM chunks WHERE tab_id = ? ORDER BY seq", tab)]


def is_sound(log: Log) -> bool:
    assert ask(log, "INSERT INTO chunks_search(chunks_search) VALUES ('integrity-check')") == []
    return bool(run(log.doctor())["ok"])


def test_U13_only_what_is_in_the_bin_can_be_purged(log: AnyLog, tab: str) -> None:
    with pytest.raises(StoreError, match="bin"):
        run(log.catalogue.purge_tab(tab))
    assert len(ids(log, tab)) == 9
    with pytest.raises(UnknownConversation):
        run(log.catalogue.purge_tab("nobody"))


def test_a_purged_conversation_is_gone(log: AnyLog, tab: str) -> None:
    purge(log, tab)
    store = log.session(tab)
    for coroutine in (
        store.append([chunk("one")]),
        store.load(),
        store.active_model(),
        store.acquire_lease(),
        store.enqueue(QueuedMessage("m", tab, "text", 1)),
        log.reader.page(tab, limit=1),
        log.reader.revision(tab),
        log.catalogue.tab(tab),
        log.catalogue.rename_tab(tab, "x"),
        log.catalogue.snapshot(tab),
        log.catalogue.draft(tab),
        log.catalogue.branches(tab),
        log.catalogue.fork_tab(tab, at_seq=0),
    ):
        with pytest.raises(UnknownConversation):
            run(coroutine)
    assert hits(log, "question") == {}
    assert run(log.catalogue.view()).tabs == ()


def test_a_purged_parent_is_gone_too_while_a_fork_reads_it(log: AnyLog, tab: str) -> None:
    made = fork(log, tab, 3, "x")
    purge(log, tab)
    for coroutine in (
        log.session(tab).load(),
        log.session(tab).append(turn("d")),
        log.session(tab).acquire_lease(),
        log.session(tab).enqueue(QueuedMessage("m", tab, "text", 1)),
        log.reader.page(tab, limit=1),
        log.catalogue.tab(tab),
        log.catalogue.draft(tab),
        log.catalogue.fork_tab(tab, at_seq=3),
    ):
        with pytest.raises(UnknownConversation):
            run(coroutine)
    assert ids(log, made) == ["a.u", "a.a", "a.e", "x.u", "x.a", "x.e"]
    assert [tab.id for tab in run(log.catalogue.view()).tabs] == [made]


def test_U19_what_a_fork_reads_stays(log: AnyLog, tab: str) -> None:
    one, two = fork(log, tab, 3, "x"), fork(log, tab, 6, "y")
    three = fork(log, one, 6, "z")
    before = {made: ids(log, made) for made in (one, two, three)}
    assert branches(log, two) == [(4, (two, one)), (7, (tab, two))]
    purge(log, tab)
    assert {made: ids(log, made) for made in (one, two, three)} == before
    assert hits(log, "question") == {
        "a.u": one,
        "b.u": two,
        "x.u": one,
        "y.u": two,
        "z.u": three,
    }
    assert branches(log, two) == [(4, (two, one))]
    assert branches(log, three) == [(4, (two, three))]
    purge(log, two)
    assert hits(log, "question") == {"a.u": one, "x.u": one, "z.u": three}
    assert branches(log, one) == []


def test_a_fork_in_the_bin_needs_its_rows_too(log: AnyLog, tab: str) -> None:
    made = fork(log, tab, 6, "x")
    put_in_bin(log, made)
    purge(log, tab)
    assert hits(log, "question") == {}
    take_out_of_bin(log, made)
    assert len(ids(log, made)) == 9
    assert hits(log, "question") == {"a.u": made, "b.u": made, "x.u": made}


def test_a_purge_may_be_asked_for_again(log: AnyLog, tab: str) -> None:
    made = fork(log, tab, 3, "x")
    purge(log, tab)
    run(log.catalogue.purge_tab(tab))
    assert len(ids(log, made)) == 6


def test_a_living_fork_can_be_forked_among_the_rows_of_a_purged_parent(
    log: AnyLog, tab: str
) -> None:
    one = fork(log, tab, 6, "x")
    purge(log, tab)
    two = fork(log, one, 3, "y")
    purge(log, one)
    assert ids(log, two) == ["a.u", "a.a", "a.e", "y.u", "y.a", "y.e"]


# -- in the database --------------------------------------------------------------------------


def test_only_the_rows_that_are_read_are_kept(sql: Log, tab: str) -> None:
    one = fork(sql, tab, 6, "x")
    fork(sql, tab, 3, "y")
    purge(sql, tab)
    assert kept(sql, tab) == ["a.u", "a.a", "a.e", "b.u", "b.a", "b.e"]
    assert is_sound(sql)
    purge(sql, one)
    assert kept(sql, tab) == ["a.u", "a.a", "a.e"]
    assert ask(sql, "SELECT count(*) FROM tabs WHERE id = ?", one) == [(0,)]
    assert is_sound(sql)


def test_with_the_last_fork_the_whole_chain_of_purged_ancestors_goes(sql: Log, tab: str) -> None:
    line = [tab]
    for number in range(2, 6):
        line.append(fork(sql, line[-1], number * 3, f"f{number}", f"g{number}"))
    for one in line[:-1]:
        purge(sql, one)
    assert ask(sql, "SELECT count(*) FROM tabs") == [(5,)]
    assert len(ids(sql, line[-1])) == 21
    assert is_sound(sql)
    purge(sql, line[-1])
    for table in ("tabs", "chunks", "conversation_session_revisions"):
        assert ask(sql, f"SELECT count(*) FROM {table}") == [(0,)]
    assert is_sound(sql)


def test_everything_beside_the_rows_goes_with_them(sql: Log, tab: str) -> None:
    fork(sql, tab, 3, "x")
    store = sql.session(tab)
    for number in range(100):
        record = RequestRecord(f"q{number}", tab, "a", 0, "anthropic:1", "model-1", started_at=5)
        run(store.start_request(record))
    run(store.enqueue(QueuedMessage("m", tab, "text", 1)))
    run(sql.catalogue.save_draft(tab, "half a thought"))
    run(sql.catalogue.save_view_state(tab, ViewState(False, 2, 5)))
    run(sql.catalogue.rename_tab(tab, "Private"))
    with closing(sqlite3.connect(sql.database)) as connection, connection:
        connection.execute(
            "INSERT INTO bookmarks(tab_id, seq, note, created_at) VALUES (?, 4, 'n', 1)", (tab,)
        )
    purge(sql, tab)
    for table in ("model_requests", "queued_messages", "drafts", "view_state", "bookmarks"):
        assert ask(sql, f"SELECT count(*) FROM {table} WHERE tab_id = ?", tab) == [(0,)], table
    assert ask(sql, "SELECT title FROM tabs WHERE id = ?", tab) == [("",)]


def test_the_conversations_of_subagents_go_first(sql: Log, tab: str, tmp_path: Path) -> None:
    child, grandchild = new_tab(sql, tmp_path), new_tab(sql, tmp_path)
    say(sql, child, "k")
    say(sql, grandchild, "l")
    with closing(sqlite3.connect(sql.database)) as connection, connection:
        for one, parent in ((child, tab), (grandchild, child)):
            connection.execute("UPDATE tabs SET parent_tab_id = ? WHERE id = ?", (parent, one))
    reader = fork(sql, grandchild, 3, "m")
    assert tab_of(sql, reader).parent_tab_id is None
    purge(sql, tab)
    assert not any(is_known(sql, one) for one in (tab, child, grandchild))
    assert kept(sql, grandchild) == ["l.u", "l.a", "l.e"]
    assert (kept(sql, tab), kept(sql, child)) == ([], [])
    assert is_sound(sql)
    purge(sql, reader)
    assert ask(sql, "SELECT count(*) FROM tabs") == [(0,)]


def test_R01_each_purged_row_moves_the_revision_and_the_tabs_end_leaves_none(
    sql: Log, tab: str
) -> None:
    made = fork(sql, tab, 3, "x")
    revision = "SELECT revision FROM conversation_session_revisions WHERE session_id = ?"
    before, of_fork = ask(sql, revision, tab), ask(sql, revision, made)
    purge(sql, tab)
    assert (before, ask(sql, revision, tab)) == ([(9,)], [(15,)])
    assert ask(sql, revision, made) == of_fork
    purge(sql, made)
    assert ask(sql, "SELECT count(*) FROM conversation_session_revisions") == [(0,)]


def test_the_database_refuses_to_delete_what_is_only_in_the_bin(sql: Log, tab: str) -> None:
    put_in_bin(sql, tab)
    with closing(sqlite3.connect(sql.database)) as connection, pytest.raises(sqlite3.Error):
        connection.execute("DELETE FROM chunks WHERE tab_id = ?", (tab,))


def test_a_purge_that_ended_after_any_slice_goes_on_at_the_next_start(tmp_path: Path) -> None:
    """The smallest slices there are; the file is opened anew after each of them."""
    with open_log(tmp_path) as log:
        tab = new_tab(log, tmp_path)
        say(log, tab, "a", "b", "c", "d")
        one = fork(log, tab, 6, "x", "y")
        two = fork(log, one, 9, "z")
        for gone in (tab, one):
            put_in_bin(log, gone)
            write(log, partial(purging.mark, tab_id=gone, now=1))
        expected = ids(log, two)
    slices = 0
    while True:
        with open_log(tmp_path, prefix=f"start-{slices}") as log:
            assert ids(log, two) == expected
            assert is_sound(log)
            if not run(log._lanes.read(purging.has_more)):  # pyright: ignore[reportPrivateUsage]
                break
            write(log, partial(purging.delete_some, weight=1))
            slices += 1
    assert slices > 3
    with open_log(tmp_path, prefix="last") as log:
        assert kept(log, tab) == ["a.u", "a.a", "a.e", "b.u", "b.a", "b.e"]
        assert kept(log, one) == ["x.u", "x.a", "x.e"]


def write(log: Log, job: Callable[[Connection], None]) -> None:
    run(log._lanes.write(job))  # pyright: ignore[reportPrivateUsage]


ROOT = Path(__file__).parents[3]
ROWS = 600
PURGE = """
import asyncio, itertools, sys
from pathlib import Path
from tests.bench._corpus import open_log
log = open_log(Path(sys.argv[1]))
asyncio.run(log.catalogue.purge_tab(sys.argv[2]))
"""


@pytest.mark.parametrize("left", [ROWS - 1, ROWS // 2, 130])
def test_a_killed_purge_is_finished_while_nobody_waits(tmp_path: Path, left: int) -> None:
    """SIGKILL in the middle, seen from outside by the rows that are gone."""
    with open_log(tmp_path) as log:
        tab = new_tab(log, tmp_path)
        run(log.session(tab).append(turn("a")))
        for at in range(0, ROWS, 100):
            rows = [chunk(f"c{n}", "word " * 50, turn="b") for n in range(at, at + 100)]
            run(log.session(tab).append(rows))
        made = fork(log, tab, 3, "x")
        put_in_bin(log, tab)
    child = subprocess.Popen([sys.executable, "-c", PURGE, str(tmp_path), tab], cwd=ROOT)
    try:
        with closing(sqlite3.connect(tmp_path / "nacre.db", timeout=20)) as connection:
            rows = "SELECT count(*) FROM chunks WHERE tab_id = ?"
            while connection.execute(rows, (tab,)).fetchone()[0] > left:
                assert child.poll() is None
    finally:
        child.kill()
        child.wait()
    with open_log(tmp_path, prefix="later") as log:
        assert is_sound(log)
        assert len(ids(log, made)) == 6
        assert log.upkeep.is_untidy
        while run(log.upkeep.tidy()):
            pass
        assert kept(log, tab) == ["a.u", "a.a", "a.e"]
        assert not log.upkeep.is_untidy
        assert len(ids(log, made)) == 6
        assert is_sound(log)


def test_a_writer_gets_in_between_two_slices(tmp_path: Path) -> None:
    """In the same process, by the queue of the writer's thread."""
    with open_log(tmp_path) as log:
        tab, other = new_tab(log, tmp_path), new_tab(log, tmp_path)
        run(log.session(tab).append([chunk(f"c{n}", "word " * 50) for n in range(ROWS)]))
        put_in_bin(log, tab)

        async def both() -> list[int]:
            purged = asyncio.create_task(log.catalogue.purge_tab(tab))
            left: list[int] = []
            while not purged.done():
                await log.session(other).append([chunk(f"o{len(left)}")])
                left.append(len(kept(log, tab)))
            await purged
            return left

        assert any(0 < one < ROWS for one in run(both()))
        assert kept(log, tab) == []


def test_the_measurement_of_a_purge_comes_to_its_end() -> None:
    command = [sys.executable, "-m", "tests.bench", "purge", "--purge-rows", "2000"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    names = [line.split()[0].removeprefix("purge.") for line in done.stdout.splitlines()]
    assert names == ["longest_inside", "longest_seen", "machine_stalled", "p99_inside", "rows"]
