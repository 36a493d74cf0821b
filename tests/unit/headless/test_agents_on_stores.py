"""Whole turns of real agents on every store there is: what they promise does not hang on which."""

import json
import sqlite3
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from desktop.agent.approvals import Approvals
from desktop.agent.facts import Facts
from desktop.agent.spending import Tariff
from desktop.agent.supervisor import Supervisor
from desktop.agent.surroundings import Chosen, Place, Surroundings
from desktop.core.chunks import LogChunk, NewChunk, System, Text, ToolCall, ToolResult
from desktop.core.conversation import retracted_ids, started_mark
from desktop.core.errors import InBin, LeaseHeld, StoreError
from desktop.core.model import ModelInfo, RequestOptions
from desktop.core.records import Page, Receipt, Snapshot, Tab, Workspace
from desktop.core.status import TabStatus
from desktop.core.tools import Tool, ToolOutcome
from desktop.headless.opening import new_id, now_ms
from desktop.headless.stores import Choice, Stores
from desktop.store.home_notes import Home
from desktop.store.log import Log
from desktop.wire.request import build, serialise
from tests.fakes.models import ScriptedModel, call, calls, fails, says
from tests.fakes.tools import ScriptedTool, scene
from tests.unit.agent.stage import (
    Published,
    dollars,
    played,
    read_usage,
    results,
    story,
    tokens_price,
)
from tests.unit.store.builders import STAMP
from tests.unit.wire.rows_of import MODELS, OPUS

KEPT = ["sql", "jsonl"]


class Slow(Published):
    """A listener that takes its time with every row."""

    def receipt(self, receipt: Receipt) -> None:
        time.sleep(0.002)
        Published.receipt(self, receipt)


class Life:
    """One process: a real log, the stores, agents. `tab_id` is the conversation it works in."""

    def __init__(
        self,
        folder: Path,
        log: Log,
        stores: Stores,
        model: ScriptedModel,
        tools: Sequence[Tool],
    ) -> None:
        self.folder = folder
        self.log = log
        self.stores = stores
        self.model = model
        self.published = Slow()
        self.tab_id = ""
        self.supervisor = Supervisor(
            catalogue=log.catalogue,
            store_for=stores.store_for,
            place_for=self._place,
            around=Surroundings(
                model_for=lambda _: model,
                model_info=lambda id_: ModelInfo(id_, id_, window=1_000),
                tools=tuple(tools),
                prompt="You are Nacre.",
                publisher=self.published,
                approvals=Approvals(log.catalogue, has_person=False, new_id=new_id, now_ms=now_ms),
                tariff=Tariff(usage=read_usage, dollars=dollars, tokens=tokens_price),
                new_id=new_id,
                now_ms=now_ms,
                monotonic=time.monotonic,
            ),
            defaults=lambda: Chosen("scripted-1"),
            revision=stores.reader.revision,
        )

    def _place(self, tab: Tab, workspace: Workspace) -> Place:
        async def facts() -> Facts:
            return Facts("2026-11-29", "TestOS 1", str(self.folder), is_git=False)

        return Place(tab.id, workspace.id, scene(self.folder), facts)

    async def begin(self) -> "Life":
        workspace = await self.log.catalogue.open_workspace(self.folder)
        if self.stores.makes_files:
            tab = await self.stores.begin(Snapshot(new_id(), workspace.id, "", "m", "", "ask"))
        else:
            tab = await self.log.catalogue.create_tab(workspace.id)
        self.tab_id = tab.id
        return self

    async def lay_down(self, *rows: NewChunk) -> None:
        """Rows that an earlier process left behind."""
        await (await self.stores.store_for(self.tab_id)).append(rows)

    async def run(self, text: str) -> TabStatus:
        await self.supervisor.send(self.tab_id, text)
        await self.published.until(lambda: self.published.latest[self.tab_id].phase != "running")
        assert not self.model.complaints, self.model.complaints
        return self.supervisor.status(self.tab_id)

    async def page(self) -> Page:
        return await self.stores.reader.page(self.tab_id, limit=1_000)

    async def rows(self) -> list[LogChunk]:
        """What a view reads."""
        found = (await self.page()).rows
        assert all(isinstance(row, LogChunk) for row in found)
        assert [row.seq for row in found] == list(range(1, len(found) + 1))
        return [row for row in found if isinstance(row, LogChunk)]


@asynccontextmanager
async def life(
    tmp_path: Path, kind: str, model: ScriptedModel | None = None, tools: Sequence[Tool] = ()
) -> AsyncGenerator[Life]:
    data, work = tmp_path / "data", tmp_path / "work"
    data.mkdir(exist_ok=True)
    work.mkdir(exist_ok=True)
    choices: dict[str, Choice] = {"sql": None, "jsonl": Home(tmp_path / "files"), "null": "null"}
    log = Log.open(
        data / "nacre.db", blobs=data / "blobs", run=data / "run", new_id=new_id, now_ms=now_ms
    )
    stores = Stores(log, choice=choices[kind], report=lambda _: None)
    made = Life(work, log, stores, model or ScriptedModel(), tools)
    try:
        yield made
    finally:
        await made.supervisor.shutdown()
        await stores.close()
        await log.close()


def left(id_: str, data: Any, role: Any, *, turn: str = "t1", step: int = 0) -> NewChunk:
    return NewChunk(id=id_, turn_id=turn, role=role, data=data, step=step, stamp=STAMP)


@pytest.mark.parametrize("kind", KEPT)
@played
async def test_s05_c04_results_are_never_stored_before_their_call(
    tmp_path: Path, kind: str
) -> None:
    """S05, C04: with listeners that are slower than the tools."""
    wanted = [call(f"c{n}", "look", {"n": n}) for n in range(12)]
    model = ScriptedModel([calls(*wanted[:6]), calls(*wanted[6:]), says("K")])
    async with life(tmp_path, kind, model, [ScriptedTool("look")]) as now:
        await now.begin()
        await now.run("Look")
        rows = await now.rows()
    called: set[str] = set()
    for row in rows:
        if isinstance(row.data, ToolCall):
            called.add(row.data.call_id)
        elif isinstance(row.data, ToolResult):
            assert row.data.call_id in called
    assert len(results(rows)) == 12


@pytest.mark.parametrize("kind", KEPT)
@played
async def test_s07_a_conversation_that_is_taken_up_is_continued_and_not_stored_again(
    tmp_path: Path, kind: str
) -> None:
    """S07, A04, C03: what a later process asks begins with what the first one asked."""
    first = ScriptedModel([calls(call("c1")), says("One.")])
    async with life(tmp_path, kind, first, [ScriptedTool("look")]) as now:
        await now.begin()
        await now.run("Look")
        before, tab_id = await now.rows(), now.tab_id
    second = ScriptedModel([says("Two.")])
    async with life(tmp_path, kind, second, [ScriptedTool("look")]) as later:
        later.tab_id = tab_id
        await later.supervisor.open(tab_id)
        assert await later.rows() == before
        await later.run("And?")
        after = await later.rows()
    assert after[: len(before)] == before
    assert story(after[len(before) :]) == ["user: And?", "assistant: Two.", "end done"]
    assert list(second.asked[0].rows[: len(before)]) == before
    assert first.asked[1].rows == second.asked[0].rows[: len(first.asked[1].rows)]


@pytest.mark.parametrize("kind", ["null", *KEPT])
@played
async def test_s06_a_whole_turn_runs_on_every_store(tmp_path: Path, kind: str) -> None:
    """S06: on the one that keeps nothing too, several turns long."""
    model = ScriptedModel([calls(call("c1")), says("One."), says("Two.")])
    async with life(tmp_path, kind, model, [ScriptedTool("look")]) as now:
        await now.begin()
        status = await now.run("Look")
        assert (status.last_outcome, status.problem) == ("done", "")
        status = await now.run("And?")
        assert (status.last_outcome, status.problem) == ("done", "")
        assert len(await now.rows()) == (0 if kind == "null" else 11)
        assert model.asked[2].rows[: len(model.asked[1].rows)] == model.asked[1].rows
        in_database = (await now.log.reader.page(now.tab_id, limit=99)).total
    assert (in_database > 0) == (kind == "sql")


@pytest.mark.parametrize("kind", KEPT)
@pytest.mark.parametrize("started", [True, False])
@played
async def test_c09_a07_calls_without_a_result_are_answered_after_a_crash(
    tmp_path: Path, kind: str, started: bool
) -> None:
    """C09, A07, C15: exactly one error result each, that says whether the tool had started."""
    tool = ScriptedTool("look")
    async with life(tmp_path, kind, ScriptedModel([says("I see.")]), [tool]) as now:
        await now.begin()
        await now.lay_down(
            left("p", System("prompt", "You are Nacre.", {"tools": []}), "system"),
            left("u", Text("Go"), "user"),
            left("c", call("c1"), "assistant"),
        )
        if started:
            await now.lay_down(left("m", started_mark(["c1"]), "system"))
        status = await now.supervisor.open(now.tab_id)
        assert status.phase == "idle"
        found = results(await now.rows())
        assert found["c1"].is_error
        assert ("outcome unknown" if started else "not started") in found["c1"].result
        await now.run("Go on")
        rows = await now.rows()
    assert tool.ran == []
    assert len([row for row in rows if isinstance(row.data, ToolResult)]) == 1


@pytest.mark.parametrize("kind", KEPT)
@played
async def test_c13_twenty_identical_calls_run_once_and_each_has_its_result_row(
    tmp_path: Path, kind: str
) -> None:
    tool = ScriptedTool("look")
    wanted = [call(f"c{n}", "look", {"a": 1}) for n in range(20)]
    async with life(tmp_path, kind, ScriptedModel([calls(*wanted), says("K")]), [tool]) as now:
        await now.begin()
        await now.run("Look")
        rows = await now.rows()
    assert len(tool.ran) == 1
    assert set(results(rows)) == {f"c{n}" for n in range(20)}


@pytest.mark.parametrize("kind", KEPT)
@played
async def test_s03_s13_a_changed_unanswered_text_is_taken_back_and_stays_visible(
    tmp_path: Path, kind: str
) -> None:
    """S03, S13: also behind an interrupted answer, and only that text is retracted."""
    async with life(tmp_path, kind, ScriptedModel([says("K")])) as now:
        await now.begin()
        await now.lay_down(
            left("p", System("prompt", "You are Nacre.", {"tools": []}), "system"),
            left("u1", Text("First"), "user"),
            left("a1", Text("Hal", interrupted=True), "assistant"),
            left("e1", System("turn_end", fields={"outcome": "stopped"}), "system"),
            left("u2", Text("one"), "user", turn="t2"),
            left("u3", Text("two"), "user", turn="t2"),
        )
        status = await now.supervisor.open(now.tab_id)
        assert status.dangling == "one\n\ntwo"
        assert now.model.asked == []
        await now.run("one and two")
        rows = await now.rows()
        asked = now.model.asked[0].rows
    assert retracted_ids(rows) == {"u2", "u3"}
    assert {"u1", "a1", "u2", "u3"} <= {row.id for row in rows}
    assert [row.data for row in asked][-1] == Text("one and two")


@pytest.mark.parametrize("kind", KEPT)
@played
async def test_s03_sent_unchanged_it_is_the_same_row(tmp_path: Path, kind: str) -> None:
    async with life(tmp_path, kind, ScriptedModel([says("K")])) as now:
        await now.begin()
        await now.lay_down(
            left("p", System("prompt", "You are Nacre.", {"tools": []}), "system"),
            left("u", Text("Hello"), "user"),
        )
        assert (await now.supervisor.open(now.tab_id)).dangling == "Hello"
        await now.run("Hello")
        rows = await now.rows()
    assert [row.id for row in rows if row.role == "user"] == ["u"]
    assert retracted_ids(rows) == frozenset()


@pytest.mark.parametrize("kind", KEPT)
@played
async def test_a02_a_cut_answer_is_kept_marked_and_said_again(tmp_path: Path, kind: str) -> None:
    """A02, A03, C11: the next request is a valid one, with the text that was shown."""
    model = ScriptedModel([fails(after="Hal"), says("K")])
    async with life(tmp_path, kind, model) as now:
        await now.begin()
        await now.run("Hi")
        kept = story(await now.rows())
        await now.run("Go on")
        asked = now.model.asked[1].rows
    assert kept == ["user: Hi", "assistant: Hal (interrupted)", "error", "end failed"]
    assert Text("Hal", interrupted=True) in [row.data for row in asked]


@pytest.mark.parametrize("kind", KEPT)
@played
async def test_what_runs_is_known_to_the_catalogue_and_what_is_in_the_bin_does_not_run(
    tmp_path: Path, kind: str
) -> None:
    """P05, U13, S10: whatever keeps the rows."""
    async with life(tmp_path, kind) as here:
        await here.begin()
        await (await here.stores.store_for(here.tab_id)).acquire_lease()
        async with life(tmp_path, kind) as there:
            with pytest.raises(LeaseHeld):
                await there.log.catalogue.trash_tab(here.tab_id)
            with pytest.raises(LeaseHeld):
                await (await there.stores.store_for(here.tab_id)).acquire_lease()
            await (await here.stores.store_for(here.tab_id)).release_lease()
            await there.log.catalogue.trash_tab(here.tab_id)
            with pytest.raises(InBin):
                await (await here.stores.store_for(here.tab_id)).acquire_lease()
            await there.log.catalogue.restore_tab(here.tab_id)
            await (await there.stores.store_for(here.tab_id)).acquire_lease()


@played
async def test_no_branch_is_made_of_what_is_kept_as_a_file(tmp_path: Path) -> None:
    """S13, U19: it would be an empty one; an answered text of it can't be edited."""
    async with life(tmp_path, "jsonl", ScriptedModel([says("One.")])) as now:
        await now.begin()
        await now.run("Hi")
        user = next(row for row in await now.rows() if row.role == "user")
        for attempt in (
            now.log.catalogue.fork_tab(now.tab_id, at_seq=0),
            now.supervisor.edit(now.tab_id, user.id, "Hello"),
            now.supervisor.regenerate(now.tab_id, user.id),
        ):
            with pytest.raises(StoreError, match="kept as a file"):
                await attempt
        assert len((await now.log.catalogue.view()).tabs) == 1


@played
async def test_a08_where_the_folder_is_gone_nothing_is_asked_and_the_text_is_not_lost(
    tmp_path: Path,
) -> None:
    """A08, S02: and it goes on when the folder is back."""
    model = ScriptedModel([says("One."), says("Two.")])
    async with life(tmp_path, "jsonl", model) as now:
        await now.begin()
        await now.run("Hi")
        (tmp_path / "files").rename(tmp_path / "away")
        with pytest.raises(StoreError, match="is not there"):
            await now.supervisor.send(now.tab_id, "more")
        assert len(model.asked) == 1
        with pytest.raises(StoreError, match="is not there"):
            await now.page()
        assert not (tmp_path / "files").exists()
        (tmp_path / "away").rename(tmp_path / "files")
        await now.run("more")
        rows = await now.rows()
    assert story(rows)[-3:] == ["user: more", "assistant: Two.", "end done"]


@pytest.mark.parametrize("kind", KEPT)
@played
async def test_s02_s04_what_is_asked_is_on_disk_before_it_is_asked(
    tmp_path: Path, kind: str
) -> None:
    """S02, S04: read at that moment by another reader of the same files."""
    seen: list[list[str]] = []

    class Looking(ScriptedModel):
        def respond(self, chunks: Any, options: Any) -> Any:
            seen.append(on_disk())
            return ScriptedModel.respond(self, chunks, options)

    model = Looking([calls(call("c1")), says("K")])
    async with life(tmp_path, kind, model, [ScriptedTool("look", answer=_long)]) as now:
        await now.begin()
        on_disk = reading(tmp_path, kind, now.tab_id)
        await now.run("Look")
    assert [one[-1] for one in seen] == ["user text", "tool tool_result"]


def _long(arguments: Any) -> ToolOutcome:
    del arguments
    return ToolOutcome("x" * 10_000)


def reading(tmp_path: Path, kind: str, tab_id: str) -> Callable[[], list[str]]:
    """What an outsider finds in the database or in the file now: role and type by row."""

    def rows() -> list[str]:
        if kind == "jsonl":
            lines = (tmp_path / "files" / f"{tab_id}.jsonl").read_bytes().splitlines()[1:]
            found = [json.loads(line) for line in lines]
            return [f"{one['role']} {one['type']}" for one in found if one["kind"] == "row"]
        with closing(sqlite3.connect(tmp_path / "data" / "nacre.db")) as connection:
            query = "SELECT role || ' ' || type FROM chunks ORDER BY seq"
            return [row[0] for row in connection.execute(query)]

    return rows


@pytest.mark.parametrize("kind", KEPT)
@played
async def test_s08_only_the_latest_compaction_counts_after_a_reload(
    tmp_path: Path, kind: str
) -> None:
    """S08, A11: every row is there and visible; what the model is told begins with the summary."""
    async with life(tmp_path, kind) as now:
        await now.begin()
        await now.lay_down(
            left("p", System("prompt", "You are Nacre.", {"tools": []}), "system"),
            left("u1", Text("First"), "user"),
            left("a1", Text("One."), "assistant"),
            left("k1", System("compaction", "Summary one."), "system"),
            left("u2", Text("Second"), "user", turn="t2"),
            left("a2", Text("Two."), "assistant", turn="t2"),
            left("k2", System("compaction", "Summary two."), "system", turn="t2"),
            left("u3", Text("Third"), "user", turn="t3"),
            left("a3", Text("Three."), "assistant", turn="t3"),
        )
        live = await now.rows()
        loaded = await (await now.stores.store_for(now.tab_id)).load()
    assert [row.id for row in live] == ["p", "u1", "a1", "k1", "u2", "a2", "k2", "u3", "a3"]
    bodies = [
        build(rows, RequestOptions(model=OPUS), models=MODELS, stamp=STAMP)
        for rows in (live, loaded.chunks)
    ]
    assert serialise(bodies[0]) == serialise(bodies[1])
    told = json.dumps(bodies[0]["messages"])
    assert all(words in told for words in ("Summary two.", "Third", "Three."))
    assert not any(words in told for words in ("First", "Summary one.", "Second", "Two."))
