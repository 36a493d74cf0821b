"""Compacting with the real store, the real wire and a server that is as strict as the provider
(SPEC A11, S08, U24; DESIGN.md §5)."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from desktop.agent.approvals import Approvals
from desktop.agent.compaction import ASK, NOT_SHORTER, STOPPED
from desktop.agent.facts import Facts
from desktop.agent.spending import Tariff
from desktop.agent.supervisor import Supervisor
from desktop.agent.surroundings import Chosen, Place, Surroundings
from desktop.core.chunks import LogChunk, NewChunk, System, Text, ToolCall, ToolResult
from desktop.core.conversation import told
from desktop.core.model import ModelInfo
from desktop.core.records import Tab, Workspace
from desktop.core.status import TabStatus
from desktop.core.tools import ToolOutcome
from desktop.headless.opening import new_id, now_ms
from desktop.headless.stores import Stores
from desktop.store.log import Log
from desktop.wire.request import serialise
from desktop.wire.usage import usage_of
from tests.fakes.messages_api import (
    MessagesServer,
    Received,
    Reply,
    assert_extends,
    fails,
    reply,
    text,
    thinking,
    tool_use,
)
from tests.fakes.tools import ScriptedTool, scene
from tests.unit.agent.stage import Published, played, story, tokens_price
from tests.unit.store.builders import STAMP
from tests.unit.wire.asking import asking, load_sdk
from tests.unit.wire.rows_of import MODELS, OPUS

SMALL = "claude-haiku-4-5"  # reads 200,000 tokens
SUMMARY = "Summary of the conversation so far: pearls were looked at."
LONG = "A pearl is laid down layer on layer. " * 40


@pytest.fixture(scope="module", autouse=True)
def _sdk() -> None:  # pyright: ignore[reportUnusedFunction]
    """Loaded before the first test is timed."""
    load_sdk()


@dataclass(slots=True)
class Life:
    """One process on a real log that asks a server. `percent` is when it compacts by itself."""

    folder: Path
    log: Log
    supervisor: Supervisor
    published: Published
    stores: Stores
    tab_id: str = ""

    async def begin(self) -> None:
        workspace = await self.log.catalogue.open_workspace(self.folder)
        self.tab_id = (await self.log.catalogue.create_tab(workspace.id)).id

    async def lay_down(self, rows: Sequence[NewChunk]) -> None:
        await (await self.stores.store_for(self.tab_id)).append(rows)

    async def until(self, met: Callable[[TabStatus], object]) -> TabStatus:
        await self.published.until(
            lambda: (
                self.tab_id in self.published.latest
                and bool(met(self.published.latest[self.tab_id]))
            )
        )
        return self.supervisor.status(self.tab_id)

    async def idle(self) -> TabStatus:
        return await self.until(lambda status: status.phase != "running")

    async def run(self, words: str) -> TabStatus:
        await self.supervisor.send(self.tab_id, words)
        return await self.idle()

    async def compact(self, instruction: str = "") -> TabStatus:
        await self.supervisor.compact(self.tab_id, instruction)
        return await self.idle()

    async def rows(self, tab_id: str = "") -> list[LogChunk]:
        """What a view reads."""
        page = await self.stores.reader.page(tab_id or self.tab_id, limit=5_000)
        return [row for row in page.rows if isinstance(row, LogChunk)]


@asynccontextmanager
async def life(
    tmp_path: Path,
    server: MessagesServer,
    *,
    model: str = OPUS,
    percent: int = 0,
    window: int = 0,
    prompt: str = "You are Nacre.",
    tool: ScriptedTool | None = None,
    keep_warm: int = 0,
    clock: Callable[[], int] = now_ms,
) -> AsyncGenerator[Life]:
    data, work = tmp_path / "data", tmp_path / "work"
    data.mkdir(exist_ok=True)
    work.mkdir(exist_ok=True)
    log = Log.open(
        data / "nacre.db", blobs=data / "blobs", run=data / "run", new_id=new_id, now_ms=now_ms
    )
    stores = Stores(log, choice=None, report=lambda _: None)
    published = Published()

    def info(id_: str) -> ModelInfo | None:
        known = MODELS.find(id_)
        return replace(known.info, window=window or known.window) if known else None

    async def facts() -> Facts:
        return Facts("2026-11-30", "TestOS 1", str(work))

    def place(tab: Tab, workspace: Workspace) -> Place:
        return Place(tab.id, workspace.id, scene(work), facts)

    # Closing the transport runs a loop of its own.
    asked = asking(server.base_url)
    made = await asyncio.to_thread(asked.__enter__)
    supervisor = Supervisor(
        catalogue=log.catalogue,
        store_for=stores.store_for,
        place_for=place,
        around=Surroundings(
            model_for=lambda _: made.model,
            model_info=info,
            tools=(tool or ScriptedTool("look"),),
            prompt=prompt,
            publisher=published,
            approvals=Approvals(log.catalogue, has_person=False, new_id=new_id, now_ms=now_ms),
            tariff=Tariff(usage=usage_of, dollars=lambda _: 0.0, tokens=tokens_price),
            new_id=new_id,
            now_ms=clock,
            monotonic=time.monotonic,
            compact_at=lambda: percent,
            keep_warm=lambda: keep_warm,
        ),
        defaults=lambda: Chosen(model),
        revision=stores.reader.revision,
    )
    try:
        yield Life(work, log, supervisor, published, stores)
    finally:
        await supervisor.shutdown()
        await stores.close()
        await log.close()
        await asyncio.to_thread(asked.__exit__, None, None, None)


def said(received: Received) -> list[tuple[str, str]]:
    """The texts of a request: who and what."""
    return [
        (message["role"], block["text"])
        for message in received.messages
        for block in message["content"]
        if block["type"] == "text"
    ]


def is_asked_to_summarise(received: Received) -> bool:
    return received.last_text.startswith(ASK[:60])


def summaries(rows: Sequence[LogChunk]) -> list[str]:
    data = (row.data for row in rows)
    return [one.text for one in data if isinstance(one, System) and one.kind == "compaction"]


def _kind(row: LogChunk) -> str:
    return row.data.kind if isinstance(row.data, System) else ""


@played
async def test_a11_the_summary_is_asked_by_a_longer_last_request_and_then_stands_for_it(
    tmp_path: Path,
) -> None:
    """A11: it reads from the cache, its thinking and calls are dropped, every row stays."""
    tool = ScriptedTool("look")
    script = [
        reply(thinking("hm"), text(LONG), tool_use("look", {})),
        reply(thinking("so"), text("A pearl.")),
        reply(thinking("short"), text(SUMMARY + " " + LONG[:300]), tool_use("look", {"at": "x"})),
        reply(thinking("on"), "It is white."),
    ]
    with MessagesServer(script) as server:
        async with life(tmp_path, server, tool=tool) as now:
            await now.begin()
            await now.run("What is it?")
            before = await now.rows()
            status = await now.compact("the colour")
            assert status.problem == ""
            after = await now.rows()
            assert after[: len(before)] == before
            assert status.spent.context < 300
            await now.run("Which colour?")
            rows = await now.rows()
    assert server.rejected == []
    second, asked, last = server.requests[1:4]
    assert_extends(second.json, asked.json)
    for key in ("model", "tools", "system", "thinking", "max_tokens"):
        assert asked.json.get(key) == second.json.get(key)
    assert "tool_choice" not in asked.json
    # All that the last request left in the cache is read.
    assert second.account is not None and asked.account is not None
    assert asked.account.read >= second.account.total - second.account.input
    assert asked.account.first_difference is None
    assert is_asked_to_summarise(asked) and asked.last_text.endswith("\nthe colour")
    assert len(tool.ran) == 1
    assert [_kind(row) for row in after[len(before) :]] == ["compaction", "fact"]
    texts = said(last)
    assert texts[0] == ("user", f"{SUMMARY} {LONG[:300]}".strip())
    assert "The workspace folder is" in texts[1][1]
    assert texts[2:] == [("user", "Which colour?")]
    assert [one for one in story(rows) if one != "thinking"][-3:] == [
        "user: Which colour?",
        "assistant: It is white.",
        "end done",
    ]


@played
async def test_s08_a_later_process_is_told_the_same_and_only_the_latest_summary(
    tmp_path: Path,
) -> None:
    """S08: the agent writes it; what is read back gives the bytes that were sent live."""
    script = [
        reply(LONG),
        reply("First summary."),
        reply(LONG),
        reply("Second summary."),
        reply("B"),
    ]
    with MessagesServer([*script, reply("C")]) as server:
        async with life(tmp_path, server) as now:
            await now.begin()
            await now.run("one")
            await now.compact()
            await now.run("two")
            await now.compact()
            await now.run("three")
            tab_id = now.tab_id
        async with life(tmp_path, server) as later:
            later.tab_id = tab_id
            await later.supervisor.open(tab_id)
            await later.run("four")
            rows = await later.rows()
    assert server.rejected == []
    assert summaries(rows) == ["First summary.", "Second summary."]
    live, reloaded = server.requests[4], server.requests[5]
    assert_extends(live.json, reloaded.json)
    assert said(reloaded)[0] == ("user", "Second summary.")
    words = str(reloaded.messages)
    assert not any(one in words for one in ("First summary.", "layer on layer", "'one'", "'two'"))


@played
async def test_u24_by_itself_between_two_steps_and_what_was_queued_goes_out_after_it(
    tmp_path: Path,
) -> None:
    """A11, U24: at the size that is set, amid a turn; the queued text is kept."""
    script = [
        reply(text("Looking."), tool_use("look", {})).gate_after(3, "mid"),
        reply(SUMMARY),
        reply("Done."),
    ]
    tool = ScriptedTool("look", answer=lambda _: ToolOutcome(LONG * 8))
    with MessagesServer(script) as server:
        async with life(tmp_path, server, percent=50, window=8_000, tool=tool) as now:
            await now.begin()
            await now.supervisor.send(now.tab_id, "Look")
            await asyncio.to_thread(server.wait_at_gate, "mid")
            await now.supervisor.send(now.tab_id, "And be quick")
            server.release("mid")
            status = await now.idle()
            rows = await now.rows()
    assert server.rejected == [] and status.problem == ""
    assert_extends(server.requests[0].json, server.requests[1].json)
    assert is_asked_to_summarise(server.requests[1])
    assert said(server.requests[1])[-2] == ("user", "And be quick")
    texts = said(server.requests[2])
    assert texts[:2] == [("user", SUMMARY), ("user", "And be quick")]
    assert [one for one in story(rows) if not one.startswith("call")] == [
        "user: Look",
        "assistant: Looking.",
        story(rows)[3],
        "user: And be quick",
        f"compaction {SUMMARY}",
        "assistant: Done.",
        "end done",
    ]


FAILURES: list[tuple[Reply, str]] = [
    (reply(), "gave no summary"),
    (reply(LONG * 9), NOT_SHORTER),
    (reply(tool_use("look", {})), "wanted to use a tool"),
    (reply(text("I look first."), tool_use("look", {})), "wanted to use a tool"),
    (reply(SUMMARY, stop_reason="max_tokens"), "cut off"),
    (reply(SUMMARY, stop_reason="refusal"), "declined"),
    (
        reply(SUMMARY).error_after(3, "api_error", "the secret of the server"),
        "could not be compact",
    ),
    (reply(SUMMARY).cut_after(4), "could not be compacted"),
]


@pytest.mark.parametrize(("answer", "words"), FAILURES)
@played
async def test_u24_a_compaction_that_fails_changes_nothing_and_says_so(
    tmp_path: Path, answer: Reply, words: str
) -> None:
    """U24, A11: no row, no other context, no word of the error in what a model is told."""
    with MessagesServer([reply(LONG), answer, reply("Go on.")]) as server:
        async with life(tmp_path, server) as now:
            await now.begin()
            await now.run("Hi")
            before = await now.rows()
            status = await now.compact()
            assert words in status.problem and "as it was" in status.problem
            assert await now.rows() == before
            assert status.last_outcome == "done"
            await now.run("more")
    assert server.rejected == []
    assert_extends(server.requests[0].json, server.requests[2].json)
    assert said(server.requests[2]) == [
        *said(server.requests[0]),
        ("assistant", LONG),
        ("user", "more"),
    ]


@played
async def test_a11_it_is_counted_while_it_runs_can_be_stopped_and_messages_wait(
    tmp_path: Path,
) -> None:
    long_summary = "word " * 200
    script = [reply(LONG), reply(text(long_summary, chunk=300)).gate_after(5, "mid"), reply("Two.")]
    with MessagesServer(script) as server:
        async with life(tmp_path, server) as now:
            await now.begin()
            await now.run("Hi")
            before = await now.rows()
            await now.supervisor.compact(now.tab_id)
            await now.until(lambda status: status.compacting and status.compacting.words >= 100)
            await now.supervisor.send(now.tab_id, "next")
            await now.supervisor.stop(now.tab_id)
            status = now.supervisor.status(now.tab_id)
            assert STOPPED in status.problem and status.compacting is None
            assert [one.text for one in status.queue] == ["next"] and status.held
            assert await now.rows() == before
            server.release("mid")
            await now.supervisor.release_queue(now.tab_id)
            await now.idle()
            rows = await now.rows()
    assert server.rejected == []
    assert story(rows)[-3:] == ["user: next", "assistant: Two.", "end done"]
    assert_extends(server.requests[0].json, server.requests[2].json)


@played
async def test_a11_a_message_that_waited_goes_out_when_it_is_compacted(tmp_path: Path) -> None:
    script = [reply(LONG), reply(SUMMARY).gate_after(2, "mid"), reply("Two.")]
    with MessagesServer(script) as server:
        async with life(tmp_path, server) as now:
            await now.begin()
            await now.run("Hi")
            await now.supervisor.compact(now.tab_id)
            await asyncio.to_thread(server.wait_at_gate, "mid")
            await now.supervisor.send(now.tab_id, "next")
            server.release("mid")
            await now.idle()
            rows = await now.rows()
    assert server.rejected == []
    assert story(rows)[-4:] == [
        f"compaction {SUMMARY}",
        "user: next",
        "assistant: Two.",
        "end done",
    ]
    assert said(server.requests[2])[0] == ("user", SUMMARY)


@pytest.mark.parametrize("percent", [0, 80])
@played
async def test_u24_a_conversation_of_three_windows_is_compacted_in_pieces(
    tmp_path: Path, percent: int
) -> None:
    """U24: nothing over the limit goes out but, where it is not compacted by itself, the message
    whose refusal brings it; all old rows are there and found."""

    def answer(received: Received) -> Reply:
        number = len([one for one in server.requests if is_asked_to_summarise(one)])
        if is_asked_to_summarise(received):
            return reply(f"Summary {number}. It knows: {' '.join(marks(received))}")
        return reply("It is white.")

    with MessagesServer(answer) as server:
        async with life(tmp_path, server, model=SMALL, percent=percent) as now:
            await now.begin()
            old = imported(600_000 * 36 // 10)
            await now.lay_down(old)
            status = await now.run("Which colour?")
            assert status.problem == ""
            rows = await now.rows()
            found = await now.stores.search.find("mark0007", limit=5)
            paid = [
                one.spent.prompt
                for one in now.published.statuses()
                if one.compacting is not None and one.compacting.part == 3
            ]
    assert paid and all(paid), "what the first pieces cost is seen before the last is read"
    refused = [one for one in server.requests if one.refused]
    assert len(refused) == (0 if percent else 1)
    assert all(not is_asked_to_summarise(one) for one in refused)
    asked = [one for one in server.requests if is_asked_to_summarise(one)]
    assert len(asked) >= 4
    assert [row.id for row in rows[: len(old)]] == [one.id for one in old]
    assert found.hits
    assert len(summaries(rows)) == 1
    # Every piece was read, in order, and the last summary stands for all of them.
    read = [mark for one in asked for mark in marks(one)]
    assert sorted(set(read)) == sorted({f"mark{n:04}" for n in range(len(old) // 4)})
    assert said(server.requests[-1])[0] == ("user", summaries(rows)[0])
    assert ("user", "Which colour?") in said(server.requests[-1])
    assert story(rows)[-2:] == ["assistant: It is white.", "end done"]


@played
async def test_u24_thinking_goes_along_only_where_what_was_before_it_does(tmp_path: Path) -> None:
    """U24, API V34: the first piece is a true beginning of the conversation, the others are not."""

    def answer(received: Received) -> Reply:
        if is_asked_to_summarise(received):
            return reply(thinking("short"), SUMMARY)
        return reply(thinking("A long thought. " * 9), text(LONG))

    with MessagesServer(answer) as server:
        server.may_rewrite("what does not fit is summarised in pieces")
        async with life(tmp_path, server, window=3_600) as now:
            await now.begin()
            for word in ("one", "two", "three", "four", "five", "six", "seven"):
                await now.run(word)
            status = await now.compact()
            assert status.problem == ""
            await now.run("eight")
    assert server.rejected == []
    asked = [one for one in server.requests if is_asked_to_summarise(one)]
    thinks = [any(is_thought(one) for one in _blocks(received)) for received in asked]
    assert thinks == [True, *[False] * (len(asked) - 1)] and len(asked) > 2
    assert is_beginning(asked[0], server.requests[6])


def _blocks(received: Received) -> list[dict[str, object]]:
    return [block for message in received.messages for block in message["content"]]


def is_thought(block: dict[str, object]) -> bool:
    return block["type"] == "thinking"


def is_beginning(short: Received, long: Received) -> bool:
    """Whether all but the last text of one request stands at the beginning of another."""
    bare = [{**one, "cache_control": None} for one in _blocks(short)[:-1]]
    return bare == [{**one, "cache_control": None} for one in _blocks(long)][: len(bare)]


def imported(size: int) -> list[NewChunk]:
    """Rows of another program, of so many bytes: no usage is known of them."""
    rows: list[NewChunk] = []
    filling = "Layer on layer of nacre, as it is told in the old books. " * 350
    for at in range(size // len(filling) + 1):
        turn = f"old{at}"
        for role, data in (
            ("user", Text(f"mark{at:04} {filling[: len(filling) // 2]}")),
            ("assistant", ToolCall(f"c{at}", "look", {"at": "shell"})),
            ("tool", ToolResult(f"c{at}", "look", filling[: len(filling) // 2])),
            ("assistant", Text("I see.")),
        ):
            id_ = f"{turn}-{len(rows)}"
            rows.append(NewChunk(id_, turn, role, data, stamp=STAMP))  # pyright: ignore[reportArgumentType]
    return rows


def marks(received: Received) -> list[str]:
    return [
        words[:8] for role, words in said(received) if role == "user" and words.startswith("mark")
    ]


@played
async def test_u24_an_answer_that_the_window_cut_is_taken_back_and_asked_anew(
    tmp_path: Path,
) -> None:
    script = [
        reply(LONG),
        reply("It is wh", stop_reason="model_context_window_exceeded"),
        reply(SUMMARY),
        reply("It is white."),
    ]
    with MessagesServer(script) as server:
        async with life(tmp_path, server) as now:
            await now.begin()
            await now.run("Hi")
            status = await now.run("Which colour?")
            rows = await now.rows()
    assert server.rejected == [] and status.problem == ""
    assert story(rows)[3:] == [
        "user: Which colour?",
        "assistant: It is wh",
        "retracted 1",
        f"compaction {SUMMARY}",
        "assistant: It is white.",
        "end done",
    ]
    texts = said(server.requests[3])
    assert texts[:2] == [("user", SUMMARY), ("user", "Which colour?")]
    assert "It is wh" not in str(server.requests[3].messages)


@played
async def test_u24_a_prompt_that_is_refused_as_too_long_is_compacted_and_asked_anew(
    tmp_path: Path,
) -> None:
    """U24: also where the server's window is smaller than Nacre knows; once, without the person."""
    limit = 12_000

    def answer(received: Received) -> Reply:
        if len(received.body) > limit:
            return fails(400, message=f"prompt is too long: 9 tokens > {limit} maximum")
        return reply(SUMMARY if is_asked_to_summarise(received) else LONG)

    with MessagesServer(answer) as server:
        server.may_rewrite("what does not fit is summarised in pieces", times=4)
        async with life(tmp_path, server) as now:
            await now.begin()
            status = await now.run("0")
            while len(summaries(await now.rows())) == 0:
                status = await now.run(str(len(server.requests)))
            rows = await now.rows()
    assert status.problem == "" and status.last_outcome == "done"
    refused = [one for one in server.requests if len(one.body) > limit]
    question, asked_anew = refused[0], server.requests[-1]
    assert not is_asked_to_summarise(question)
    pieces = server.requests[server.requests.index(question) + 1 : -1]
    assert all(is_asked_to_summarise(one) for one in pieces)
    assert ("user", SUMMARY) in said(pieces[-1]) and ("user", SUMMARY) not in said(pieces[0])
    assert said(asked_anew)[:2] == [("user", SUMMARY), ("user", question.last_text)]
    assert story(rows)[-4:] == [
        f"user: {question.last_text}",
        f"compaction {SUMMARY}",
        f"assistant: {LONG}",
        "end done",
    ]


@played
async def test_u24_it_is_done_once_for_a_step_and_then_the_turn_ends(tmp_path: Path) -> None:
    cut = reply("It", stop_reason="model_context_window_exceeded")
    with MessagesServer([reply(LONG), cut, reply(SUMMARY), cut]) as server:
        async with life(tmp_path, server) as now:
            await now.begin()
            await now.run("Hi")
            status = await now.run("Which colour?")
            rows = await now.rows()
    assert len(server.requests) == 4 and status.last_outcome == "failed"
    assert len(summaries(rows)) == 1
    assert "end of the model's window" in " ".join(story(rows))


@played
async def test_a11_a_fork_from_before_sees_what_was_there(tmp_path: Path) -> None:
    """A11, U19: it reads through to the rows before the summary."""
    with MessagesServer([reply(LONG), reply(SUMMARY), reply("B"), reply("C")]) as server:
        async with life(tmp_path, server) as now:
            await now.begin()
            await now.run("one")
            at = (await now.rows())[-1].seq
            await now.compact()
            await now.run("two")
            fork = await now.supervisor.fork(now.tab_id, at_seq=at)
            now.tab_id = fork
            await now.run("three")
            rows = await now.rows()
    assert server.rejected == []
    assert summaries(rows) == [] and told(rows) == rows
    assert ("user", "one") in said(server.requests[3])
    assert_extends(server.requests[0].json, server.requests[3].json)


@played
async def test_c29_a_changed_prompt_and_tools_come_with_a_compaction(tmp_path: Path) -> None:
    """C29: not before it, and in the same write."""
    with MessagesServer([reply(LONG), reply("B"), reply(SUMMARY), reply("C")]) as server:
        async with life(tmp_path, server) as now:
            await now.begin()
            await now.run("one")
            tab_id = now.tab_id
        async with life(tmp_path, server, prompt="Words.", tool=ScriptedTool("peer")) as later:
            later.tab_id = tab_id
            await later.run("two")
            await later.compact()
            await later.run("three")
    assert server.rejected == []
    assert [one.json["system"][0]["text"] for one in server.requests] == [
        *["You are Nacre."] * 3,
        "Words.",
    ]
    assert [one.tool_names for one in server.requests] == [*[["look"]] * 3, ["peer"]]


@played
async def test_s03_an_unanswered_text_stays_unanswered_through_a_compaction(
    tmp_path: Path,
) -> None:
    """S03, A11: sent unchanged it is the same row, told in full after the summary."""
    script = [reply(LONG), reply(SUMMARY), reply("B")]
    with MessagesServer(script) as server:
        async with life(tmp_path, server) as now:
            await now.begin()
            await now.run("one")
            tab_id = now.tab_id
            row = NewChunk("lost", "t9", "user", Text("Two?"), stamp=STAMP)
            await now.lay_down([row])
        async with life(tmp_path, server) as later:
            later.tab_id = tab_id
            await later.supervisor.open(tab_id)
            status = await later.compact()
            assert (status.problem, status.dangling) == ("", "Two?")
            await later.run("Two?")
            rows = await later.rows()
    assert server.rejected == []
    assert [row.id for row in rows if row.data == Text("Two?")] == ["lost"]
    assert said(server.requests[2])[:2] == [("user", SUMMARY), ("user", "Two?")]
    assert serialise(server.requests[2].json).count(b"Two?") == 1
