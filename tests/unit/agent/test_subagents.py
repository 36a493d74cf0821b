"""Subagents: a task for another agent, in a conversation of its own below (SPEC U28)."""

import asyncio
import json
from pathlib import Path
from typing import cast

from desktop.agent.errands import REFUSED, STOPPED
from desktop.agent.limits import Caps
from desktop.core.chunks import System, Text, ToolResult
from desktop.core.conversation import marked_subagent, prompt_of
from desktop.core.errors import ModelUnavailable
from desktop.core.permissions import Answer
from desktop.core.records import Tab
from desktop.core.reducer import Grew
from tests.fakes.families import FamilyModel, asks
from tests.fakes.models import Gate, begins, call, calls, fails, nothing, says
from tests.fakes.tools import ScriptedTool
from tests.unit.agent.stage import PLAY, Stage, played, results, story


def children(stage: Stage, tab_id: str = "") -> list[Tab]:
    parent = tab_id or stage.tab_id
    return [one.tab for one in stage.log.conversations.values() if one.tab.parent_tab_id == parent]


def result(stage: Stage, call_id: str, tab_id: str = "") -> ToolResult:
    return results(stage.log.chunks(tab_id or stage.tab_id))[call_id]


async def staged(
    folder: Path, model: FamilyModel, tools: tuple[ScriptedTool, ...] = (), **kwargs: object
) -> Stage:
    stage = Stage(folder, model, tools, caps=Caps(), **kwargs)  # pyright: ignore[reportArgumentType]
    await stage.tab()
    return stage


def of_one(*child: object) -> FamilyModel:
    """A parent that has one task done and then says so."""
    return FamilyModel(
        {"Go": [calls(asks("Look")), says("Done.")], "Look": list(child)}  # pyright: ignore[reportArgumentType]
    )


@played
async def test_the_result_is_the_last_answer_of_the_subagent(tmp_path: Path) -> None:
    look = ScriptedTool("look")
    model = of_one(calls(call("c1"), words="First I look."), says("It is blue."))
    stage = await staged(tmp_path, model, (look,))
    await stage.run("Go")
    assert stage.story == [
        "user: Go",
        "call call Look",
        "notice",
        "result call Look",
        "assistant: Done.",
        "end done",
    ]
    assert result(stage, "call Look").result == "It is blue."
    (child,) = children(stage)
    assert story(stage.log.chunks(child.id))[1:] == [
        "assistant: First I look.",
        "call c1",
        "result c1",
        "assistant: It is blue.",
        "end done",
    ]
    assert not child.is_open
    assert child.workspace_id == stage.log.find(stage.tab_id).tab.workspace_id
    assert len(look.ran) == 1


@played
async def test_the_call_leads_to_its_conversation_and_the_mark_is_durable_first(
    tmp_path: Path,
) -> None:
    stage = await staged(tmp_path, of_one(says("K")))
    await stage.run("Go")
    (child,) = children(stage)
    marks = [marked_subagent(row.data) for row in stage.rows]
    assert [one for one in marks if one] == [("call Look", child.id)]
    first = stage.log.chunks(child.id)[0]
    marked = next(row for row in stage.rows if marked_subagent(row.data))
    assert marked.created_at < first.created_at


@played
async def test_C43_parent_and_subagent_begin_with_the_same_bytes(tmp_path: Path) -> None:
    stage = await staged(tmp_path, of_one(says("K")), (ScriptedTool("look"),))
    await stage.run("Go")
    (child,) = children(stage)
    both = [prompt_of(stage.rows), prompt_of(stage.log.chunks(child.id))]
    texts = {json.dumps([one.text, dict(one.fields)]) for one in both if one}
    assert None not in both and len(texts) == 1


@played
async def test_C43_tools_that_have_come_since_are_not_in_a_subagents_beginning(
    tmp_path: Path,
) -> None:
    model = of_one(says("K"))
    model.answers["Hi"] = [says("Hello."), calls(asks("Look")), says("Done.")]
    stage = await staged(tmp_path, model)
    await stage.run("Hi")
    # The program is started anew, and a tool is there that was not.
    later = stage.again(model, [ScriptedTool("look")], caps=Caps())
    await later.run("Go")
    (child,) = children(later)
    prompt = prompt_of(later.log.chunks(child.id))
    assert prompt is not None
    assert [one["name"] for one in prompt.fields["tools"]] == ["agent"]


@played
async def test_a_subagent_is_set_to_what_its_parent_is_set_to(tmp_path: Path) -> None:
    stage = await staged(tmp_path, of_one(says("K")))
    await stage.supervisor.choose(
        stage.tab_id, model="scripted-2", effort="high", mode="accept-edits"
    )
    await stage.run("Go")
    (child,) = children(stage)
    status = stage.supervisor.status(child.id)
    assert (status.model, status.effort, status.mode) == ("scripted-2", "high", "accept-edits")


@played
async def test_a_subagent_is_named_by_its_title_or_its_task(tmp_path: Path) -> None:
    wanted = calls(asks("Look\nat all of it", call_id="a"), asks("B", title="The second"))
    model = FamilyModel(
        {"Go": [wanted, says("Done.")], "at all of it": [says("1")], "B": [says("2")]}
    )
    stage = await staged(tmp_path, model)
    await stage.run("Go")
    assert [one.title for one in children(stage)] == ["Look", "The second"]


@played
async def test_what_it_must_know_stands_in_its_first_text(tmp_path: Path) -> None:
    stage = await staged(tmp_path, of_one(says("K")))
    await stage.run("Go")
    (child,) = children(stage)
    first = next(row.data for row in stage.log.chunks(child.id) if row.role == "user")
    assert isinstance(first, Text)
    assert first.text.startswith("You are a subagent") and first.text.endswith("\n\nLook")


@played
async def test_its_progress_is_seen_while_it_works(tmp_path: Path) -> None:
    gate = Gate()
    model = of_one(
        calls(call("c1", arguments={"path": "a.txt"}), words="Two\nlines"), [gate, *says("K")]
    )
    stage = await staged(tmp_path, model, (ScriptedTool("look"),))
    await stage.send("Go")
    await gate.reached()
    grown = [one.text for one in stage.published.events if isinstance(one, Grew)]
    assert "lines\n" in grown and "look a.txt\n" in grown
    gate.open()
    await stage.idle()


@played
async def test_a_long_answer_is_cut_in_its_middle(tmp_path: Path) -> None:
    stage = await staged(tmp_path, of_one(says("begin " + "x" * 200_000 + " end")))
    await stage.run("Go")
    found = result(stage, "call Look").result
    assert found.startswith("begin") and found.endswith("end") and len(found) < 70_000


@played
async def test_a_subagent_that_fails_is_an_error_that_says_why(tmp_path: Path) -> None:
    stage = await staged(tmp_path, of_one(fails(after="Half a")))
    await stage.run("Go")
    found = result(stage, "call Look")
    assert found.is_error
    assert "The provider is busy." in found.result and found.result.endswith("Half a")
    assert stage.story[-1] == "end done"


@played
async def test_a_subagent_that_declines_is_an_error_that_says_so(tmp_path: Path) -> None:
    stage = await staged(tmp_path, of_one(nothing("refusal")))
    await stage.run("Go")
    assert result(stage, "call Look").is_error
    assert result(stage, "call Look").result == REFUSED


@played
async def test_a_subagent_that_can_not_be_started_is_an_error_and_leaves_nothing(
    tmp_path: Path,
) -> None:
    gate = Gate()
    model = of_one(says("K"))
    model.answers["Go"][0] = [gate, *model.answers["Go"][0]]
    stage = await staged(tmp_path, model)
    await stage.send("Go")
    await gate.reached()
    stage.unreachable = ModelUnavailable("No key can be used.")
    gate.open()
    await stage.idle()
    assert "could not be started. No key" in result(stage, "call Look").result
    (child,) = children(stage)
    assert child.trashed_at is not None


@played
async def test_without_a_task_nothing_is_begun(tmp_path: Path) -> None:
    model = FamilyModel({"Go": [calls(asks(" ")), says("Done.")]})
    stage = await staged(tmp_path, model)
    await stage.run("Go")
    assert result(stage, "call  ").is_error
    assert children(stage) == []


@played
async def test_C26_to_stop_the_turn_stops_everything_below_it(tmp_path: Path) -> None:
    gate = Gate()
    model = FamilyModel(
        {
            "Go": [calls(asks("Look"), asks("Wait"))],
            "Look": [calls(asks("Deep"))],
            "Deep": [[begins(), gate]],
            "Wait": [[begins(), Gate()]],
        }
    )
    stage = await staged(tmp_path, model)
    await stage.send("Go")
    await gate.reached()
    running = stage.supervisor.running
    assert len(running) == 4
    await stage.supervisor.stop(stage.tab_id)
    assert stage.supervisor.running == ()
    assert [story(stage.log.chunks(one))[-1] for one in running] == ["end stopped"] * 4
    assert result(stage, "call Look").is_error
    assert model.open == 0


@played
async def test_a_subagent_stopped_by_the_person_ends_alone(tmp_path: Path) -> None:
    gate = Gate()
    model = FamilyModel(
        {
            "Go": [calls(asks("Look"), asks("Other")), says("Done.")],
            "Look": [[[*begins()], gate]],
            "Other": [says("Fine.")],
        }
    )
    stage = await staged(tmp_path, model)
    await stage.send("Go")
    await gate.reached()
    child = children(stage)[0]
    await stage.supervisor.stop(child.id)
    await stage.idle()
    assert result(stage, "call Look").is_error
    assert result(stage, "call Look").result == STOPPED
    assert result(stage, "call Other").result == "Fine."
    assert stage.story[-2:] == ["assistant: Done.", "end done"]


@played
async def test_U28_everything_is_stopped_at_once(tmp_path: Path) -> None:
    gates = [Gate(), Gate()]
    model = FamilyModel(
        {"Go": [calls(asks("Look"))], "Look": [[gates[0]]], "Hi": [[begins(), gates[1]]]}
    )
    stage = await staged(tmp_path, model)
    other = await stage.tab()
    await stage.send("Go")
    await stage.send("Hi", other)
    for gate in gates:
        await gate.reached()
    await stage.supervisor.stop_all()
    assert stage.supervisor.running == ()
    assert story(stage.log.chunks(other))[-1] == "end stopped"
    await stage.supervisor.stop_all()  # nothing runs: a no-op


@played
async def test_one_that_waits_for_its_place_can_be_stopped(tmp_path: Path) -> None:
    gate = Gate()
    model = FamilyModel(
        {"Go": [calls(asks("A"), asks("B"))], "A": [[begins(), gate]], "B": [says("never")]}
    )
    stage = Stage(tmp_path, model, caps=Caps(at_once=1))
    await stage.tab()
    await stage.send("Go")
    await gate.reached()
    await stage.supervisor.stop(stage.tab_id)
    assert len(children(stage)) == 1
    assert result(stage, "call B").is_error
    assert "B" not in model.asked


@played
async def test_C09_the_first_goes_ahead_until_it_is_answered(tmp_path: Path) -> None:
    before, after = Gate(), Gate()
    model = FamilyModel(
        {
            "Go": [calls(*map(asks, "ABC")), says("Done.")],
            "A": [[before, begins(), after, *says("a")]],
            "B": [says("b")],
            "C": [says("c")],
        }
    )
    stage = await staged(tmp_path, model)
    await stage.send("Go")
    await before.reached()
    assert model.order == ["Go", "A"]
    before.open()
    await after.reached()
    await stage.published.until(lambda: len(results(stage.rows)) == 2)
    assert model.order == ["Go", "A", "B", "C"]
    assert "call A" not in results(stage.rows)
    after.open()
    await stage.idle()


@played
async def test_C09_if_the_first_fails_the_next_goes_ahead(tmp_path: Path) -> None:
    gate = Gate()
    model = FamilyModel(
        {
            "Go": [calls(*map(asks, "ABC")), says("Done.")],
            "A": [[OSError("gone")]],
            "B": [[gate, *says("b")]],
            "C": [says("c")],
        }
    )
    stage = await staged(tmp_path, model)
    await stage.send("Go")
    await gate.reached()
    assert model.order == ["Go", "A", "B"]
    gate.open()
    await stage.idle()
    assert [result(stage, f"call {one}").is_error for one in "ABC"] == [True, False, False]


@played
async def test_C09_if_the_first_is_stopped_the_next_goes_ahead(tmp_path: Path) -> None:
    gate = Gate()
    model = FamilyModel(
        {
            "Go": [calls(*map(asks, "AB")), says("Done.")],
            "A": [[gate]],
            "B": [says("b")],
        }
    )
    stage = await staged(tmp_path, model)
    await stage.send("Go")
    await gate.reached()
    assert model.order == ["Go", "A"]
    await stage.supervisor.stop(children(stage)[0].id)
    await stage.idle()
    assert result(stage, "call B").result == "b"


@played
async def test_a_question_of_a_subagent_is_seen_above_and_answered_where_it_is(
    tmp_path: Path,
) -> None:
    write = ScriptedTool("write", kind="write")
    model = of_one(calls(call("c1", "write")), says("Written."))
    stage = await staged(tmp_path, model, (write,))
    await stage.send("Go")
    await stage.published.until(
        lambda: bool(stage.published.latest.get(stage.tab_id, stage.supervisor.status("")).asking)
    )
    (child,) = children(stage)
    assert stage.supervisor.status(stage.tab_id).asking == (child.id,)
    assert stage.supervisor.status(stage.tab_id).questions == ()
    (question,) = stage.supervisor.status(child.id).questions
    await stage.supervisor.answer(question.id, Answer("once"))
    status = await stage.idle()
    assert status.asking == ()
    assert result(stage, "call Look").result == "Written."


@played
async def test_a_denial_reaches_the_subagent_and_not_its_parent(tmp_path: Path) -> None:
    write = ScriptedTool("write", kind="write")
    model = of_one(calls(call("c1", "write")), says("I was not allowed."))
    stage = await staged(tmp_path, model, (write,), has_person=False)
    await stage.run("Go")
    (child,) = children(stage)
    assert result(stage, "c1", child.id).is_error
    assert result(stage, "call Look").result == "I was not allowed."
    assert write.ran == []


@played
async def test_what_may_be_done_is_taken_back_below_as_well(tmp_path: Path) -> None:
    gate = Gate()
    write = ScriptedTool("write", kind="write")
    model = of_one([gate, *calls(call("c1", "write"))], says("K"))
    stage = await staged(tmp_path, model, (write,), mode="auto")
    await stage.send("Go")
    await gate.reached()
    await stage.supervisor.choose(stage.tab_id, mode="read-only")
    gate.open()
    await stage.idle()
    assert write.ran == []


@played
async def test_U28_the_budget_ends_the_subagent_and_tells_the_person_once(tmp_path: Path) -> None:
    """Each request costs a dollar: two of the parent and one of the first, then it is used up."""
    model = FamilyModel(
        {
            "Go": [calls(asks("Look")), calls(asks("More")), says("Done.")],
            "Look": [calls(call("c1")), says("never")],
        }
    )
    stage = await staged(tmp_path, model, (ScriptedTool("look"),), budget=2.0)
    await stage.run("Go")
    (child,) = children(stage)
    assert story(stage.log.chunks(child.id))[-2:] == [
        "notice The budget for subagents is used up ($2.00 for one message, everything that it"
        " began counted). It can be changed in the settings.",
        "end failed",
    ]
    assert "budget" in result(stage, "call Look").result
    assert "budget" in result(stage, "call More").result
    told = [row.data for row in stage.rows if isinstance(row.data, System) and row.data.text]
    assert sum(one.kind == "notice" for one in told) == 1
    assert stage.story[-1] == "end done"


@played
async def test_archiving_the_parent_stops_and_takes_along_what_is_below(tmp_path: Path) -> None:
    gate = Gate()
    stage = await staged(tmp_path, of_one([begins(), gate]))
    await stage.send("Go")
    await gate.reached()
    await stage.supervisor.archive_tab(stage.tab_id)
    assert stage.supervisor.running == ()
    (child,) = children(stage)
    assert child.archived_at is not None


@played
async def test_P05_what_is_archived_while_a_subagent_begins_stays_archived(tmp_path: Path) -> None:
    """Its conversation is there, and its first message waits while the family is put away."""
    gate = Gate()
    stage = await staged(tmp_path, of_one(says("never")))

    async def before(name: str) -> None:
        if name == "append" and children(stage):
            await gate.wait()

    await stage.send("Go")
    stage.stores[stage.tab_id].before = before
    await gate.reached()
    archiving = asyncio.create_task(stage.supervisor.archive_tab(stage.tab_id))
    await asyncio.sleep(0)
    gate.open()
    await archiving
    await asyncio.gather(*(all_but_me()))
    assert stage.supervisor.running == ()
    assert stage.log.find(stage.tab_id).tab.archived_at is not None
    (child,) = children(stage)
    assert child.archived_at is not None or child.trashed_at is not None
    assert (
        stage.log.chunks(child.id) == () or story(stage.log.chunks(child.id))[-1] == "end stopped"
    )


def all_but_me() -> set["asyncio.Task[object]"]:
    return (
        asyncio.all_tasks()
        - {cast("asyncio.Task[object]", asyncio.current_task())}
        - {one for one in asyncio.all_tasks() if one.get_name() == PLAY}
    )


@played
async def test_a_subagents_conversation_can_be_continued_by_the_person(tmp_path: Path) -> None:
    model = of_one(says("It is blue."), says("Sky blue."))
    stage = await staged(tmp_path, model)
    await stage.run("Go")
    (child,) = children(stage)
    await stage.send("Which blue?", child.id)
    await stage.idle(child.id)
    assert story(stage.log.chunks(child.id))[-3:] == [
        "user: Which blue?",
        "assistant: Sky blue.",
        "end done",
    ]


@played
async def test_A07_after_a_crash_the_call_has_an_unknown_outcome_and_nothing_runs_again(
    tmp_path: Path,
) -> None:
    gate = Gate()
    model = of_one([begins(), gate])
    stage = await staged(tmp_path, model)
    await stage.send("Go")
    await gate.reached()
    before = {tab: list(rows.chunks) for tab, rows in stage.log.conversations.items()}
    (child,) = children(stage)
    await stage.supervisor.stop_all()
    for tab, rows in before.items():  # as if the process had died just then
        stage.log.conversations[tab].chunks[:] = rows
    later = stage.again(FamilyModel({}), caps=Caps())
    await later.supervisor.open(stage.tab_id)
    await later.supervisor.open(child.id)
    assert "outcome unknown" in result(later, "call Look").result
    assert later.story[-1] == "end interrupted"
    assert later.supervisor.running == ()


@played
async def test_the_program_closes_while_subagents_run(tmp_path: Path) -> None:
    gate = Gate()
    stage = await staged(tmp_path, of_one([begins(), gate]))
    await stage.send("Go")
    await gate.reached()
    await stage.supervisor.shutdown()
    (child,) = children(stage)
    assert story(stage.log.chunks(child.id))[-1] == "end stopped"
    assert stage.story[-1] == "end stopped"
