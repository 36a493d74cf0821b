"""The narrow doors between the layers that each have two implementations or more.

All methods are coroutines that never block the loop they are awaited on: a backend has threads of
its own. All raise StoreError (or a subclass) when the log can't be read or written.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol

from desktop.core.chunks import Json, LogChunk, NewChunk, Stamp
from desktop.core.conversation import LoadedSession
from desktop.core.drafts import Draft
from desktop.core.outline import Piece
from desktop.core.permissions import Answer, PermissionMode, Rule
from desktop.core.records import (
    EVERYTHING,
    Branch,
    CatalogueView,
    FoundRows,
    Page,
    Project,
    Receipt,
    RequestRecord,
    Requests,
    SearchFilter,
    SearchHit,
    SearchPage,
    SearchPlace,
    Snapshot,
    Tab,
    ViewState,
    Workspace,
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


class Catalogue(Protocol):
    """Projects, workspaces, conversations and what stands beside them."""

    async def view(self) -> CatalogueView: ...

    async def revision(self) -> int:
        """The catalogue's revision, for one who looks whether anything changed."""
        ...

    async def open_workspace(self, directory: Path) -> Workspace:
        """The workspace of exactly this folder, made with its project if it is not there yet."""
        ...

    async def scratch_workspace(self) -> Workspace: ...

    async def workspace(self, workspace_id: int) -> Workspace: ...

    async def create_project(self, directory: Path) -> Project:
        """The project of exactly this folder; the one that is there, where there is one (P01)."""
        ...

    async def create_workspace(
        self, project_id: int, directory: Path, *, kind: Literal["checkout", "worktree"]
    ) -> Workspace:
        """The folder's workspace in this project; the one that is there, where there is one.

        Raises UnknownFolder where the folder belongs to another project.
        """
        ...

    async def create_tab(
        self, workspace_id: int, *, title: str = "", parent: str | None = None
    ) -> Tab:
        """An open conversation; one of a subagent (`parent` began it) is not in the strip."""
        ...

    async def tab(self, tab_id: str) -> Tab:
        """Raises UnknownConversation."""
        ...

    async def rename_tab(self, tab_id: str, title: str) -> Tab: ...

    async def name_tab(self, tab_id: str, title: str) -> Tab:
        """A title for a conversation that has none; one that has keeps it (SPEC P04)."""
        ...

    async def set_tab_open(self, tab_id: str, *, is_open: bool) -> Tab: ...

    async def move_tabs(self, tab_ids: Sequence[str]) -> None:
        """The order of the open tabs."""
        ...

    # Archiving puts out of the way and changes nothing else: no file, no row. All of these can be
    # repeated; a second call changes nothing. What runs there is stopped by `Commands` first; where
    # another living process works, archiving and the bin are refused with LeaseHeld.

    async def refuse_elsewhere(self, tab_ids: Sequence[str]) -> None:
        """Raises LeaseHeld where another living process works in one of these."""
        ...

    async def archive_tab(self, tab_id: str) -> Tab:
        """And the conversations that its agent began from it, with the same time."""
        ...

    async def unarchive_tab(self, tab_id: str) -> Tab:
        """And those that went with it; its workspace, its project and those that it was begun
        from come back with it."""
        ...

    async def archive_workspace(self, workspace_id: int) -> Workspace:
        """And its conversations, with the same time, so that they come back together."""
        ...

    async def unarchive_workspace(self, workspace_id: int) -> Workspace:
        """And its project, and the conversations that were archived with it."""
        ...

    async def archive_project(self, project_id: int) -> Project: ...

    async def unarchive_project(self, project_id: int) -> Project: ...

    async def trash_tab(self, tab_id: str) -> Tab:
        """Into the bin: out of lists and search, every row still there (SPEC U13).

        The conversations that its agent began from it go along.
        """
        ...

    async def restore_tab(self, tab_id: str) -> Tab:
        """Out of the bin with what went in with it; a no-op where it is not in it.

        It is archived again if it was; else its workspace and its project come back with it.
        """
        ...

    async def trashed_tabs(self) -> tuple[Tab, ...]:
        """What the bin holds, the last thrown away first."""
        ...

    async def purge_tab(self, tab_id: str) -> None:
        """Deletes a conversation that is in the bin, in short transactions, for good.

        Rows that a fork reads stay, hidden, until the last such fork is gone. Can be repeated
        after a crash in its middle. Raises StoreError where it is not in the bin.
        """
        ...

    async def fork_tab(self, tab_id: str, *, at_seq: int) -> Tab:
        """A new open conversation whose log is this one's up to and with `at_seq` (0: nothing).

        Raises StoreError unless that is the end of a turn or just before a user row.
        """
        ...

    async def branches(self, tab_id: str) -> tuple[Branch, ...]:
        """Where other conversations part from this one, by seq (SPEC U19)."""
        ...

    async def snapshot(self, tab_id: str) -> Snapshot | None: ...

    async def save_snapshot(self, snapshot: Snapshot) -> None: ...

    async def rules(self, workspace_id: int) -> frozenset[Rule]: ...

    async def add_rule(self, rule: Rule) -> None: ...

    async def remove_rule(self, rule: Rule) -> None: ...

    async def settings(self) -> Mapping[str, str]: ...

    async def save_setting(self, key: str, value: str | None) -> None:
        """None takes the row away."""
        ...

    async def bookmarks(self, tab_id: str) -> frozenset[int]:
        """The seqs of the rows that are bookmarked, those that a fork shares among them."""
        ...

    async def set_bookmark(self, tab_id: str, seq: int, *, is_set: bool) -> None:
        """Sets or takes away the bookmark of a row, for all that read the row; again: a no-op."""
        ...

    async def draft(self, tab_id: str) -> Draft:
        """Of a conversation, or of `BEGINNING`, as in what saves it."""
        ...

    async def save_draft(self, tab_id: str, text: str, *, caret: int = 0) -> None:
        """What is attached stays as it was saved."""
        ...

    async def save_attachments(self, tab_id: str, attachments: Sequence[Json]) -> None:
        """What the draft has attached now, bytes and all; its text stays as it was saved."""
        ...

    async def view_state(self, tab_id: str) -> ViewState:
        """Where it was read last, in any window; following the end where nothing was saved."""
        ...

    async def save_view_state(self, tab_id: str, state: ViewState) -> None: ...


class Publisher(Protocol):
    """Where an agent tells what happened: the feed, or a test's record. Never blocks."""

    def receipt(self, receipt: Receipt) -> None:
        """A write was committed."""
        ...

    def live(self, tab_id: str, op: BlockOp) -> None:
        """An open block changed; a Sealed op is never published: its receipt says it."""
        ...

    def status(self, status: TabStatus) -> None: ...


class Commands(Protocol):
    """What a person, the command line or a test can ask of the running agents."""

    def status(self, tab_id: str) -> TabStatus: ...

    async def open(self, tab_id: str) -> TabStatus:
        """Loads a conversation's state (repairing what a crash left) without running anything."""
        ...

    async def send(
        self, tab_id: str, text: str, attachments: Sequence[Mapping[str, object]] = ()
    ) -> None:
        """Starts a turn, or queues the message while one runs. Durable when it returns.

        An attachment is a text, or a picture or document as `core.media` has it, with its bytes as
        `content` where they are not kept yet.

        Raises LeaseHeld, ModelUnavailable, StoreError, InBin: then nothing was sent and nothing is
        lost. An archived conversation comes out of the archive.
        """
        ...

    async def stop(self, tab_id: str) -> None:
        """Ends the running turn and those of its subagents; returns when they are over (within
        two seconds); idle: a no-op."""
        ...

    async def stop_all(self) -> None:
        """Ends every running turn of the program; returns when all are over (SPEC U28)."""
        ...

    async def cancel_queued(self, tab_id: str, message_id: str) -> QueuedMessage | None: ...

    async def edit_queued(self, tab_id: str, message_id: str) -> QueuedMessage | None:
        """The message, and the queue is kept back until `put_queued`; None when it was sent."""
        ...

    async def put_queued(
        self,
        tab_id: str,
        message_id: str,
        text: str | None = None,
        attachments: Sequence[Mapping[str, object]] = (),
    ) -> bool:
        """Ends an edit: the message is another in its place, or as it was (None), and the queue
        goes as it would have gone. Whether the message still waited. Raises as `send`.
        """
        ...

    async def order_queued(self, tab_id: str, message_ids: Sequence[str]) -> None:
        """The messages that wait go out in this order; those not named come after these."""
        ...

    async def release_queue(self, tab_id: str) -> None:
        """Sends a held queue as a new turn."""
        ...

    async def answer(self, question_id: str, answer: Answer) -> None:
        """Answers a question; one that is no longer open: a no-op."""
        ...

    async def choose(
        self,
        tab_id: str,
        *,
        model: str | None = None,
        effort: str | None = None,
        mode: PermissionMode | None = None,
    ) -> None: ...

    # Each of these stops the turns that run there first (SPEC P05), then does what Catalogue says.
    # Where another living process works, LeaseHeld says which and where, and nothing is stopped.
    # Messages that wait stay, and are held.

    async def archive_tab(self, tab_id: str) -> None: ...

    async def archive_workspace(self, workspace_id: int) -> None: ...

    async def archive_project(self, project_id: int) -> None: ...

    async def trash_tab(self, tab_id: str) -> None: ...

    async def fork(self, tab_id: str, *, at_seq: int) -> str:
        """A fork set to the same model, effort and mode; its tab id. Nothing is stopped."""
        ...

    async def edit(
        self,
        tab_id: str,
        chunk_id: str,
        text: str,
        attachments: Sequence[Mapping[str, object]] | None = None,
    ) -> str:
        """Sends another text in place of a user row; the tab it was sent in (SPEC S13, U19).

        Its attachments go along where none are named.

        An unanswered text at the end is retracted in place; an answered one stays as it is and a
        fork from before it gets the text. Raises as `send`.
        """
        ...

    async def regenerate(self, tab_id: str, chunk_id: str) -> str:
        """Sends the same user text again in a fork from before it; the fork's tab id."""
        ...

    async def retry(self, tab_id: str) -> None:
        """After a failed or cut turn: retracts its partial rows and sends the same bytes again."""
        ...

    async def try_now(self, tab_id: str) -> None:
        """Sends a request that waits to go out again at once; while none waits: a no-op."""
        ...

    async def go_on(self, tab_id: str) -> None:
        """After an answer that was cut: asks for the rest of it with a message of the person's.

        A no-op where there is none. Raises as `send`.
        """
        ...

    async def compact(self, tab_id: str, instruction: str = "") -> None:
        """Begins to summarise what the model was told; `instruction` says what must be kept.

        It runs as a turn does (`stop` ends it, messages wait); what hinders it is the status'
        `problem`, and then nothing is changed. Raises as `send`, and while a turn runs.
        """
        ...

    async def take_tools(self, tab_id: str) -> None:
        """Has the conversation go on with the tools of the moment; the next message pays for it.

        Durable when it returns; nothing new to tell: a no-op. Raises as `send`, and while a turn
        runs.
        """
        ...


Unsubscribe = Callable[[], None]
