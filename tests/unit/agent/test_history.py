"""SPEC P08, P09: what a reader of the history sees while an agent works."""

from pathlib import Path

from desktop.core.chunks import LogChunk, Text
from desktop.core.cursor import Cursor
from desktop.core.events import BlockDelta, BlockStarted
from desktop.store.timeline import AgentTimelineStore
from tests.fakes.models import Gate, ScriptedModel, begins, block, ends, says
from tests.unit.agent.stage import Stage, played


@played
async def test_P09_text_that_still_streams_is_no_history_and_comes_whole_and_once(
    tmp_path: Path,
) -> None:
    first, second = Gate(), Gate()
    whole = "One paragraph.\n\nAnd another."
    script = [
        [*begins(), BlockStarted(0, "text"), BlockDelta(0, "One para")],
        first,
        [BlockDelta(0, "graph.\n\nAnd another."), block(0, Text(whole))[-1]],
        second,
        ends(),
    ]
    stage = Stage(tmp_path, ScriptedModel([script]))
    history = AgentTimelineStore(stage.log.reader)
    await stage.tab()
    await stage.send("Hi")
    await first.reached()
    page = await history.after(stage.tab_id, Cursor(), limit=100)
    assert [row.id for row in page.rows] == [row.id for row in stage.rows]
    assert not [row for row in stage.rows if row.role == "assistant"]

    first.open()
    await second.reached()
    reconnected = await history.after(stage.tab_id, page.last, limit=100)
    assert [texts(row) for row in reconnected.rows] == [whole]
    second.open()
    await stage.idle()
    rest = await history.after(stage.tab_id, reconnected.last, limit=100)
    assert [texts(row) for row in rest.rows] == [""]  # the turn's end
    read = (*page.rows, *reconnected.rows, *rest.rows)
    assert [row.seq for row in read] == list(range(1, len(stage.rows) + 1))


@played
async def test_P08_history_is_read_without_a_model_and_touches_nothing(tmp_path: Path) -> None:
    stage = Stage(tmp_path, ScriptedModel([says("K")]))
    await stage.tab()
    await stage.run("Hi")
    later = stage.again(model := ScriptedModel())
    before = await later.log.catalogue.view()
    history = AgentTimelineStore(later.log.reader)
    page = await history.tail(later.tab_id, limit=2)
    assert page.has_older
    assert (await history.before(later.tab_id, page.first, limit=100)).rows
    assert await later.log.catalogue.view() == before
    assert model.asked == [] and later.supervisor.running == ()
    assert not later.supervisor.is_awake(later.tab_id)


def texts(row: object) -> str:
    return row.data.text if isinstance(row, LogChunk) and isinstance(row.data, Text) else ""
