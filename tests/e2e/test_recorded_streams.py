"""Streams that a real provider sent, through the whole line: stream, reducer, database, request."""

import asyncio
import itertools
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from desktop.core.chunks import LogChunk, NewChunk, Stamp, System, Text, ToolCall, ToolResult
from desktop.core.model import RequestOptions
from desktop.core.reducer import Reducer, Sealed
from desktop.store.log import Log
from desktop.wire.models import ModelTable
from desktop.wire.request import build, serialise
from desktop.wire.stream import Reader
from tests.fakes.sim.strictness import refuse_as_the_provider_does
from tests.unit.wire.recordings import FILES, answers

STAMP = Stamp("anthropic:recorded", "claude-haiku-4-5")


def chunks_of(data: bytes, new_id: "itertools.count[int]") -> list[NewChunk]:
    """The rows that a turn with this answer leaves, with a result for every call."""
    reader = Reader()
    reducer = Reducer(turn_id="t1", step=0, stamp=STAMP, new_id=lambda: f"chunk-{next(new_id)}")
    rows = [
        NewChunk(f"chunk-{next(new_id)}", "t1", "system", System("prompt", "You help.")),
        NewChunk(f"chunk-{next(new_id)}", "t1", "user", Text("Go")),
    ]
    for event in (*reader.feed(data), *reader.end()):
        rows += [op.chunk for op in reducer.apply(event) if isinstance(op, Sealed)]
    calls = [row.data for row in rows if isinstance(row.data, ToolCall)]
    rows += [
        NewChunk(f"chunk-{next(new_id)}", "t1", "tool", ToolResult(one.call_id, one.name, "fine"))
        for one in calls
    ]
    return [*rows, NewChunk(f"chunk-{next(new_id)}", "t2", "user", Text("Go on"))]


def next_request(rows: Sequence[LogChunk]) -> bytes:
    options = RequestOptions(STAMP.model)
    return serialise(build(rows, options, models=ModelTable(()), stamp=STAMP))


@pytest.mark.skipif(not FILES, reason="the recorded streams are not beside this checkout")
def test_c03_a_recorded_answer_is_the_same_request_after_the_database(tmp_path: Path) -> None:
    """SPEC C03, A04, F-W02: what was sent live equals what a rebuild from the file sends."""
    new_id = itertools.count()

    def opened() -> Log:
        return Log.open(
            tmp_path / "nacre.db",
            blobs=tmp_path / "blobs",
            run=tmp_path / "run",
            new_id=lambda: f"id-{next(new_id)}",
            now_ms=lambda: 1_795_000_000_000,
        )

    async def laid_down() -> dict[str, bytes]:
        log = opened()
        workspace = await log.catalogue.scratch_workspace()
        live: dict[str, bytes] = {}
        for path in FILES:
            for answer in answers(path):
                tab = await log.catalogue.create_tab(workspace.id, title=answer.name)
                receipt = await log.session(tab.id).append(chunks_of(answer.data, new_id))
                live[tab.id] = next_request(receipt.chunks)
        await log.close()
        return live

    async def read_back(tab_ids: Sequence[str]) -> dict[str, bytes]:
        log = opened()
        found: dict[str, bytes] = {}
        for tab_id in tab_ids:
            loaded = await log.session(tab_id).load()
            assert loaded.damaged == 0
            assert loaded.dangling_user == "Go on"
            found[tab_id] = next_request((*loaded.chunks, *loaded.dangling))
        assert (await log.doctor())["ok"]
        await log.close()
        return found

    live = asyncio.run(laid_down())
    assert len(live) >= len(FILES)
    for body in live.values():
        refuse_as_the_provider_does(json.loads(body))
    assert asyncio.run(read_back(tuple(live))) == live
