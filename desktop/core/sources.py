"""What scopes ask the log for, and what they get: pages of records at one revision (DESIGN.md §7).

A question names its place by the value of its key, never by a row that might be gone. Each answer
comes from one read transaction and says the revision that it stands for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from desktop.core.chunks import DamagedRow, LogChunk, Role, Type
from desktop.core.errors import StoreError
from desktop.core.status import Elsewhere
from desktop.core.turns import Turn

MOST_RECORDS = 100
"""What one page holds at most, whatever was asked for (SPEC R10)."""

Order = Literal["ascending", "descending"]


@dataclass(frozen=True, slots=True)
class Selection:
    """Which rows of a conversation a reader wants; None is any of them."""

    roles: frozenset[Role] | None = None
    types: frozenset[Type] | None = None

    def admits(self, role: str, type_: str) -> bool:
        return (self.roles is None or role in self.roles) and (
            self.types is None or type_ in self.types
        )


EVERYTHING = Selection()


@dataclass(frozen=True, slots=True)
class Message:
    """A row as it stands: a later row may have taken it back."""

    row: LogChunk | DamagedRow
    role: str
    type: str
    is_retracted: bool = False

    @property
    def id(self) -> str:
        return self.row.id

    @property
    def seq(self) -> int:
        return self.row.seq


def message_of(row: LogChunk, *, is_retracted: bool = False) -> Message:
    return Message(row, row.role, row.type, is_retracted)


@dataclass(frozen=True, slots=True)
class Question:
    """A page in `order`, behind the seq `after` (None: from the head), not beyond `through`.

    `expected` is the revision that the reader's records stand at (None: any).
    """

    limit: int = MOST_RECORDS
    order: Order = "ascending"
    after: int | None = None
    through: int | None = None
    expected: int | None = None

    @property
    def bounded(self) -> int:
        return min(max(self.limit, 1), MOST_RECORDS)


@dataclass(frozen=True, slots=True)
class Messages:
    """A page of rows. `has_more`: the selection goes on behind its last one."""

    records: tuple[Message, ...]
    has_more: bool
    revision: int


@dataclass(frozen=True, slots=True)
class Turns:
    records: tuple[Turn, ...]
    has_more: bool
    revision: int


@dataclass(frozen=True, slots=True)
class Sight:
    """What one look at the whole log finds: revisions, and who else works where, by tab; the
    `newest` row's number among all."""

    catalogue: int
    revisions: Mapping[str, int]
    elsewhere: Mapping[str, Elsewhere]
    newest: int = 0


class RevisionMoved(StoreError):
    """The log is at another revision than was expected; nothing was read."""

    def __init__(self, revision: int) -> None:
        super().__init__("The conversation has changed meanwhile.", detail=str(revision))
        self.revision = revision


class SourceReader(Protocol):
    """Reads for scopes. Raise UnknownConversation and RevisionMoved."""

    async def messages(self, tab_id: str, selection: Selection, question: Question) -> Messages: ...

    async def turns(self, tab_id: str, question: Question) -> Turns: ...

    async def revisions(self, tab_ids: Sequence[str]) -> Mapping[str, int]:
        """Of those conversations that are there, without reading a row of them."""
        ...


class Lookout(Protocol):
    """Finds what other processes did. Neither reads a row. Both raise StoreError."""

    async def moved(self) -> int:
        """A number that is another one whenever another process has committed since; the writes
        of this one leave it as it is."""
        ...

    async def look(self, tab_ids: Sequence[str]) -> Sight:
        """The revisions of those of the conversations that are there."""
        ...
