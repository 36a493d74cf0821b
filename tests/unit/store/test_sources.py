"""Pages for scopes and receipts of writers, each from one transaction (SPEC R04, R10, R11)."""

import asyncio
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from desktop.core.chunks import NewChunk, System
from desktop.core.conversation import retracted_ids
from desktop.core.errors import UnknownConversation
from desktop.core.records import Receipt, RequestRecord
from desktop.core.sources import (
    EVERYTHING,
    Message,
    Order,
    Question,
    RevisionMoved,
    Selection,
    message_of,
)
from desktop.core.turns import Turn, turns_of
from desktop.store.connection import driver
from desktop.store.log import Log
from tests.effort import examples
from tests.unit.store.builders import chunk, hide, new_tab, open_log, run, tool_turn

END = '{"kind":"turn_end","outcome":"done","durationMs":7}'
SHARED = [HealthCheck.function_scoped_fixture]  # one log; each example has its own conversation
PROMPTS = Selection(frozenset({"user"}), frozenset({"text"}))


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    with open_log(tmp_path) as log:
        yield log


def ended(id_: str, turn: str, outcome: str = "done", took: int = 5) -> NewChunk:
    data = System("turn_end", fields={"outcome": outcome, "durationMs": took})
    return chunk(id_, data, role="system", turn=turn)


def retracted(id_: str, turn: str, *ids: str) -> NewChunk:
    data = System("retracted", fields={"chunkIds": list(ids)})
    return chunk(id_, data, role="system", turn=turn)


async def all_messages(
    log: Log, tab: str, selection: Selection, order: Order, limit: int
) -> list[Message]:
    """A conversation page by page, as a reader goes through it."""
    found: list[Message] = []
    question = Question(limit, order)
    while True:
        page = await log.sources.messages(tab, selection, question)
        assert len(page.records) <= limit
        found += page.records
        if not page.has_more:
            return found
        question = replace(question, after=page.records[-1].seq, expected=page.revision)


async def all_turns(log: Log, tab: str, order: Order, limit: int) -> list[Turn]:
    found: list[Turn] = []
    question = Question(limit, order)
    while True:
        page = await log.sources.turns(tab, question)
        found += page.records
        if not page.has_more:
            return found
        question = replace(question, after=page.records[-1].seq)


# What happens in a log: who says something in which of three turns, or takes a row back.
steps = st.lists(
    st.tuples(
        st.sampled_from(["user", "assistant", "fact", "end", "retract"]),
        st.sampled_from("abc"),
        st.integers(0, 30),
    ),
    max_size=25,
)


def written(tab: str, happened: Sequence[tuple[str, str, int]]) -> list[NewChunk]:
    rows: list[NewChunk] = []
    for n, (what, turn, number) in enumerate(happened):
        id_, turn = f"{tab}-{n}", f"{tab}-{turn}"
        match what:
            case "user" | "assistant":
                rows.append(chunk(id_, f"row {n}", role=what, turn=turn))
            case "end":
                rows.append(ended(id_, turn, took=number))
            case "fact":
                rows.append(chunk(id_, System("fact", "x"), role="system", turn=turn))
            case _:
                rows.append(retracted(id_, turn, f"{tab}-{number % max(n, 1)}"))
    return rows


selections = st.builds(
    Selection,
    st.none() | st.frozensets(st.sampled_from(["user", "assistant", "system"])),
    st.none() | st.frozensets(st.sampled_from(["text", "system"])),
)
orders = st.sampled_from(get_args(Order))


@settings(suppress_health_check=SHARED, max_examples=examples(40))
@given(happened=steps, selection=selections, order=orders, limit=st.integers(1, 7), cut=st.data())
def test_r11_pages_hold_every_record_once_in_order(
    log: Log,
    tmp_path: Path,
    happened: list[tuple[str, str, int]],
    selection: Selection,
    order: Order,
    limit: int,
    cut: st.DataObject,
) -> None:
    """R10, R11: any filter, order and size, in a conversation and in a fork of it."""
    tab = new_tab(log, tmp_path)
    rows = written(tab, happened)
    at = cut.draw(st.integers(0, len(rows)))
    fork = f"{tab}-fork"

    async def read(tab: str) -> tuple[list[Message], list[Turn]]:
        return (
            await all_messages(log, tab, selection, order, limit),
            await all_turns(log, tab, order, limit),
        )

    async def story() -> None:
        first = await log.session(tab).append(rows[:at])
        _fork(log, tab, fork, at)
        second = await log.session(tab).append(rows[at:])
        own = await log.session(fork).append([chunk(f"{fork}-1", turn=f"{tab}-a")])
        for name, all_rows in (
            (tab, [*first.chunks, *second.chunks]),
            (fork, [replace(row, tab_id=fork) for row in first.chunks] + list(own.chunks)),
        ):
            gone = retracted_ids(all_rows)
            admitted = [one for one in all_rows if selection.admits(one.role, one.type)]
            messages = [message_of(one, is_retracted=one.id in gone) for one in admitted]
            turns = list(turns_of(all_rows))
            if order == "descending":
                messages, turns = messages[::-1], turns[::-1]
            assert await read(name) == (messages, turns)

    run(story())


def _fork(log: Log, tab: str, fork: str, at: int) -> None:
    with closing(sqlite3.connect(log.database)) as plain, plain:
        plain.execute(
            "INSERT INTO tabs SELECT ?, workspace_id, title, position, is_open, NULL, id, ?,"
            " created_at, NULL, NULL, NULL, NULL FROM tabs WHERE id = ?",
            (fork, at, tab),
        )


@settings(suppress_health_check=SHARED, max_examples=examples(40))
@given(happened=steps, sizes=st.lists(st.integers(1, 5), min_size=1))
def test_r04_receipts_alone_lead_to_what_a_fresh_read_gives(
    log: Log,
    tmp_path: Path,
    happened: list[tuple[str, str, int]],
    sizes: list[int],
) -> None:
    """Whoever applies them in order needs no read: taken back rows and turns are told whole."""
    tab = new_tab(log, tmp_path)
    rows = written(tab, happened)

    async def story() -> None:
        messages: dict[str, Message] = {}
        turns: dict[str, Turn] = {}
        session, at, revision = log.session(tab), 0, 0
        while at < len(rows):
            size = sizes[at % len(sizes)]
            receipt = await session.append(rows[at : at + size])
            at += size
            assert (receipt.base_revision, receipt.is_partial) == (revision, False)
            revision = receipt.revision
            messages |= {one.id: message_of(one) for one in receipt.chunks}
            messages |= {one.id: one for one in receipt.revised}
            turns |= {one.id: one for one in receipt.turns}
        assert list(messages.values()) == await all_messages(log, tab, EVERYTHING, "ascending", 100)
        assert sorted(turns.values(), key=lambda one: one.seq) == await all_turns(
            log, tab, "ascending", 100
        )

    run(story())


def test_r04_an_interval_that_holds_more_than_the_write_is_never_told_as_covered(
    log: Log, tmp_path: Path
) -> None:
    """A trigger of somebody else writes along."""
    tab = new_tab(log, tmp_path)
    with closing(sqlite3.connect(log.database)) as plain, plain:
        plain.execute(
            "CREATE TRIGGER along AFTER INSERT ON chunks WHEN NEW.id = 'u' BEGIN"
            " INSERT INTO model_requests(id, tab_id, turn_id, step, provider, model, started_at)"
            " VALUES ('along', NEW.tab_id, 't', 0, 'p', 'm', 1); END"
        )
    receipt = run(log.session(tab).append([chunk("u")]))
    assert (receipt.base_revision, receipt.revision, receipt.is_partial) == (0, 2, True)


def test_r04_a_request_that_is_written_again_unchanged_covers_nothing(
    log: Log, tmp_path: Path
) -> None:
    tab = new_tab(log, tmp_path)
    record = RequestRecord("q", tab, "t", 0, "p", "m", 1)

    async def story() -> list[Receipt]:
        session = log.session(tab)
        return [await session.start_request(one) for one in (record, record)]

    told = [(one.base_revision, one.revision, one.is_partial) for one in run(story())]
    assert told == [(0, 1, False), (1, 1, False)]


def test_a_turn_is_told_rightly_after_somebody_else_wrote(log: Log, tmp_path: Path) -> None:
    tab = new_tab(log, tmp_path)

    async def story() -> None:
        session = log.session(tab)
        await session.append([chunk("u", turn="t")])
        plain = sqlite3.connect(log.database)
        with closing(plain), plain:
            plain.executemany(
                "INSERT INTO chunks(id, tab_id, seq, turn_id, role, type, data_json, created_at)"
                " VALUES (?, ?, ?, 't', ?, ?, ?, 9)",
                [
                    ("x", tab, 2, "assistant", "text", '{"text":"x"}'),
                    ("y", tab, 3, "system", "system", END),
                ],
            )
        receipt = await session.append([chunk("a", role="assistant", turn="t")])
        assert [(turn.outcome, turn.duration_ms) for turn in receipt.turns] == [("", 7)]

    run(story())


def test_r10_a_page_holds_a_hundred_at_most(log: Log, tmp_path: Path) -> None:
    tab = new_tab(log, tmp_path)
    run(log.session(tab).append([chunk(f"u{n}", turn=f"t{n}") for n in range(120)]))
    page = run(log.sources.messages(tab, EVERYTHING, Question(500)))
    turns = run(log.sources.turns(tab, Question(500)))
    assert (len(page.records), page.has_more) == (len(turns.records), turns.has_more) == (100, True)


def test_r10_another_revision_than_expected_is_refused(log: Log, tmp_path: Path) -> None:
    tab = new_tab(log, tmp_path)
    run(log.session(tab).append(tool_turn()))
    for read in (
        log.sources.messages(tab, EVERYTHING, Question(expected=4)),
        log.sources.turns(tab, Question(expected=4)),
    ):
        with pytest.raises(RevisionMoved) as caught:
            run(read)
        assert caught.value.revision == 5


def test_r11_a_range_ends_at_a_place_whether_or_not_a_record_stands_there(
    log: Log, tmp_path: Path
) -> None:
    tab = new_tab(log, tmp_path)
    run(log.session(tab).append(tool_turn()))
    asked = Question(order="descending", through=2)
    page = run(log.sources.messages(tab, PROMPTS, asked))
    assert (page.records, page.has_more) == ((), True)
    page = run(log.sources.messages(tab, PROMPTS, replace(asked, through=1)))
    assert ([one.id for one in page.records], page.has_more) == (["u"], False)


def test_r12_a_conversation_that_is_gone_is_as_one_that_never_was(log: Log, tmp_path: Path) -> None:
    tab, gone = new_tab(log, tmp_path), new_tab(log, tmp_path)
    run(log.session(tab).append(tool_turn()))
    hide(log, gone)
    assert run(log.sources.revisions([tab, gone, "never"])) == {tab: 5}
    for name in (gone, "never"):
        for read in (log.sources.messages(name, EVERYTHING, Question()),
                     log.sources.turns(name, Question())):  # fmt: skip
            with pytest.raises(UnknownConversation):
                run(read)


def test_r14_revisions_are_asked_in_bounded_queries(log: Log, tmp_path: Path) -> None:
    """No payload is read, whatever the number of conversations."""
    tabs = [new_tab(log, tmp_path) for _ in range(3)]
    asked = [*tabs, *(f"never-{n}" for n in range(250))]
    with Traced(log) as statements:
        assert run(log.sources.revisions(asked)) == dict.fromkeys(tabs, 0)
    assert len(statements) == 3
    assert not [one for one in statements if "chunks" in one]


@pytest.mark.parametrize("selection", [PROMPTS, Selection(frozenset({"user", "system"}))])
@pytest.mark.parametrize("order", get_args(Order))
def test_prompts_and_turns_are_found_without_looking_at_answers(
    log: Log, tmp_path: Path, selection: Selection, order: Order
) -> None:
    """R07: the plans of the queries use the indexes of what was said."""
    tab = new_tab(log, tmp_path)
    run(log.session(tab).append(tool_turn()))
    question = Question(order=order)
    with Traced(log) as statements:
        run(log.sources.messages(tab, selection, question))
        run(log.sources.turns(tab, question))
    of_chunks = [one for one in statements if "FROM chunks" in one and "turn_end" not in one]
    with closing(sqlite3.connect(log.database)) as plain:
        plans = [
            " ".join(row[3] for row in plain.execute(f"EXPLAIN QUERY PLAN {one}"))
            for one in of_chunks
            if "NOT IN" not in one and "seq = " not in one
        ]
    assert plans
    used = {name for one in plans for name in one.split() if name.startswith("idx_")}
    assert used == {"idx_chunks_said", "idx_chunks_turns", "idx_chunks_retractions"}, plans


class Traced:
    """The statements that a log's reading thread runs."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self.statements: list[str] = []

    def __enter__(self) -> list[str]:
        self._set(self.statements.append)
        self.statements.clear()
        return self.statements

    def __exit__(self, *_: object) -> None:
        statements = list(self.statements)
        self._set(None)
        self.statements[:] = [one for one in statements if one.startswith("SELECT")]

    def _set(self, call: Any) -> None:
        lanes = self._log.sources._lanes  # pyright: ignore[reportPrivateUsage] (the statements are the subject)
        asyncio.run(lanes.read(lambda one: driver(one).set_trace_callback(call)))
