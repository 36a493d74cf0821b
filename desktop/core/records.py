"""The catalogue's records and the answers of reads: what stands beside the chunks. Times ms UTC."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from desktop.core.chunks import DamagedRow, Json, LogChunk, Role, ToolCall, ToolResult, Type
from desktop.core.permissions import PermissionMode
from desktop.core.sources import Message
from desktop.core.turns import Turn

# In place of a conversation's id: the page where one begins has a draft too.
BEGINNING = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """What is being written in a conversation. `caret` counts as the field does (UTF-16); the
    attachments have their texts and bytes."""

    text: str = ""
    caret: int = 0
    attachments: tuple[Json, ...] = ()


Fold = Literal["folded", "open", "all"]


@dataclass(frozen=True, slots=True)
class ViewState:
    """Where a person reads: following the end, or `offset` pixels into the row of `seq`.

    That row was `height` pixels high then; 0 where the offset holds for any height. `folds` is what
    they (un)folded, by row. A `loose` place is kept to the pixel, whatever comes or goes below it,
    until they move.
    """

    following: bool = True
    seq: int = 0
    offset: int = 0
    folds: tuple[tuple[str, Fold], ...] = ()
    loose: bool = False
    height: int = 0


@dataclass(frozen=True, slots=True)
class Project:
    id: int
    directory: str
    display_name: str
    kind: Literal["git", "directory"]
    archived_at: int | None = None


@dataclass(frozen=True, slots=True)
class Workspace:
    id: int
    project_id: int
    directory: str
    display_name: str
    kind: Literal["checkout", "worktree"] = "checkout"
    archived_at: int | None = None


@dataclass(frozen=True, slots=True)
class Tab:
    """A conversation's metadata; its rows are never read to make this.

    A fork reads `forked_from`'s log up to and with `forked_at_seq`, then its own rows.
    """

    id: str
    workspace_id: int
    title: str
    position: int
    is_open: bool
    created_at: int
    last_message_at: int | None = None
    archived_at: int | None = None
    parent_tab_id: str | None = None
    forked_from: str | None = None
    forked_at_seq: int | None = None
    trashed_at: int | None = None

    @property
    def shelf(self) -> "Shelf":
        """Where it was put away."""
        if self.trashed_at is not None:
            return "bin"
        return "" if self.archived_at is None else "archived"


Shelf = Literal["", "archived", "bin"]


def family(tabs: Sequence[Tab], tab_id: str) -> tuple[str, ...]:
    """A conversation, and those that its agent began from it, however deep; itself first."""
    found = [tab_id]
    for one in found:
        found += [tab.id for tab in tabs if tab.parent_tab_id == one]
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Branch:
    """A place in a tab's log where conversations part: `seq` is the first row that differs.

    `tab_ids` are all that go on from there, the tab itself among them, oldest first; one that is
    in the bin is not.
    """

    seq: int
    tab_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TabStorage:
    """What one conversation takes on disk: its own rows, and the blobs that only it names."""

    tab_id: str
    title: str
    rows: int
    row_bytes: int
    blob_bytes: int


@dataclass(frozen=True, slots=True)
class Storage:
    """What the log takes on disk in bytes, the largest conversations first.

    `free_bytes` are pages inside of the file that hold nothing; `disk_free_bytes` is the disk's.
    """

    tabs: tuple[TabStorage, ...]
    database_bytes: int
    wal_bytes: int
    blob_bytes: int
    free_bytes: int
    disk_free_bytes: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What an agent was set to (SPEC C27). `lifecycle`: idle, running or closed."""

    tab_id: str
    workspace_id: int
    provider: str
    model: str
    effort: str
    mode: PermissionMode
    lifecycle: str = "idle"
    attention: str | None = None


@dataclass(frozen=True, slots=True)
class CatalogueView:
    """Projects, workspaces and tabs from one read transaction."""

    projects: tuple[Project, ...] = ()
    workspaces: tuple[Workspace, ...] = ()
    tabs: tuple[Tab, ...] = ()
    revision: int = 0


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """One request to a model: its place, what it used, how it ended.

    `cache` is what is known of the prompt cache, as `core.caching` reads it.
    """

    id: str
    tab_id: str
    turn_id: str
    step: int
    provider: str
    model: str
    started_at: int
    message_id: str | None = None
    stop_reason: str | None = None
    usage: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    ended_at: int | None = None
    cache: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """What one committed write changed in one tab: whole rows, and the revisions around it.

    `revised` are rows that it took back, as they stand now; `turns` those that it began or ended.
    Where it `is_partial`, the interval holds more than is told here: it covers nothing.
    """

    tab_id: str
    base_revision: int
    revision: int
    chunks: tuple[LogChunk, ...] = ()
    requests: tuple[RequestRecord, ...] = ()
    revised: tuple[Message, ...] = ()
    turns: tuple[Turn, ...] = ()
    is_partial: bool = False


@dataclass(frozen=True, slots=True)
class CatalogueReceipt:
    """What one committed write changed in the catalogue: whole records, and those that are gone.

    A tab that is here with a `trashed_at` is not in the view any more; one that was purged is
    `gone`. `gone` are (table, id). Where it `is_partial`, it covers nothing.
    """

    base_revision: int
    revision: int
    projects: tuple[Project, ...] = ()
    workspaces: tuple[Workspace, ...] = ()
    tabs: tuple[Tab, ...] = ()
    gone: tuple[tuple[str, str], ...] = ()
    is_partial: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """A contiguous piece of a tab, oldest first, from one read transaction."""

    rows: tuple[LogChunk | DamagedRow, ...]
    total: int
    has_older: bool
    has_newer: bool
    revision: int


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a reader of one conversation has come: with row `seq`, whose id is `row_id`.

    A row is never rewritten and its id is nobody else's, so a log that has this row at this place
    is the one that was read; in a backup that was brought back and went on, another row stands
    there. Seq 0 is before the first row. Without a `row_id` only the place is looked at.
    """

    seq: int = 0
    row_id: str = ""

    def __str__(self) -> str:
        return f"{self.seq}:{self.row_id}" if self.row_id else str(self.seq)

    @classmethod
    def parse(cls, text: str) -> "Cursor":
        """Of `SEQ` or `SEQ:ROW`; raises ValueError."""
        number, _, row_id = text.partition(":")
        if not (number.isascii() and number.isdigit() and len(number) < 19):
            raise ValueError("it must be a row's number, or SEQ:ID")
        return cls(int(number), row_id if int(number) else "")


MOST_ROWS = 500
"""What one page of a timeline holds at most, whatever was asked for (SPEC P07)."""


@dataclass(frozen=True, slots=True)
class TimelinePage:
    """A contiguous piece of a conversation, oldest first, and where to go on from it.

    `is_reset`: the cursor was of another log, or its row is not there any more; these rows are the
    tail instead, and what the reader had is to be dropped. `first` and `last` go on before and
    after the rows.
    """

    rows: tuple[LogChunk | DamagedRow, ...]
    first: Cursor
    last: Cursor
    has_older: bool
    has_newer: bool
    is_reset: bool
    revision: int


@dataclass(frozen=True, slots=True)
class SearchPlace:
    """Where a search goes on: at rows older than `ordinal`, in the index or by looking at rows.

    With a `file`, the conversation of this id is looked at, which is kept as one: at lines that
    begin before the byte `ordinal`.
    """

    ordinal: int
    is_looking: bool = False
    file: str = ""


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """What a hit must be beside its text; what is empty or None asks for nothing.

    `since` and `until` (ms UTC, `until` is after the last) are about when a row was laid down,
    `tool` is the tool of a call or its result. `in_bin` looks at conversations in the bin too.
    """

    workspace_ids: tuple[int, ...] = ()
    role: Role | None = None
    types: tuple[Type, ...] = ()
    tool: str = ""
    since: int | None = None
    until: int | None = None
    in_bin: bool = False

    def takes(self, row: LogChunk) -> bool:
        """Whether a row is asked for, wherever its conversation is."""
        return (
            self.role in (None, row.role)
            and (not self.types or row.type in self.types)
            and self.tool in ("", tool_of(row))
            and (self.since is None or row.created_at >= self.since)
            and (self.until is None or row.created_at < self.until)
        )


EVERYTHING = SearchFilter()


def tool_of(row: LogChunk) -> str:
    """The name of the tool that a row is about, "" where it is about none."""
    return row.data.name if isinstance(row.data, ToolCall | ToolResult) else ""


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A row that was found. `marks` are the (start, end) of the matches in `snippet`, `shelf` is
    where its conversation was put away, `tool` what a call or a result is of."""

    ordinal: int
    tab_id: str
    title: str
    directory: str
    seq: int
    role: Role
    type: Type
    created_at: int
    snippet: str
    marks: tuple[tuple[int, int], ...] = ()
    shelf: Shelf = ""
    tool: str = ""


@dataclass(frozen=True, slots=True)
class SearchPage:
    """Hits, the newest first. With a `next` there may be more, even where the page is empty."""

    hits: tuple[SearchHit, ...] = ()
    next: SearchPlace | None = None


@dataclass(frozen=True, slots=True)
class FoundRows:
    """Rows of one conversation that hold a text, by seq, the newest first.

    With a `next` there may be more, even where none was found: the look goes on there.
    """

    seqs: tuple[int, ...] = ()
    next: int | None = None
