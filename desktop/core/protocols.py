"""The narrow doors of the log that each have two implementations or more: where it is kept, who
reads it, who is told.

All methods are coroutines that never block the loop they are awaited on: a backend has threads of
its own. All raise StoreError (or a subclass) when the log can't be read or written.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from desktop.core.chunks import LogChunk, NewChunk, Stamp
from desktop.core.conversation import LoadedSession
from desktop.core.outline import Piece
from desktop.core.records import (
    EVERYTHING,
    FoundRows,
    Page,
    Receipt,
    RequestRecord,
    Requests,
    SearchFilter,
    SearchHit,
    SearchPage,
    SearchPlace,
)
from desktop.core.reducer import BlockOp
from desktop.core.status import QueuedMessage, TabStatus


class SessionStore(Protocol):
    """Where one agent keeps its conversation."""

    @property
    def session_id(self) -> str: ...

    async def append(self, chunks: Sequence[NewChunk]) -> Receipt:
        """All or nothing, durable when it returns; seqs are given in the order handed in."""
        ...

    async def load(self) -> LoadedSession: ...

    async def active_model(self) -> Stamp | None:
        """The stamp of the last row that carries one."""
        ...


class TurnStore(SessionStore, Protocol):
    """A session store with what a running turn writes beside chunks."""

    async def start_request(self, record: RequestRecord) -> Receipt: ...

    async def finish_request(self, record: RequestRecord) -> Receipt: ...

    async def requests(self) -> tuple[RequestRecord, ...]: ...

    async def queued(self) -> tuple[QueuedMessage, ...]: ...

    async def enqueue(self, message: QueuedMessage) -> None: ...

    async def cancel_queued(self, message_id: str) -> QueuedMessage | None:
        """Takes a message back; None when it was already sent (a no-op, SPEC C06)."""
        ...

    async def change_queued(self, message: QueuedMessage) -> bool:
        """Another text and other attachments for a message that waits, in its place; whether it
        still does."""
        ...

    async def order_queued(self, message_ids: Sequence[str]) -> None:
        """The queue is `core.status.in_order` from now on; ids that no longer wait: no matter."""
        ...

    async def take_queued(self, *, turn_id: str, step: int, stamp: Stamp) -> Receipt | None:
        """Moves the whole queue into the log as user texts, in one transaction; None if empty.

        The chunk's id is the message's id.
        """
        ...

    async def acquire_lease(self) -> None:
        """Takes or renews the right to run turns here; raises LeaseHeld naming the holder."""
        ...

    async def release_lease(self) -> None: ...

    async def keep_file(self, path: Path, media_type: str) -> tuple[str, int]:
        """Takes a file over as a blob; its (sha256, size). The file is gone afterwards."""
        ...


class LogReader(Protocol):
    """Reads for views; each answer comes from one read transaction and starts no provider."""

    async def page(
        self,
        tab_id: str,
        *,
        limit: int,
        before: int | None = None,
        after: int | None = None,
        around: int | None = None,
    ) -> Page:
        """At most `limit` rows before or after a seq, around one, or (none given) the tail."""
        ...

    async def revision(self, tab_id: str) -> int: ...

    async def blob_path(self, sha256: str) -> Path | None: ...


class RequestReader(Protocol):
    """Reads what was asked of models in a conversation; each answer is of one read transaction."""

    async def requests(self, tab_id: str) -> Requests: ...

    async def revision(self, tab_id: str) -> int: ...


class OutlineReader(Protocol):
    """Reads the outline of a conversation in pieces, each from one read transaction."""

    async def revision(self, tab_id: str) -> int: ...

    async def piece(
        self,
        tab_id: str,
        *,
        limit: int,
        before: int | None = None,
        after: int | None = None,
        around: int | None = None,
        bookmarks: frozenset[int] = frozenset(),
        text: str = "",
    ) -> Piece:
        """At most `limit` prompts, with the rows of `bookmarks` among them; where as `page`.

        With a `text` only those that hold it. A read looks at so many rows at most: a piece may
        hold fewer prompts, or none, and more may stand before its `first`.
        """
        ...


class Search(Protocol):
    """Finds rows by what a person typed (SPEC U40); nothing that is typed is an error."""

    async def find(
        self,
        text: str,
        *,
        limit: int,
        place: SearchPlace | None = None,
        only: SearchFilter = EVERYTHING,
    ) -> SearchPage:
        """The newest hits older than `place`; without `in_bin` those in the bin are left out.

        What one page costs is bounded, however few rows the filter takes: a page may be empty and
        still not be the last. Cancelling it stops the search.
        """
        ...

    async def newest(self) -> int:
        """The number of the newest row that can be found; it grows with every row."""
        ...

    async def among(
        self, rows: Sequence[tuple[int, LogChunk]], text: str, *, only: SearchFilter = EVERYTHING
    ) -> tuple[SearchHit, ...]:
        """Those of these rows (each with its ordinal) that `find` would name, the newest first.

        Nothing is read for it: what their conversation is called and where it is stays empty, and
        is not asked of `only`.
        """
        ...

    async def within(self, tab_id: str, text: str, *, place: int | None = None) -> FoundRows:
        """A piece of one conversation, looked through letter by letter in any case of letters.

        Begins at the newest row, or goes on at a `place` that the piece before gave.
        """
        ...


class Publisher(Protocol):
    """Where an agent tells what happened: the feed, or a test's record. Never blocks."""

    def receipt(self, receipt: Receipt) -> None:
        """A write was committed."""
        ...

    def live(self, tab_id: str, op: BlockOp) -> None:
        """An open block changed; a Sealed op is never published: its receipt says it."""
        ...

    def status(self, status: TabStatus) -> None: ...


Unsubscribe = Callable[[], None]
