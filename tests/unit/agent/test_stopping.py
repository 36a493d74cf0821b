"""Stop: within a second everything is over, what was shown is kept, nothing is left open."""

import time
from pathlib import Path

from desktop.core.chunks import Text, Thinking
from desktop.core.conversation import unanswered_calls
from desktop.core.events import BlockDelta, BlockStarted
from desktop.core.tools import ToolOutcome
from tests.fakes.models import (
    Gate,
    ScriptedModel,
    begins,
    block,
    call,
    calls,
    opened,
    says,
    text,
)
from tests.fakes.tools import ScriptedTool
from tests.unit.agent.stage import Stage, played, results


@played
async def test_A03_C26_the_text_shown_is_the_text_kept_and_sent(tmp_path: Path) -> None:
    gate = Gate()
    half = [*begins(), BlockStarted(0, "text"), BlockDelta(0, "Half an "), BlockDelta(0, "answer")]
    model = ScriptedModel([[half, gate], says("Whole.")])
    stage = Stage(tmp_path, model)
    await stage.tab()
    await stage.send("Hi")
    await gate.reached()
    await stage.supervisor.stop(stage.tab_id)
    assert stage.supervisor.status(stage.tab_id).phase == "idle"
    assert stage.story == ["user: Hi", "assistant: Half an answer (interrupted)", "end stopped"]
    assert stage.published.grown() == "Half an answer"
    assert model.closed == 1
    await stage.run("Again")
    sent = [row.data for row in model.asked[1].rows if row.role == "assistant"]
    assert sent == [Text("Half an answer", interrupted=True)]


@played
async def test_A03_a_call_cut_in_its_arguments_is_absent(tmp_path: Path) -> None:
    gate = Gate()
    half = [*begins(), *text(0, "Let me"), opened(1, call("c1")), BlockDelta(1, '{"a')]
    model = ScriptedModel([[half, gate], says("K")])
    stage = Stage(tmp_path, model, [ScriptedTool("look")])
    await stage.tab()
    await stage.send("Hi")
    await gate.reached()
    await stage.supervisor.stop(stage.tab_id)
    assert stage.story == ["user: Hi", "assistant: Let me", "end stopped"]
    await stage.run("Again")


@played
async def test_A03_stopped_before_anything_visible_leaves_no_answer(tmp_path: Path) -> None:
    gate = Gate()
    model = ScriptedModel([[begins(), gate], says("K")])
    stage = Stage(tmp_path, model)
    await stage.tab()
    await stage.send("Hi")
    await gate.reached()
    await stage.supervisor.stop(stage.tab_id)
    assert stage.story == ["user: Hi", "end stopped"]
    await stage.run("Hello?")
    assert stage.story[2:] == ["user: Hello?", "assistant: K", "end done"]


@played
async def test_half_a_thinking_without_signature_is_not_kept(tmp_path: Path) -> None:
    gate = Gate()
    whole = Thinking("Done thinking.", {"signature": "s"})
    half = [*begins(), *block(0, whole), BlockStarted(1, "thinking"), BlockDelta(1, "Hm")]
    stage = Stage(tmp_path, ScriptedModel([[half, gate]]))
    await stage.tab()
    await stage.send("Hi")
    await gate.reached()
    await stage.supervisor.stop(stage.tab_id)
    assert stage.story == ["user: Hi", "thinking", "end stopped"]


@played
async def test_C26_stop_when_idle_does_nothing(tmp_path: Path) -> None:
    stage = Stage(tmp_path, ScriptedModel([says("Hello.")]))
    await stage.tab()
    await stage.supervisor.stop(stage.tab_id)
    await stage.run("Hi")
    before = stage.rows
    await stage.supervisor.stop(stage.tab_id)
    assert stage.rows == before


@played
async def test_running_tools_are_cancelled_and_answered(tmp_path: Path) -> None:
    gates = {"1": Gate(), "2": Gate()}
    tool = ScriptedTool("look", gates=gates)
    ask = ScriptedTool("write", kind="write")
    wanted = [*(call(f"c{n}", "look", {"at": n}) for n in gates), call("c3", "write")]
    model = ScriptedModel([calls(*wanted), says("K")])
    stage = Stage(tmp_path, model, [tool, ask])
    await stage.tab()
    await stage.send("Look")
    for gate in gates.values():
        await gate.reached()
    await stage.published.until(lambda: bool(stage.supervisor.status(stage.tab_id).questions))
    await stage.supervisor.stop(stage.tab_id)
    found = results(stage.rows)
    assert tool.cancelled == 2
    assert "while this call was running" in found["c1"].result
    assert "before this call began" in found["c3"].result
    assert ask.ran == []
    assert stage.supervisor.status(stage.tab_id).questions == ()
    assert stage.story[-1] == "end stopped"
    await stage.run("Go on")


@played
async def test_what_a_stopped_tool_had_brought_is_its_result(tmp_path: Path) -> None:
    gate = Gate()
    half = ToolOutcome("printed so far\n[Stopped by the person.]", is_error=True)
    tool = ScriptedTool("look", gates={"x": gate}, half=half)
    stage = Stage(tmp_path, ScriptedModel([calls(call("c1", "look", {"at": "x"}))]), [tool])
    await stage.tab()
    await stage.send("Hi")
    await gate.reached()
    await stage.supervisor.stop(stage.tab_id)
    assert results(stage.rows)["c1"].result == half.text
    assert not unanswered_calls(stage.rows)


@played
async def test_U27_a_tool_that_does_not_listen_is_left_behind_within_a_second(
    tmp_path: Path,
) -> None:
    gate = Gate()
    tool = ScriptedTool("look", gates={"1": gate}, deaf=True)
    stage = Stage(
        tmp_path, ScriptedModel([calls(call("c1", "look", {"at": "1"})), says("K")]), [tool]
    )
    await stage.tab()
    await stage.send("Look")
    await gate.reached()
    began = time.monotonic()
    await stage.supervisor.stop(stage.tab_id)
    assert time.monotonic() - began < 10  # and not for as long as the tool works
    assert stage.story[-2:] == ["error c1", "end stopped"]
    gate.open()
    await stage.run("Go on")
    assert len([row for row in stage.rows if row.type == "tool_result"]) == 1


@played
async def test_a_result_that_was_there_before_stop_keeps_its_content(tmp_path: Path) -> None:
    gates = {"2": Gate()}
    tool = ScriptedTool("look", gates=gates)
    model = ScriptedModel([calls(*(call(f"c{n}", "look", {"at": n}) for n in ("1", "2")))])
    stage = Stage(tmp_path, model, [tool])
    await stage.tab()
    await stage.send("Look")
    await gates["2"].reached()
    await stage.published.until(lambda: "result c1" in stage.story)
    await stage.supervisor.stop(stage.tab_id)
    assert stage.story[-3:] == ["result c1", "error c2", "end stopped"]
    assert unanswered_calls(stage.rows) == ()


@played
async def test_status_says_stopping_while_it_stops(tmp_path: Path) -> None:
    gate = Gate()
    stage = Stage(tmp_path, ScriptedModel([[begins(), gate]]))
    await stage.tab()
    await stage.send("Hi")
    await gate.reached()
    await stage.supervisor.stop(stage.tab_id)
    assert [one.stopping for one in stage.published.statuses() if one.phase == "running"][-1]
    assert not stage.supervisor.status(stage.tab_id).stopping


@played
async def test_shutdown_ends_every_turn_and_starts_none(tmp_path: Path) -> None:
    gates = [Gate(), Gate()]
    model = ScriptedModel([[begins(), gate] for gate in gates])
    stage = Stage(tmp_path, model)
    tabs = [await stage.tab(), await stage.tab()]
    for tab, gate in zip(tabs, gates, strict=True):
        await stage.send("Hi", tab)
        await gate.reached()
    await stage.supervisor.send(tabs[0], "Later")
    await stage.supervisor.shutdown()
    assert stage.supervisor.running == ()
    for tab in tabs:
        assert stage.log.chunks(tab)[-1].type == "system"
        assert stage.log.find(tab).holder == ""
    assert len(stage.log.find(tabs[0]).queue) == 1


@played
async def test_shutdown_cuts_off_what_does_not_end_in_time(tmp_path: Path) -> None:
    stage = Stage(tmp_path, ScriptedModel([says("Hello.")]))
    await stage.tab()
    stuck = Gate()

    async def before(name: str) -> None:
        if name == "start_request":
            await stuck.wait()

    session = stage.store(stage.tab_id)
    session.before = before  # type: ignore[attr-defined]
    await stage.send("Hi")
    await stuck.reached()
    began = time.monotonic()
    await stage.supervisor.shutdown(deadline=0.1)
    assert time.monotonic() - began < 10  # and not for ever
    assert stage.supervisor.running == ()
    stuck.open()
    await stage.published.until(lambda: bool(stage.requests))
