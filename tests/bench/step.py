"""What a step of a turn costs the window's thread, at any length of the conversation.

An agent with its ledger on a real database; a model that answers at once, and a tool that does. The
processor time of the agent's thread is counted from one request to the next: what it does of its
own for each step must not grow with what lies behind (SPEC U03). With `usage` the provider counts
tokens; without it, as many local servers, Nacre estimates them.
"""

import asyncio
import itertools
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from desktop.agent.agent import Agent
from desktop.core.chunks import (
    LogChunk,
    NewChunk,
    Payload,
    Role,
    Stamp,
    Text,
    ToolCall,
    ToolResult,
)
from desktop.core.events import ModelEvent, ResponseFinished
from desktop.core.model import ModelInfo, RequestOptions
from desktop.core.records import RequestRecord
from desktop.store.log import Log
from desktop.wire.usage import usage_of
from tests.bench import Figure
from tests.bench._corpus import new_tab, open_log
from tests.fakes.models import begins, block, call, text
from tests.fakes.tools import ScriptedTool
from tests.unit.agent.stage import Stage

SHORT, LONG = 200, 20_000  # rows
STEPS = 40
TEXT = "lorem ipsum dolor sit amet " * 20
STAMP = Stamp("scripted:account", "scripted-1")
USAGE = {"input_tokens": 10, "cache_read_input_tokens": 5_000, "output_tokens": 90}


def figures() -> list[Figure]:
    found: list[Figure] = []
    for name, usage in (("usage", USAGE), ("no_usage", None)):
        short, long = _step(SHORT, usage), _step(LONG, usage)
        found += [
            Figure(f"step.with_{name}_at_20k_vs_200", long / short, "x", 1.3),
            Figure(f"step.with_{name}_at_20k", 1_000 * long, "ms", 16),
        ]
    return found


def _step(rows: int, usage: dict[str, int] | None) -> float:
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as name:
        return asyncio.run(_measured(Path(name), rows, usage))


async def _measured(folder: Path, rows: int, usage: dict[str, int] | None) -> float:
    log = open_log(folder)
    try:
        tab_id = await new_tab(log, folder)
        await _fill(log, tab_id, rows, usage)
        model = QuickModel(usage)
        stage = Stage(folder, model, [ScriptedTool()])
        stage.around = replace(stage.around, now_ms=itertools.count(rows).__next__)
        place = replace(stage.place(*await _place(log, tab_id)), tab_id=tab_id)
        agent = Agent(log.session(tab_id), place=place, around=stage.around, chosen=stage.chosen)
        await agent.open()
        await agent.send("Go on.")
        await stage.published.until(lambda: stage.published.latest[tab_id].phase == "idle")
        await agent.close()
        return median(after - before for before, after in itertools.pairwise(model.moments[2:]))
    finally:
        await log.close()


class QuickModel:
    """Calls the tool STEPS times, then ends. `moments` are of the thread's processor time."""

    def __init__(self, usage: dict[str, int] | None) -> None:
        self.moments: list[float] = []
        self._usage = usage

    def stamp(self, model: str) -> Stamp:
        return Stamp(STAMP.provider, model)

    async def models(self) -> tuple[ModelInfo, ...]:
        return ()

    async def respond(
        self, chunks: Sequence[LogChunk], options: RequestOptions
    ) -> AsyncIterator[Sequence[ModelEvent]]:
        self.moments.append(time.thread_time())
        number = len(self.moments)
        if number > STEPS:
            yield [*begins(), *text(0, "Done."), self._ended("end_turn")]
            return
        asked = call(f"new-{number}", arguments={"n": number})
        yield [
            *begins(),
            *text(0, TEXT),
            *block(1, asked, "{}"),
            self._ended("tool_use"),
        ]

    def _ended(self, stop_reason: str) -> ResponseFinished:
        raw = self._usage or {}
        return ResponseFinished(stop_reason, usage_of(raw), raw)


async def _place(log: Log, tab_id: str):
    tab = await log.catalogue.tab(tab_id)
    return tab, await log.catalogue.workspace(tab.workspace_id)


async def _fill(log: Log, tab_id: str, rows: int, usage: dict[str, int] | None) -> None:
    """Turns of eight rows, each step with the record of its request."""
    session = log.session(tab_id)
    chunks: list[NewChunk] = []
    for turn in range(rows // 8):
        turn_id = f"turn-{turn}"

        rows_of: list[tuple[Role, Payload, int]] = [("user", Text(TEXT), 0)]
        for step in range(2):
            asked = ToolCall(f"{turn_id}-{step}", "look", {"n": step})
            rows_of.append(("assistant", Text(TEXT), step))
            rows_of.append(("assistant", asked, step))
            rows_of.append(("tool", ToolResult(asked.call_id, "look", TEXT), step))
        rows_of.append(("assistant", Text(TEXT), 2))
        chunks += (
            NewChunk(f"{turn_id}-{place}", turn_id, role, data, step, STAMP)
            for place, (role, data, step) in enumerate(rows_of)
        )
        if usage is not None:
            for step in range(3):
                record = RequestRecord(
                    id=f"{turn_id}-{step}",
                    tab_id=tab_id,
                    turn_id=turn_id,
                    step=step,
                    provider=STAMP.provider,
                    model=STAMP.model,
                    started_at=turn,
                )
                await session.start_request(record)
                ended = replace(record, usage=usage, stop_reason="end_turn", ended_at=turn)
                await session.finish_request(ended)
        if len(chunks) > 2_000:
            await session.append(chunks)
            chunks = []
    await session.append(chunks)
