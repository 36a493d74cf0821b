"""What a model says while it answers, in our own words, whoever the provider is.

`wire.stream` makes these from the provider's events; the reducer gives them their meaning.
Blocks come strictly one after the other. An event or block that the wire does not know is no
event here: a block becomes `opaque`, anything else is left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from desktop.core.caching import Diagnosis
from desktop.core.chunks import Payload
from desktop.core.shown import Place

BlockType = Literal["text", "thinking", "tool_call", "opaque"]
FailureKind = Literal[
    "authentication",
    "permission",
    "billing",
    "not_found",
    "bad_request",
    "too_large",
    "media",
    "thinking",
    "rate_limit",
    "overloaded",
    "server",
    "network",
    "timeout",
    "tls",
    "not_a_server",
    "truncated",
    "configuration",
]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request. `cache_write_1h` is the part of `cache_write` kept for an hour."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0

    @property
    def prompt(self) -> int:
        """All tokens of the prompt, cached or not (SPEC C18)."""
        return self.input + self.cache_read + self.cache_write


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a request failed, in a sentence for the person; `detail` is technical, without secrets.

    `retryable`: the same request may work in a moment; `retry_after` is what the server asked for,
    in seconds. `media`: a picture or document was refused, `places` says which where that is known;
    `thinking`: earlier thinking was.
    """

    kind: FailureKind
    sentence: str
    way_out: str = ""
    detail: str = ""
    status_code: int | None = None
    retryable: bool = False
    retry_after: float | None = None
    request_id: str | None = None
    places: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class ResponseStarted:
    message_id: str
    model: str
    usage: Usage
    raw_usage: Mapping[str, Any]
    diagnosis: Diagnosis = Diagnosis()


@dataclass(frozen=True, slots=True)
class BlockStarted:
    """A block begins; `name` and `call_id` are a tool call's."""

    index: int
    type: BlockType
    name: str = ""
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class BlockDelta:
    """More of the block: text, thinking, or the text of a call's arguments."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class BlockFinished:
    """The block is whole; `payload` is what becomes its row."""

    index: int
    payload: Payload


@dataclass(frozen=True, slots=True)
class ResponseFinished:
    """The provider said that the message is over; `stop_reason` in the provider's words, `details`
    what it says of a refusal."""

    stop_reason: str
    usage: Usage
    raw_usage: Mapping[str, Any]
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class ResponseFailed:
    """The request or the stream ended without the end of the message."""

    failure: Failure


@dataclass(frozen=True, slots=True)
class RetryScheduled:
    """The request failed before its first event and goes out again in `delay` seconds."""

    failure: Failure
    attempt: int
    delay: float


ModelEvent = (
    ResponseStarted
    | BlockStarted
    | BlockDelta
    | BlockFinished
    | ResponseFinished
    | ResponseFailed
    | RetryScheduled
)
