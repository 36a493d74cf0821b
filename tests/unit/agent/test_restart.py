"""After a crash: at most the open block is lost, nothing runs again, the next request is valid."""

import asyncio
from pathlib import Path

import pytest

from desktop.core.chunks import LogChunk
from desktop.core.conversation import unanswered_calls
from desktop.core.errors import LeaseHeld
from desktop.core.events import BlockDelta, BlockStarted
from tests.fakes.models import (
    Gate,
    ScriptedModel,
    begins,
    call,
    calls,
    fails,
    says,
    system_rows,
    text,
)
from tests.fakes.tools import ScriptedTool
from tests.unit.agent.stage import PLAY, Stage, played, results


async def killed(stage: Stage) -> None:
    """The process dies: its tasks are gone, nothing more is written."""

    def dead(name: str, args: tuple[object, ...]) -> Exception:
        del name, args
        return asyncio.CancelledError()  # type: ignore[return-value]

    for session in stage.stores.values():
        session.trouble = dead
    mine = asyncio.current_task()
    others = [task for task in asyncio.all_tasks() if task is not mine and task.get_name() != PLAY]
    for task in others:
        task.cancel()
    await asyncio.wait(others)


@played
async def test_A07_C09_FW01_missing_results_say_whether_tool_had_started(
    tmp_path: Path,
) -> None:
    gate = Gate()
    tool = ScriptedTool("look", gates={"1": gate})
    ask = ScriptedTool("write", kind="write")
    model = ScriptedModel([calls(call("c1", "look", {"at": "1"}), call("c2", "write"))])
    stage = Stage(tmp_path, model, [tool, ask])
    await stage.tab()
    await stage.send("Go")
    await gate.reached()
    await stage.published.until(lambda: bool(stage.supervisor.status(stage.tab_id).questions))
    await killed(stage)
    assert len(unanswered_calls(stage.rows)) == 2

    fresh_tool, fresh_ask = ScriptedTool("look"), ScriptedTool("write", kind="write")
    after = ScriptedModel([says("I see.")])
    later = stage.again(after, [fresh_tool, fresh_ask])
    status = await later.supervisor.open(later.tab_id)
    found = results(later.rows)
    assert found["c1"].is_error
    assert "outcome unknown" in found["c1"].result
    assert found["c2"].is_error
    assert "not started" in found["c2"].result
    assert later.story[-1] == "end interrupted"
    assert (status.phase, status.dangling) == ("idle", None)
    assert after.asked == []
    assert later.log.find(later.tab_id).holder == ""
    rows = later.rows
    await later.supervisor.open(later.tab_id)
    assert later.rows == rows
    await later.run("Go on")
    assert later.story[-2:] == ["assistant: I see.", "end done"]
    assert fresh_tool.ran == fresh_ask.ran == []


@played
async def test_FW14_finished_results_survive_a_crash_and_the_others_read_interrupted(
    tmp_path: Path,
) -> None:
    gates = {str(n): Gate() for n in (1, 2, 3)}
    tool = ScriptedTool("look", gates=gates)
    wanted = [call(f"c{n}", "look", {"at": str(n)}) for n in range(1, 6)]
    stage = Stage(tmp_path, ScriptedModel([calls(*wanted)]), [tool])
    await stage.tab()
    await stage.send("Go")
    for gate in gates.values():
        await gate.reached()
    await stage.published.until(lambda: len(results(stage.rows)) == 2)
    await killed(stage)
    later = stage.again(ScriptedModel([says("K")]), [ScriptedTool("look")])
    await later.supervisor.open(later.tab_id)
    found = results(later.rows)
    assert [found[f"c{n}"].is_error for n in range(1, 6)] == [True, True, True, False, False]
    assert all("nterrupted" in found[f"c{n}"].result for n in (1, 2, 3))
    await later.run("Go on")


@played
async def test_C15_a_crash_in_mid_answer_costs_the_open_block_alone(tmp_path: Path) -> None:
    gate = Gate()
    half = [*begins(), *text(0, "Whole."), BlockStarted(1, "text"), BlockDelta(1, "Ha")]
    stage = Stage(tmp_path, ScriptedModel([[half, gate]]))
    await stage.tab()
    await stage.send("Hi")
    await gate.reached()
    await killed(stage)
    later = stage.again(ScriptedModel([says("K")]))
    status = await later.supervisor.open(later.tab_id)
    assert later.story == ["user: Hi", "assistant: Whole.", "end interrupted"]
    assert status.phase == "idle"
    await later.run("Go on")
    assert later.story[-1] == "end done"


async def unanswered(tmp_path: Path, *messages: str) -> Stage:
    """A conversation whose last texts nobody answered."""
    gate = Gate()
    model = ScriptedModel([says("Earlier."), [begins(), gate]])
    stage = Stage(tmp_path, model)
    await stage.tab()
    await stage.run("Before")
    await stage.send(messages[0])
    await gate.reached()
    for message in messages[1:]:
        await stage.send(message)
    await killed(stage)
    return stage


@played
async def test_S03_an_unanswered_text_is_offered_and_not_sent(tmp_path: Path) -> None:
    stage = await unanswered(tmp_path, "Please")
    model = ScriptedModel()
    later = stage.again(model)
    rows = later.rows
    status = await later.supervisor.open(later.tab_id)
    assert status.dangling == "Please"
    assert model.asked == []
    assert later.rows == rows


@played
async def test_S03_sent_unchanged_it_is_the_same_rows_and_turn(tmp_path: Path) -> None:
    stage = await unanswered(tmp_path, "Please")
    model = ScriptedModel([says("Yes.")])
    later = stage.again(model)
    await later.supervisor.open(later.tab_id)
    said = later.rows[-1]
    status = await later.run("Please")
    assert [line for line in later.story if "Please" in line] == ["user: Please"]
    assert later.story[-2:] == ["assistant: Yes.", "end done"]
    assert model.asked[0].rows == later.rows[: later.rows.index(said) + 1]
    assert {row.turn_id for row in later.rows if row.seq >= said.seq} == {said.turn_id}
    assert status.dangling is None


@played
async def test_S03_anything_else_takes_the_unanswered_text_back_in_the_same_append(
    tmp_path: Path,
) -> None:
    stage = await unanswered(tmp_path, "Please")
    said = stage.rows[-1]
    model = ScriptedModel([says("Yes.")])
    later = stage.again(model)
    await later.supervisor.open(later.tab_id)
    await later.run("Something else")
    assert later.story[2:] == [
        "end done",
        "user: Please",
        "retracted 1",
        "end interrupted",
        "user: Something else",
        "assistant: Yes.",
        "end done",
    ]
    assert system_rows(later.rows, "retracted")[0].fields["chunkIds"] == [said.id]


@played
async def test_S03_without_being_opened_first_the_rule_is_the_same(tmp_path: Path) -> None:
    stage = await unanswered(tmp_path, "Please")
    later = stage.again(ScriptedModel([says("Yes.")]))
    await later.run("Something else")
    assert "retracted 1" in later.story


@played
async def test_S03_several_trailing_texts_are_joined_and_reused_as_one(tmp_path: Path) -> None:
    """Texts that followed each other without an answer, the second after a failure."""
    stage = Stage(tmp_path, ScriptedModel([fails(), fails()]))
    await stage.tab()
    await stage.run("One")
    await stage.run("Two")
    later = stage.again(ScriptedModel([says("Yes.")]))
    status = await later.supervisor.open(later.tab_id)
    assert status.dangling == "One\n\nTwo"
    await later.run("One\n\nTwo")
    assert [line for line in later.story if line.startswith("user")] == ["user: One", "user: Two"]
    assert later.story[-2:] == ["assistant: Yes.", "end done"]


@played
async def test_in_a_running_program_an_unanswered_text_simply_stays(tmp_path: Path) -> None:
    model = ScriptedModel([fails(), says("Both.")])
    stage = Stage(tmp_path, model)
    await stage.tab()
    await stage.run("One")
    assert stage.supervisor.status(stage.tab_id).dangling is None
    await stage.run("Two")
    assert "retracted 1" not in stage.story
    said = [row for row in model.asked[1].rows if row.role == "user"]
    assert len(said) == 2


@played
async def test_a_failed_request_runs_again_with_the_same_rows(tmp_path: Path) -> None:
    model = ScriptedModel([fails(), says("Now.")])
    stage = Stage(tmp_path, model)
    await stage.tab()
    await stage.run("Hi")
    await stage.supervisor.retry(stage.tab_id)
    await stage.idle()
    assert stage.story == ["user: Hi", "error", "end failed", "assistant: Now.", "end done"]
    assert len({row.turn_id for row in stage.rows}) == 1


def sendable(rows: tuple[LogChunk, ...]) -> list[LogChunk]:
    gone: set[str] = set()
    for data in system_rows(rows, "retracted"):
        gone.update(data.fields["chunkIds"])
    return [row for row in rows if row.id not in gone and row.type not in ("error", "system")]


@played
async def test_retry_takes_the_partial_rows_back_and_sends_the_same(tmp_path: Path) -> None:
    model = ScriptedModel([calls(call("c1")), fails(after="Half"), says("Whole.")])
    stage = Stage(tmp_path, model, [ScriptedTool("look")])
    await stage.tab()
    await stage.run("Hi")
    await stage.supervisor.retry(stage.tab_id)
    await stage.idle()
    assert stage.story == [
        "user: Hi",
        "call c1",
        "result c1",
        "assistant: Half (interrupted)",
        "error",
        "end failed",
        "retracted 1",
        "assistant: Whole.",
        "end done",
    ]
    assert sendable(model.asked[2].rows) == sendable(model.asked[1].rows)
    answers = [row for row in stage.rows if row.type == "text" and row.role == "assistant"]
    assert [row.step for row in answers] == [1, 1]


@played
async def test_retry_after_a_restart_retracts_too(tmp_path: Path) -> None:
    model = ScriptedModel([calls(call("c1")), fails(after="Half")])
    stage = Stage(tmp_path, model, [ScriptedTool("look")])
    await stage.tab()
    await stage.run("Hi")
    after = ScriptedModel([says("Whole.")])
    later = stage.again(after, [ScriptedTool("look")])
    await later.supervisor.open(later.tab_id)
    await later.supervisor.retry(later.tab_id)
    await later.idle()
    assert later.story[-3:] == ["retracted 1", "assistant: Whole.", "end done"]
    assert later.rows[-1].turn_id != later.rows[0].turn_id, "no turn goes on after a restart"
    assert sendable(after.asked[0].rows) == sendable(model.asked[1].rows)


@played
async def test_retry_after_a_restart_sends_an_unanswered_text(tmp_path: Path) -> None:
    stage = await unanswered(tmp_path, "Please")
    later = stage.again(ScriptedModel([says("Yes.")]))
    await later.supervisor.open(later.tab_id)
    await later.supervisor.retry(later.tab_id)
    await later.idle()
    assert later.story[-3:] == ["user: Please", "assistant: Yes.", "end done"]


@played
async def test_retry_after_a_turn_that_was_done_does_nothing(tmp_path: Path) -> None:
    stage = Stage(tmp_path, ScriptedModel([says("Hello.")]))
    await stage.tab()
    await stage.supervisor.retry(stage.tab_id)
    await stage.run("Hi")
    rows = stage.rows
    await stage.supervisor.retry(stage.tab_id)
    assert stage.rows == rows


@played
async def test_U15_a_conversation_run_by_another_process_is_not_touched(tmp_path: Path) -> None:
    gate = Gate()
    stage = Stage(tmp_path, ScriptedModel([[begins(), gate]]))
    await stage.tab()
    await stage.send("Hi")
    await gate.reached()
    model = ScriptedModel([says("K")])
    other = Stage(tmp_path, model, log=stage.log, ids=stage.ids, process_id="two")
    rows = other.rows
    status = await other.supervisor.open(other.tab_id)
    assert (status.phase, status.holder, status.dangling) == ("elsewhere", "one", None)
    with pytest.raises(LeaseHeld):
        await other.send("Me too")
    assert other.rows == rows
    assert model.asked == []
    stage.log.process_id = "one"
    await stage.supervisor.stop(stage.tab_id)
    stage.log.process_id = "two"
    await other.run("Me too")
    assert other.story[-2:] == ["assistant: K", "end done"]


@played
async def test_C14_what_another_process_wrote_meanwhile_is_read_before_the_next_request(
    tmp_path: Path,
) -> None:
    model, other_model = ScriptedModel([says("A."), says("C.")]), ScriptedModel([says("B.")])
    stage = Stage(tmp_path, model)
    await stage.tab()
    await stage.run("One")
    other = Stage(tmp_path, other_model, log=stage.log, ids=stage.ids, process_id="two")
    await other.run("Two")
    stage.log.process_id = "one"
    await stage.run("Three")
    said = [row.data for row in model.asked[1].rows if row.type == "text"]
    assert [getattr(one, "text", "") for one in said] == ["One", "A.", "Two", "B.", "Three"]


@played
async def test_an_unchanged_conversation_is_not_read_again(tmp_path: Path) -> None:
    stage = Stage(tmp_path, ScriptedModel([says("A."), says("B.")]))
    await stage.tab()
    await stage.run("One")
    await stage.run("Two")
    assert stage.stores[stage.tab_id].seen.count("load") == 1


@played
async def test_rebuilt_rows_equal_those_that_were_live(tmp_path: Path) -> None:
    """C03: what a later process sends extends what this one sent."""
    model = ScriptedModel([calls(call("c1")), says("A.")])
    stage = Stage(tmp_path, model, [ScriptedTool("look")])
    await stage.tab()
    await stage.run("One")
    after = ScriptedModel([says("B.")])
    later = stage.again(after, [ScriptedTool("look")])
    await later.run("Two")
    before = model.asked[1].rows
    assert after.asked[0].rows[: len(before)] == before


@played
async def test_an_imported_log_with_a_damaged_middle_is_left_as_it_is(tmp_path: Path) -> None:
    """C09: only a crash of our own, in the last turn, is mended by rows."""
    stage = Stage(tmp_path, ScriptedModel([calls(call("c1")), says("A."), says("B.")]))
    await stage.tab()
    await stage.run("One")
    conversation = stage.log.find(stage.tab_id)
    conversation.chunks = [row for row in conversation.chunks if row.type != "tool_result"]
    later = stage.again(ScriptedModel())
    rows = later.rows
    await later.supervisor.open(later.tab_id)
    assert later.rows == rows


@played
async def test_a_reload_in_a_running_program_makes_no_text_dangling(tmp_path: Path) -> None:
    """An agent that can't tell whether somebody else wrote reads the rows anew before each turn."""
    stage = Stage(tmp_path, ScriptedModel([fails(), says("Both.")]))
    await stage.tab()
    agent = stage.agent()
    await agent.send("One")
    await stage.idle()
    await agent.send("Two")
    await stage.idle()
    assert stage.stores[stage.tab_id].seen.count("load") == 2
    assert stage.story[-4:] == ["end failed", "user: Two", "assistant: Both.", "end done"]
