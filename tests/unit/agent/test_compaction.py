"""When a conversation is compacted, and what an agent does when it can't be (SPEC A11, U24)."""

from pathlib import Path

import pytest

from desktop.agent.agent import WORKING
from desktop.agent.compaction import NOTHING
from desktop.agent.summary import EMPTY
from desktop.core.conversation import is_compaction
from desktop.core.errors import NacreError, StoreError
from tests.fakes.models import Gate, ScriptedModel, call, calls, fails, nothing, says
from tests.fakes.tools import ScriptedTool
from tests.unit.agent.stage import Stage, played

LONG = "layer on layer " * 20
ANSWERS = 110  # tokens that the model counts for each of its answers; its window has 1,000


def compactions(stage: Stage) -> int:
    return sum(is_compaction(row.data) for row in stage.rows)


@played
async def test_A11_while_a_turn_runs_it_is_refused_in_words(tmp_path: Path) -> None:
    gate = Gate()
    stage = Stage(tmp_path, ScriptedModel([[*says(LONG)[:1], gate, *says(LONG)[1:]]]))
    await stage.tab()
    await stage.send("Hi")
    await gate.reached()
    with pytest.raises(NacreError, match=WORKING):
        await stage.supervisor.compact(stage.tab_id)
    gate.open()
    assert (await stage.idle()).last_outcome == "done"


@played
async def test_A11_where_nothing_was_answered_nothing_is_asked(tmp_path: Path) -> None:
    stage = Stage(tmp_path, ScriptedModel([says(LONG), says("Short.")]))
    await stage.tab()
    await stage.supervisor.compact(stage.tab_id)
    assert NOTHING in (await stage.idle()).problem
    assert stage.rows == () and stage.requests == ()
    await stage.run("Hi")
    await stage.supervisor.compact(stage.tab_id)
    assert (await stage.idle()).problem == ""
    await stage.supervisor.compact(stage.tab_id)
    assert NOTHING in (await stage.idle()).problem
    assert compactions(stage) == 1


@played
async def test_U24_a_first_message_over_the_size_goes_out_without_a_word(tmp_path: Path) -> None:
    stage = Stage(tmp_path, ScriptedModel([says("K")]), compact_at=50)
    await stage.tab()
    status = await stage.run("x" * 1_600)
    assert (status.problem, status.last_outcome) == ("", "done")


@played
async def test_U24_by_itself_only_from_the_size_that_is_set_and_0_is_never(tmp_path: Path) -> None:
    for percent, expected in ((0, 0), (11, 1), (90, 0)):
        model = ScriptedModel([says(LONG), *([says("Short.")] if expected else []), says("K")])
        stage = Stage(tmp_path, model, compact_at=percent)
        await stage.tab()
        await stage.run("Hi")
        assert stage.supervisor.status(stage.tab_id).spent.context == ANSWERS
        await stage.run("And?")
        assert compactions(stage) == expected, percent


@played
async def test_U24_by_itself_it_is_tried_once_in_a_turn_that_goes_on_without_it(
    tmp_path: Path,
) -> None:
    """A11: the failure is said; the model's context is what it was."""
    model = ScriptedModel([calls(call("c1")), nothing(), calls(call("c2")), says("Done.")])
    stage = Stage(tmp_path, model, [ScriptedTool("look")], compact_at=10)
    await stage.tab()
    status = await stage.run("Look")
    assert EMPTY in status.problem and status.last_outcome == "done"
    assert compactions(stage) == 0
    assert model.asked[2].rows == model.asked[1].rows[:-1]
    assert [row.data for row in stage.rows if row.type == "error"] == []


@played
async def test_U24_a_request_that_is_too_long_and_can_not_be_compacted_fails_as_before(
    tmp_path: Path,
) -> None:
    model = ScriptedModel(
        [says(LONG), fails("too_large", "It is too long."), fails("billing", "No credit.")]
    )
    stage = Stage(tmp_path, model)
    await stage.tab()
    await stage.run("Hi")
    status = await stage.run("And?")
    assert "No credit." in status.problem and status.last_outcome == "failed"
    assert compactions(stage) == 0
    assert stage.story[-2:] == ["error", "end failed"]
    errors = [row.data for row in stage.rows if row.type == "error"]
    assert [getattr(one, "message", "") for one in errors] == ["It is too long."]


@played
async def test_A08_a_log_that_refuses_the_summary_leaves_all_as_it_was(tmp_path: Path) -> None:
    """A08, A11: nothing of it waits to be written later."""
    stage = Stage(tmp_path, ScriptedModel([says(LONG), says("Short."), says("K")]))
    await stage.tab()
    await stage.run("Hi")
    before = stage.rows
    store = stage.stores[stage.tab_id]
    full = StoreError("The disk is full.")
    store.trouble = lambda name, _: full if name == "append" else None
    await stage.supervisor.compact(stage.tab_id)
    assert "The disk is full." in (await stage.idle()).problem
    store.trouble = lambda name, args: None
    assert stage.rows == before
    assert (await stage.run("And?")).problem == ""
    assert compactions(stage) == 0


@played
async def test_A11_what_the_model_is_told_of_its_place_is_told_again(tmp_path: Path) -> None:
    """C29: it was in front of the summary; and it is told once."""
    stage = Stage(tmp_path, ScriptedModel([says(LONG), says("Short."), says("K")]))
    await stage.tab()
    await stage.run("Hi")
    await stage.supervisor.compact(stage.tab_id)
    await stage.idle()
    stage.today = "2026-12-01"
    await stage.run("And?")
    facts = [str(getattr(row.data, "text", "")) for row in stage.rows if is_fact(row.data)]
    assert ["The workspace folder is" in one for one in facts] == [True, True, False]
    assert facts[2] == "Today is 2026-12-01."


def is_fact(data: object) -> bool:
    return getattr(data, "kind", "") == "fact"
