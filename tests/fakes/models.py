"""A model with a script: it answers as told, keeps what it was asked, and is strict about it.

Every request is checked like a provider would (SPEC U21): rows without holes, every call answered
exactly once and before anything else is said, the last word not the model's own.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from desktop.core.chunks import (
    Json,
    LogChunk,
    Payload,
    Stamp,
    System,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from desktop.core.conversation import retracted_ids
from desktop.core.events import (
    BlockDelta,
    BlockFinished,
    BlockStarted,
    Failure,
    FailureKind,
    ModelEvent,
    ResponseFailed,
    ResponseFinished,
    ResponseStarted,
    RetryScheduled,
    Usage,
)
from desktop.core.model import ModelInfo, RequestOptions
from desktop.core.shown import Place
from tests.fakes.histories import Excuses
from tests.fakes.rows_told import Told

Batch = Sequence[ModelEvent]


class Gate:
    """A place where something waits until the test lets it go on."""

    def __init__(self) -> None:
        self._reached = asyncio.Event()
        self._opened = asyncio.Event()

    async def wait(self) -> None:
        """The waiting side."""
        self._reached.set()
        await self._opened.wait()

    async def reached(self) -> None:
        """The test's side: returns when somebody waits here."""
        await self._reached.wait()

    def open(self) -> None:
        self._opened.set()

    @property
    def is_open(self) -> bool:
        return self._opened.is_set()

    @property
    def is_reached(self) -> bool:
        return self._reached.is_set()


Response = Sequence[Batch | Gate | Exception]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as the model got it."""

    rows: tuple[LogChunk, ...]
    options: RequestOptions


@dataclass(slots=True)
class ScriptedModel:
    """Plays one response a request. `complaints` say what was wrong with a request, or that it
    was one more than the script has answers; a test fails when there is one."""

    script: list[Response] = field(default_factory=list[Response])
    provider: str = "scripted:account"
    asked: list[Asked] = field(default_factory=list[Asked])
    closed: int = 0
    complaints: list[str] = field(default_factory=list[str])
    told: Told = field(default_factory=Told)

    def then(self, *responses: Response) -> "ScriptedModel":
        self.script.extend(responses)
        return self

    def stamp(self, model: str) -> Stamp:
        return Stamp(self.provider, model)

    async def models(self) -> tuple[ModelInfo, ...]:
        return (ModelInfo("scripted-1", "Scripted"),)

    async def respond(
        self, chunks: Sequence[LogChunk], options: RequestOptions
    ) -> AsyncIterator[Batch]:
        self.asked.append(Asked(tuple(chunks), options))
        try:
            check_request(chunks, options)
            rewrite = self.told.rewrite(chunks, options, self.stamp(options.model))
            Excuses().weigh([rewrite] if rewrite else [])
            assert len(self.asked) <= len(self.script), "no answer is left in the script"
        except AssertionError as error:
            self.complaints.append(str(error))
            raise
        try:
            for item in self.script[len(self.asked) - 1]:
                if isinstance(item, Gate):
                    await item.wait()
                elif isinstance(item, Exception):
                    raise item
                else:
                    yield item
        finally:
            self.closed += 1


def check_request(rows: Sequence[LogChunk], options: RequestOptions) -> None:
    """Raises AssertionError for rows that no provider would take."""
    assert [row.seq for row in rows] == list(range(1, len(rows) + 1)), "holes in seq"
    gone = retracted_ids(rows)
    open_calls: list[str] = []
    last = ""
    for row in rows:
        if row.id in gone or row.type in ("error", "system"):
            continue
        if isinstance(row.data, ToolCall):
            open_calls.append(row.data.call_id)
        elif isinstance(row.data, ToolResult):
            assert row.data.call_id in open_calls, f"a result without a call: {row.data.call_id}"
            open_calls.remove(row.data.call_id)
        elif row.role == "user":
            assert not open_calls, f"a user text before the results of {open_calls}"
        last = row.role
    assert not open_calls, f"calls without a result: {open_calls}"
    assert last in ("user", "tool") or options.resumed, f"the last word is {last}'s"


def usage(prompt: int = 100, output: int = 10) -> tuple[Usage, Mapping[str, Any]]:
    return (
        Usage(input=prompt, output=output),
        {"input_tokens": prompt, "output_tokens": output},
    )


def begins() -> list[ModelEvent]:
    tokens, raw = usage(output=1)
    return [ResponseStarted("msg_1", "scripted-1", tokens, raw)]


def block(index: int, payload: Payload, *pieces: str) -> list[ModelEvent]:
    """A whole block: start, growth, end."""
    started = opened(index, payload)
    return [started, *(BlockDelta(index, piece) for piece in pieces), BlockFinished(index, payload)]


def opened(index: int, payload: Payload) -> BlockStarted:
    match payload:
        case ToolCall():
            return BlockStarted(index, "tool_call", payload.name, payload.call_id)
        case Thinking():
            return BlockStarted(index, "thinking")
        case Text():
            return BlockStarted(index, "text")
        case _:
            return BlockStarted(index, "opaque")


def ends(stop_reason: str = "end_turn") -> list[ModelEvent]:
    tokens, raw = usage()
    return [ResponseFinished(stop_reason, tokens, raw)]


def text(index: int, words: str) -> list[ModelEvent]:
    return block(index, Text(words), words)


def call(call_id: str, name: str = "look", arguments: Json | None = None) -> ToolCall:
    return ToolCall(call_id, name, arguments or {})


def says(words: str, *, stop_reason: str = "end_turn") -> Response:
    """A whole answer of one text."""
    return [[*begins(), *text(0, words)], ends(stop_reason)]


def calls(*wanted: ToolCall, words: str = "", stop_reason: str = "tool_use") -> Response:
    """A whole answer that ends in calls."""
    events = [*begins(), *(text(0, words) if words else ())]
    for index, one in enumerate(wanted, start=1):
        events.extend(block(index, one, "{}"))
    return [events, ends(stop_reason)]


def nothing(stop_reason: str = "end_turn") -> Response:
    return [[*begins(), *ends(stop_reason)]]


def fails(
    kind: FailureKind = "overloaded", sentence: str = "The provider is busy.", *, after: str = ""
) -> Response:
    """An answer that breaks, after some text that was not finished."""
    events = begins()
    if after:
        events += [BlockStarted(0, "text"), BlockDelta(0, after)]
    return [[*events, ResponseFailed(Failure(kind, sentence, status_code=529))]]


def refuses(kind: FailureKind, *places: Place, status: int = 400) -> Response:
    """A request that is not answered for what is in it."""
    sentence = "The provider refused the request."
    return [[ResponseFailed(Failure(kind, sentence, status_code=status, places=places))]]


def retries(gate: Gate, *, delay: float = 2.0) -> list[Batch | Gate]:
    """A request that waits to go out again."""
    return [[RetryScheduled(Failure("overloaded", "The provider is busy."), 1, delay)], gate]


def system_rows(rows: Sequence[LogChunk], kind: str) -> list[System]:
    return [row.data for row in rows if isinstance(row.data, System) and row.data.kind == kind]
