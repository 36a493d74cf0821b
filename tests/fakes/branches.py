"""Forks of a log in memory, by their plainest meaning: whole logs, laid side by side.

Two conversations part where their logs agree up to a row and differ in the next one.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from desktop.core.chunks import LogChunk, System
from desktop.core.conversation import is_message
from desktop.core.errors import StoreError, UnknownConversation
from desktop.core.records import Branch, RequestRecord, Snapshot, Tab, ViewState
from desktop.core.status import QueuedMessage

_NUMBERED = re.compile(r"(.*) \((\d{1,4})\)", re.DOTALL)


@dataclass(slots=True)
class Conversation:
    """A tab with its own rows; a fork reads its parent's before them."""

    tab: Tab
    parent: "Conversation | None" = None
    chunks: list[LogChunk] = field(default_factory=list[LogChunk])
    requests: dict[str, RequestRecord] = field(default_factory=dict[str, RequestRecord])
    queue: list[QueuedMessage] = field(default_factory=list[QueuedMessage])
    revision: int = 0
    snapshot: Snapshot | None = None
    view_state: ViewState = ViewState()
    holder: str = ""
    ordinals: dict[str, int] = field(default_factory=dict[str, int])
    purged: bool = False

    @property
    def rows(self) -> list[LogChunk]:
        """The whole log as it is read."""
        if self.parent is None:
            return list(self.chunks)
        shared = self.parent.rows[: self.tab.forked_at_seq]
        return [*(replace(row, tab_id=self.tab.id) for row in shared), *self.chunks]

    @property
    def is_living(self) -> bool:
        return not self.purged and self.tab.trashed_at is None

    def line(self) -> Iterator["Conversation"]:
        """This one, its parent, and so on up to the root."""
        one: Conversation | None = self
        while one is not None:
            yield one
            one = one.parent


Conversations = Mapping[str, Conversation]


def find(conversations: Conversations, tab_id: str) -> Conversation:
    found = conversations.get(tab_id)
    if found is None or found.purged:
        raise UnknownConversation("No conversation has this id.", detail=tab_id)
    return found


def forked(
    conversations: Conversations, tab_id: str, at_seq: int, *, new_id: str, now: int
) -> Conversation:
    """The fork; it is for the caller to add it. Raises StoreError."""
    parent = find(conversations, tab_id)
    if parent.tab.trashed_at is not None:
        raise StoreError("This conversation is in the bin, so no branch can be made of it.")
    rows = parent.rows
    if not _is_place(rows, at_seq, is_worked_in=bool(parent.holder)):
        raise StoreError("A branch can't begin in the middle of a turn.")
    line = list(parent.line())
    anchor = next((one for one in line if any(row.seq == at_seq for row in one.chunks)), line[-1])
    tab = Tab(
        id=new_id,
        workspace_id=parent.tab.workspace_id,
        title=_title(conversations, parent),
        position=max(one.tab.position for one in conversations.values()) + 1,
        is_open=True,
        created_at=now,
        last_message_at=next((r.created_at for r in rows[:at_seq][::-1] if is_message(r)), None),
        forked_from=anchor.tab.id,
        forked_at_seq=at_seq,
    )
    snapshot = parent.snapshot and replace(
        parent.snapshot, tab_id=new_id, lifecycle="idle", attention=None
    )
    return Conversation(tab, anchor, snapshot=snapshot)


def _is_place(rows: list[LogChunk], at_seq: int, *, is_worked_in: bool) -> bool:
    if at_seq == 0:
        return True
    if not 0 < at_seq <= len(rows):
        return False
    last = rows[at_seq - 1]
    if isinstance(last.data, System) and last.data.kind == "turn_end":
        return True
    if at_seq == len(rows):
        return not is_worked_in
    return rows[at_seq].role == "user" or rows[at_seq].turn_id != last.turn_id


def _title(conversations: Conversations, parent: Conversation) -> str:
    if not parent.tab.title:
        return ""
    numbered = _NUMBERED.fullmatch(parent.tab.title) if parent.parent is not None else None
    base = numbered[1] if numbered else parent.tab.title
    titles = [one.tab.title for one in _family(conversations, parent)]
    found = [_NUMBERED.fullmatch(title) for title in titles]
    taken = [int(one[2]) for one in found if one is not None and one[1] == base]
    return f"{base} ({max(taken, default=1) + 1})"


def _family(conversations: Conversations, of: Conversation) -> list[Conversation]:
    root = list(of.line())[-1]
    return [one for one in conversations.values() if root in one.line()]


def branches(conversations: Conversations, tab_id: str) -> tuple[Branch, ...]:
    """Where others of the family share the row before and have another one at a place."""
    me = find(conversations, tab_id)
    logs = {one.tab.id: [row.id for row in one.rows] for one in _family(conversations, me)}
    mine = logs[tab_id]
    found: list[Branch] = []
    for at in range(len(mine)):
        ways = {
            log[at] for log in logs.values() if len(log) > at and log[:at][-1:] == mine[:at][-1:]
        }
        named = [
            tab_id if way == mine[at] else namesake(conversations, way)
            for way in sorted(ways, key=lambda way: _ordinal(conversations, way))
        ]
        tab_ids = tuple(one for one in named if one is not None)
        if len(tab_ids) > 1:
            found.append(Branch(at + 1, tab_ids))
    return tuple(found)


def namesake(conversations: Conversations, chunk_id: str) -> str | None:
    """Who is named for a row: who holds it, or the oldest living one that reads it."""
    holder = next(one for one in conversations.values() if _holds(one, chunk_id))
    if holder.is_living:
        return holder.tab.id
    readers = [
        one.tab
        for one in conversations.values()
        if one.is_living and any(row.id == chunk_id for row in one.rows)
    ]
    return min(readers, key=lambda tab: (tab.created_at, tab.id)).id if readers else None


def _holds(one: Conversation, chunk_id: str) -> bool:
    return any(row.id == chunk_id for row in one.chunks)


def _ordinal(conversations: Conversations, chunk_id: str) -> int:
    return next(
        one.ordinals[chunk_id] for one in conversations.values() if chunk_id in one.ordinals
    )


def purge(conversations: dict[str, Conversation], tab_id: str) -> None:
    """What is in the bin goes, but for the rows that forks read. Raises StoreError."""
    one = conversations.get(tab_id)
    if one is None:
        raise UnknownConversation("No conversation has this id.", detail=tab_id)
    if one.is_living:
        raise StoreError("Only a conversation that is in the bin can be deleted for good.")
    one.purged = True
    while gone := _purged_and_unneeded(conversations):
        for each in gone:
            del conversations[each]
    for held in conversations.values():
        if held.purged:
            places = [fork.tab.forked_at_seq or 0 for fork in _forks(conversations, held)]
            held.chunks = [row for row in held.chunks if row.seq <= max(places)]


def _purged_and_unneeded(conversations: Conversations) -> list[str]:
    return [
        id_ for id_, one in conversations.items() if one.purged and not _forks(conversations, one)
    ]


def _forks(conversations: Conversations, of: Conversation) -> list[Conversation]:
    return [one for one in conversations.values() if one.parent is of]
