"""SPEC P10: what an interrupted turn's model or tool still brings is never its replacement's."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from desktop.core.chunks import LogChunk, Stamp, Text
from desktop.core.events import BlockDelta, BlockStarted
from desktop.core.model import ModelInfo, RequestOptions
from desktop.core.reducer import Grew, Opened
from tests.fakes.models import (
    Batch,
    Gate,
    ScriptedModel,
    begins,
    block,
    call,
    calls,
    ends,
    says,
    text,
)
from tests.fakes.tools import ScriptedTool
from tests.unit.agent.stage import Stage, played, results


@dataclass(slots=True)
class DeafModel:
    """Its first answer can't be cancelled: `late` comes when `gate` opens, whatever was asked
    meanwhile. The others are `then`'s."""

    gate: Gate
    late: Batch
    then: ScriptedModel
    brought: asyncio.Event = field(default_factory=asyncio.Event)
    requests: int = 0

    def stamp(self, model: str) -> Stamp:
        return self.then.stamp(model)

    async def models(self) -> tuple[ModelInfo, ...]:
        return await self.then.models()

    async def respond(
        self, chunks: Sequence[LogChunk], options: RequestOptions
    ) -> AsyncIterator[Batch]:
        self.requests += 1
        if self.requests > 1:
            async for batch in self.then.respond(chunks, options):
                yield batch
            return
        yield [*begins(), BlockStarted(0, "text"), BlockDelta(0, "Early")]
        while not self.gate.is_open:
            with suppress(asyncio.CancelledError):
                await self.gate.wait()
        self.brought.set()
        yield self.late


@played
async def test_P10_events_of_an_interrupted_turn_are_not_those_of_its_replacement(
    tmp_path: Path,
) -> None:
    gate, second = Gate(), Gate()
    late = [BlockDelta(0, " LATE"), *block(1, Text("LATE"), "LATE"), *ends()]
    then = ScriptedModel([[[*begins(), *text(0, "Fresh")], second, ends()]])
    stage = Stage(tmp_path, model := DeafModel(gate, late, then))
    await stage.tab()
    await stage.send("First")
    await gate.reached()
    await stage.supervisor.stop(stage.tab_id)
    first_turn = stage.rows[-1].turn_id
    await stage.send("Second")
    await second.reached()

    gate.open()
    await model.brought.wait()
    await asyncio.sleep(0)
    second.open()
    await stage.idle()

    assert then.complaints == []
    assert stage.story == [
        "user: First",
        "assistant: Early (interrupted)",
        "end stopped",
        "user: Second",
        "assistant: Fresh",
        "end done",
    ]
    assert {row.turn_id for row in stage.rows[-3:]}.isdisjoint({first_turn})
    assert "LATE" not in stage.published.grown()
    shown = [one for one in stage.published.live_ops() if isinstance(one, Opened | Grew)]
    assert len(shown) == len([one for one in shown if "LATE" not in str(one)])
    assert [record.stop_reason for record in stage.requests] == [None, "end_turn"]


@played
async def test_P10_the_result_of_an_interrupted_tool_is_not_its_replacements(
    tmp_path: Path,
) -> None:
    """Two turns call the same tool under the same id, and the first tool ends in the second."""
    gate, second = Gate(), Gate()
    tool = ScriptedTool("look", gates={"1": gate, "2": second}, deaf=True)
    again = call("c1", arguments={"at": "2"})
    model = ScriptedModel([calls(call("c1", arguments={"at": "1"})), calls(again), says("Seen.")])
    stage = Stage(tmp_path, model, [tool])
    await stage.tab()
    await stage.send("First")
    await gate.reached()
    await stage.supervisor.stop(stage.tab_id)
    await stage.send("Second")
    await second.reached()
    gate.open()
    await asyncio.sleep(0)
    assert not [row for row in stage.rows if row.type == "tool_result"][1:]
    second.open()
    await stage.idle()
    found = [row for row in stage.rows if row.type == "tool_result"]
    assert len(found) == 2 and found[0].turn_id != found[1].turn_id
    assert "'at': '2'" in results(stage.rows)["c1"].result
