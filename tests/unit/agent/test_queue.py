"""Messages typed while the agent works: durable, in order, sent once."""

import asyncio
from pathlib import Path

from desktop.core.chunks import System
from desktop.core.permissions import Answer
from tests.fakes.models import (
    Gate,
    ScriptedModel,
    begins,
    call,
    calls,
    fails,
    says,
    system_rows,
)
from tests.fakes.tools import ScriptedTool
from tests.unit.agent.stage import Stage, played, story


@played
async def test_C05_queued_messages_go_out_after_the_running_steps_results(tmp_path: Path) -> None:
    gate = Gate()
    tool = ScriptedTool("look", gates={"1": gate})
    model = ScriptedModel([calls(call("c1", "look", {"at": "1"})), calls(call("c2")), says("K")])
    stage = Stage(tmp_path, model, [tool])
    await stage.tab()
    await stage.send("Look")
    await gate.reached()
    await stage.send("And there")
    await stage.send("And here")
    queue = stage.supervisor.status(stage.tab_id).queue
    assert [one.text for one in queue] == ["And there", "And here"]
    gate.open()
    await stage.idle()
    assert stage.story == [
        "user: Look",
        "call c1",
        "result c1",
        "user: And there",
        "user: And here",
        "call c2",
        "result c2",
        "assistant: K",
        "end done",
    ]
    queued = [row for row in stage.rows if row.id in {one.id for one in queue}]
    assert [(row.step, row.turn_id) for row in queued] == [(0, stage.rows[0].turn_id)] * 2
    assert stage.supervisor.status(stage.tab_id).queue == ()
    first, second, third = (one.rows for one in model.asked)
    assert second[: len(first)] == first
    assert third[: len(second)] == second


@played
async def test_C05_messages_that_wait_go_out_in_the_order_that_the_person_gives_them(
    tmp_path: Path,
) -> None:
    """A second process finds that order too (C06)."""
    gate = Gate()
    model = ScriptedModel([[begins(), gate], says("K")])
    stage = Stage(tmp_path, model)
    tab = await stage.tab()
    await stage.send("First")
    await gate.reached()
    for text in ("one", "two", "three"):
        await stage.send(text)
    one, two, three = (message.id for message in stage.supervisor.status(tab).queue)
    await stage.supervisor.order_queued(tab, [three, one, two])
    assert [m.text for m in stage.supervisor.status(tab).queue] == ["three", "one", "two"]
    await stage.supervisor.stop(tab)
    later = stage.again(ScriptedModel([says("K")]))
    status = await later.supervisor.open(tab)
    assert [message.text for message in status.queue] == ["three", "one", "two"]
    await later.supervisor.release_queue(tab)
    await later.idle(tab)
    assert [line for line in story(later.log.chunks(tab)) if line.startswith("user")] == [
        "user: First",
        "user: three",
        "user: one",
        "user: two",
    ]
    await later.supervisor.order_queued(tab, [one])
    assert later.supervisor.status(tab).queue == ()


@played
async def test_C05_a_message_queued_in_a_later_step_has_that_steps_number(tmp_path: Path) -> None:
    gate = Gate()
    tool = ScriptedTool("look", gates={"1": gate})
    model = ScriptedModel([calls(call("c1")), calls(call("c2", "look", {"at": "1"})), says("K")])
    stage = Stage(tmp_path, model, [tool])
    await stage.tab()
    await stage.send("Look")
    await gate.reached()
    await stage.send("Also")
    gate.open()
    await stage.idle()
    assert [row.step for row in stage.rows if row.role == "user"] == [0, 1]


@played
async def test_C06_at_the_natural_end_the_queue_starts_a_turn_of_its_own(tmp_path: Path) -> None:
    gate = Gate()
    model = ScriptedModel([[gate, *says("One.")], says("Two.")])
    stage = Stage(tmp_path, model)
    await stage.tab()
    await stage.send("First")
    await gate.reached()
    await stage.send("Second")
    gate.open()
    await stage.published.until(lambda: len(system_rows(stage.rows, "turn_end")) == 2)
    await stage.idle()
    assert stage.story == [
        "user: First",
        "assistant: One.",
        "end done",
        "user: Second",
        "assistant: Two.",
        "end done",
    ]
    assert len({row.turn_id for row in stage.rows}) == 2


@played
async def test_C06_after_a_stop_the_queue_waits_for_the_person(tmp_path: Path) -> None:
    gate = Gate()
    model = ScriptedModel([[begins(), gate], says("Two.")])
    stage = Stage(tmp_path, model)
    await stage.tab()
    await stage.send("First")
    await gate.reached()
    await stage.send("Second")
    await stage.supervisor.stop(stage.tab_id)
    status = stage.supervisor.status(stage.tab_id)
    assert (status.phase, status.held, len(status.queue)) == ("idle", True, 1)
    assert stage.story == ["user: First", "end stopped"]
    await stage.supervisor.release_queue(stage.tab_id)
    status = await stage.idle()
    assert (status.held, status.queue) == (False, ())
    assert stage.story[2:] == ["user: Second", "assistant: Two.", "end done"]


@played
async def test_C06_a_queue_let_go_while_a_message_of_it_is_changed_goes_when_that_is_over(
    tmp_path: Path,
) -> None:
    gate = Gate()
    stage = Stage(tmp_path, ScriptedModel([[begins(), gate], says("Two.")]))
    await stage.tab()
    await stage.send("First")
    await gate.reached()
    await stage.send("Second")
    await stage.supervisor.stop(stage.tab_id)
    (second,) = stage.supervisor.status(stage.tab_id).queue
    assert await stage.supervisor.edit_queued(stage.tab_id, second.id) == second
    await stage.supervisor.release_queue(stage.tab_id)
    assert stage.supervisor.status(stage.tab_id).phase == "idle"
    assert stage.story == ["user: First", "end stopped"]
    assert await stage.supervisor.put_queued(stage.tab_id, second.id, "Changed")
    assert (await stage.idle()).queue == ()
    assert stage.story[2:] == ["user: Changed", "assistant: Two.", "end done"]


@played
async def test_C06_stop_as_a_turn_ends_keeps_a_queue_back_that_was_just_let_go(
    tmp_path: Path,
) -> None:
    gate = Gate()
    stage = Stage(tmp_path, ScriptedModel([[gate, *says("One.")], says("Two.")]))
    await stage.tab()
    await stage.send("First")
    await gate.reached()
    await stage.send("Second")
    stopping: list[asyncio.Task[None]] = []

    async def stop_then_let_go(name: str) -> None:
        """The answer is in the log: the end of its turn is on its way there."""
        if name == "append" and "assistant: One." in stage.story and not stopping:
            stopping.append(asyncio.ensure_future(stage.supervisor.stop(stage.tab_id)))
            await asyncio.sleep(0)
            await stage.supervisor.release_queue(stage.tab_id)

    stage.stores[stage.tab_id].before = stop_then_let_go
    gate.open()
    status = await stage.idle()
    await asyncio.gather(*stopping)
    assert stage.story == ["user: First", "assistant: One.", "end done"]
    assert (status.held, [one.text for one in status.queue]) == (True, ["Second"])


@played
async def test_C06_a_message_taken_back_is_never_sent_and_once_sent_stays(tmp_path: Path) -> None:
    gate, later = Gate(), Gate()
    model = ScriptedModel([[gate, *says("One.")], [later, *says("Three.")]])
    stage = Stage(tmp_path, model)
    await stage.tab()
    await stage.send("First")
    await gate.reached()
    await stage.send("Second")
    await stage.send("Third")
    second, third = stage.supervisor.status(stage.tab_id).queue
    taken = await stage.supervisor.cancel_queued(stage.tab_id, second.id)
    assert taken is not None
    assert taken.text == "Second"
    gate.open()
    await later.reached()
    assert await stage.supervisor.cancel_queued(stage.tab_id, third.id) is None
    later.open()
    await stage.idle()
    assert [line for line in stage.story if line.startswith("user")] == [
        "user: First",
        "user: Third",
    ]


@played
async def test_C06_nothing_goes_out_while_a_waiting_message_is_changed(tmp_path: Path) -> None:
    """Then all of it does, in its order, with the new text."""
    gate, done = Gate(), Gate()
    tool = ScriptedTool("look", gates={"1": gate})
    first = calls(call("c1", "look", {"at": "1"}))
    model = ScriptedModel([first, [done, *says("One.")], says("Two.")])
    stage = Stage(tmp_path, model, [tool])
    await stage.tab()
    await stage.send("First")
    await gate.reached()
    await stage.send("Second")
    await stage.send("Third")
    second = stage.supervisor.status(stage.tab_id).queue[0]
    assert await stage.supervisor.edit_queued(stage.tab_id, second.id) == second
    gate.open()
    await done.reached()
    done.open()
    status = await stage.idle()
    assert [one.text for one in status.queue] == ["Second", "Third"]
    assert await stage.supervisor.put_queued(stage.tab_id, second.id, "Another")
    status = await stage.idle()
    assert (status.held, status.queue) == (False, ())
    assert stage.story[-5:] == [
        "end done",
        "user: Another",
        "user: Third",
        "assistant: Two.",
        "end done",
    ]


@played
async def test_C06_an_edit_that_is_given_up_leaves_the_message_and_its_turn(tmp_path: Path) -> None:
    gate = Gate()
    stage = Stage(tmp_path, ScriptedModel([[gate, *says("One.")], says("Two.")]))
    await stage.tab()
    await stage.send("First")
    await gate.reached()
    await stage.send("Second")
    (second,) = stage.supervisor.status(stage.tab_id).queue
    await stage.supervisor.edit_queued(stage.tab_id, second.id)
    assert await stage.supervisor.put_queued(stage.tab_id, second.id)
    gate.open()
    await stage.published.until(lambda: len(system_rows(stage.rows, "turn_end")) == 2)
    await stage.idle()
    assert "user: Second" in stage.story


@played
async def test_C06_an_edit_does_not_release_what_a_stop_held(tmp_path: Path) -> None:
    gate = Gate()
    stage = Stage(tmp_path, ScriptedModel([[begins(), gate]]))
    await stage.tab()
    await stage.send("First")
    await gate.reached()
    await stage.send("Second")
    (second,) = stage.supervisor.status(stage.tab_id).queue
    await stage.supervisor.edit_queued(stage.tab_id, second.id)
    await stage.supervisor.stop(stage.tab_id)
    assert await stage.supervisor.put_queued(stage.tab_id, second.id, "Another")
    status = stage.supervisor.status(stage.tab_id)
    assert (status.phase, status.held) == ("idle", True)
    assert [one.text for one in status.queue] == ["Another"]


@played
async def test_FX07_a_turn_that_fails_during_an_edit_holds_the_queue_beyond_it(
    tmp_path: Path,
) -> None:
    gate = Gate()
    stage = Stage(tmp_path, ScriptedModel([[gate, *fails("rate_limit", "Too many requests.")]]))
    await stage.tab()
    await stage.send("First")
    await gate.reached()
    await stage.send("Second")
    (second,) = stage.supervisor.status(stage.tab_id).queue
    await stage.supervisor.edit_queued(stage.tab_id, second.id)
    gate.open()
    await stage.idle()
    assert await stage.supervisor.put_queued(stage.tab_id, second.id, "Another")
    status = stage.supervisor.status(stage.tab_id)
    assert (status.phase, status.held) == ("idle", True)


@played
async def test_C06_a_message_that_went_out_is_not_changed(tmp_path: Path) -> None:
    gate, later = Gate(), Gate()
    stage = Stage(tmp_path, ScriptedModel([[gate, *says("One.")], [later, *says("Two.")]]))
    await stage.tab()
    await stage.send("First")
    await gate.reached()
    await stage.send("Second")
    (second,) = stage.supervisor.status(stage.tab_id).queue
    gate.open()
    await later.reached()
    assert await stage.supervisor.edit_queued(stage.tab_id, second.id) is None
    assert not await stage.supervisor.put_queued(stage.tab_id, second.id, "Another")
    later.open()
    await stage.idle()
    assert "user: Second" in stage.story


@played
async def test_FX07_a_turn_that_fails_holds_the_queue_and_sends_nothing_twice(
    tmp_path: Path,
) -> None:
    gate = Gate()
    model = ScriptedModel([[gate, *fails("rate_limit", "Too many requests.")], says("Two.")])
    stage = Stage(tmp_path, model)
    await stage.tab()
    await stage.send("First")
    await gate.reached()
    await stage.send("Second")
    gate.open()
    status = await stage.idle()
    assert (status.held, [one.text for one in status.queue]) == (True, ["Second"])
    await stage.supervisor.release_queue(stage.tab_id)
    await stage.idle()
    assert [line for line in stage.story if "Second" in line] == ["user: Second"]
    assert stage.story[-1] == "end done"


@played
async def test_C06_after_a_restart_the_queue_is_held(tmp_path: Path) -> None:
    gate = Gate()
    stage = Stage(tmp_path, ScriptedModel([[begins(), gate]]))
    await stage.tab()
    await stage.send("First")
    await gate.reached()
    await stage.send("Second")
    await stage.supervisor.shutdown()
    model = ScriptedModel([says("Two.")])
    later = stage.again(model)
    status = await later.supervisor.open(stage.tab_id)
    assert (status.held, [one.text for one in status.queue]) == (True, ["Second"])
    assert model.asked == []
    await later.supervisor.release_queue(stage.tab_id)
    await later.idle()
    assert later.story[-3:] == ["user: Second", "assistant: Two.", "end done"]


@played
async def test_a_held_queue_stays_held_while_another_message_is_worked_on(tmp_path: Path) -> None:
    gate = Gate()
    model = ScriptedModel([[begins(), gate], says("Three."), says("Two.")])
    stage = Stage(tmp_path, model)
    await stage.tab()
    await stage.send("First")
    await gate.reached()
    await stage.send("Second")
    await stage.supervisor.stop(stage.tab_id)
    status = await stage.run("Third")
    assert status.held
    assert stage.story[-1] == "end done"
    assert "user: Second" not in stage.story


@played
async def test_C29_a_changed_mode_reaches_the_model_with_the_next_message(tmp_path: Path) -> None:
    model = ScriptedModel([says("One."), says("Two."), says("Three.")])
    stage = Stage(tmp_path, model)
    await stage.tab()
    await stage.run("First")
    await stage.supervisor.choose(stage.tab_id, mode="auto")
    assert len(system_rows(stage.rows, "fact")) == 1
    await stage.run("Second")
    facts = system_rows(stage.rows, "fact")
    assert len(facts) == 2
    assert "auto" in facts[1].text
    assert "2026" not in facts[1].text
    position = [isinstance(row.data, System) and row.data.kind == "fact" for row in stage.rows]
    said = next(n for n, row in enumerate(stage.rows) if getattr(row.data, "text", "") == "Second")
    assert position[said - 1]
    stage.today = "2026-11-30"
    await stage.run("Third")
    assert system_rows(stage.rows, "fact")[2].text == "Today is 2026-11-30."
    assert len(system_rows(stage.rows, "prompt")) == 1


@played
async def test_a_mode_changed_in_a_turn_reaches_the_model_with_the_queued_message(
    tmp_path: Path,
) -> None:
    ask = ScriptedTool("write", kind="write")
    model = ScriptedModel([calls(call("c1", "write")), says("K")])
    stage = Stage(tmp_path, model, [ask])
    await stage.tab()
    await stage.send("Write")
    await stage.published.until(lambda: bool(stage.supervisor.status(stage.tab_id).questions))
    await stage.send("You may")
    question = stage.supervisor.status(stage.tab_id).questions[0]
    await stage.supervisor.choose(stage.tab_id, mode="accept-edits")
    await stage.supervisor.answer(question.id, Answer("deny"))
    await stage.idle()
    assert ask.ran == [{}]
    kinds = [row.data.kind if isinstance(row.data, System) else row.role for row in stage.rows]
    assert kinds[-5:] == ["tool", "fact", "user", "assistant", "turn_end"]


@played
async def test_C26_stop_while_the_queue_is_on_its_way_asks_nothing_more(tmp_path: Path) -> None:
    gate, taking = Gate(), Gate()
    model = ScriptedModel([[gate, *says("One.")]])
    stage = Stage(tmp_path, model)
    await stage.tab()
    await stage.send("First")
    await gate.reached()
    await stage.send("Second")

    async def before(name: str) -> None:
        if name == "take_queued":
            await taking.wait()

    stage.stores[stage.tab_id].before = before
    gate.open()
    await taking.reached()
    stopping = asyncio.create_task(stage.supervisor.stop(stage.tab_id))
    await asyncio.sleep(0)
    taking.open()
    await stopping
    assert len(model.asked) == 1
    assert stage.story[-2:] == ["user: Second", "end stopped"]
