"""Tools that come late: told once, taken when the person accepts the price (DESIGN §6, API C36)."""

from dataclasses import replace
from pathlib import Path

import pytest

from desktop.agent.agent import WORKING
from desktop.core.chunks import System
from desktop.core.conversation import is_new_tools, tools_of
from desktop.core.errors import NacreError
from desktop.core.status import NewTools
from desktop.core.tools import Tool, ToolSpec
from tests.fakes.models import Gate, ScriptedModel, says
from tests.fakes.tools import ScriptedTool
from tests.unit.agent.stage import Stage, played
from tests.unit.wire.rows_of import TOOLS, Log

LONG = "layer on layer " * 20


def staged(folder: Path, model: ScriptedModel, tools: list[Tool]) -> Stage:
    """A stage whose tools may change; those with a `-` in their name are a server's."""
    stage = Stage(folder, model)
    stage.surround(
        replace(stage.around, tools=tools, server_of=lambda name: name.rpartition("-")[0])
    )
    return stage


def names(stage: Stage) -> list[str]:
    return [one["name"] for one in tools_of(stage.rows)]


def told(stage: Stage) -> NewTools | None:
    return stage.supervisor.status(stage.tab_id).new_tools


@played
async def test_a_late_tool_is_told_with_its_price_and_joins_only_when_the_person_says_so(
    tmp_path: Path,
) -> None:
    """API C36, M9, SPEC U25."""
    tools: list[Tool] = [ScriptedTool("look")]
    stage = staged(tmp_path, ScriptedModel([says("One."), says("Two."), says("Three.")]), tools)
    await stage.tab()
    await stage.run("Hi")
    assert told(stage) is None
    tools.extend([ScriptedTool("web-get"), ScriptedTool("files-put"), ScriptedTool("files-get")])
    stage.supervisor.look_at_tools()
    found = told(stage)
    assert found is not None and found.servers == (("files", 2), ("web", 1))
    context = stage.supervisor.status(stage.tab_id).spent.context
    assert found.tokens > context > 0
    assert found.dollars == pytest.approx(found.tokens * 12 / 100)
    await stage.run("Go on")
    assert names(stage) == ["look"]
    await stage.supervisor.take_tools(stage.tab_id)
    assert told(stage) is None
    assert names(stage) == ["look", "web-get", "files-put", "files-get"]
    await stage.run("And on")
    assert sum(is_new_tools(row.data) for row in stage.rows) == 1


@played
async def test_it_is_told_once_and_not_again_where_nothing_is_new(tmp_path: Path) -> None:
    tools: list[Tool] = [ScriptedTool("look")]
    stage = staged(tmp_path, ScriptedModel([says("One.")]), tools)
    await stage.tab()
    await stage.run("Hi")
    tools.append(ScriptedTool("files-get"))
    stage.supervisor.look_at_tools()
    before = len(stage.published.statuses())
    stage.supervisor.look_at_tools()
    assert len(stage.published.statuses()) == before


@played
async def test_a_changed_tool_is_new_and_one_that_went_away_or_is_nacres_own_is_not(
    tmp_path: Path,
) -> None:
    tools: list[Tool] = [ScriptedTool("look"), ScriptedTool("files-get"), ScriptedTool("web-get")]
    stage = staged(tmp_path, ScriptedModel([says("One.")]), tools)
    await stage.tab()
    await stage.run("Hi")
    tools[2:] = [ScriptedTool("write")]
    stage.supervisor.look_at_tools()
    assert told(stage) is None
    tools[1] = _Described("files-get", "Does it otherwise.")
    stage.supervisor.look_at_tools()
    found = told(stage)
    assert found is not None and found.servers == (("files", 1),)


@played
async def test_while_a_turn_runs_and_where_nothing_is_new_no_row_is_laid_down(
    tmp_path: Path,
) -> None:
    gate = Gate()
    tools: list[Tool] = [ScriptedTool("look")]
    stage = staged(tmp_path, ScriptedModel([[*says(LONG)[:1], gate, *says(LONG)[1:]]]), tools)
    await stage.tab()
    await stage.supervisor.take_tools(stage.tab_id)
    assert stage.rows == ()
    await stage.send("Hi")
    await gate.reached()
    tools.append(ScriptedTool("files-get"))
    with pytest.raises(NacreError, match=WORKING):
        await stage.supervisor.take_tools(stage.tab_id)
    gate.open()
    await stage.idle()
    assert told(stage) is not None
    tools.pop()
    await stage.supervisor.take_tools(stage.tab_id)
    assert not any(is_new_tools(row.data) for row in stage.rows)


@played
async def test_a_compaction_takes_the_tools_of_the_moment_along(tmp_path: Path) -> None:
    """DESIGN §6: its prefix is new anyway."""
    tools: list[Tool] = [ScriptedTool("look")]
    stage = staged(tmp_path, ScriptedModel([says(LONG), says("Short.")]), tools)
    await stage.tab()
    await stage.run("Hi")
    tools.append(ScriptedTool("files-get"))
    await stage.supervisor.compact(stage.tab_id)
    assert (await stage.idle()).problem == ""
    assert names(stage) == ["look", "files-get"]
    assert told(stage) is None


@played
async def test_another_process_tells_what_is_new_since_the_conversation_was_begun(
    tmp_path: Path,
) -> None:
    stage = staged(tmp_path, ScriptedModel([says("One.")]), [ScriptedTool("look")])
    await stage.tab()
    await stage.run("Hi")
    again = stage.again(ScriptedModel())
    again.surround(
        replace(
            again.around,
            tools=(ScriptedTool("look"), ScriptedTool("files-get")),
            server_of=lambda name: name.rpartition("-")[0],
        )
    )
    status = await again.supervisor.open(again.tab_id)
    assert status.new_tools is not None
    assert status.new_tools.servers == (("files", 1),)


class _Described(ScriptedTool):
    def __init__(self, name: str, description: str) -> None:
        super().__init__(name)
        self._about = description

    @property
    def spec(self) -> ToolSpec:
        return replace(super().spec, description=self._about)


def test_a_row_of_another_shape_says_nothing_of_tools() -> None:
    """SPEC C12."""
    log = Log()
    log.prompt()
    for odd in ("x", None, 5):
        log.add("system", System("tools", fields={"tools": odd}))
    assert tools_of(log.rows) == TOOLS
