"""When the log can't be written: nothing goes out unsaved, and what was shown is not lost."""

from pathlib import Path
from typing import Any

import pytest

from desktop.core.chunks import NewChunk, Text
from desktop.core.conversation import is_started_mark
from desktop.core.errors import StoreError, StoreFull
from desktop.core.events import BlockDelta, BlockStarted
from desktop.core.reducer import Opened
from desktop.core.tools import ToolOutcome
from tests.fakes.models import Gate, ScriptedModel, begins, block, call, calls, ends, says, text
from tests.fakes.tools import ScriptedTool
from tests.unit.agent.stage import Stage, ThreadedSession, played, results

FULL = "The disk is full, so nothing can be saved. Free some space."


def full() -> StoreFull:
    return StoreFull("The disk is full, so nothing can be saved.", way_out="Free some space.")


class Disk:
    """A disk that is full for some calls, until it is `free`."""

    def __init__(self, *names: str) -> None:
        self.names = names
        self.free = False

    def __call__(self, name: str, args: tuple[Any, ...]) -> Exception | None:
        del args
        return full() if name in self.names and not self.free else None


def session_of(stage: Stage) -> ThreadedSession:
    stage.store(stage.tab_id)
    return stage.stores[stage.tab_id]


@played
async def test_A08_nothing_is_asked_when_the_text_can_not_be_saved(tmp_path: Path) -> None:
    model = ScriptedModel([says("Hello.")])
    stage = Stage(tmp_path, model)
    await stage.tab()
    disk = session_of(stage).trouble = Disk("append")
    with pytest.raises(StoreError):
        await stage.send("Hi")
    status = stage.supervisor.status(stage.tab_id)
    assert (status.phase, status.problem) == ("idle", FULL)
    assert model.asked == []
    assert stage.rows == ()
    assert stage.log.find(stage.tab_id).holder == ""
    disk.free = True
    await stage.run("Hi")
    assert stage.story == ["user: Hi", "assistant: Hello.", "end done"]
    assert stage.supervisor.status(stage.tab_id).problem == ""


@played
async def test_A08_nothing_is_asked_when_the_request_can_not_be_noted(tmp_path: Path) -> None:
    model = ScriptedModel([])
    stage = Stage(tmp_path, model)
    await stage.tab()
    session_of(stage).trouble = Disk("start_request")
    status = await stage.run("Hi")
    assert model.asked == []
    assert status.problem == FULL
    assert stage.story == ["user: Hi", "error", "end failed"]


@played
async def test_A08_FS04_what_was_shown_waits_in_memory_and_is_saved_first(tmp_path: Path) -> None:
    gate, more = Gate(), Gate()
    start = [*begins(), BlockStarted(0, "text"), BlockDelta(0, "One")]
    rest = [*block(0, Text("One"))[1:], BlockStarted(1, "text"), BlockDelta(1, "Tw")]
    model = ScriptedModel([[start, gate, rest, more, ends()], says("Hello.")])
    stage = Stage(tmp_path, model)
    await stage.tab()
    await stage.send("Hi")
    await gate.reached()
    disk = session_of(stage).trouble = Disk("append")
    gate.open()
    status = await stage.idle()
    assert status.problem == FULL
    assert stage.story == ["user: Hi"]
    assert stage.published.grown() == "OneTw"
    opened = [one.id for one in stage.published.events if isinstance(one, Opened)]
    assert set(opened) <= set(status.unsaved), "what was shown is known to wait"
    with pytest.raises(StoreError):
        await stage.send("Again")
    assert stage.story == ["user: Hi"]
    status = await stage.supervisor.open(stage.tab_id)
    assert status.problem == FULL
    disk.free = True
    assert (await stage.run("Again")).unsaved == ()
    assert stage.story == [
        "user: Hi",
        "assistant: One",
        "assistant: Tw (interrupted)",
        "error",
        "end failed",
        "user: Again",
        "assistant: Hello.",
        "end done",
    ]


@played
async def test_A08_opening_the_conversation_saves_what_waits(tmp_path: Path) -> None:
    gate = Gate()
    model = ScriptedModel(
        [[[*begins(), BlockStarted(0, "text")], gate, [*text(0, "One"), *ends()]]]
    )
    stage = Stage(tmp_path, model)
    await stage.tab()
    await stage.send("Hi")
    await gate.reached()
    disk = session_of(stage).trouble = Disk("append")
    gate.open()
    await stage.idle()
    disk.free = True
    status = await stage.supervisor.open(stage.tab_id)
    assert status.problem == ""
    assert stage.story == ["user: Hi", "assistant: One", "error", "end failed"]


@played
async def test_A08_no_tool_runs_when_its_call_can_not_be_saved(tmp_path: Path) -> None:
    gate = Gate()
    tool = ScriptedTool("look")
    script = calls(call("c1"), call("c2", "look", {"n": 2}))
    model = ScriptedModel([[script[0], gate, script[1]], says("K")])
    stage = Stage(tmp_path, model, [tool])
    await stage.tab()
    await stage.send("Look")
    await gate.reached()
    disk = session_of(stage).trouble = Disk("append")
    gate.open()
    await stage.idle()
    assert tool.ran == []
    disk.free = True
    await stage.run("Again")
    found = results(stage.rows)
    assert set(found) == {"c1", "c2"}
    assert all("ot started" in one.result for one in found.values())
    assert stage.story[-2:] == ["assistant: K", "end done"]


@played
async def test_A08_no_tool_runs_when_its_start_can_not_be_noted(tmp_path: Path) -> None:
    tool = ScriptedTool("look")
    stage = Stage(tmp_path, ScriptedModel([calls(call("c1")), says("K")]), [tool])
    await stage.tab()

    def trouble(name: str, args: tuple[Any, ...]) -> Exception | None:
        chunks: list[NewChunk] = args[0] if name == "append" else []
        return full() if any(_is_mark(chunk) for chunk in chunks) else None

    session_of(stage).trouble = trouble
    status = await stage.run("Look")
    assert tool.ran == []
    assert status.problem == FULL
    assert stage.story == ["user: Look", "call c1", "error c1", "error", "end failed"]
    await stage.run("Again")


def _is_mark(chunk: NewChunk) -> bool:
    return is_started_mark(chunk.data)


@played
async def test_A08_results_that_can_not_be_saved_wait_and_the_other_tools_still_finish(
    tmp_path: Path,
) -> None:
    gates = {"1": Gate(), "2": Gate()}
    tool = ScriptedTool("look", gates=gates)
    model = ScriptedModel([calls(*(call(f"c{n}", "look", {"at": n}) for n in gates)), says("K")])
    stage = Stage(tmp_path, model, [tool])
    await stage.tab()
    await stage.send("Look")
    for gate in gates.values():
        await gate.reached()
    disk = session_of(stage).trouble = Disk("append")
    for gate in gates.values():
        gate.open()
    status = await stage.idle()
    assert status.problem == FULL
    assert results(stage.rows) == {}
    disk.free = True
    await stage.run("Again")
    found = results(stage.rows)
    assert [found[id_].is_error for id_ in ("c1", "c2")] == [False, False]
    assert stage.story[-1] == "end done"


@played
async def test_a_turns_end_that_can_not_be_saved_is_told_and_saved_later(tmp_path: Path) -> None:
    stage = Stage(tmp_path, ScriptedModel([says("Hello."), says("K")]))
    await stage.tab()

    times = iter([None, None, full()])  # the message, the answer, the turn's end

    def trouble(name: str, args: tuple[Any, ...]) -> Exception | None:
        del args
        return next(times, None) if name == "append" else None

    session_of(stage).trouble = trouble
    status = await stage.run("Hi")
    assert status.problem == FULL
    assert stage.story == ["user: Hi", "assistant: Hello."]
    await stage.run("Again")
    assert stage.story == [
        "user: Hi",
        "assistant: Hello.",
        "end done",
        "user: Again",
        "assistant: K",
        "end done",
    ]


@played
async def test_a_request_record_that_can_not_be_closed_is_closed_later(tmp_path: Path) -> None:
    stage = Stage(tmp_path, ScriptedModel([says("Hello."), says("K")]))
    await stage.tab()
    disk = session_of(stage).trouble = Disk("finish_request")
    await stage.run("Hi")
    assert stage.requests[0].ended_at is None
    disk.free = True
    await stage.run("Again")
    assert all(record.ended_at is not None for record in stage.requests)


@played
async def test_a_message_that_can_not_be_queued_is_not_swallowed(tmp_path: Path) -> None:
    gate = Gate()
    stage = Stage(tmp_path, ScriptedModel([[gate, *says("Hello.")]]))
    await stage.tab()
    await stage.send("Hi")
    await gate.reached()
    session_of(stage).trouble = Disk("enqueue")
    with pytest.raises(StoreError):
        await stage.send("More")
    gate.open()
    await stage.idle()
    assert stage.supervisor.status(stage.tab_id).queue == ()


@played
async def test_a_long_output_that_can_not_be_kept_leaves_its_head_and_tail(tmp_path: Path) -> None:
    whole = tmp_path / "full.txt"
    whole.write_text("y" * 1000)
    tool = ScriptedTool("look", answer=lambda _: ToolOutcome("y … y", full=whole))
    stage = Stage(tmp_path, ScriptedModel([calls(call("c1")), says("K")]), [tool])
    await stage.tab()
    session_of(stage).trouble = Disk("keep_file")
    await stage.run("Look")
    found = results(stage.rows)["c1"]
    assert (found.result, found.is_error, dict(found.extra)) == ("y … y", False, {})


@played
async def test_U15_the_lease_is_kept_while_rows_wait_to_be_saved(tmp_path: Path) -> None:
    gate = Gate()
    script = [[*begins(), BlockStarted(0, "text")], gate, [*text(0, "One")[1:], *ends()]]
    stage = Stage(tmp_path, ScriptedModel([script]))
    await stage.tab()
    await stage.send("Hi")
    await gate.reached()
    disk = session_of(stage).trouble = Disk("append")
    gate.open()
    await stage.idle()
    assert stage.log.find(stage.tab_id).holder == "one"
    disk.free = True
    await stage.supervisor.open(stage.tab_id)
    assert stage.log.find(stage.tab_id).holder == ""


@played
async def test_a_conversation_that_can_not_be_mended_can_be_read(tmp_path: Path) -> None:
    stage = Stage(tmp_path, ScriptedModel([calls(call("c1")), says("K")]), [ScriptedTool("look")])
    await stage.tab()
    await stage.run("Hi")
    conversation = stage.log.find(stage.tab_id)
    del conversation.chunks[-1]
    later = stage.again(ScriptedModel())
    session_of(later).trouble = Disk("append")
    status = await later.supervisor.open(later.tab_id)
    assert status.problem == FULL
    assert conversation.holder == ""
