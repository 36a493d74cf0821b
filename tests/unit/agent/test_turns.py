"""Turns read as conversations: what is asked, what is laid down, and in which order."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from desktop.core.chunks import ErrorNote, LogChunk, Opaque, System, Text, Thinking
from desktop.core.errors import ModelUnavailable, NacreError
from desktop.core.events import BlockDelta, BlockStarted
from desktop.core.model import RequestOptions
from desktop.core.reducer import Dropped, Opened, Sealed
from tests.fakes.models import (
    Batch,
    Gate,
    ScriptedModel,
    begins,
    block,
    call,
    calls,
    ends,
    fails,
    nothing,
    retries,
    says,
    system_rows,
    text,
)
from tests.fakes.tools import ScriptedTool
from tests.unit.agent.stage import Stage, played


@played
async def test_a_message_is_answered_and_the_turn_ends(tmp_path: Path) -> None:
    stage = Stage(tmp_path, ScriptedModel([says("Hello.")]))
    await stage.tab()
    status = await stage.run("Hi")
    assert stage.story == ["user: Hi", "assistant: Hello.", "end done"]
    assert (status.phase, status.last_outcome, status.problem) == ("idle", "done", "")
    end = system_rows(stage.rows, "turn_end")[0]
    assert isinstance(end.fields["durationMs"], int)


@played
async def test_the_first_append_holds_prompt_fact_and_text(tmp_path: Path) -> None:
    model = ScriptedModel([says("Hello.")])
    stage = Stage(tmp_path, model, [ScriptedTool("look")])
    await stage.tab()
    await stage.run("Hi")
    prompt, fact, said = stage.rows[:3]
    assert isinstance(prompt.data, System)
    assert prompt.data.text == "You are Nacre."
    assert [one["name"] for one in prompt.data.fields["tools"]] == ["look"]
    assert isinstance(fact.data, System)
    for told in ("2026-11-29", "TestOS 1", str(tmp_path), "git", "ask"):
        assert told in fact.data.text
    assert said.data == Text("Hi")
    assert stage.stores[stage.tab_id].seen.index("append") < stage.stores[stage.tab_id].seen.index(
        "start_request"
    )
    first = next(one for one in stage.published.events if hasattr(one, "chunks"))
    assert [row.seq for row in first.chunks] == [1, 2, 3]  # type: ignore[union-attr]


@played
async def test_S02_the_user_text_is_durable_before_the_model_is_asked(tmp_path: Path) -> None:
    gate = Gate()
    stage = Stage(tmp_path, ScriptedModel([[gate, *says("Hello.")]]))
    await stage.tab()
    await stage.send("Hi")
    assert stage.story == ["user: Hi"]
    await gate.reached()
    assert stage.story == ["user: Hi"]
    gate.open()
    await stage.idle()


@played
async def test_rows_carry_turn_step_and_stamp(tmp_path: Path) -> None:
    model = ScriptedModel([calls(call("c1")), says("Done.")])
    stage = Stage(tmp_path, model, [ScriptedTool("look")])
    await stage.tab()
    await stage.run("Look")
    said = [row for row in stage.rows if row.type in ("text", "tool_call", "tool_result")]
    assert [(row.role, row.step) for row in said] == [
        ("user", 0),
        ("assistant", 0),
        ("tool", 0),
        ("assistant", 1),
    ]
    assert len({row.turn_id for row in stage.rows}) == 1
    assert {row.stamp.model for row in said if row.role != "tool"} == {"scripted-1"}
    assert {row.stamp.provider for row in said if row.role != "tool"} == {"scripted:account"}


@played
async def test_blocks_are_live_until_their_receipt(tmp_path: Path) -> None:
    gate = Gate()
    script = [[*begins(), BlockStarted(0, "text"), BlockDelta(0, "Hel")], gate]
    rest = [BlockDelta(0, "lo"), *block(0, Text("Hello"))[1:], *ends()]
    stage = Stage(tmp_path, ScriptedModel([[*script, rest]]))
    await stage.tab()
    await stage.send("Hi")
    await gate.reached()
    ops = stage.published.live_ops()
    assert isinstance(ops[0], Opened)
    assert stage.published.grown() == "Hel"
    gate.open()
    await stage.idle()
    assert stage.published.grown() == "Hello"
    assert not [op for op in stage.published.live_ops() if isinstance(op, Sealed | Dropped)]
    assert ops[0].id in {row.id for row in stage.rows}


@played
async def test_A01_ten_thousand_deltas_make_one_row(tmp_path: Path) -> None:
    deltas = [BlockDelta(0, "x") for _ in range(10_000)]
    batches = [deltas[at : at + 100] for at in range(0, 10_000, 100)]
    whole = "x" * 10_000
    end = [*block(0, Text(whole))[1:], *ends()]
    stage = Stage(tmp_path, ScriptedModel([[[*begins(), BlockStarted(0, "text")], *batches, end]]))
    await stage.tab()
    await stage.run("Hi")
    said = [row for row in stage.rows if row.role == "assistant"]
    assert [row.data for row in said] == [Text(whole)]
    assert stage.published.grown() == whole


@played
async def test_A02_FW03_FW10_a_cut_answer_keeps_its_text_marked_and_says_why(
    tmp_path: Path,
) -> None:
    stage = Stage(tmp_path, ScriptedModel([fails(after="Half an ans")]))
    await stage.tab()
    status = await stage.run("Hi")
    assert stage.story == [
        "user: Hi",
        "assistant: Half an ans (interrupted)",
        "error",
        "end failed",
    ]
    error = next(row.data for row in stage.rows if isinstance(row.data, ErrorNote))
    assert (error.message, error.status_code) == ("The provider is busy.", 529)
    assert status.last_outcome == "failed"
    assert stage.requests[0].error is not None
    assert stage.requests[0].ended_at is not None


@played
async def test_FW03_a_complete_call_in_a_response_that_broke_never_runs(tmp_path: Path) -> None:
    broken = fails()[0]
    assert isinstance(broken, list)
    script = [[*begins(), *text(0, "Let me."), *block(1, call("c1"))], [broken[-1]]]
    tool = ScriptedTool("look")
    stage = Stage(tmp_path, ScriptedModel([script]), [tool])
    await stage.tab()
    await stage.run("Hi")
    assert tool.ran == []
    assert stage.story == ["user: Hi", "assistant: Let me.", "error", "end failed"]


@played
async def test_a_stream_that_just_ends_is_a_cut_answer(tmp_path: Path) -> None:
    stage = Stage(
        tmp_path, ScriptedModel([[[*begins(), BlockStarted(0, "text"), BlockDelta(0, "Ha")]]])
    )
    await stage.tab()
    await stage.run("Hi")
    assert stage.story == ["user: Hi", "assistant: Ha (interrupted)", "error", "end failed"]


@played
async def test_C11_a_conversation_that_ends_in_an_error_goes_on(tmp_path: Path) -> None:
    stage = Stage(tmp_path, ScriptedModel([fails(), says("Now I can.")]))
    await stage.tab()
    await stage.run("First")
    await stage.run("Second")
    assert stage.story == [
        "user: First",
        "error",
        "end failed",
        "user: Second",
        "assistant: Now I can.",
        "end done",
    ]


@played
async def test_A05_a_call_cut_off_by_the_limit_does_not_run_and_the_next_request_is_valid(
    tmp_path: Path,
) -> None:
    tool = ScriptedTool("look")
    cut = calls(call("c1"), words="I will look.", stop_reason="max_tokens")
    model = ScriptedModel([cut, says("Fine.")])
    stage = Stage(tmp_path, model, [tool])
    await stage.tab()
    status = await stage.run("Hi")
    assert tool.ran == []
    assert stage.story[:2] == ["user: Hi", "assistant: I will look."]
    assert stage.story[2].startswith("notice The answer reached its length limit")
    assert stage.story[3] == "end failed"
    assert status.last_outcome == "failed"
    await stage.run("Go on")
    assert stage.story[-2:] == ["assistant: Fine.", "end done"]


@played
async def test_a_full_window_says_so(tmp_path: Path) -> None:
    full = says("And so", stop_reason="model_context_window_exceeded")
    stage = Stage(tmp_path, ScriptedModel([full]))
    await stage.tab()
    await stage.run("Hi")
    assert "notice The conversation has reached" in stage.story[2]


@played
async def test_A06_an_empty_answer_is_asked_for_again_then_fails(tmp_path: Path) -> None:
    model = ScriptedModel([nothing(), nothing(), nothing()])
    stage = Stage(tmp_path, model)
    await stage.tab()
    await stage.run("Hi")
    assert len(model.asked) == 3
    assert stage.story == ["user: Hi", "error", "end failed"]


@played
async def test_A06_an_empty_answer_once_is_made_good(tmp_path: Path) -> None:
    model = ScriptedModel([nothing(), says("Hello.")])
    stage = Stage(tmp_path, model)
    await stage.tab()
    await stage.run("Hi")
    assert stage.story == ["user: Hi", "assistant: Hello.", "end done"]
    assert model.asked[0].rows == model.asked[1].rows


@played
async def test_A06_thinking_without_an_answer_is_retracted_before_the_same_is_asked_again(
    tmp_path: Path,
) -> None:
    thought = Thinking("Hmm", {"type": "thinking", "thinking": None, "signature": "s"})
    model = ScriptedModel([[[*begins(), *block(0, thought), *ends()]], says("Hello.")])
    stage = Stage(tmp_path, model)
    await stage.tab()
    await stage.run("Hi")
    assert stage.story == [
        "user: Hi",
        "thinking",
        "retracted 1",
        "assistant: Hello.",
        "end done",
    ]


@played
async def test_a_refusal_is_told_and_its_partial_text_taken_back(tmp_path: Path) -> None:
    refused = [[*begins(), *text(0, "How to"), *ends("refusal")]]
    stage = Stage(tmp_path, ScriptedModel([refused, says("Of course.")]))
    await stage.tab()
    status = await stage.run("Hi")
    assert stage.story == [
        "user: Hi",
        "assistant: How to",
        "retracted 1",
        "notice The model declined to answer this.",
        "end refused",
    ]
    assert status.last_outcome == "refused"
    await stage.run("Something else")
    assert stage.story[-1] == "end done"


@played
async def test_an_unknown_stop_reason_is_told_and_ends_the_turn(tmp_path: Path) -> None:
    stage = Stage(tmp_path, ScriptedModel([says("Hello.", stop_reason="eclipse")]))
    await stage.tab()
    await stage.run("Hi")
    assert "eclipse" in stage.story[2]
    assert stage.story[3] == "end done"


@played
async def test_a_paused_answer_is_continued(tmp_path: Path) -> None:
    server_tool = Opaque({"type": "server_tool_use", "id": "s1"})
    paused = [[*begins(), *block(0, server_tool), *ends("pause_turn")]]
    model = ScriptedModel([paused, says("Found it.")])
    stage = Stage(tmp_path, model)
    await stage.tab()
    await stage.run("Search")
    assert [one.options.resumed for one in model.asked] == [False, True]
    assert stage.story == ["user: Search", "opaque", "assistant: Found it.", "end done"]


@played
async def test_an_answer_that_pauses_for_ever_is_ended(tmp_path: Path) -> None:
    server_tool = Opaque({"type": "server_tool_use", "id": "s1"})
    paused = [[*begins(), *block(0, server_tool), *ends("pause_turn")]]
    model = ScriptedModel([paused] * 9)
    stage = Stage(tmp_path, model)
    await stage.tab()
    await stage.run("Search")
    assert len(model.asked) == 9
    assert stage.story[-2:] == ["error", "end failed"]


@played
async def test_a_retry_is_shown_while_it_waits(tmp_path: Path) -> None:
    gate = Gate()
    stage = Stage(tmp_path, ScriptedModel([[*retries(gate), *says("Hello.")]]))
    await stage.tab()
    await stage.send("Hi")
    await gate.reached()
    retry = stage.supervisor.status(stage.tab_id).retry
    assert retry is not None
    assert (retry.reason, retry.attempt) == ("The provider is busy.", 1)
    gate.open()
    assert (await stage.idle()).retry is None


@played
async def test_an_unforeseen_error_ends_the_turn_with_a_plain_sentence(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broken = [[*begins(), BlockStarted(0, "text"), BlockDelta(0, "Ha")], ZeroDivisionError("boom")]
    stage = Stage(tmp_path, ScriptedModel([broken, says("Fine.")]))
    await stage.tab()
    await stage.run("Hi")
    assert stage.story == ["user: Hi", "assistant: Ha (interrupted)", "error", "end failed"]
    error = next(row.data for row in stage.rows if isinstance(row.data, ErrorNote))
    assert "boom" not in error.message
    assert "ZeroDivisionError" in caplog.text
    await stage.run("Again")
    assert stage.story[-1] == "end done"


@played
async def test_without_a_model_nothing_is_sent_and_nothing_laid_down(tmp_path: Path) -> None:
    stage = Stage(tmp_path, ScriptedModel())
    await stage.tab()
    stage.unreachable = ModelUnavailable("No key is set.")
    with pytest.raises(ModelUnavailable):
        await stage.send("Hi")
    assert stage.rows == ()
    assert stage.log.find(stage.tab_id).holder == ""


@played
async def test_nothing_can_not_be_sent(tmp_path: Path) -> None:
    stage = Stage(tmp_path, ScriptedModel())
    await stage.tab()
    with pytest.raises(NacreError):
        await stage.send("  \n")
    assert stage.rows == ()


@played
async def test_C18_tokens_and_money_are_summed_over_the_requests(tmp_path: Path) -> None:
    model = ScriptedModel([calls(call("c1")), says("Done.")])
    stage = Stage(tmp_path, model, [ScriptedTool("look")])
    await stage.tab()
    status = await stage.run("Look")
    spent = status.spent
    assert (spent.prompt, spent.output, spent.dollars) == (200, 20, 2.0)
    assert (spent.context, spent.window) == (110, 1_000)
    assert [(one.step, one.stop_reason) for one in stage.requests] == [
        (0, "tool_use"),
        (1, "end_turn"),
    ]


@played
async def test_an_agent_alone_runs_a_turn_step_by_step(tmp_path: Path) -> None:
    """S02, S04: the embedder's door, without a supervisor."""
    model = ScriptedModel([calls(call("c1")), says("Done.")])
    stage = Stage(tmp_path, model, [ScriptedTool("look")])
    await stage.tab()
    agent = stage.agent()
    await agent.submit_user_message("Look")
    assert stage.story == ["user: Look"]
    assert await agent.run_step() is None
    assert stage.story == ["user: Look", "call c1", "result c1"]
    assert await agent.run_step() == "done"
    assert await agent.run_step() is None
    await agent.add_system_message("Seen.", "notice")
    assert stage.story[-3:] == ["assistant: Done.", "end done", "notice Seen."]
    assert agent.conversation == stage.rows


@played
async def test_steps_only_append_to_what_was_asked_before(tmp_path: Path) -> None:
    """C02, C04: each request's rows extend those of the one before."""
    model = ScriptedModel(
        [calls(call("c1"), call("c2", "look", {"n": 2})), calls(call("c3")), says("Done.")]
    )
    stage = Stage(tmp_path, model, [ScriptedTool("look")])
    await stage.tab()
    await stage.run("Look")
    first, second, third = (one.rows for one in model.asked)
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    assert third == stage.rows[: len(third)]


@played
async def test_several_conversations_run_side_by_side(tmp_path: Path) -> None:
    """P12: each its own agent."""
    gates = [Gate(), Gate()]
    model = ScriptedModel([[gate, *says("Yes.")] for gate in gates])
    stage = Stage(tmp_path, model)
    one, two = await stage.tab(), await stage.tab()
    await stage.send("A", one)
    await stage.send("B", two)
    await asyncio.gather(*(gate.reached() for gate in gates))
    assert set(stage.supervisor.running) == {one, two}
    for gate in gates:
        gate.open()
    await stage.idle(one)
    await stage.idle(two)
    assert stage.log.chunks(one)[2].data == Text("A")
    assert stage.log.chunks(two)[2].data == Text("B")


@played
async def test_a_stream_is_closed_when_its_message_is_over(tmp_path: Path) -> None:
    class Holding(ScriptedModel):
        """Keeps its stream, so that nothing but closing closes it."""

        def respond(
            self, chunks: Sequence[LogChunk], options: RequestOptions
        ) -> AsyncIterator[Batch]:
            self.stream = super().respond(chunks, options)
            return self.stream

    model = Holding([[*says("Hello."), [BlockDelta(0, "too late")]]])
    stage = Stage(tmp_path, model)
    await stage.tab()
    await stage.run("Hi")
    assert model.closed == 1
    assert stage.story == ["user: Hi", "assistant: Hello.", "end done"]
