"""The outline of a conversation: a line for each prompt and each bookmarked row, and their state.

A piece of it is gathered from rows, the newest first, whoever reads them; pieces that meet are one
outline. What a row far below says of a prompt (taken back, its turn failed, compacted) is kept by
id and seq beside the lines, so that it counts wherever the prompt is. Pure.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from desktop.core.chunks import (
    DamagedRow,
    ErrorNote,
    LogChunk,
    Opaque,
    Payload,
    System,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from desktop.core.conversation import retracted_ids
from desktop.core.groups import SealedRow
from desktop.core.turns import outcome_of

LETTERS = 200  # of a line
_LOOKED_AT = 4_000  # letters in which the first line is looked for


@dataclass(frozen=True, slots=True)
class Heading:
    """A line of the outline: what the row of `seq` begins with, "" where that is no text."""

    seq: int
    row_id: str
    turn_id: str
    words: str
    created_at: int
    is_prompt: bool


@dataclass(frozen=True, slots=True)
class Piece:
    """The headings among the rows from seq `first` to `last`, oldest first.

    `ends`: how turns ended, by turn id; `retracted`: ids of rows that were taken back;
    `compacted`: the seq of the last compaction, before which no model knows a row (0: none). What
    is older than `first` (newer than `last`) was not looked at: it may hold headings or none.
    """

    headings: tuple[Heading, ...] = ()
    first: int = 1
    last: int = 0
    has_older: bool = False
    has_newer: bool = False
    ends: Mapping[str, str] = field(default_factory=dict[str, str])
    retracted: frozenset[str] = frozenset()
    compacted: int = 0
    revision: int = 0


@dataclass(frozen=True, slots=True)
class Sought:
    """What a piece is to hold: at most so many prompts, the rows of `bookmarks` among them, and
    of all these only what `holds` lets through."""

    limit: int
    bookmarks: frozenset[int] = frozenset()
    holds: Callable[[Payload], bool] | None = None


class Gathering:
    """Takes rows in, the newest first, until it has enough prompts."""

    def __init__(self, sought: Sought) -> None:
        self._sought = sought
        self._headings: list[Heading] = []
        self._prompts = 0
        self._ends: dict[str, str] = {}
        self._retracted: set[str] = set()
        self._compacted = 0

    @property
    def is_full(self) -> bool:
        return self._prompts >= self._sought.limit

    def see(self, row: SealedRow) -> None:
        if isinstance(row, LogChunk) and isinstance(row.data, System):
            self._see_system(row, row.data)
        prompt = is_prompt(row)
        if not prompt and row.seq not in self._sought.bookmarks:
            return
        holds = self._sought.holds
        if holds is not None and not (isinstance(row, LogChunk) and holds(row.data)):
            return
        self._prompts += prompt
        self._headings.append(heading_of(row))

    def piece(
        self, *, first: int, last: int, has_older: bool, has_newer: bool, revision: int = 0
    ) -> Piece:
        """What was gathered, of rows from `first` to `last`, of a log at this revision."""
        if self.is_full and self._headings:
            has_older = has_older or first < self._headings[-1].seq
            first = self._headings[-1].seq
        return Piece(
            tuple(reversed(self._headings)),
            first,
            last,
            has_older=has_older,
            has_newer=has_newer,
            ends=self._ends,
            retracted=frozenset(self._retracted),
            compacted=self._compacted,
            revision=revision,
        )

    def _see_system(self, row: LogChunk, data: System) -> None:
        match data.kind:
            case "turn_end":
                self._ends.setdefault(row.turn_id, outcome_of(row))
            case "retracted":
                self._retracted |= retracted_ids([row])
            case "compaction":
                self._compacted = max(self._compacted, row.seq)
            case _:
                pass


def is_prompt(row: SealedRow) -> bool:
    """Whether the row is something the person said."""
    return isinstance(row, LogChunk) and row.role == "user" and isinstance(row.data, Text)


def heading_of(row: SealedRow) -> Heading:
    """The row's own line."""
    if isinstance(row, DamagedRow):
        return Heading(row.seq, row.id, "", "", 0, is_prompt=False)
    words = _first_line(_said(row.data))
    return Heading(row.seq, row.id, row.turn_id, words, row.created_at, is_prompt=is_prompt(row))


def _said(data: Payload) -> str:
    match data:
        case Text():
            names = (str(one.get("name", "")) for one in data.attachments)
            return data.text if data.text.strip() else ", ".join(filter(None, names))
        case Thinking() | System():
            return data.text
        case ToolCall():
            return data.name
        case ToolResult():
            return data.result
        case ErrorNote():
            return data.message
        case Opaque():
            return ""
        case _:
            assert_never(data)


def _first_line(text: str) -> str:
    """The first line with something in it, blanks joined, cut."""
    for line in text[:_LOOKED_AT].splitlines():
        words = " ".join(line[: 4 * LETTERS].split())
        if words:
            return words[:LETTERS]
    return ""
