"""A request that waits to go out again: shown, hurried, given up (SPEC U29; FIELD F-X03, F-X07)."""

from pathlib import Path

from desktop.core.model import Retry
from tests.fakes.models import Gate, ScriptedModel, begins, retries, says, text
from tests.unit.agent.stage import Stage, played


def waits(stage: Stage) -> list[Retry]:
    """The waits that were shown, each once."""
    return list(dict.fromkeys(one.retry for one in stage.published.statuses() if one.retry))


async def waiting(stage: Stage, gate: Gate) -> None:
    await stage.send("Hi")
    await gate.reached()
    await stage.published.until(lambda: stage.supervisor.status(stage.tab_id).retry is not None)


@played
async def test_FX03_a_wait_that_the_person_does_not_want_ends_at_once(tmp_path: Path) -> None:
    first, second = Gate(), Gate()
    model = ScriptedModel([retries(first, delay=50), retries(second), says("Hello.")])
    stage = Stage(tmp_path, model)
    await stage.tab()
    await waiting(stage, first)
    await stage.supervisor.try_now(stage.tab_id)
    assert stage.supervisor.status(stage.tab_id).retry is None
    await second.reached()
    await stage.published.until(lambda: len(waits(stage)) == 2)
    assert [one.attempt for one in waits(stage)] == [1, 2], "tries are counted on"
    await stage.supervisor.try_now(stage.tab_id)
    status = await stage.idle()
    assert (status.retry, status.last_outcome) == (None, "done")
    assert stage.story == ["user: Hi", "assistant: Hello.", "end done"]
    assert all(one == model.asked[0] for one in model.asked), "the same goes out again"
    assert model.closed == 3
    assert len(stage.requests) == 1


@played
async def test_haste_while_nothing_waits_does_nothing(tmp_path: Path) -> None:
    gate = Gate()
    model = ScriptedModel([[[*begins(), *text(0, "Hel")[:-1]], gate, *says("lo")[1:]]])
    stage = Stage(tmp_path, model)
    await stage.tab()
    await stage.supervisor.try_now(stage.tab_id)
    await stage.send("Hi")
    await gate.reached()
    await stage.supervisor.try_now(stage.tab_id)
    gate.open()
    await stage.idle()
    assert len(model.asked) == 1


@played
async def test_FX03_a_wait_can_be_given_up_and_the_turn_ends(tmp_path: Path) -> None:
    gate = Gate()
    model = ScriptedModel([retries(gate, delay=50)])
    stage = Stage(tmp_path, model)
    await stage.tab()
    await waiting(stage, gate)
    await stage.supervisor.stop(stage.tab_id)
    status = stage.supervisor.status(stage.tab_id)
    assert (status.phase, status.retry, status.ways_on) == ("idle", None, ("retry",))
    assert stage.story == ["user: Hi", "end stopped"]


@played
async def test_FX07_a_queue_survives_the_wait_and_goes_out_once(tmp_path: Path) -> None:
    gate = Gate()
    model = ScriptedModel([retries(gate, delay=50), says("One."), says("Two.")])
    stage = Stage(tmp_path, model)
    await stage.tab()
    await waiting(stage, gate)
    await stage.send("And then")
    await stage.supervisor.try_now(stage.tab_id)
    await stage.published.until(lambda: stage.story[-1:] == ["end done"] and len(model.asked) == 3)
    await stage.idle()
    assert stage.story == [
        "user: Hi",
        "assistant: One.",
        "end done",
        "user: And then",
        "assistant: Two.",
        "end done",
    ]


@played
async def test_FX07_given_up_in_the_wait_the_queue_is_held(tmp_path: Path) -> None:
    gate = Gate()
    model = ScriptedModel([retries(gate, delay=50), says("Both.")])
    stage = Stage(tmp_path, model)
    await stage.tab()
    await waiting(stage, gate)
    await stage.send("And then")
    await stage.supervisor.stop(stage.tab_id)
    status = stage.supervisor.status(stage.tab_id)
    assert (status.held, [one.text for one in status.queue]) == (True, ["And then"])
    assert len(model.asked) == 1
    await stage.supervisor.release_queue(stage.tab_id)
    await stage.idle()
    assert stage.story.count("user: And then") == 1
