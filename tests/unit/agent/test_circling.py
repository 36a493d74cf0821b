"""A model that runs in circles is a question for the person (SPEC U27)."""

from pathlib import Path

import pytest

from desktop.core.permissions import Answer, Circle, Question
from tests.fakes.models import Response, ScriptedModel, call, calls, says
from tests.fakes.tools import ScriptedTool
from tests.unit.agent.stage import Stage, played, results


def same(number: int) -> list[Response]:
    return [calls(call(f"c{n}", "look", {"n": 1})) for n in range(number)]


async def asked(stage: Stage) -> Question:
    """The question that the circle becomes."""
    await stage.published.until(lambda: bool(stage.supervisor.status(stage.tab_id).questions))
    (question,) = stage.supervisor.status(stage.tab_id).questions
    return question


async def circling(
    tmp_path: Path, *more: Response, number: int = 6
) -> tuple[Stage, ScriptedTool, Question]:
    tool = ScriptedTool("look")
    stage = Stage(tmp_path, ScriptedModel([*same(number), *more]), [tool])
    await stage.tab()
    await stage.send("Look")
    return stage, tool, await asked(stage)


@played
async def test_U27_the_sixth_of_the_same_calls_waits_for_the_person(tmp_path: Path) -> None:
    stage, tool, question = await circling(tmp_path)
    assert len(tool.ran) == 5
    assert isinstance(question.about, Circle)
    assert question.about.detail == 'look {"n": 1}'
    assert question.call_id == "c5"
    status = stage.supervisor.status(stage.tab_id)
    assert (status.phase, "c5" in results(stage.rows)) == ("running", False)
    await stage.supervisor.stop(stage.tab_id)
    assert stage.supervisor.status(stage.tab_id).questions == ()
    assert results(stage.rows)["c5"].is_error
    assert len(tool.ran) == 5
    assert stage.story[-1] == "end stopped"


@played
async def test_U27_let_go_on_the_calls_run_and_are_counted_anew(tmp_path: Path) -> None:
    stage, tool, question = await circling(tmp_path, number=11)
    await stage.supervisor.answer(question.id, Answer("once"))
    again = await asked(stage)
    assert again.id != question.id
    assert len(tool.ran) == 10
    assert not results(stage.rows)["c5"].is_error
    await stage.supervisor.answer(again.id, Answer("deny"))
    assert (await stage.idle()).last_outcome == "stopped"


@played
async def test_U27_stopped_the_calls_are_answered_and_the_next_request_is_valid(
    tmp_path: Path,
) -> None:
    stage, tool, question = await circling(tmp_path, says("Sorry."))
    await stage.send("Waiting")
    await stage.supervisor.answer(question.id, Answer("deny"))
    status = await stage.idle()
    assert (status.last_outcome, status.held) == ("stopped", True)
    assert len(tool.ran) == 5
    await stage.supervisor.release_queue(stage.tab_id)
    await stage.idle()
    assert stage.story[-3:] == ["user: Waiting", "assistant: Sorry.", "end done"]


@played
async def test_U27_told_something_else_the_turn_goes_on_with_it(tmp_path: Path) -> None:
    stage, tool, question = await circling(tmp_path, says("As you say."))
    await stage.supervisor.answer(question.id, Answer("deny", "Look {elsewhere}."))
    assert (await stage.idle()).last_outcome == "done"
    result = results(stage.rows)["c5"]
    assert result.is_error
    assert "Look {elsewhere}." in result.result
    assert len(tool.ran) == 5


@played
async def test_a_rule_or_a_mode_does_not_answer_for_the_person(tmp_path: Path) -> None:
    stage, _, question = await circling(tmp_path)
    await stage.supervisor.choose(stage.tab_id, mode="auto")
    assert stage.supervisor.status(stage.tab_id).questions == (question,)
    await stage.supervisor.answer(question.id, Answer("always"))  # as once: there is no rule
    await stage.published.until(lambda: "c5" in results(stage.rows))
    assert not results(stage.rows)["c5"].is_error
    await stage.supervisor.stop(stage.tab_id)


@pytest.mark.parametrize(
    ("arguments", "failing", "ran", "words"),
    [
        ([0, 1], False, 10, "back and forth"),
        (list(range(20)), True, 8, "failed for the same reason"),
    ],
)
def test_U27_each_shape_of_a_circle_says_what_it_is(
    tmp_path: Path, arguments: list[int], failing: bool, ran: int, words: str
) -> None:
    @played
    async def scenario() -> None:
        tool = ScriptedTool("look")
        if failing:
            tool = ScriptedTool("look", answer=lambda _: FileNotFoundError("gone"))
        model = ScriptedModel(
            [
                calls(call(f"c{n}", "look", {"n": arguments[n % len(arguments)]}))
                for n in range(ran + 1)
            ]
        )
        stage = Stage(tmp_path, model, [tool])
        await stage.tab()
        await stage.send("Look")
        question = await asked(stage)
        assert words in question.about.sentence
        assert len(tool.ran) == ran
        await stage.supervisor.stop(stage.tab_id)

    scenario()
