"""All agents of a process behind one door: choices that last, names, states, unknown tabs."""

from pathlib import Path

import pytest

from desktop.agent.supervisor import title_from
from desktop.core.chunks import System
from desktop.core.commands import Commands
from desktop.core.errors import NacreError, StoreFull, UnknownConversation
from desktop.core.records import Snapshot
from tests.fakes.models import Gate, ScriptedModel, begins, says
from tests.unit.agent.stage import Stage, played


def is_commands(supervisor: Commands) -> Commands:
    return supervisor


@played
async def test_the_supervisor_is_the_commands_door(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    assert is_commands(stage.supervisor).status("unknown").phase == "idle"


@played
async def test_C27_the_choice_of_a_tab_is_the_same_after_a_restart(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    tab = await stage.tab()
    other = await stage.tab()
    await stage.supervisor.choose(tab, model="scripted-2", effort="high", mode="accept-edits")
    later = stage.again(ScriptedModel([says("K")]))
    status = await later.supervisor.open(tab)
    assert (status.model, status.effort, status.mode) == ("scripted-2", "high", "accept-edits")
    assert (await later.supervisor.open(other)).model == "scripted-1"
    await later.run("Hi")
    model = later.model
    assert isinstance(model, ScriptedModel)
    assert (model.asked[0].options.model, model.asked[0].options.effort) == ("scripted-2", "high")


@played
async def test_C27_a_changed_model_is_a_row_before_the_next_message(tmp_path: Path) -> None:
    model = ScriptedModel([says("One."), says("Two.")])
    stage = Stage(tmp_path, model)
    await stage.tab()
    await stage.run("First")
    await stage.supervisor.choose(stage.tab_id, model="scripted-2")
    await stage.run("Second")
    change = next(
        row.data for row in stage.rows if isinstance(row.data, System) and row.data.kind == "model"
    )
    assert dict(change.fields) == {"from": "scripted-1", "to": "scripted-2"}
    assert [one.options.model for one in model.asked] == ["scripted-1", "scripted-2"]
    assert stage.rows[-2].stamp.model == "scripted-2"
    assert stage.requests[1].model == "scripted-2"


@played
async def test_a_model_chosen_in_a_turn_serves_from_the_next_turn_on(tmp_path: Path) -> None:
    gate = Gate()
    model = ScriptedModel([[gate, *says("One.")], says("Two.")])
    stage = Stage(tmp_path, model)
    await stage.tab()
    await stage.send("First")
    await gate.reached()
    await stage.supervisor.choose(stage.tab_id, model="scripted-2")
    gate.open()
    await stage.idle()
    assert stage.rows[-2].stamp.model == "scripted-1"


@played
async def test_a_choice_that_can_not_be_kept_says_so(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    await stage.tab()
    stage.log.fail_next(StoreFull("The disk is full."))
    with pytest.raises(StoreFull):
        await stage.supervisor.choose(stage.tab_id, mode="auto")


@played
async def test_the_first_message_names_the_conversation_and_later_ones_do_not(
    tmp_path: Path,
) -> None:
    stage = Stage(tmp_path, ScriptedModel([says("K"), says("K")]))
    await stage.tab()
    await stage.run("  \nMend the   door\nplease")
    assert stage.log.find(stage.tab_id).tab.title == "Mend the door"
    await stage.run("Now the window")
    assert stage.log.find(stage.tab_id).tab.title == "Mend the door"


@played
async def test_P04_a_name_the_person_gave_stays(tmp_path: Path) -> None:
    stage = Stage(tmp_path, ScriptedModel([says("K")]))
    await stage.tab(title="Mine")
    await stage.run("Mend the door")
    assert stage.log.find(stage.tab_id).tab.title == "Mine"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("", ""),
        ("one line", "one line"),
        ("word " * 40, "word " * 15 + "word…"),
        ("x" * 100, "x" * 79 + "…"),
        ("x" * 80, "x" * 80),
    ],
)
def test_a_title_is_at_most_eighty_characters(text: str, title: str) -> None:
    assert title_from(text) == title
    assert len(title_from(text)) <= 80


@played
async def test_C15_the_lifecycle_is_kept_while_a_turn_runs(tmp_path: Path) -> None:
    gate = Gate()
    stage = Stage(tmp_path, ScriptedModel([[begins(), gate, *says("K")[1:]]]))
    await stage.tab()
    await stage.send("Hi")
    await gate.reached()
    assert snapshot(stage).lifecycle == "running"
    await stage.supervisor.stop(stage.tab_id)
    assert snapshot(stage).lifecycle == "idle"


def snapshot(stage: Stage) -> Snapshot:
    found = stage.log.find(stage.tab_id).snapshot
    assert found is not None
    return found


@played
async def test_C25_a_turn_goes_on_when_nobody_looks(tmp_path: Path) -> None:
    gate = Gate()
    stage = Stage(tmp_path, ScriptedModel([[begins(), gate, *says("K")]]))
    await stage.tab()
    await stage.send("Hi")
    await gate.reached()
    await stage.log.catalogue.set_tab_open(stage.tab_id, is_open=False)
    gate.open()
    await stage.idle()
    assert stage.story[-1] == "end done"


@played
async def test_opening_a_running_conversation_says_that_it_runs(tmp_path: Path) -> None:
    gate = Gate()
    stage = Stage(tmp_path, ScriptedModel([[begins(), gate]]))
    await stage.tab()
    await stage.send("Hi")
    await gate.reached()
    rows = stage.rows
    status = await stage.supervisor.open(stage.tab_id)
    assert (status.phase, status.turn_id) == ("running", rows[-1].turn_id)
    assert status.since > 0
    assert stage.rows == rows
    await stage.supervisor.stop(stage.tab_id)


@played
async def test_P08_opening_starts_no_model_and_touches_nothing(tmp_path: Path) -> None:
    model = ScriptedModel([says("K")])
    stage = Stage(tmp_path, model)
    await stage.tab()
    await stage.run("Hi")
    touched = stage.log.find(stage.tab_id).tab.last_message_at
    later = stage.again(ScriptedModel())
    later.unreachable = NacreError("No model.")
    status = await later.supervisor.open(stage.tab_id)
    assert (status.last_outcome, status.spent.prompt) == ("done", 100)
    assert stage.log.find(stage.tab_id).tab.last_message_at == touched


@played
async def test_an_unknown_conversation_is_named(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    with pytest.raises(UnknownConversation):
        await stage.supervisor.open("nope")
    await stage.supervisor.stop("nope")


@played
async def test_nothing_starts_after_the_shutdown(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    await stage.tab()
    await stage.supervisor.shutdown()
    with pytest.raises(NacreError):
        await stage.send("Hi")
    assert stage.rows == ()
