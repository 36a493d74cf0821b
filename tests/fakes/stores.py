"""A log in memory: the same promises as the database, in plain Python.

It passes the contract suite of the real store (`tests/unit/store/test_contract.py`), so a test of
another layer may stand on it. `fail_next` makes the next write fail as a full disk would;
`hold_elsewhere` lets another process hold a conversation.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from desktop.core.chunks import Json, LogChunk, NewChunk, Stamp, Text
from desktop.core.conversation import LoadedSession, is_message, split_dangling
from desktop.core.drafts import Draft, is_beginning
from desktop.core.errors import InBin, LeaseHeld, StoreError, UnknownFolder
from desktop.core.outline import Gathering, Piece, Sought
from desktop.core.permissions import Rule
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
    tool_of,
)
from desktop.core.status import QueuedMessage, in_order
from desktop.store.codec import search_text
from desktop.store.search import hits_among, parse
from tests.fakes import branches
from tests.fakes.archive import MemoryArchive
from tests.fakes.branches import Conversation


class MemoryLog:
    """Everything in dictionaries; `session`, `reader`, `outline`, `search` and `catalogue` are its
    doors.

    `scratch` is the folder of `scratch_workspace`; `blobs` a folder for kept files (without one,
    a kept file is hashed and forgotten).
    """

    def __init__(
        self,
        *,
        now_ms: Callable[[], int],
        new_id: Callable[[], str],
        on_catalogue_change: Callable[[], None] | None = None,
        scratch: Path | None = None,
        blobs: Path | None = None,
        process_id: str = "memory",
    ) -> None:
        self.now_ms = now_ms
        self.new_id = new_id
        self.process_id = process_id
        self.conversations: dict[str, Conversation] = {}
        self.blobs = blobs
        self.failures: list[StoreError] = []
        self.catalogue = MemoryCatalogue(self, on_catalogue_change, scratch)
        self.reader = MemoryReader(self)
        self.outline = MemoryOutline(self)
        self.search = MemorySearch(self)

    def session(self, tab_id: str) -> "MemorySession":
        return MemorySession(self, tab_id)

    def fail_next(self, *errors: StoreError) -> None:
        """The next writes raise these, one each, and change nothing."""
        self.failures.extend(errors)

    def hold_elsewhere(self, tab_id: str, holder: str = "another process") -> None:
        """Another process holds the conversation ("" lets it go)."""
        self.find(tab_id).holder = holder

    def chunks(self, tab_id: str) -> tuple[LogChunk, ...]:
        """What the log holds now, for a test's asserts."""
        return tuple(self.find(tab_id).rows)

    def find(self, tab_id: str) -> Conversation:
        return branches.find(self.conversations, tab_id)

    def writing(self) -> None:
        """Every write passes here."""
        if self.failures:
            raise self.failures.pop(0)


class MemorySession:
    """A TurnStore over one conversation of a MemoryLog."""

    def __init__(self, log: MemoryLog, tab_id: str) -> None:
        self._log = log
        self._tab_id = tab_id

    @property
    def session_id(self) -> str:
        return self._tab_id

    async def append(self, chunks: Sequence[NewChunk]) -> Receipt:
        self._log.writing()
        return self._append(chunks)

    def _append(self, chunks: Sequence[NewChunk]) -> Receipt:
        held = self._log.find(self._tab_id)
        known = {chunk.id for one in self._log.conversations.values() for chunk in one.chunks}
        head = len(held.rows)
        if len(known | {new.id for new in chunks}) != len(known) + len(chunks):
            raise StoreError("A row with this id is already in the log.")
        now = self._log.now_ms()
        rows = tuple(
            LogChunk(
                id=new.id,
                tab_id=self._tab_id,
                seq=head + place,
                turn_id=new.turn_id,
                step=new.step,
                role=new.role,
                data=new.data,
                created_at=now,
                stamp=new.stamp,
            )
            for place, new in enumerate(chunks, start=1)
        )
        base = held.revision
        held.chunks.extend(rows)
        last = max(
            (n for one in self._log.conversations.values() for n in one.ordinals.values()),
            default=0,
        )
        held.ordinals |= {row.id: last + place for place, row in enumerate(rows, start=1)}
        held.revision += len(rows)
        if any(is_message(row) for row in rows):
            held.tab = replace(held.tab, last_message_at=now)
            self._log.catalogue.changed()
        ordinal = held.ordinals[rows[-1].id] if rows else 0
        return Receipt(self._tab_id, base, held.revision, chunks=rows, ordinal=ordinal)

    async def load(self) -> LoadedSession:
        return split_dangling(self._log.find(self._tab_id).rows)

    async def active_model(self) -> Stamp | None:
        for chunk in reversed(self._log.find(self._tab_id).rows):
            if chunk.stamp != Stamp():
                return chunk.stamp
        return None

    async def start_request(self, record: RequestRecord) -> Receipt:
        self._log.writing()
        return self._put(record)

    async def finish_request(self, record: RequestRecord) -> Receipt:
        self._log.writing()
        return self._put(record)

    def _put(self, record: RequestRecord) -> Receipt:
        held = self._log.find(self._tab_id)
        base = held.revision
        if held.requests.get(record.id) != record:
            held.requests[record.id] = record
            held.revision += 1
        return Receipt(self._tab_id, base, held.revision, requests=(record,))

    async def requests(self) -> tuple[RequestRecord, ...]:
        return tuple(self._log.find(self._tab_id).requests.values())

    async def queued(self) -> tuple[QueuedMessage, ...]:
        return tuple(self._log.find(self._tab_id).queue)

    async def enqueue(self, message: QueuedMessage) -> None:
        self._log.writing()
        queue = self._log.find(self._tab_id).queue
        if all(one.id != message.id for one in queue):
            queue.append(message)

    async def cancel_queued(self, message_id: str) -> QueuedMessage | None:
        self._log.writing()
        queue = self._log.find(self._tab_id).queue
        for message in queue:
            if message.id == message_id:
                queue.remove(message)
                return message
        return None

    async def change_queued(self, message: QueuedMessage) -> bool:
        self._log.writing()
        queue = self._log.find(self._tab_id).queue
        for at, one in enumerate(queue):
            if one.id == message.id:
                queue[at] = message
                return True
        return False

    async def order_queued(self, message_ids: Sequence[str]) -> None:
        self._log.writing()
        held = self._log.find(self._tab_id)
        held.queue = list(in_order(held.queue, message_ids))

    async def take_queued(self, *, turn_id: str, step: int, stamp: Stamp) -> Receipt | None:
        self._log.writing()
        queue = self._log.find(self._tab_id).queue
        if not queue:
            return None
        receipt = self._append(
            [
                NewChunk(
                    id=message.id,
                    turn_id=turn_id,
                    role="user",
                    data=Text(message.text, attachments=message.attachments),
                    step=step,
                    stamp=stamp,
                )
                for message in queue
            ]
        )
        queue.clear()
        return receipt

    async def acquire_lease(self) -> None:
        held = self._log.find(self._tab_id)
        if held.tab.trashed_at is not None:
            raise InBin(self._tab_id)
        if held.holder not in ("", self._log.process_id):
            raise LeaseHeld(
                "Another Nacre is working in this conversation.",
                way_out="Wait until it is done.",
                detail=held.holder,
            )
        held.holder = self._log.process_id

    async def release_lease(self) -> None:
        held = self._log.find(self._tab_id)
        if held.holder == self._log.process_id:
            held.holder = ""

    async def keep_file(self, path: Path, media_type: str) -> tuple[str, int]:
        self._log.writing()
        content = path.read_bytes()  # noqa: ASYNC240 (a double; small files)
        digest = hashlib.sha256(content).hexdigest()
        if self._log.blobs is not None:
            (self._log.blobs / digest).write_bytes(content)
        path.unlink()  # noqa: ASYNC240
        return digest, len(content)


class MemoryReader:
    """A LogReader and RequestReader over a MemoryLog."""

    def __init__(self, log: MemoryLog) -> None:
        self._log = log

    async def page(
        self,
        tab_id: str,
        *,
        limit: int,
        before: int | None = None,
        after: int | None = None,
        around: int | None = None,
    ) -> Page:
        held = self._log.find(tab_id)
        chunks = held.rows
        total = len(chunks)
        if before is not None:
            end = min(max(before - 1, 0), total)
            start = max(end - limit, 0)
        elif after is not None:
            start = min(max(after, 0), total)
            end = min(start + limit, total)
        elif around is not None:
            start = max(min(around - 1 - limit // 2, total - limit), 0)
            end = min(start + limit, total)
        else:
            end = total
            start = max(end - limit, 0)
        return Page(
            rows=tuple(chunks[start:end]),
            total=total,
            has_older=start > 0,
            has_newer=end < total,
            revision=held.revision,
        )

    async def requests(self, tab_id: str) -> Requests:
        held = self._log.find(tab_id)
        return Requests(tuple(held.requests.values()), held.revision)

    async def revision(self, tab_id: str) -> int:
        return self._log.find(tab_id).revision

    async def blob_path(self, sha256: str) -> Path | None:
        if self._log.blobs is None:
            return None
        path = self._log.blobs / sha256
        return path if path.is_file() else None


class MemoryOutline:
    """An OutlineReader over a MemoryLog, by its plainest meaning. `reads` counts the pieces; the
    next ones raise the `failures`."""

    def __init__(self, log: MemoryLog) -> None:
        self._log = log
        self.reads = 0
        self.failures: list[StoreError] = []

    async def revision(self, tab_id: str) -> int:
        return self._log.find(tab_id).revision

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
        self.reads += 1
        if self.failures:
            raise self.failures.pop(0)
        rows = self._log.chunks(tab_id)
        prompts = [row.seq for row in rows if row.role == "user"]
        end = len(rows)
        if before is not None:
            end = min(before - 1, end)
        elif after is not None:
            end = next(iter([at for at in prompts if at > after][limit:]), end + 1) - 1
        elif around is not None:
            end = next(iter([at for at in prompts if at >= around][limit // 2 + 1 :]), end + 1) - 1
        first = 1 if after is None else after + 1
        wanted = text.casefold() if text.strip() else ""
        gathering = Gathering(
            Sought(
                limit if after is None else end + 1,
                bookmarks,
                (lambda data: wanted in (search_text(data) or "").casefold()) if wanted else None,
            )
        )
        for row in reversed(rows[first - 1 : end]):
            if not gathering.is_full:
                gathering.see(row)
        return gathering.piece(
            first=first,
            last=end,
            has_older=first > 1,
            has_newer=end < len(rows),
            revision=self._log.find(tab_id).revision,
        )


class MemorySearch:
    """A Search over a MemoryLog: each word and quoted phrase must be somewhere in the row. The
    next searches raise the `failures`."""

    def __init__(self, log: MemoryLog) -> None:
        self._log = log
        self.failures: list[StoreError] = []

    async def find(
        self,
        text: str,
        *,
        limit: int,
        place: SearchPlace | None = None,
        only: SearchFilter = EVERYTHING,
    ) -> SearchPage:
        if self.failures:
            raise self.failures.pop(0)
        pieces = text.casefold().split('"')
        # Between two quotes, but not behind a lone last one, stands a phrase.
        phrases = [one.strip() for one in pieces[1:-1:2]]
        others = [one for at, one in enumerate(pieces) if at % 2 == 0 or at == len(pieces) - 1]
        words = [one for one in (*phrases, *" ".join(others).split()) if one]
        found = [
            hit
            for held in self._log.conversations.values()
            for hit in self._hits(held, words, only)
            if words
            and (not only.workspace_ids or held.tab.workspace_id in only.workspace_ids)
            and (place is None or hit.ordinal < place.ordinal)
        ]
        found.sort(key=lambda hit: -hit.ordinal)
        hits = tuple(found[: max(limit, 0)])
        has_more = 0 < len(hits) < len(found)
        newest = await self.newest() if place is None and words else 0
        return SearchPage(hits, SearchPlace(hits[-1].ordinal) if has_more else None, newest)

    async def newest(self) -> int:
        held = self._log.conversations.values()
        return max((ordinal for one in held for ordinal in one.ordinals.values()), default=0)

    async def among(
        self, rows: Sequence[tuple[int, LogChunk]], text: str, *, only: SearchFilter = EVERYTHING
    ) -> tuple[SearchHit, ...]:
        return hits_among(rows, parse(text), only)

    async def within(self, tab_id: str, text: str, *, place: int | None = None) -> FoundRows:
        wanted = text.casefold()
        rows = self._log.chunks(tab_id) if wanted.strip() and place is None else ()
        texts = {row.seq: (search_text(row.data) or "").casefold() for row in rows}
        return FoundRows(tuple(seq for seq in sorted(texts, reverse=True) if wanted in texts[seq]))

    def _hits(
        self, held: Conversation, words: Sequence[str], only: SearchFilter
    ) -> Iterator[SearchHit]:
        for chunk in held.chunks:
            text = (search_text(chunk.data) or "").casefold()
            named = branches.namesake(self._log.conversations, chunk.id)
            if named is None and only.in_bin and not held.purged:
                named = held.tab.id
            if named is not None and only.takes(chunk) and all(word in text for word in words):
                yield SearchHit(
                    ordinal=held.ordinals[chunk.id],
                    tab_id=named,
                    title=self._log.find(named).tab.title,
                    directory=self._log.catalogue.directory(held.tab.workspace_id),
                    seq=chunk.seq,
                    role=chunk.role,
                    type=chunk.type,
                    created_at=chunk.created_at,
                    snippet=text,
                    marks=tuple((text.find(one), text.find(one) + len(one)) for one in words),
                    shelf=self._log.find(named).tab.shelf,
                    tool=tool_of(chunk),
                )


class MemoryCatalogue:
    """A Catalogue over a MemoryLog."""

    def __init__(
        self, log: MemoryLog, on_change: Callable[[], None] | None, scratch: Path | None
    ) -> None:
        self._log = log
        self._on_change = on_change
        self._scratch = scratch
        self._projects: list[Project] = []
        self._workspaces: list[Workspace] = []
        self._rules: dict[int, set[Rule]] = {}
        self._settings: dict[str, str] = {}
        self._drafts: dict[str, Draft] = {}
        self._bookmarked: set[str] = set()
        self._revision = 0
        archive = MemoryArchive(
            log.conversations,
            self._projects,
            self._workspaces,
            find=log.find,
            process_id=lambda: log.process_id,
            now_ms=log.now_ms,
            writing=log.writing,
            changed=self.changed,
        )
        self._archive = archive
        self.refuse_elsewhere = archive.refuse_elsewhere
        self.archive_tab = archive.archive_tab
        self.archive_workspace = archive.archive_workspace
        self.archive_project = archive.archive_project
        self.unarchive_tab = archive.unarchive_tab
        self.unarchive_workspace = archive.unarchive_workspace
        self.unarchive_project = archive.unarchive_project
        self.trash_tab = archive.trash_tab
        self.restore_tab = archive.restore_tab
        self.trashed_tabs = archive.trashed_tabs

    def changed(self) -> None:
        self._revision += 1
        if self._on_change is not None:
            self._on_change()

    async def view(self) -> CatalogueView:
        living = [one.tab for one in self._log.conversations.values() if one.is_living]
        tabs = sorted(living, key=_position)
        return CatalogueView(
            tuple(self._projects), tuple(self._workspaces), tuple(tabs), self._revision
        )

    async def revision(self) -> int:
        return self._revision

    async def open_workspace(self, directory: Path) -> Workspace:
        self._log.writing()
        real = _real_folder(directory)
        for workspace in self._workspaces:
            if workspace.directory == str(real):
                return self._in_use(workspace)
        project = self._project(str(real), is_git=(real / ".git").exists())
        return self._make_workspace(project.id, str(real), "checkout")

    async def create_project(self, directory: Path) -> Project:
        self._log.writing()
        real = _real_folder(directory)
        return self._project(str(real), is_git=(real / ".git").exists())

    async def create_workspace(
        self, project_id: int, directory: Path, *, kind: Literal["checkout", "worktree"]
    ) -> Workspace:
        self._log.writing()
        project = self._archive.project(project_id)
        real = _real_folder(directory)
        for workspace in self._workspaces:
            if workspace.directory == str(real):
                if workspace.project_id != project.id:
                    raise UnknownFolder(f"{real} is a workspace of another project.")
                return self._in_use(workspace)
        self._archive.bring_back_project(project_id)
        return self._make_workspace(project_id, str(real), kind)

    def _in_use(self, workspace: Workspace) -> Workspace:
        if workspace.archived_at is not None:
            self._archive.bring_back(workspace.id)
            self.changed()
        return self._archive.workspace(workspace.id)

    async def scratch_workspace(self) -> Workspace:
        if self._scratch is not None:
            self._scratch.mkdir(parents=True, exist_ok=True)
            return await self.open_workspace(self._scratch)
        for workspace in self._workspaces:
            if workspace.directory == "scratch":
                return workspace
        return self._make_workspace(
            self._project("scratch", is_git=False).id, "scratch", "checkout"
        )

    def _project(self, directory: str, *, is_git: bool) -> Project:
        for project in self._projects:
            if project.directory == directory:
                if project.archived_at is not None:
                    self._archive.bring_back_project(project.id)
                    self.changed()
                return self._archive.project(project.id)
        number, name = len(self._projects) + 1, Path(directory).name or directory
        made = Project(number, directory, name, "git" if is_git else "directory")
        self._projects.append(made)
        self.changed()
        return made

    def _make_workspace(
        self, project_id: int, directory: str, kind: Literal["checkout", "worktree"]
    ) -> Workspace:
        name = Path(directory).name or directory
        made = Workspace(len(self._workspaces) + 1, project_id, directory, name, kind)
        self._workspaces.append(made)
        self.changed()
        return made

    async def workspace(self, workspace_id: int) -> Workspace:
        return self._archive.workspace(workspace_id)

    def directory(self, workspace_id: int) -> str:
        return next(one.directory for one in self._workspaces if one.id == workspace_id)

    async def create_tab(
        self, workspace_id: int, *, title: str = "", parent: str | None = None
    ) -> Tab:
        self._log.writing()
        self._in_use(await self.workspace(workspace_id))
        positions = [one.tab.position for one in self._log.conversations.values()]
        tab = Tab(
            id=self._log.new_id(),
            workspace_id=workspace_id,
            title=title,
            position=max(positions, default=-1) + 1,
            is_open=parent is None,
            created_at=self._log.now_ms(),
            parent_tab_id=parent,
        )
        self._log.conversations[tab.id] = Conversation(tab)
        self.changed()
        return tab

    async def tab(self, tab_id: str) -> Tab:
        return self._log.find(tab_id).tab

    async def rename_tab(self, tab_id: str, title: str) -> Tab:
        self._log.writing()
        return self._replace(replace(self._log.find(tab_id).tab, title=title))

    async def name_tab(self, tab_id: str, title: str) -> Tab:
        self._log.writing()
        tab = self._log.find(tab_id).tab
        return tab if tab.title else self._replace(replace(tab, title=title))

    async def set_tab_open(self, tab_id: str, *, is_open: bool) -> Tab:
        self._log.writing()
        return self._replace(replace(self._log.find(tab_id).tab, is_open=is_open))

    async def move_tabs(self, tab_ids: Sequence[str]) -> None:
        self._log.writing()
        moved = [self._log.find(tab_id).tab for tab_id in tab_ids]
        others = [
            one.tab for one in self._log.conversations.values() if one.tab.id not in set(tab_ids)
        ]
        for position, tab in enumerate([*moved, *sorted(others, key=_position)]):
            self._replace(replace(tab, position=position))

    def _replace(self, tab: Tab) -> Tab:
        held = self._log.find(tab.id)
        if held.tab != tab:
            held.tab = tab
            self.changed()
        return tab

    async def purge_tab(self, tab_id: str) -> None:
        self._log.writing()
        branches.purge(self._log.conversations, tab_id)
        self.changed()

    async def fork_tab(self, tab_id: str, *, at_seq: int) -> Tab:
        self._log.writing()
        made = branches.forked(
            self._log.conversations,
            tab_id,
            at_seq,
            new_id=self._log.new_id(),
            now=self._log.now_ms(),
        )
        self._log.conversations[made.tab.id] = made
        self._archive.bring_back(made.tab.workspace_id)
        self.changed()
        return made.tab

    async def branches(self, tab_id: str) -> tuple[Branch, ...]:
        return branches.branches(self._log.conversations, tab_id)

    async def snapshot(self, tab_id: str) -> Snapshot | None:
        return self._log.find(tab_id).snapshot

    async def save_snapshot(self, snapshot: Snapshot) -> None:
        self._log.writing()
        await self.workspace(snapshot.workspace_id)
        held = self._log.find(snapshot.tab_id)
        if held.tab.workspace_id != snapshot.workspace_id:
            raise UnknownFolder("This conversation is in another workspace.")
        if held.snapshot != snapshot:
            held.snapshot = snapshot
            self.changed()

    async def rules(self, workspace_id: int) -> frozenset[Rule]:
        return frozenset(self._rules.get(workspace_id, ()))

    async def add_rule(self, rule: Rule) -> None:
        self._log.writing()
        await self.workspace(rule.workspace_id)
        self._rules.setdefault(rule.workspace_id, set()).add(rule)

    async def remove_rule(self, rule: Rule) -> None:
        self._log.writing()
        self._rules.get(rule.workspace_id, set()).discard(rule)

    async def settings(self) -> Mapping[str, str]:
        return dict(self._settings)

    async def save_setting(self, key: str, value: str | None) -> None:
        self._log.writing()
        if value is None:
            self._settings.pop(key, None)
        else:
            self._settings[key] = value

    async def bookmarks(self, tab_id: str) -> frozenset[int]:
        rows = self._log.find(tab_id).rows
        return frozenset(row.seq for row in rows if row.id in self._bookmarked)

    async def set_bookmark(self, tab_id: str, seq: int, *, is_set: bool) -> None:
        self._log.writing()
        row = self._log.find(tab_id).rows[seq - 1]
        if (row.id in self._bookmarked) != is_set:
            self._bookmarked ^= {row.id}
            self.changed()

    async def draft(self, tab_id: str) -> Draft:
        self._known(tab_id)
        return self._drafts.get(tab_id, Draft())

    async def save_draft(self, tab_id: str, text: str, *, caret: int = 0) -> None:
        self._log.writing()
        self._drafts[tab_id] = replace(await self.draft(tab_id), text=text, caret=caret)

    async def save_attachments(self, tab_id: str, attachments: Sequence[Json]) -> None:
        self._log.writing()
        kept = replace(await self.draft(tab_id), attachments=tuple(attachments))
        self._drafts[tab_id] = kept

    def _known(self, tab_id: str) -> None:
        if not is_beginning(tab_id):
            self._log.find(tab_id)

    async def view_state(self, tab_id: str) -> ViewState:
        return self._log.find(tab_id).view_state

    async def save_view_state(self, tab_id: str, state: ViewState) -> None:
        self._log.writing()
        self._log.find(tab_id).view_state = state


def _real_folder(directory: Path) -> Path:
    try:
        real = directory.resolve(strict=True)
    except (OSError, ValueError, RuntimeError) as error:
        raise UnknownFolder("There is no such folder.", detail=repr(error)) from error
    if not real.is_dir():
        raise UnknownFolder(f"{real} is not a folder.")
    return real


def _position(tab: Tab) -> int:
    return tab.position
