"""What scopes read is the same wherever a conversation is kept (SPEC R10 – R12)."""

import asyncio
import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from desktop.core.chunks import NewChunk, System
from desktop.core.errors import UnknownConversation
from desktop.core.records import Snapshot
from desktop.core.sources import EVERYTHING, Question, RevisionMoved, Selection
from desktop.feed.batches import Batch
from desktop.feed.projecting import projected
from desktop.feed.source import Query
from desktop.headless.sources import Sources
from desktop.headless.stores import Stores
from desktop.store.home_notes import Home
from desktop.store.log import Log
from tests.effort import examples
from tests.unit.store.builders import chunk, new_tab, open_log

SHARED = [HealthCheck.function_scoped_fixture]  # each example has conversations of its own
SELECTIONS = (EVERYTHING, Selection(frozenset({"user"}), frozenset({"text"})))
NUMBERS = itertools.count()


class Desk:
    """A log, and one conversation more in a file at each `begin`."""

    def __init__(self, log: Log, folder: Path) -> None:
        self.log, self.folder = log, folder
        self.stores = Stores(log, choice=Home(folder / "kept"), report=print)
        self.sources = Sources(log, self.stores.reader)
        new_tab(log, folder)

    async def begin(self) -> str:
        snapshot = Snapshot(f"file{next(NUMBERS)}", 1, "anthropic", "m", "", "ask")
        return (await self.stores.begin(snapshot)).id

    def run(self, story: Any) -> Any:
        return asyncio.run(story)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    (tmp_path / "kept").mkdir()
    with open_log(tmp_path) as log:
        made = Desk(log, tmp_path)
        yield made
        asyncio.run(made.stores.close())


rows = st.lists(
    st.tuples(
        st.sampled_from(["user", "assistant", "end", "retract"]),
        st.integers(0, 3),
        st.integers(0, 40),
    ),
    max_size=14,
)


def a_row(number: int, kind: str, turn: int, target: int) -> NewChunk:
    name, of = f"r{number}", f"t{turn}"
    match kind:
        case "end":
            data = System("turn_end", fields={"outcome": "done", "durationMs": 3})
            return chunk(name, data, role="system", turn=of)
        case "retract":
            earlier = (
                [f"r{target % number}"] if number else []
            )  # what is taken back was said before
            data = System("retracted", fields={"chunkIds": earlier})
            return chunk(name, data, role="system", turn=of)
        case _:
            return chunk(name, name, role=kind, turn=of)  # pyright: ignore[reportArgumentType]


@settings(max_examples=examples(25), deadline=None, suppress_health_check=SHARED)
@given(
    rows,
    st.sampled_from(["ascending", "descending"]),
    st.integers(1, 5),
    st.none() | st.integers(1, 15),
    st.none() | st.integers(1, 15),
)
def test_a_file_is_read_for_scopes_as_the_database_is(
    desk: Desk, said: list[Any], order: Any, limit: int, after: int | None, through: int | None
) -> None:
    if after is not None and through is not None:
        # What is read lies between the two.
        assume(after < through if order == "ascending" else through < after)
    chunks = [a_row(number, *one) for number, one in enumerate(said)]
    question = Question(limit, order, after=after, through=through)

    async def read(tab: str, selection: Selection) -> Any:
        page = await desk.sources.messages(tab, selection, question)
        turns = await desk.sources.turns(tab, question)
        return (
            [(one.id, one.seq, one.role, one.is_retracted) for one in page.records],
            page.has_more,
            [(one.id, one.seq, one.outcome, one.duration_ms) for one in turns.records],
            turns.has_more,
        )

    async def story() -> None:
        kept = (await desk.log.catalogue.create_tab(1)).id
        file = await desk.begin()
        for tab in (kept, file):
            store = await desk.stores.store_for(tab)
            for one in chunks:
                # One file for all examples would know their ids.
                await store.append([one] if tab == file else [_renamed(one, tab)])
        for selection in SELECTIONS:
            found = await read(file, selection)
            assert found == _plain(await read(kept, selection), kept)

    desk.run(story())


def _renamed(one: NewChunk, tab: str) -> NewChunk:
    """Ids of rows are unique in a database."""
    data = one.data
    if isinstance(data, System) and "chunkIds" in data.fields:
        ids = [f"{tab}-{id_}" for id_ in data.fields["chunkIds"]]
        data = System(data.kind, fields={"chunkIds": ids})
    return replace(one, id=f"{tab}-{one.id}", data=data)


def _plain(found: Any, tab: str) -> Any:
    messages, *rest = found
    return ([(id_.removeprefix(f"{tab}-"), *more) for id_, *more in messages], *rest)


def test_a_file_is_followed_by_its_revision_and_what_was_written_is_read_anew(desk: Desk) -> None:
    """A file's receipt does not tell of turns, so it covers nothing."""

    async def story() -> None:
        file = await desk.begin()
        store = await desk.stores.store_for(file)
        receipt = await store.append([chunk("a")])
        query = Query(file, with_turns=True)
        batch = projected(receipt, query, epoch="e")
        assert batch == Batch("e", receipt.base_revision, receipt.revision, is_reset=True)
        assert await desk.sources.revisions([file, "never"]) == {file: receipt.revision}
        page = await desk.sources.messages(file, EVERYTHING, Question())
        assert page.revision == receipt.revision
        await store.append([chunk("b")])
        with pytest.raises(RevisionMoved):
            await desk.sources.messages(file, EVERYTHING, Question(expected=page.revision))

    desk.run(story())


def test_a_file_in_the_bin_or_gone_is_not_there(desk: Desk) -> None:
    async def story() -> None:
        file, other = await desk.begin(), await desk.begin()
        await desk.log.catalogue.trash_tab(file)
        for name in (file, "never"):
            for read in (
                desk.sources.messages(name, EVERYTHING, Question()),
                desk.sources.turns(name, Question()),
            ):
                with pytest.raises(UnknownConversation):
                    await read
        assert set(await desk.sources.revisions([file, other])) == {other}
        (desk.folder / "kept" / f"{other}.jsonl").unlink()
        assert await desk.sources.revisions([file, other]) == {}

    desk.run(story())
