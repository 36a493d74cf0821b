"""What the stand-in answers, as a value: a row of steps and how they go over the wire.

    reply(thinking("hm"), text("Hello"), tool_use("read_file", {"path": "a"}))

makes the provider's events with realistic deltas. The word `auto` in a place that only the server
can fill (id, model, usage, signature, redacted data) is filled for the request it answers.
Faults are methods that give a changed copy: `reply(text("hi")).cut_after(3, reset=True)`.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.fakes.sim.problems import STATUS_OF_TYPE, Json

AUTO = "auto"
PING: Json = {"type": "ping"}


@dataclass(frozen=True, slots=True)
class Send:
    """One event, after a pause."""

    event: Json
    after_ms: float = 0


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes that stand in the stream as they are, such as a comment line."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Gate:
    """Wait here until the test releases the name."""

    name: str


@dataclass(frozen=True, slots=True)
class Pause:
    """Silence for some seconds, or with None until the client or the server goes."""

    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection ends here, by FIN or by RST."""

    reset: bool = False


Step = Send | Raw | Gate | Pause | Cut


@dataclass(frozen=True, slots=True)
class Block:
    """One content block: how it starts, its deltas, and what `auto` it leaves to the server."""

    start: Json
    deltas: tuple[Json, ...] = ()

    def events(self, index: int) -> list[Json]:
        """The events of the block at its place in the message."""
        return [
            {"type": "content_block_start", "index": index, "content_block": self.start},
            *(
                {"type": "content_block_delta", "index": index, "delta": delta}
                for delta in self.deltas
            ),
            {"type": "content_block_stop", "index": index},
        ]


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer. Without `body` it is an event stream of `steps`; `head` comes before the
    status line. `cut_at` is a byte count of the body as sent, and whether it ends in a reset."""

    steps: tuple[Step, ...] = ()
    head: tuple[Step, ...] = ()
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    error: tuple[str, str] | None = None
    cut_at: tuple[int, bool] | None = None
    line_end: str = "\n"
    gzip: bool = False
    split: int = 0

    @property
    def events(self) -> list[Json]:
        """The events alone, in order."""
        return [step.event for step in self.steps if isinstance(step, Send)]

    def cut_after(self, events: int, *, reset: bool = False) -> Reply:
        """The connection ends after so many events; 0 is right after the head."""
        kept = self._insert(events, Cut(reset))
        return replace(self, steps=kept[: kept.index(Cut(reset)) + 1])

    def cut_at_byte(self, count: int, *, reset: bool = False) -> Reply:
        """The connection ends after exactly so many bytes of the body."""
        return replace(self, cut_at=(count, reset))

    def cut_before_head(self, *, reset: bool = False) -> Reply:
        """The request is read and the connection ends without a status line."""
        return replace(self, head=(Cut(reset),))

    def silent(self, seconds: float | None = None) -> Reply:
        """No status line for some seconds, or never."""
        return replace(self, head=(Pause(seconds),))

    def silent_after(self, events: int, seconds: float | None = None) -> Reply:
        """Nothing more after so many events, for some seconds or for ever."""
        return replace(self, steps=self._insert(events, Pause(seconds)))

    def gate_before_head(self, name: str) -> Reply:
        """No status line until the gate is released."""
        return replace(self, head=(*self.head, Gate(name)))

    def gate_after(self, events: int, name: str) -> Reply:
        """Stand still after so many events until the gate is released."""
        return replace(self, steps=self._insert(events, Gate(name)))

    def error_after(
        self, events: int, kind: str = "overloaded_error", message: str = "Overloaded"
    ) -> Reply:
        """An error event after so many events, and nothing after it (S6)."""
        return replace(self, steps=(*self._first(events), Send(error_event(kind, message))))

    def unfinished(self) -> Reply:
        """A clean end without `message_stop` (F1)."""
        kept = tuple(
            step
            for step in self.steps
            if not (isinstance(step, Send) and step.event["type"] == "message_stop")
        )
        return replace(self, steps=kept)

    def ending_after(self, events: int) -> Reply:
        """A clean end after so many events."""
        return replace(self, steps=self._first(events))

    def insert_after(self, events: int, *steps: Step) -> Reply:
        """Other steps after so many events: unknown events, comments, pings."""
        reply = self
        for step in reversed(steps):
            reply = replace(reply, steps=reply._insert(events, step))
        return reply

    def paced(self, ms: float) -> Reply:
        """The same pause before every event."""
        return replace(
            self,
            steps=tuple(
                replace(step, after_ms=ms) if isinstance(step, Send) else step
                for step in self.steps
            ),
        )

    def with_comments(self) -> Reply:
        """A comment line before every event, which a reader ignores."""
        steps = itertools.chain.from_iterable((Raw(b": note\n\n"), step) for step in self.steps)
        return replace(self, steps=tuple(steps))

    def crlf(self) -> Reply:
        """Lines end in CR LF."""
        return replace(self, line_end="\r\n")

    def gzipped(self) -> Reply:
        """The body is compressed, flushed after every event."""
        return replace(self, gzip=True)

    def split_every(self, count: int = 1) -> Reply:
        """The body goes out in pieces of so many bytes, through characters and line ends."""
        return replace(self, split=count)

    def with_headers(self, **headers: str) -> Reply:
        """More response headers; an underscore stands for a dash."""
        added = tuple((name.replace("_", "-"), value) for name, value in headers.items())
        return replace(self, headers=(*self.headers, *added))

    def _place(self, events: int) -> int:
        """The index in `steps` right after so many events."""
        sent = 0
        for at, step in enumerate(self.steps):
            if sent == events:
                return at
            sent += isinstance(step, Send)
        if sent < events:
            raise ValueError(f"the reply has {sent} events, not {events}")
        return len(self.steps)

    def _first(self, events: int) -> tuple[Step, ...]:
        return self.steps[: self._place(events)]

    def _insert(self, events: int, step: Step) -> tuple[Step, ...]:
        at = self._place(events)
        return (*self.steps[:at], step, *self.steps[at:])


def text(value: str, *, chunk: int = 12) -> Block:
    """A text block, in deltas of so many characters."""
    deltas = tuple({"type": "text_delta", "text": part} for part in pieces(value, chunk))
    return Block({"type": "text", "text": ""}, deltas)


def thinking(value: str, *, signature: str = AUTO, chunk: int = 16) -> Block:
    """A thinking block; its one signature comes just before its end (S4)."""
    deltas = [{"type": "thinking_delta", "thinking": part} for part in pieces(value, chunk)]
    signed = {"type": "signature_delta", "signature": signature}
    start: Json = {"type": "thinking", "thinking": "", "signature": ""}
    return Block(start, (*deltas, signed))


def redacted_thinking(data: str = AUTO) -> Block:
    """A redacted thinking block, whole at its start."""
    return Block({"type": "redacted_thinking", "data": data})


def tool_use(name: str, arguments: Json | str, *, id: str | None = None, chunk: int = 20) -> Block:
    """A tool call. Arguments given as text are sent as they are, valid JSON or not."""
    source = arguments if isinstance(arguments, str) else json.dumps(arguments)
    parts = ["", *pieces(source, chunk)]
    start: Json = {"type": "tool_use", "id": id or AUTO, "name": name, "input": {}}
    return Block(start, tuple({"type": "input_json_delta", "partial_json": p} for p in parts))


def reply(
    *blocks: Block | str,
    stop_reason: str | None = None,
    stop_details: Json | None = None,
    usage: Json | str = AUTO,
    usage_at_end: Json | str = AUTO,
    ping: bool = True,
) -> Reply:
    """A complete stream of these blocks. Without a stop reason it is `tool_use` when a tool is
    called and `end_turn` otherwise. A plain string is a text block."""
    made = [text(block) if isinstance(block, str) else block for block in blocks]
    calls = any(block.start["type"] == "tool_use" for block in made)
    reason = stop_reason or ("tool_use" if calls else "end_turn")
    events = [message_start(usage)]
    for index, block in enumerate(made):
        events.extend(block.events(index))
    if ping:
        events.insert(min(2, len(events)), PING)
    delta: Json = {"stop_reason": reason, "stop_sequence": None}
    if stop_details is not None:
        delta["stop_details"] = stop_details
    events.append({"type": "message_delta", "delta": delta, "usage": usage_at_end})
    events.append({"type": "message_stop"})
    return from_events(events)


def from_events(events: Iterable[Json], *, after_ms: float = 0) -> Reply:
    """A reply of ready events, such as a recorded stream."""
    return Reply(tuple(Send(event, after_ms) for event in events))


def message_start(usage: Json | str = AUTO) -> Json:
    """The first event, with everything the server fills."""
    message: Json = {
        "id": AUTO,
        "type": "message",
        "role": "assistant",
        "model": AUTO,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "stop_details": None,
        "usage": usage,
    }
    return {"type": "message_start", "message": message}


def error_event(kind: str, message: str) -> Json:
    """The data of an `error` event; the server adds the request id."""
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": AUTO}


def fails(
    status: int,
    kind: str | None = None,
    message: str = "",
    *,
    retry_after: str | int | None = None,
    should_retry: bool | None = None,
    html: str | None = None,
) -> Reply:
    """An error answer. `html` makes it a page of a gateway instead of the provider's JSON."""
    headers: list[tuple[str, str]] = []
    if retry_after is not None:
        headers.append(("retry-after", str(retry_after)))
    if should_retry is not None:
        headers.append(("x-should-retry", "true" if should_retry else "false"))
    if html is not None:
        headers.append(("content-type", "text/html"))
        return Reply(status=status, headers=tuple(headers), body=html.encode())
    known = {number: name for name, number in STATUS_OF_TYPE.items()}
    chosen = kind or known.get(status, "api_error" if status >= 500 else "invalid_request_error")
    said = message or chosen.removesuffix("_error").replace("_", " ").capitalize()
    return Reply(status=status, headers=tuple(headers), error=(chosen, said))


def empty_body() -> Reply:
    """Status 200 and not a single event (F2)."""
    return Reply()


def pings_only(count: int, *, every_ms: float = 0) -> Reply:
    """The message starts and then only pings come, until the client goes."""
    pings = tuple(Send(PING, every_ms) for _ in range(count))
    return Reply((Send(message_start()), *pings, Pause()))


def pieces(value: str, size: int) -> list[str]:
    """The text in pieces of so many characters; 0 keeps it whole."""
    if size <= 0:
        return [value] if value else []
    return [value[at : at + size] for at in range(0, len(value), size)]


Responder = Callable[[Any], Reply]


@dataclass(frozen=True, slots=True)
class Script:
    """Replies by the number of the accepted request, from 1; `otherwise` answers all the rest."""

    by_number: dict[int, Reply] = field(default_factory=dict)
    otherwise: Responder | None = None


def in_order(replies: Sequence[Reply], otherwise: Responder | None = None) -> Script:
    """The first reply for request 1, the second for request 2, and so on."""
    return Script(dict(enumerate(replies, start=1)), otherwise)
