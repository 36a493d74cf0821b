"""A turn that another living process runs is shown, and what it said is read (U15, U16)."""

from pathlib import Path

from desktop.core.status import Elsewhere, TabStatus
from tests.fakes.models import Gate, ScriptedModel, begins, says
from tests.unit.agent.stage import Stage, played

HOLDER = Elsewhere("4711-x", since=12)


def told(stage: Stage, tab_id: str) -> list[tuple[str, str, int]]:
    """The phases that were published of a conversation."""
    found = [one for one in stage.published.statuses() if one.tab_id == tab_id]
    return [(one.phase, one.holder, one.since) for one in found]


@played
async def test_a_conversation_that_nobody_opened_here_is_marked_and_unmarked(
    tmp_path: Path,
) -> None:
    stage = Stage(tmp_path, ScriptedModel([]))
    tab = await stage.tab()
    for _ in range(3):
        stage.supervisor.found_elsewhere({tab: HOLDER})
    assert stage.supervisor.status(tab).phase == "elsewhere"
    stage.supervisor.found_elsewhere({})
    stage.supervisor.found_elsewhere({})
    assert told(stage, tab) == [("elsewhere", "4711-x", 12), ("idle", "", 0)]
    assert stage.supervisor.status(tab) == TabStatus(tab)
    assert stage.supervisor.agents == ()


@played
async def test_one_that_is_opened_while_another_process_runs_it_says_so_from_the_start(
    tmp_path: Path,
) -> None:
    stage = Stage(tmp_path, ScriptedModel([]))
    tab = await stage.tab()
    stage.supervisor.found_elsewhere({tab: HOLDER})
    status = await stage.supervisor.open(tab)
    assert (status.phase, status.holder, status.since) == ("elsewhere", "4711-x", 12)


@played
async def test_when_the_other_process_is_done_its_rows_are_read_and_the_mark_goes(
    tmp_path: Path,
) -> None:
    stage = Stage(tmp_path, ScriptedModel([says("One.")]))
    tab = await stage.tab()
    await stage.run("Hi")
    stage.supervisor.found_elsewhere({tab: HOLDER})
    assert stage.supervisor.status(tab).phase == "elsewhere"
    other = Stage(
        tmp_path, ScriptedModel([says("Two.")]), log=stage.log, ids=stage.ids, process_id="two"
    )
    await other.run("Over there")
    stage.log.process_id = "one"
    stage.supervisor.found_elsewhere({})
    await left(stage, tab)
    (agent,) = stage.supervisor.agents
    assert [row.seq for row in agent.conversation] == [row.seq for row in stage.log.chunks(tab)]


@played
async def test_who_was_refused_is_let_in_when_the_look_finds_nobody_any_more(
    tmp_path: Path,
) -> None:
    """The refusal said it before any look did."""
    gate = Gate()
    stage = Stage(tmp_path, ScriptedModel([[begins(), gate]]))
    tab = await stage.tab()
    await stage.send("Hi")
    await gate.reached()
    other = Stage(tmp_path, ScriptedModel([]), log=stage.log, ids=stage.ids, process_id="two")
    assert (await other.supervisor.open(tab)).phase == "elsewhere"
    stage.log.process_id = "one"
    await stage.supervisor.stop(tab)
    stage.log.process_id = "two"
    other.supervisor.found_elsewhere({})
    await left(other, tab)


@played
async def test_the_process_that_runs_a_turn_believes_no_look(tmp_path: Path) -> None:
    gate = Gate()
    stage = Stage(tmp_path, ScriptedModel([[begins(), gate]]))
    tab = await stage.tab()
    await stage.send("Hi")
    await gate.reached()
    stage.supervisor.found_elsewhere({tab: HOLDER})
    assert stage.supervisor.status(tab).phase == "running"
    await stage.supervisor.stop(tab)
    assert stage.supervisor.status(tab).phase == "idle"


async def left(stage: Stage, tab_id: str) -> None:
    """Waits until nobody else is said to work here."""
    await stage.published.until(lambda: stage.supervisor.status(tab_id).phase == "idle")
