"""What a model is to the agent: rows in, events out. How it is asked is the wire's business."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from desktop.core.caching import Ttl
from desktop.core.chunks import LogChunk, Stamp
from desktop.core.events import ModelEvent


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model to choose. No `efforts`: it takes none. `thinking`: `adaptive`, `enabled` or ''.

    `caches`: its provider keeps what was marked to be read again.
    """

    id: str
    name: str
    efforts: tuple[str, ...] = ()
    default_effort: str = ""
    thinking: str = ""
    window: int = 200_000
    max_output: int = 64_000
    recorded: bool = False
    caches: bool = True


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """What a request needs beyond the rows. `effort` '' is the model's default.

    `resumed` is the last reason `pause_turn`: the assistant message stands last and is continued.
    `asks_why` has the provider say why its cache missed, against the answer `previous_message_id`.
    `only_keeps_cache` wants no answer: what the request with these rows left in the cache is read
    once more, so that it stays. `marks` are the cache marks that it may carry at most.
    """

    model: str
    effort: str = ""
    resumed: bool = False
    ttl: Ttl = "5m"
    asks_why: bool = False
    previous_message_id: str = ""
    only_keeps_cache: bool = False
    marks: int = 4


class Model(Protocol):
    """Somebody who answers: the provider over HTTP, or a recording."""

    def stamp(self, model: str) -> Stamp:
        """The provider-with-account and model that rows of this model carry."""
        ...

    def respond(
        self, chunks: Sequence[LogChunk], options: RequestOptions
    ) -> AsyncIterator[Sequence[ModelEvent]]:
        """One response to the rows, in batches; ends with ResponseFinished or ResponseFailed.

        Never raises for the provider's or the network's faults. Closing the iterator or cancelling
        the task that waits on it ends the request at once.
        """
        ...

    async def models(self) -> tuple[ModelInfo, ...]:
        """The models that can be chosen, from the provider when it answers, else those shipped."""
        ...


@dataclass(frozen=True, slots=True)
class Retry:
    """A request that waits to go out again, for so many seconds; `until` is ms UTC."""

    reason: str
    attempt: int
    until: int
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens and money of a conversation so far; `dollars` None where a price is unknown.

    `cached_until` (ms UTC) is when the provider lets the conversation go out of its cache, None
    where nothing lies there: from then on the next message sends all of `context` anew, for
    `resend_dollars`.
    """

    prompt: int = 0
    output: int = 0
    cache_read: int = 0
    dollars: float | None = 0.0
    context: int = 0
    window: int = 200_000
    cached_until: int | None = None
    resend_dollars: float | None = None
