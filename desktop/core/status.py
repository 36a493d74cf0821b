"""What a conversation is doing now: what a view shows beside the rows. In memory only."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from desktop.core.chunks import Json
from desktop.core.model import Retry, Spent
from desktop.core.permissions import PermissionMode, Question
from desktop.core.ways import Way

Phase = Literal["idle", "running", "elsewhere"]


@dataclass(frozen=True, slots=True)
class QueuedMessage:
    """A message that waits for its turn; durable, in order, sent once (SPEC C05, C06)."""

    id: str
    tab_id: str
    text: str
    created_at: int
    attachments: tuple[Json, ...] = ()


def in_order(
    queue: Sequence[QueuedMessage], message_ids: Sequence[str]
) -> tuple[QueuedMessage, ...]:
    """The messages of these ids first, in their order; the others behind them as they stood."""
    places = {message_id: at for at, message_id in enumerate(message_ids)}
    return tuple(sorted(queue, key=lambda one: places.get(one.id, len(places))))


@dataclass(frozen=True, slots=True)
class Compacting:
    """A summary that is being written: its words so far, and which piece of how many is read."""

    words: int = 0
    part: int = 1
    parts: int = 1


@dataclass(frozen=True, slots=True)
class NewTools:
    """What tool servers offer that a conversation was not told: tools by server, sorted.

    Telling it now sends `tokens` anew, for `dollars` (None where a price is unknown).
    """

    servers: tuple[tuple[str, int], ...]
    tokens: int = 0
    dollars: float | None = None


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Who else works in a conversation: a living process, and since when (ms UTC; 0: unknown)."""

    holder: str
    since: int = 0


@dataclass(frozen=True, slots=True)
class TabStatus:
    """One conversation's state. `since` is ms UTC of the running turn's start, here or elsewhere.

    `asking`: conversations of its subagents that wait for the person's answer.
    `elsewhere`: another process runs a turn here (`holder` says which). `held`: the queue waits for
    the person. `dangling`: an unanswered text, offered in the composer. `problem`: a sentence about
    what could not be kept or done, until the next action. `ways_on`: what can be done about a last
    answer that did not come to its end. `unsaved`: ids of rows that wait in memory for a store that
    takes them.
    """

    tab_id: str
    phase: Phase = "idle"
    turn_id: str = ""
    since: int = 0
    stopping: bool = False
    queue: tuple[QueuedMessage, ...] = ()
    held: bool = False
    questions: tuple[Question, ...] = ()
    retry: Retry | None = None
    dangling: str | None = None
    model: str = ""
    effort: str = ""
    mode: PermissionMode = "ask"
    spent: Spent = Spent()
    holder: str = ""
    problem: str = ""
    last_outcome: str = ""
    compacting: Compacting | None = None
    ways_on: tuple[Way, ...] = ()
    new_tools: NewTools | None = None
    asking: tuple[str, ...] = ()
    unsaved: tuple[str, ...] = ()
