"""One accepted request, answered step by step: a stream of events or one JSON message."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass

from tests.fakes.sim.filling import Filling
from tests.fakes.sim.gates import Gates
from tests.fakes.sim.http1 import Answer
from tests.fakes.sim.prefix import compact
from tests.fakes.sim.problems import STATUS_OF_TYPE, Json, error_body
from tests.fakes.sim.received import Received
from tests.fakes.sim.replies import Cut, Gate, Pause, Raw, Reply, Send, Step

STREAM_HEADERS = [
    ("content-type", "text/event-stream; charset=utf-8"),
    ("cache-control", "no-cache"),
]
JSON_HEADERS = [("content-type", "application/json")]


@dataclass(frozen=True, slots=True)
class Stage:
    """What playing a reply needs: the connection's answer, the gates and the pace of time.
    `begun` is called once, when the first byte of a good answer goes out."""

    answer: Answer
    gates: Gates
    headers: list[tuple[str, str]]
    pace: float
    begun: Callable[[], None]


async def play(reply: Reply, received: Received, filling: Filling, stage: Stage) -> None:
    """Send the reply. Raises `http1.Closed` when the connection ends on the way."""
    for step in reply.head:
        await _stand(step, stage)
    received.status = reply.status
    if reply.error is not None or reply.body is not None:
        await _play_error(reply, received, stage)
        return
    filling.expect(reply.events)
    received.message = filling.message
    if received.json.get("stream"):
        await _play_stream(reply, received, filling, stage)
    else:
        await _play_whole(reply, received, filling, stage)


def frame(event: Json, line_end: str = "\n") -> bytes:
    """An event on the wire: its name, one data line, an empty line (S1)."""
    data = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
    lines = (f"event: {event.get('type')}", f"data: {data}", "", "")
    return line_end.join(lines).encode("utf-8", "surrogatepass")


async def _play_error(reply: Reply, received: Received, stage: Stage) -> None:
    if reply.error is not None:
        kind, message = reply.error
        received.error = message
        body = compact(error_body(message, kind, received.request_id))
    else:
        body = reply.body or b""
    await stage.answer.whole(reply.status, _headers(stage, reply, JSON_HEADERS), body)


async def _play_stream(reply: Reply, received: Received, filling: Filling, stage: Stage) -> None:
    await stage.answer.start(reply.status, _headers(stage, reply, STREAM_HEADERS))
    stage.begun()
    for step in reply.steps:
        match step:
            case Send(event, after_ms):
                await _delay(after_ms, stage)
                filled = filling.fill(event)
                received.message = filling.message
                if filled is not None:
                    await stage.answer.write(frame(filled, reply.line_end))
            case Raw(data):
                await stage.answer.write(data)
            case _:
                await _stand(step, stage)
    await stage.answer.finish()


async def _play_whole(reply: Reply, received: Received, filling: Filling, stage: Stage) -> None:
    """The same reply to a request that wants no stream."""
    for step in reply.steps:
        match step:
            case Send({"type": "error", "error": {"type": kind, "message": message}}):
                received.status, received.error = STATUS_OF_TYPE.get(kind, 500), message
                body = compact(error_body(message, kind, received.request_id))
                headers = _headers(stage, reply, JSON_HEADERS)
                await stage.answer.whole(received.status, headers, body)
                return
            case Send(event, after_ms):
                await _delay(after_ms, stage)
                filling.fill(event)
            case _:
                await _stand(step, stage)
    received.message = filling.message
    stage.begun()
    headers = _headers(stage, reply, JSON_HEADERS)
    body = compact(filling.message) if filling.message else b""
    await stage.answer.whole(reply.status, headers, body)


async def _stand(step: Step, stage: Stage) -> None:
    match step:
        case Gate(name):
            await stage.gates.wait(name)
        case Pause(seconds):
            await (asyncio.Event().wait() if seconds is None else asyncio.sleep(seconds))
        case Cut(reset):
            await stage.answer.cut(reset=reset)
        case Send() | Raw():
            pass


async def _delay(after_ms: float, stage: Stage) -> None:
    if after_ms and stage.pace:
        await asyncio.sleep(after_ms * stage.pace / 1000)


def _headers(stage: Stage, reply: Reply, usual: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The usual headers, those of the reply in their place where it names them too."""
    own = {name.lower() for name, _ in reply.headers}
    kept = [pair for pair in (*usual, *stage.headers) if pair[0] not in own]
    return [*kept, *reply.headers]
