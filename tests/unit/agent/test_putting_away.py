"""The archive and the bin while agents run: what runs is stopped, what waits stays."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from desktop.core.errors import InBin, LeaseHeld, NacreError, StoreFull
from desktop.core.permissions import Question
from desktop.core.records import Tab
from tests.fakes.models import Gate, ScriptedModel, begins, call, calls, says, text
from tests.fakes.tools import ScriptedTool
from tests.unit.agent.stage import Stage, played, story


async def running(stage: Stage, gate: Gate, tab_id: str = "") -> str:
    """A conversation whose turn waits at a gate."""
    tab = tab_id or await stage.tab()
    await stage.send("Work", tab)
    await gate.reached()
    return tab


@played
async def test_P05_archiving_a_conversation_stops_its_turn_first(tmp_path: Path) -> None:
    gate = Gate()
    stage = Stage(tmp_path, ScriptedModel([[[*begins(), *text(0, "So far")], gate]]))
    tab = await running(stage, gate)

    await stage.supervisor.archive_tab(tab)

    assert stage.supervisor.status(tab).phase == "idle"
    assert stage.story == ["user: Work", "assistant: So far", "end stopped"]
    held = stage.log.find(tab)
    assert held.tab.archived_at is not None
    assert held.snapshot is not None and held.snapshot.lifecycle == "closed"
    assert held.holder == ""
    rows = stage.rows
    await stage.supervisor.archive_tab(tab)
    await stage.log.catalogue.unarchive_tab(tab)
    await stage.supervisor.open(tab)
    assert stage.rows == rows


@played
async def test_P05_archiving_a_project_stops_all_that_runs_in_it_and_nothing_else(
    tmp_path: Path,
) -> None:
    gates = [Gate(), Gate(), Gate()]
    stage = Stage(tmp_path, ScriptedModel([[begins(), gate] for gate in gates]))
    first = await running(stage, gates[0])
    second = await running(stage, gates[1])
    (tmp_path / "other").mkdir()
    other = await stage.log.catalogue.open_workspace(tmp_path / "other")
    third = (await stage.log.catalogue.create_tab(other.id)).id
    await running(stage, gates[2], third)
    workspace = await stage.log.catalogue.workspace(stage.log.find(first).tab.workspace_id)

    await stage.supervisor.archive_project(workspace.project_id)

    assert stage.supervisor.running == (third,)
    assert all(stage.log.find(one).tab.archived_at is not None for one in (first, second))
    await stage.supervisor.archive_workspace(other.id)
    assert stage.supervisor.running == ()
    assert stage.log.find(third).tab.archived_at is not None


@played
async def test_P05_what_another_process_runs_is_left_alone_and_so_is_everything_beside_it(
    tmp_path: Path,
) -> None:
    """Refused before anything is stopped."""
    gate = Gate()
    stage = Stage(tmp_path, ScriptedModel([[begins(), gate]]))
    here = await running(stage, gate)
    there = await stage.tab(title="Over there")
    stage.log.hold_elsewhere(there)
    workspace_id = stage.log.find(here).tab.workspace_id
    for act in (
        stage.supervisor.archive_workspace(workspace_id),
        stage.supervisor.archive_tab(there),
        stage.supervisor.trash_tab(there),
    ):
        with pytest.raises(LeaseHeld, match="Over there"):
            await act
    assert stage.supervisor.running == (here,)
    assert stage.log.find(here).tab.archived_at is None
    await stage.supervisor.stop(here)


@played
async def test_P05_what_waits_in_the_queue_survives_the_archive(tmp_path: Path) -> None:
    gate = Gate()
    stage = Stage(tmp_path, ScriptedModel([[begins(), gate], says("Later.")]))
    tab = await running(stage, gate)
    await stage.send("And then this", tab)

    await stage.supervisor.archive_tab(tab)

    status = stage.supervisor.status(tab)
    assert ([one.text for one in status.queue], status.held) == (["And then this"], True)
    later = stage.again(ScriptedModel([says("Later.")]))
    status = await later.supervisor.open(tab)
    assert ([one.text for one in status.queue], status.held) == (["And then this"], True)
    await later.supervisor.release_queue(tab)
    await later.idle(tab)
    assert story(later.log.chunks(tab))[-3:] == [
        "user: And then this",
        "assistant: Later.",
        "end done",
    ]
    assert later.log.find(tab).tab.archived_at is None


@played
async def test_who_writes_in_an_archived_conversation_works_in_it_again(tmp_path: Path) -> None:
    stage = Stage(tmp_path, ScriptedModel([says("One."), says("Two.")]))
    tab = await stage.tab()
    neighbour = await stage.tab()
    await stage.run("Hi")
    await stage.supervisor.archive_workspace(stage.log.find(tab).tab.workspace_id)
    await stage.run("Still there?")
    assert stage.log.find(tab).tab.archived_at is None
    assert stage.log.find(neighbour).tab.archived_at is not None
    view = await stage.log.catalogue.view()
    assert [one.archived_at for one in (*view.projects, *view.workspaces)] == [None, None]
    snapshot = stage.log.find(tab).snapshot
    assert snapshot is not None and snapshot.lifecycle == "idle"


@played
async def test_a_message_that_can_not_be_sent_leaves_the_conversation_archived(
    tmp_path: Path,
) -> None:
    stage = Stage(tmp_path)
    tab = await stage.tab()
    await stage.supervisor.archive_tab(tab)
    stage.unreachable = NacreError("No model.")
    with pytest.raises(NacreError):
        await stage.send("Hi", tab)
    assert stage.log.find(tab).tab.archived_at is not None


@played
async def test_in_the_bin_nothing_begins_and_everything_can_be_looked_at(tmp_path: Path) -> None:
    stage = Stage(tmp_path, ScriptedModel([says("K"), says("K")]))
    tab = await stage.tab()
    await stage.run("Hi")
    await stage.supervisor.trash_tab(tab)
    rows = stage.rows
    for act in (
        stage.supervisor.send(tab, "Hello?"),
        stage.supervisor.retry(tab),
        stage.supervisor.release_queue(tab),
    ):
        with pytest.raises(InBin, match="in the bin"):
            await act
    assert (await stage.supervisor.open(tab)).last_outcome == "done"
    assert stage.rows == rows
    await stage.log.catalogue.restore_tab(tab)
    await stage.run("Hello?")


@played
async def test_what_a_crash_left_open_in_the_bin_can_be_looked_at_and_is_mended_later(
    tmp_path: Path,
) -> None:
    gate = Gate()
    tool = ScriptedTool("look", gates={"here": gate})
    stage = Stage(tmp_path, ScriptedModel([calls(call("c1", arguments={"at": "here"}))]), [tool])
    tab = await running(stage, gate)
    later = stage.again(ScriptedModel())
    await later.log.catalogue.trash_tab(tab)
    await later.supervisor.open(tab)
    assert later.story == ["user: Work", "call c1"]
    await later.log.catalogue.restore_tab(tab)
    await later.supervisor.open(tab)
    assert later.story == ["user: Work", "call c1", "error c1", "end interrupted"]
    await stage.supervisor.shutdown(deadline=0.1)


@played
async def test_the_bin_stops_the_turn_and_the_conversations_begun_from_it(tmp_path: Path) -> None:
    gates = [Gate(), Gate()]
    stage = Stage(tmp_path, ScriptedModel([[begins(), gate] for gate in gates]))
    parent = await running(stage, gates[0])
    child = await stage.tab()
    held = stage.log.find(child)
    held.tab = replace(held.tab, parent_tab_id=parent)
    await running(stage, gates[1], child)
    await stage.supervisor.trash_tab(parent)
    assert stage.supervisor.running == ()
    assert all(stage.log.find(one).tab.trashed_at is not None for one in (parent, child))


@played
async def test_a_question_that_waits_is_over_when_its_conversation_is_put_away(
    tmp_path: Path,
) -> None:
    tool = ScriptedTool("look", kind="execute")
    stage = Stage(tmp_path, ScriptedModel([calls(call("c1"))]), [tool])
    tab = await stage.tab()
    await stage.send("Look", tab)
    await stage.published.until(lambda: bool(stage.supervisor.status(tab).questions))
    await stage.supervisor.archive_tab(tab)
    questions: tuple[Question, ...] = stage.supervisor.status(tab).questions
    assert questions == ()
    assert stage.supervisor.running == ()


@played
async def test_a_message_sent_while_it_is_being_archived_begins_after_it(tmp_path: Path) -> None:
    """Stored and live state agree whichever comes first."""
    gate, inside = Gate(), Gate()
    stage = Stage(tmp_path, ScriptedModel([[begins(), gate], says("Yes.")]))
    tab = await running(stage, gate)
    archive = stage.log.catalogue.archive_tab

    async def slow(tab_id: str) -> object:
        await inside.wait()
        return await archive(tab_id)

    stage.log.catalogue.archive_tab = slow  # pyright: ignore[reportAttributeAccessIssue]
    archiving = asyncio.create_task(stage.supervisor.archive_tab(tab))
    await inside.reached()
    sending = asyncio.create_task(stage.supervisor.send(tab, "There?"))
    for _ in range(100):  # time enough for a whole turn, if nothing kept it from beginning
        await asyncio.sleep(0)
    inside.open()
    await archiving
    await sending
    await stage.idle()
    assert stage.story[-3:] == ["user: There?", "assistant: Yes.", "end done"]
    assert stage.log.find(tab).tab.archived_at is None


@played
async def test_a_store_that_refuses_the_archive_leaves_the_conversation_as_it_is(
    tmp_path: Path,
) -> None:
    stage = Stage(tmp_path, ScriptedModel([says("K"), says("K")]))
    tab = await stage.tab()
    await stage.run("Hi")
    stage.log.fail_next(StoreFull("The disk is full."))
    with pytest.raises(StoreFull):
        await stage.supervisor.archive_tab(tab)
    assert stage.log.find(tab).tab.archived_at is None
    await stage.run("Again")


@played
async def test_P04_a_name_given_while_the_first_message_is_sent_stays(tmp_path: Path) -> None:
    """It came after the look at the title and before the naming."""
    stage = Stage(tmp_path, ScriptedModel([says("K")]))
    tab = await stage.tab()
    look = stage.log.catalogue.tab

    async def look_too_early(tab_id: str) -> Tab:
        return replace(await look(tab_id), title="")

    stage.log.catalogue.tab = look_too_early  # type: ignore[method-assign]
    await stage.log.catalogue.rename_tab(tab, "Mine")
    await stage.run("First words")
    assert stage.log.find(tab).tab.title == "Mine"


# Memory.


@played
async def test_P12_of_the_idle_conversations_only_the_last_used_stay_in_memory(
    tmp_path: Path,
) -> None:
    stage = Stage(tmp_path, ScriptedModel([says(f"Answer {n}.") for n in range(16)]))
    tabs = [await stage.tab() for _ in range(8)]
    for tab in tabs:
        await stage.send("Hi", tab)
        await stage.idle(tab)
    awake = [tab for tab in tabs if stage.supervisor.is_awake(tab)]
    assert awake == tabs[-4:]
    spent = stage.supervisor.status(tabs[0]).spent
    await stage.supervisor.choose(tabs[0], model="scripted-1")
    assert stage.supervisor.status(tabs[0]).spent == spent
    for tab in tabs:
        await stage.send("And?", tab)
        await stage.idle(tab)
        assert [line for line in story(stage.log.chunks(tab)) if line.startswith("user")] == [
            "user: Hi",
            "user: And?",
        ]


@played
async def test_P12_an_agent_that_is_busy_keeps_its_rows(tmp_path: Path) -> None:
    gates = [Gate() for _ in range(6)]
    model = ScriptedModel([[[*begins(), *text(0, "So")], gate] for gate in gates])
    stage = Stage(tmp_path, model)
    tabs = [await running(stage, gate) for gate in gates]
    assert all(stage.supervisor.is_awake(tab) for tab in tabs)
    for tab in tabs:
        await stage.supervisor.stop(tab)
    quiet = await stage.tab()
    await stage.supervisor.open(quiet)
    assert [stage.supervisor.is_awake(tab) for tab in tabs] == [False] * 3 + [True] * 3


@played
async def test_P12_an_unanswered_text_of_this_process_is_not_offered_again_after_a_rest(
    tmp_path: Path,
) -> None:
    stage = Stage(tmp_path, ScriptedModel([[NacreError("No.")], *[says("K")] * 6]))
    tab = await stage.tab()
    await stage.run("Hi")
    assert stage.supervisor.status(tab).dangling is None
    for _ in range(5):
        await stage.supervisor.open(await stage.tab())
    assert not stage.supervisor.is_awake(tab)
    assert (await stage.supervisor.open(tab)).dangling is None
    await stage.run("Hi?")
    assert [line for line in stage.story if line.startswith("retracted")] == []


@played
async def test_P12_an_unanswered_text_that_is_offered_is_offered_after_a_rest(
    tmp_path: Path,
) -> None:
    gate = Gate()
    stage = Stage(tmp_path, ScriptedModel([[begins(), gate]]))
    tab = await running(stage, gate)
    later = stage.again(ScriptedModel([says("K")]))
    assert (await later.supervisor.open(tab)).dangling == "Work"
    for _ in range(5):
        await later.supervisor.open(await later.tab())
    assert not later.supervisor.is_awake(tab)
    assert later.supervisor.status(tab).dangling == "Work"
    assert (await later.supervisor.open(tab)).dangling == "Work"
    await later.send("Work", tab)
    await later.idle(tab)
    assert story(later.log.chunks(tab)).count("user: Work") == 1
    await stage.supervisor.shutdown(deadline=0.1)


@played
async def test_an_answered_text_edited_in_the_archive_is_sent_in_a_fork_that_is_seen(
    tmp_path: Path,
) -> None:
    """The conversation that was put away stays there, unchanged."""
    stage = Stage(tmp_path, ScriptedModel([says("One."), says("Two.")]))
    tab = await stage.tab()
    await stage.run("Hi")
    await stage.supervisor.archive_workspace(stage.log.find(tab).tab.workspace_id)
    [asked] = [row for row in stage.rows if row.role == "user"]
    fork = await stage.supervisor.edit(tab, asked.id, "Hello")
    await stage.idle(fork)
    assert story(stage.log.chunks(fork)) == ["user: Hello", "assistant: Two.", "end done"]
    view = await stage.log.catalogue.view()
    assert {one.id for one in view.tabs if one.archived_at is None} == {fork}
    assert [one.archived_at for one in (*view.projects, *view.workspaces)] == [None, None]


@played
async def test_an_unanswered_text_edited_in_the_archive_brings_its_conversation_back(
    tmp_path: Path,
) -> None:
    gate = Gate()
    stage = Stage(tmp_path, ScriptedModel([[begins(), gate], says("K")]))
    tab = await running(stage, gate)
    await stage.supervisor.archive_tab(tab)
    [asked] = [row for row in stage.rows if row.role == "user"]
    assert await stage.supervisor.edit(tab, asked.id, "Better") == tab
    await stage.idle(tab)
    assert stage.log.find(tab).tab.archived_at is None
