"""Message threads, an experiment (beta): the provider holds a conversation, a step sends the rest.

The log stays the truth: a thread only spares the upload. It is continued where the server surely
holds what the whole request would say; anything else begins one anew with the whole request, and
where the feature is refused, the request goes out as ever and the conversation does without it.
What is charged is the same: each request has cache marks of its own, at most three, and only those
count.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from desktop.core.events import (
    BlockStarted,
    Failure,
    ModelEvent,
    ResponseFinished,
    ResponseStarted,
)
from desktop.wire import breakpoints
from desktop.wire.difference import MessagePrint, print_of_message
from desktop.wire.growing import GrowingRequest
from desktop.wire.request import serialise
from desktop.wire.stream import KINDS

BETA = {"anthropic-beta": "message-threads-2026-08-12"}
MARKS = 3
# The provider lets go of a thread five minutes after its last request.
HOLDS = 280.0
# A mark finds what was written up to so many blocks before it, itself among them (API C4).
LOOK_BACK = 20
# Failures that say nothing about threads, or that the whole request would meet alike.
PLAIN = frozenset(
    {
        "authentication",
        "billing",
        "configuration",
        "network",
        "overloaded",
        "rate_limit",
        "timeout",
        "tls",
        "too_large",
        "truncated",
    }
)


@dataclass(frozen=True, slots=True)
class Plan:
    """How one request goes out. `least` are the tokens that its prompt must have."""

    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    is_threaded: bool = False
    least: int = 0


@dataclass(frozen=True, slots=True)
class _Held:
    """What the server holds: the messages up to `last`, and an answer of these blocks to them."""

    message_id: str
    count: int
    last: MessagePrint
    said: tuple[tuple[str, str], ...]
    prompt: int
    at: float


class MessageThread:
    """Of one conversation, in the order of its requests; on the transport's thread."""

    def __init__(self) -> None:
        self.is_off = False
        self._names_beta = True
        self._held: _Held | None = None

    @property
    def headers(self) -> Mapping[str, str]:
        """Betas are part of the cache's key, so they stay the same in a conversation."""
        return BETA if self._names_beta else {}

    def plan(self, body: bytes, growing: GrowingRequest, *, resumed: bool, now: float) -> Plan:
        """For the request that `growing` has just made. What was held is used once only."""
        held, self._held = self._held, None
        if self.is_off or resumed:
            return Plan(body, self.headers)
        if held is not None and _goes_on(held, growing, now):
            return Plan(_continued(growing.last, held), BETA, is_threaded=True, least=held.prompt)
        created = body[:-1] + b',"thread":{"type":"create"}}'
        return Plan(created, BETA, is_threaded=True)

    def answered(self, growing: GrowingRequest, heard: "Hearing", *, now: float) -> None:
        """The request was answered to its end; a refusal is held by nobody knows whom."""
        if not heard.message_id or heard.stop_reason in ("", "refusal"):
            return
        self._held = _Held(
            heard.message_id,
            growing.count,
            print_of_message(growing.last["messages"][-1]),
            tuple(heard.said),
            heard.prompt,
            now,
        )

    def refused(self, plan: Plan, failure: Failure) -> bool:
        """Whether the whole request is to go out at once, without a thread from now on."""
        if not plan.is_threaded or failure.kind in PLAIN:
            return False
        self.is_off = True
        # Who knows the feature's errors knows its name, and has cached under it.
        self._names_beta = "thread_" in failure.detail
        return True


class Hearing:
    """What an answer is made of, as it comes."""

    def __init__(self) -> None:
        self.message_id = ""
        self.stop_reason = ""
        self.prompt = 0
        self.said: list[tuple[str, str]] = []

    def take(self, events: Sequence[ModelEvent]) -> None:
        for event in events:
            match event:
                case ResponseStarted():
                    self.message_id, self.prompt = event.message_id, event.usage.prompt
                    self.said, self.stop_reason = [], ""
                case BlockStarted():
                    self.said.append((event.type, event.call_id))
                case ResponseFinished():
                    self.stop_reason = event.stop_reason
                case _:
                    pass


def _goes_on(held: _Held, growing: GrowingRequest, now: float) -> bool:
    """Whether the request is what is held and one message of the person's side more, whose marks
    reach back to what the held request left in the cache."""
    messages: list[dict[str, Any]] = growing.last["messages"]
    if growing.position != "" or growing.count != held.count + 2 or len(messages) < 3:
        return False
    before, answer, new = messages[-3:]
    if (answer["role"], new["role"]) != ("assistant", "user") or now - held.at > HOLDS:
        return False
    if print_of_message(before) != held.last or _said(answer) != held.said:
        return False
    first = breakpoints.first_markable(new)
    return first is not None and len(answer["content"]) + first + 2 <= LOOK_BACK


def _said(answer: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    for block in answer["content"]:
        kind = KINDS.get(block["type"], "opaque")
        found.append((kind, str(block["id"]) if kind == "tool_call" else ""))
    return tuple(found)


def _continued(last: Mapping[str, Any], held: _Held) -> bytes:
    """The server keeps system and tools of the thread, and takes them in no other request."""
    left_out = ("system", "tools", "messages")
    body = {key: value for key, value in last.items() if key not in left_out}
    body["messages"] = [breakpoints.continued(last["messages"][-1])]
    body["thread"] = {"type": "continue", "previous_message_id": held.message_id}
    return serialise(body)
