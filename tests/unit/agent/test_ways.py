"""What can be done about an answer that did not come to its end (SPEC A02, A05, U29; DESIGN §5)."""

from pathlib import Path

from desktop.agent.loop import KEPT
from desktop.agent.ways import GO_ON
from desktop.core.chunks import ErrorNote, Opaque
from desktop.core.conversation import retracted_ids
from tests.fakes.models import (
    Gate,
    Response,
    ScriptedModel,
    begins,
    block,
    call,
    calls,
    ends,
    fails,
    says,
    text,
)
from tests.fakes.tools import ScriptedTool
from tests.unit.agent.stage import Stage, played

PAUSED: Response = [
    [*begins(), *text(0, "Looking"), *block(1, Opaque({"type": "server_tool_use", "id": "s1"}))],
    ends("pause_turn"),
]


async def staged(tmp_path: Path, *script: Response) -> tuple[Stage, ScriptedModel]:
    model = ScriptedModel(list(script))
    stage = Stage(tmp_path, model, [ScriptedTool("look")])
    await stage.tab()
    return stage, model


@played
async def test_A02_a_cut_answer_offers_retry_and_continue_and_says_what_was_kept(
    tmp_path: Path,
) -> None:
    stage, _ = await staged(tmp_path, fails(after="Half an ans"))
    status = await stage.run("Hi")
    assert status.ways_on == ("retry", "go_on")
    error = next(row.data for row in stage.rows if isinstance(row.data, ErrorNote))
    assert error.extra["kept"] == KEPT


@played
async def test_U29_continue_lays_down_a_text_of_the_persons_and_keeps_what_was_said(
    tmp_path: Path,
) -> None:
    stage, model = await staged(tmp_path, fails(after="Half an ans"), says("wer."), says("K"))
    await stage.run("Hi")
    await stage.supervisor.go_on(stage.tab_id)
    status = await stage.idle()
    assert stage.story == [
        "user: Hi",
        "assistant: Half an ans (interrupted)",
        "error",
        "end failed",
        f"user: {GO_ON}",
        "assistant: wer.",
        "end done",
    ]
    assert retracted_ids(stage.rows) == frozenset()
    assert status.ways_on == ()
    first, second = model.asked
    assert second.rows[: len(first.rows)] == first.rows, "what was sent before is only extended"


@played
async def test_A02_before_anything_came_of_an_answer_there_is_retry_alone(tmp_path: Path) -> None:
    stage, model = await staged(tmp_path, fails(), says("Now."))
    status = await stage.run("Hi")
    assert status.ways_on == ("retry",)
    error = next(row.data for row in stage.rows if isinstance(row.data, ErrorNote))
    assert "kept" not in error.extra
    await stage.supervisor.go_on(stage.tab_id)
    assert len(model.asked) == 1, "there is nothing to continue"
    await stage.supervisor.retry(stage.tab_id)
    assert (await stage.idle()).ways_on == ()


@played
async def test_A02_after_the_results_of_its_calls_there_is_retry_alone(tmp_path: Path) -> None:
    stage, model = await staged(tmp_path, calls(call("c1"), words="Let me."), fails(), says("K"))
    assert (await stage.run("Hi")).ways_on == ("retry",)
    await stage.supervisor.retry(stage.tab_id)
    await stage.idle()
    assert [row.id for row in model.asked[2].rows][:-2] == [row.id for row in model.asked[1].rows]
    assert stage.story.count("call c1") == 1


@played
async def test_A05_an_answer_that_reached_its_limit_can_be_continued(tmp_path: Path) -> None:
    for reason in ("max_tokens", "refusal"):
        cut = calls(call("c1"), words="So", stop_reason=reason)
        stage, _ = await staged(tmp_path, cut, says("and so."))
        ways = (await stage.run("Hi")).ways_on
        assert ways == (("retry", "go_on") if reason == "max_tokens" else ("retry",))


@played
async def test_both_are_offered_after_a_restart_too(tmp_path: Path) -> None:
    stage, _ = await staged(tmp_path, fails(after="Half"))
    await stage.run("Hi")
    later = stage.again(ScriptedModel([says("More.")]))
    assert (await later.supervisor.open(later.tab_id)).ways_on == ("retry", "go_on")
    await later.supervisor.go_on(later.tab_id)
    await later.idle()
    assert later.story[-3:] == [f"user: {GO_ON}", "assistant: More.", "end done"]


@played
async def test_what_a_crash_cut_offers_both_after_the_restart(tmp_path: Path) -> None:
    """U29, C15: the sealed text stays, the turn is ended by the repair."""
    gate = Gate()
    half = [*begins(), *text(0, "Whole."), *text(1, "Half")[:-1]]
    stage, _ = await staged(tmp_path, [half, gate])
    await stage.send("Hi")
    await gate.reached()
    later = stage.again(ScriptedModel())
    assert (await later.supervisor.open(later.tab_id)).ways_on == ("retry", "go_on")
    await stage.supervisor.stop(stage.tab_id)


@played
async def test_an_unanswered_text_after_a_restart_offers_retry(tmp_path: Path) -> None:
    stage, _ = await staged(tmp_path, fails())
    await stage.run("Hi")
    later = stage.again(ScriptedModel([says("Yes.")]))
    status = await later.supervisor.open(later.tab_id)
    assert (status.dangling, status.ways_on) == ("Hi", ("retry",))
    await later.supervisor.retry(later.tab_id)
    assert (await later.idle()).ways_on == ()


@played
async def test_neither_is_offered_while_a_turn_runs_nor_after_its_own_end(tmp_path: Path) -> None:
    gate = Gate()
    stage, _ = await staged(tmp_path, fails(after="Half"), [gate, *says("K")])
    await stage.run("Hi")
    await stage.supervisor.retry(stage.tab_id)
    await gate.reached()
    assert stage.supervisor.status(stage.tab_id).ways_on == ()
    await stage.supervisor.go_on(stage.tab_id)  # a no-op
    gate.open()
    assert (await stage.idle()).ways_on == ()
    assert not any(GO_ON in line for line in stage.story)


@played
async def test_what_a_summary_took_the_place_of_is_not_asked_for_again(tmp_path: Path) -> None:
    stage, model = await staged(tmp_path, fails(after="Half"), says("In short: Hi."))
    await stage.run("Hi")
    await stage.supervisor.compact(stage.tab_id)
    status = await stage.idle()
    assert (status.problem, status.ways_on) == ("", ())
    await stage.supervisor.retry(stage.tab_id)
    assert len(model.asked) == 2


@played
async def test_FW07_a_paused_answer_that_failed_is_continued_by_retry_as_it_was(
    tmp_path: Path,
) -> None:
    stage, model = await staged(tmp_path, PAUSED, fails(after="Half"), says("Found."))
    await stage.run("Hi")
    await stage.supervisor.retry(stage.tab_id)
    await stage.idle()
    assert [one.options.resumed for one in model.asked] == [False, True, True]
    assert stage.story[-3:] == ["retracted 1", "assistant: Found.", "end done"]
