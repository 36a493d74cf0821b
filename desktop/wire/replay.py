"""A recording as a `Model`: the tour goes the whole real way, only the provider is on tape.

A recording is JSON lines: `{"request": n}` begins the n-th answer, `{"after_ms": 12, "event": {…}}`
is one provider event with the pause before it (DESIGN §8).
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from desktop.core.chunks import LogChunk, Stamp, Text, ToolCall
from desktop.core.conversation import retracted_ids
from desktop.core.errors import NacreError
from desktop.core.events import (
    BlockDelta,
    BlockFinished,
    BlockStarted,
    ModelEvent,
    ResponseFinished,
    Usage,
)
from desktop.core.model import ModelInfo, RequestOptions
from desktop.wire.stream import Interpreter

MODEL = "tour"
OVER = (
    "The recording is over, so there is no answer to this. "
    "To go on with a real model, enter a key or a local server in the settings."
)


class BadRecording(NacreError):
    """A recording can't be played."""


@dataclass(frozen=True, slots=True)
class Beat:
    """One provider event and the seconds of silence before it."""

    seconds: float
    event: dict[str, Any]


def recording(lines: Iterable[str]) -> tuple[tuple[Beat, ...], ...]:
    """The answers of a recording, in order. Raises BadRecording naming the line."""
    answers: list[list[Beat]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            item = json.loads(line)
            if "request" in item:
                answers.append([])
            else:
                answers[-1].append(Beat(item.get("after_ms", 0) / 1000, item["event"]))
        except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
            raise BadRecording(
                "The recording can't be played.", detail=f"line {number}: {error}"
            ) from error
    return tuple(tuple(beats) for beats in answers)


class ReplayModel:
    """Plays a recording: the answer that is due is counted from the rows, so a restart is harmless.

    `pause` waits between events; tests hand in one that doesn't.
    """

    def __init__(
        self,
        lines: Iterable[str],
        *,
        name: str = "Tour (a recording)",
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._answers = recording(lines)
        self.info = ModelInfo(id=MODEL, name=name, recorded=True)
        self._pause = pause

    def stamp(self, model: str) -> Stamp:
        return Stamp("recording", model)

    async def models(self) -> tuple[ModelInfo, ...]:
        return (self.info,)

    async def check(self) -> None:
        """There is nothing that could fail."""

    async def close(self) -> None:
        """There is nothing to give back."""

    async def respond(
        self, chunks: Sequence[LogChunk], options: RequestOptions
    ) -> AsyncIterator[Sequence[ModelEvent]]:
        """The answer that is due, at its own pace."""
        due = steps_so_far(chunks)
        if due >= len(self._answers):
            yield _over()
            return
        calls = (row.data.call_id for row in chunks if isinstance(row.data, ToolCall))
        interpreter = Interpreter(calls)
        for beat in self._answers[due]:
            if beat.seconds > 0:
                await self._pause(beat.seconds)
            events = list(interpreter.read(beat.event))
            if events:
                yield events
        ending = list(interpreter.end())
        if ending:
            yield ending


def steps_so_far(chunks: Sequence[LogChunk]) -> int:
    """How many answers the rows hold; retracted ones count no more."""
    gone = retracted_ids(chunks)
    return len(
        {
            (row.turn_id, row.step)
            for row in chunks
            if row.role == "assistant" and row.type != "error" and row.id not in gone
        }
    )


def _over() -> list[ModelEvent]:
    return [
        BlockStarted(0, "text"),
        BlockDelta(0, OVER),
        BlockFinished(0, Text(OVER)),
        ResponseFinished("end_turn", Usage(), {}),
    ]
