"""Forks and branches, on the database and on the double in memory (SPEC U19)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop.core.chunks import LogChunk, NewChunk, Stamp, System, Text, ToolCall
from desktop.core.errors import StoreError, UnknownConversation
from desktop.core.records import RequestRecord, SearchHit, Snapshot, Tab
from desktop.store.log import Log
from tests.unit.store.builders import (
    STAMP,
    AnyLog,
    chunk,
    hide,
    new_tab,
    open_any,
    put_in_bin,
    run,
    take_out_of_bin,
)


@pytest.fixture(params=["sql", "memory"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AnyLog]:
    (tmp_path / "data").mkdir()
    with open_any(request.param, tmp_path) as made:
        yield made


@pytest.fixture
def tab(log: AnyLog, tmp_path: Path) -> str:
    """A conversation of three turns; rows 3, 6 and 9 are its turns' ends."""
    tab = new_tab(log, tmp_path)
    say(log, tab, "a", "b", "c")
    return tab


def say(log: AnyLog, tab: str, *names: str) -> None:
    """A whole turn of three rows for each name: a question, an answer, the end."""
    for name in names:
        run(log.session(tab).append(turn(name)))


def turn(name: str) -> list[NewChunk]:
    end = System("turn_end", fields={"outcome": "done", "durationMs": 1})
    return [
        chunk(f"{name}.u", f"question {name}", turn=name),
        chunk(f"{name}.a", f"answer {name}", role="assistant", turn=name),
        chunk(f"{name}.e", end, role="system", turn=name),
    ]


def fork(log: AnyLog, tab: str, at_seq: int, *names: str) -> str:
    """A fork in which turns were run."""
    made = run(log.catalogue.fork_tab(tab, at_seq=at_seq))
    say(log, made.id, *names)
    return made.id


def ids(log: AnyLog, tab: str) -> list[str]:
    loaded = run(log.session(tab).load())
    rows = sorted((*loaded.chunks, *loaded.dangling), key=lambda row: row.seq)
    assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
    assert {row.tab_id for row in rows} <= {tab}
    return [row.id for row in rows]


def tab_of(log: AnyLog, tab: str) -> Tab:
    return run(log.catalogue.tab(tab))


def branches(log: AnyLog, tab: str) -> list[tuple[int, tuple[str, ...]]]:
    return [(one.seq, one.tab_ids) for one in run(log.catalogue.branches(tab))]


def hits(log: AnyLog, text: str) -> dict[str, str]:
    """The rows that a search finds, with the conversation that each is said to be in."""
    found: dict[str, str] = {}
    for hit in run(log.search.find(text, limit=100)).hits:
        found[row_at(log, hit).id] = hit.tab_id
    return found


def row_at(log: AnyLog, hit: SearchHit) -> LogChunk:
    row = run(log.reader.page(hit.tab_id, limit=1, around=hit.seq)).rows[0]
    assert isinstance(row, LogChunk)
    assert row.seq == hit.seq
    return row


def test_U19_a_fork_reads_its_parent_up_to_its_place_and_goes_on_by_itself(
    log: AnyLog, tab: str
) -> None:
    made = fork(log, tab, 6, "x")
    assert ids(log, made) == ["a.u", "a.a", "a.e", "b.u", "b.a", "b.e", "x.u", "x.a", "x.e"]
    assert ids(log, tab)[6:] == ["c.u", "c.a", "c.e"]
    say(log, tab, "d")
    assert ids(log, made)[6:] == ["x.u", "x.a", "x.e"]


def test_a_fork_is_a_new_open_conversation_of_the_same_workspace(log: AnyLog, tab: str) -> None:
    run(log.catalogue.set_tab_open(tab, is_open=False))
    made = run(log.catalogue.fork_tab(tab, at_seq=3))
    parent = tab_of(log, tab)
    assert (made.forked_from, made.forked_at_seq, made.is_open) == (tab, 3, True)
    assert made.workspace_id == parent.workspace_id
    assert made.position > parent.position
    assert (made.parent_tab_id, made.archived_at, made.trashed_at) == (None, None, None)
    assert tab_of(log, made.id) == made
    assert made in run(log.catalogue.view()).tabs


def test_a_fork_is_set_to_what_its_parent_was_set_to(log: AnyLog, tab: str) -> None:
    parent = tab_of(log, tab)
    assert run(log.catalogue.snapshot(fork(log, tab, 3))) is None
    chosen = Snapshot(
        tab, parent.workspace_id, "anthropic:1", "m-2", "high", "auto", "running", "question"
    )
    run(log.catalogue.save_snapshot(chosen))
    made = fork(log, tab, 3)
    assert run(log.catalogue.snapshot(made)) == Snapshot(
        made, parent.workspace_id, "anthropic:1", "m-2", "high", "auto"
    )


def test_S12_a_fork_is_as_old_as_the_last_message_it_shares(log: AnyLog, tab: str) -> None:
    before = tab_of(log, tab).last_message_at
    made = run(log.catalogue.fork_tab(tab, at_seq=5 + 1))
    end = run(log.reader.page(tab, limit=1, around=6)).rows[0]
    assert isinstance(end, LogChunk)
    assert made.last_message_at == end.created_at
    assert run(log.catalogue.fork_tab(tab, at_seq=0)).last_message_at is None
    say(log, made.id, "x")
    assert (tab_of(log, made.id).last_message_at or 0) > (before or 0)
    assert tab_of(log, tab).last_message_at == before


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Mend the door", ["Mend the door (2)", "Mend the door (3)"]),
        ("Report (2019)", ["Report (2019) (2)", "Report (2019) (3)"]),
        ("", ["", ""]),
    ],
)
def test_a_fork_has_its_parents_title_and_the_next_number(
    log: AnyLog, tab: str, title: str, expected: list[str]
) -> None:
    run(log.catalogue.rename_tab(tab, title))
    first = run(log.catalogue.fork_tab(tab, at_seq=6))
    second = run(log.catalogue.fork_tab(first.id, at_seq=3))
    assert [first.title, second.title] == expected


@pytest.mark.parametrize("at_seq", [0, 3, 6, 9])
def test_a_fork_begins_at_a_turns_end_or_before_a_user_row(
    log: AnyLog, tab: str, at_seq: int
) -> None:
    assert len(ids(log, fork(log, tab, at_seq))) == at_seq


@pytest.mark.parametrize("at_seq", [-1, 1, 2, 4, 5, 7, 8, 10, 99])
def test_a_fork_anywhere_else_is_refused_with_a_sentence(
    log: AnyLog, tab: str, at_seq: int
) -> None:
    before = run(log.catalogue.view())
    with pytest.raises(StoreError, match="branch"):
        run(log.catalogue.fork_tab(tab, at_seq=at_seq))
    assert run(log.catalogue.view()) == before


def test_a_fork_may_begin_before_a_message_that_was_sent_into_a_turn(
    log: AnyLog, tmp_path: Path
) -> None:
    tab = new_tab(log, tmp_path)
    rows = turn("a")
    rows.insert(2, chunk("late", "and this", turn="a", step=1))
    rows.insert(3, chunk("a.b", "so", role="assistant", turn="a", step=1))
    run(log.session(tab).append(rows))
    assert ids(log, fork(log, tab, 2)) == ["a.u", "a.a"]


def test_a_turn_without_a_row_for_its_end_ends_where_the_next_one_begins(
    log: AnyLog, tmp_path: Path
) -> None:
    """An imported log may lack them."""
    tab = new_tab(log, tmp_path)
    fact = chunk("b.f", System("fact", "Today is Friday."), role="system", turn="b")
    run(log.session(tab).append([*turn("a")[:2], fact, *turn("b")[:2]]))
    assert len(ids(log, fork(log, tab, 2))) == 2
    assert len(ids(log, fork(log, tab, 5))) == 5
    with pytest.raises(StoreError):
        fork(log, tab, 4)


def test_a_fork_after_the_last_row_of_a_running_turn_is_refused(
    log: AnyLog, tmp_path: Path
) -> None:
    tab = new_tab(log, tmp_path)
    run(log.session(tab).append(turn("a")[:2]))
    run(log.session(tab).acquire_lease())
    with pytest.raises(StoreError, match="middle of a turn"):
        fork(log, tab, 2)
    run(log.session(tab).append(turn("a")[2:]))
    assert len(ids(log, fork(log, tab, 3))) == 3


def test_a_conversation_in_the_bin_or_purged_is_not_forked(log: AnyLog, tab: str) -> None:
    reader = fork(log, tab, 3, "x")
    put_in_bin(log, tab)
    with pytest.raises(StoreError, match="bin"):
        fork(log, tab, 3)
    hide(log, tab)
    with pytest.raises(UnknownConversation):
        fork(log, tab, 3)
    # A living fork is forked at rows that it reads from a parent which is gone.
    again = fork(log, reader, 0, "y")
    assert ids(log, again) == ["y.u", "y.a", "y.e"]
    assert ids(log, fork(log, reader, 3)) == ["a.u", "a.a", "a.e"]


def test_an_unknown_conversation_has_no_forks(log: AnyLog) -> None:
    for coroutine in (log.catalogue.fork_tab("nobody", at_seq=0), log.catalogue.branches("nobody")):
        with pytest.raises(UnknownConversation):
            run(coroutine)


# -- branches ---------------------------------------------------------------------------------


def test_U19_siblings_are_found_from_each_other(log: AnyLog, tab: str) -> None:
    one = fork(log, tab, 3, "x")
    two = fork(log, tab, 3, "y")
    expected = [(4, (tab, one, two))]
    assert branches(log, tab) == expected
    assert branches(log, one) == expected
    assert branches(log, two) == expected


def test_forks_from_before_the_same_row_are_siblings_however_they_came_about(
    log: AnyLog, tab: str
) -> None:
    """A fork of a fork before a row that both read is anchored where the row is."""
    one = fork(log, tab, 6, "x")
    two = fork(log, one, 3, "y")
    three = fork(log, two, 3, "z")
    assert tab_of(log, two).forked_from == tab_of(log, three).forked_from == tab
    assert branches(log, tab) == [(4, (tab, two, three)), (7, (tab, one))]
    assert branches(log, one) == [(4, (one, two, three)), (7, (tab, one))]
    assert branches(log, three) == [(4, (tab, two, three))]


def test_a_fork_of_a_fork_is_anchored_at_the_fork_where_it_holds_the_row(
    log: AnyLog, tab: str
) -> None:
    one = fork(log, tab, 3, "x", "x2")
    two = fork(log, one, 6, "y", "y2")
    three = fork(log, two, 9, "z")
    assert [tab_of(log, one).forked_from for one in (one, two, three)] == [tab, one, two]
    assert branches(log, three) == [(4, (tab, three)), (7, (one, three)), (10, (two, three))]
    assert branches(log, tab) == [(4, (tab, one))]
    assert ids(log, three)[3:] == ["x.u", "x.a", "x.e", "y.u", "y.a", "y.e", "z.u", "z.a", "z.e"]


def test_a_fork_of_nothing_is_a_sibling_of_the_whole_line(log: AnyLog, tab: str) -> None:
    one = fork(log, tab, 3, "x")
    two = fork(log, one, 0, "y")
    assert (tab_of(log, two).forked_from, tab_of(log, two).forked_at_seq) == (tab, 0)
    assert branches(log, two) == [(1, (tab, two))]
    assert branches(log, one) == [(1, (one, two)), (4, (tab, one))]


def test_a_fork_without_rows_of_its_own_is_no_sibling_yet(log: AnyLog, tab: str) -> None:
    empty = fork(log, tab, 3)
    assert branches(log, tab) == branches(log, empty) == []
    other = fork(log, tab, 3, "x")
    assert branches(log, empty) == []
    assert branches(log, tab) == [(4, (tab, other))]


def test_forks_at_the_end_of_a_log_part_from_each_other(log: AnyLog, tab: str) -> None:
    one, two = fork(log, tab, 9, "x"), fork(log, tab, 9, "y")
    assert branches(log, tab) == []
    assert branches(log, one) == branches(log, two) == [(10, (one, two))]
    say(log, tab, "d")
    assert branches(log, one) == [(10, (one, two, tab))]


def test_what_is_in_the_bin_is_no_branch_until_it_comes_back(log: AnyLog, tab: str) -> None:
    one, two = fork(log, tab, 3, "x"), fork(log, tab, 3, "y")
    put_in_bin(log, one)
    assert branches(log, tab) == [(4, (tab, two))]
    put_in_bin(log, two)
    assert branches(log, tab) == []
    take_out_of_bin(log, one)
    assert branches(log, tab) == [(4, (tab, one))]


def test_a_way_whose_first_conversation_is_in_the_bin_is_named_by_one_that_goes_it(
    log: AnyLog, tab: str
) -> None:
    one = fork(log, tab, 3, "x")
    later = fork(log, tab, 6, "y")
    put_in_bin(log, tab)
    assert branches(log, one) == [(4, (later, one))]
    assert branches(log, later) == [(4, (later, one))]
    put_in_bin(log, later)
    assert branches(log, one) == []


# -- reading across borders -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "places", "older", "newer"),
    [
        ({}, [7, 8, 9], True, False),
        ({"before": 8}, [5, 6, 7], True, True),
        ({"before": 4}, [1, 2, 3], False, True),
        ({"before": 1}, [], False, True),
        ({"after": 0}, [1, 2, 3], False, True),
        ({"after": 2}, [3, 4, 5], True, True),
        ({"after": 5}, [6, 7, 8], True, True),
        ({"after": 9}, [], True, False),
        ({"around": 4}, [3, 4, 5], True, True),
        ({"around": 7}, [6, 7, 8], True, True),
        ({"around": 1}, [1, 2, 3], False, True),
        ({"around": 9}, [7, 8, 9], True, False),
    ],
)
def test_a_page_of_a_fork_of_a_fork_knows_no_borders(
    log: AnyLog, tab: str, asked: dict[str, int], places: list[int], older: bool, newer: bool
) -> None:
    made = fork(log, fork(log, tab, 3, "x", "x2"), 6, "y")
    page = run(log.reader.page(made, limit=3, **asked))
    assert [row.seq for row in page.rows] == places
    assert (page.has_older, page.has_newer, page.total) == (older, newer, 9)


def test_the_active_model_of_a_fork_is_the_last_it_reads(log: AnyLog, tab: str) -> None:
    """S11."""
    other = Stamp("anthropic:9", "model-2")
    run(log.session(tab).append([chunk("d.u", turn="d", stamp=other)]))
    made = fork(log, tab, 9)
    assert run(log.session(made).active_model()) == STAMP
    run(log.session(made).append([chunk("x.u", turn="x", stamp=other)]))
    assert run(log.session(made).active_model()) == other


def test_the_requests_of_a_fork_are_its_own(log: AnyLog, tab: str) -> None:
    """What was paid for in the parent is not paid for twice."""
    record = RequestRecord("q1", tab, "a", 0, "anthropic:1", "model-1", started_at=5)
    run(log.session(tab).start_request(record))
    assert run(log.session(fork(log, tab, 3)).requests()) == ()


def test_S03_a_fork_from_before_a_message_has_nothing_unanswered(log: AnyLog, tab: str) -> None:
    run(log.session(tab).append([chunk("d.u", "and?", turn="d")]))
    assert run(log.session(tab).load()).dangling_user == "and?"
    assert run(log.session(fork(log, tab, 9)).load()).dangling == ()
    assert run(log.session(fork(log, tab, 6)).load()).dangling == ()


def test_S03_an_unanswered_message_of_a_fork_is_its_own(log: AnyLog, tab: str) -> None:
    made = fork(log, tab, 3)
    run(log.session(made).append([chunk("x.u", "and?", turn="x")]))
    assert run(log.session(made).load()).dangling_user == "and?"
    assert run(log.session(tab).load()).dangling == ()


def test_the_rows_that_a_fork_adds_move_its_own_revision_alone(log: AnyLog, tab: str) -> None:
    """R01."""
    before = run(log.reader.revision(tab))
    made = fork(log, tab, 3)
    receipt = run(log.session(made).append(turn("x")))
    assert (receipt.base_revision, receipt.revision) == (0, 3)
    assert [row.seq for row in receipt.chunks] == [4, 5, 6]
    assert run(log.reader.revision(tab)) == before


def test_a_long_line_of_forks_is_read_like_one_log(log: AnyLog, tmp_path: Path) -> None:
    tab = line = new_tab(log, tmp_path)
    say(log, tab, "t0")
    depth = 200 if isinstance(log, Log) else 20
    for number in range(1, depth):
        line = fork(log, line, number * 3, f"t{number}")
    assert len(ids(log, line)) == depth * 3
    page = run(log.reader.page(line, limit=4, before=depth))
    assert [row.seq for row in page.rows] == list(range(depth - 4, depth))
    assert branches(log, line) == []


# -- search -----------------------------------------------------------------------------------


def test_U40_a_row_is_found_once_and_named_by_who_holds_it(log: AnyLog, tab: str) -> None:
    made = fork(log, tab, 6, "x")
    assert hits(log, "question") == {"a.u": tab, "b.u": tab, "c.u": tab, "x.u": made}


def test_rows_of_a_parent_in_the_bin_are_found_in_a_living_fork(log: AnyLog, tab: str) -> None:
    one = fork(log, tab, 3, "x")
    two = fork(log, tab, 6, "y")
    three = fork(log, one, 6, "z")
    put_in_bin(log, tab)
    assert hits(log, "question") == {
        "a.u": one,
        "b.u": two,
        "x.u": one,
        "y.u": two,
        "z.u": three,
    }
    put_in_bin(log, one)
    assert hits(log, "question") == {"a.u": two, "b.u": two, "x.u": three, "y.u": two, "z.u": three}
    put_in_bin(log, two)
    # Read through a fork that is in the bin itself.
    assert hits(log, "question") == {"a.u": three, "x.u": three, "z.u": three}
    put_in_bin(log, three)
    assert hits(log, "question") == {}
    take_out_of_bin(log, tab)
    assert hits(log, "question") == {"a.u": tab, "b.u": tab, "c.u": tab}


def test_a_look_without_the_index_names_the_living_too(log: AnyLog, tab: str) -> None:
    made = fork(log, tab, 3, "x")
    put_in_bin(log, tab)
    assert hits(log, "uestion") == {"a.u": made, "x.u": made}


def test_the_title_of_a_hit_is_that_of_the_conversation_it_names(log: AnyLog, tab: str) -> None:
    run(log.catalogue.rename_tab(tab, "Door"))
    fork(log, tab, 3)
    put_in_bin(log, tab)
    assert [one.title for one in run(log.search.find("question", limit=9)).hits] == ["Door (2)"]


def test_C09_calls_of_the_parent_are_part_of_the_fork(log: AnyLog, tmp_path: Path) -> None:
    """What recovery looks at are the rows as they are read."""
    tab = new_tab(log, tmp_path)
    call = chunk("a.c", ToolCall("call-1", "look", {}), role="assistant", turn="a")
    run(log.session(tab).append([chunk("a.u", turn="a"), call, chunk("b.u", turn="b")]))
    made = fork(log, tab, 2)
    rows = run(log.session(made).load()).chunks
    assert isinstance(rows[-1].data, ToolCall)
    assert isinstance(rows[0].data, Text)
