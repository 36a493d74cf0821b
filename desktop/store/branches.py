"""Forks: where one may begin, and where the conversations of a family part (DESIGN.md §5).

A fork is anchored at the tab that holds the last row it shares, never at one that only reads it:
forks from before the same row are siblings then, however they came about. Everything here is
answered from the tabs and the index of places; no payload is read but a single row's kind.
"""

import re
from collections.abc import Callable
from functools import partial
from itertools import pairwise

from sqlalchemy import Connection, func, insert, select

from desktop.core.errors import StoreError, UnknownConversation
from desktop.core.records import Branch
from desktop.store import archiving, homes
from desktop.store.lanes import Lanes
from desktop.store.pages import Stretch
from desktop.store.reads import lineage
from desktop.store.tables import TABS

_NUMBERED = re.compile(r"(.*) \((\d{1,4})\)", re.DOTALL)
_FROM = (
    "SELECT workspace_id, title, forked_from, trashed_at FROM tabs"
    " WHERE id = ? AND purged_at IS NULL"
)
_ROW = (
    "SELECT turn_id, role, type = 'system' AND json_valid(data_json)"
    " AND json_extract(data_json, '$.kind') = 'turn_end' FROM chunks WHERE tab_id = ? AND seq = ?"
)
# What moves a conversation up in the list, as when it was laid down.
_LAST_MESSAGE = (
    "SELECT created_at FROM chunks WHERE tab_id = ? AND seq <= ? AND (role = 'user'"
    " OR (type = 'system' AND json_valid(data_json)"
    " AND json_extract(data_json, '$.kind') = 'turn_end')) ORDER BY seq DESC LIMIT 1"
)
_COPY_SNAPSHOT = (
    "INSERT INTO agent_snapshots(agent_id, workspace_id, lifecycle, provider, model, effort,"
    " permission_mode, persistence_json, created_at, updated_at)"
    " SELECT ?, workspace_id, 'idle', provider, model, effort, permission_mode, '{}', ?, ?"
    " FROM agent_snapshots WHERE agent_id = ?"
)
_TITLES = (
    "WITH RECURSIVE family(id, title) AS (SELECT id, title FROM tabs WHERE id = ?"
    " UNION SELECT t.id, t.title FROM family JOIN tabs t ON t.forked_from = family.id)"
    " SELECT title FROM family"
)
# Every fork of a tab of the line that has a row of its own, and the row that it stands beside.
_PARTINGS = (
    "WITH RECURSIVE line(id, forked_from) AS (SELECT id, forked_from FROM tabs WHERE id = ?"
    " UNION SELECT t.id, t.forked_from FROM line JOIN tabs t ON t.id = line.forked_from)"
    " SELECT f.forked_from, f.forked_at_seq, f.id, own.ordinal, beside.ordinal"
    " FROM line JOIN tabs f ON f.forked_from = line.id"
    " JOIN chunks own ON own.tab_id = f.id AND own.seq = f.forked_at_seq + 1"
    " LEFT JOIN chunks beside ON beside.tab_id = line.id AND beside.seq = f.forked_at_seq + 1"
)


def stand_in(tab_id: str, seq: str) -> str:
    """An SQL expression: who is named for the row at (`tab_id`, `seq`), two SQL expressions.

    Its own conversation; where that is in the bin or purged, the oldest living one that reads the
    row through it; NULL where there is none.
    """
    return (
        "(SELECT CASE WHEN o.trashed_at IS NULL AND o.purged_at IS NULL THEN o.id ELSE ("
        "WITH RECURSIVE reader(id) AS ("
        f"SELECT id FROM tabs WHERE forked_from = {tab_id} AND forked_at_seq >= {seq}"
        " UNION SELECT f.id FROM reader JOIN tabs f"
        f" ON f.forked_from = reader.id AND f.forked_at_seq >= {seq})"
        " SELECT r.id FROM reader JOIN tabs r ON r.id = reader.id"
        " WHERE r.trashed_at IS NULL AND r.purged_at IS NULL ORDER BY r.created_at, r.id LIMIT 1)"
        f" END FROM tabs o WHERE o.id = {tab_id})"
    )


_STAND_IN = f"SELECT {stand_in('?1', '?2')}"


class Branches:
    """The part of the Catalogue that makes and finds forks."""

    def __init__(
        self, lanes: Lanes, *, new_id: Callable[[], str], now_ms: Callable[[], int]
    ) -> None:
        self._lanes = lanes
        self._new_id = new_id
        self._now_ms = now_ms

    async def fork(self, tab_id: str, at_seq: int) -> str:
        """Makes a fork; its id."""
        new_id = self._new_id()
        await self._lanes.write(
            partial(fork, tab_id=tab_id, at_seq=at_seq, new_id=new_id, now=self._now_ms())
        )
        return new_id

    async def of(self, tab_id: str) -> tuple[Branch, ...]:
        return await self._lanes.read(partial(read_branches, tab_id=tab_id))


def fork(connection: Connection, *, tab_id: str, at_seq: int, new_id: str, now: int) -> None:
    """One transaction: the tab, and what its agent is set to. Raises StoreError."""
    parent = connection.exec_driver_sql(_FROM, (tab_id,)).first()
    if parent is None:
        raise UnknownConversation("No conversation has this id.", detail=tab_id)
    workspace_id, title, forked_from, trashed_at = parent
    if trashed_at is not None:
        raise StoreError(
            "This conversation is in the bin, so no branch can be made of it.",
            way_out="Bring it back first.",
        )
    if homes.kept(connection, tab_id=tab_id).folder is not None:
        raise StoreError(
            "This conversation is kept as a file, so no branch can be made of it.",
            way_out="Go on with a new message.",
        )
    line = lineage(connection, tab_id)
    anchor = _anchor(line, at_seq)
    _refuse_inside_a_turn(connection, line, at_seq)
    archiving.bring_back_workspace(connection, workspace_id)  # a fork is made to be seen
    last = connection.execute(select(func.max(TABS.c.position))).scalar_one()
    connection.execute(
        insert(TABS).values(
            id=new_id,
            workspace_id=workspace_id,
            title=_title(connection, title, line[0].tab_id, is_fork=forked_from is not None),
            position=last + 1,
            is_open=1,
            forked_from=anchor,
            forked_at_seq=at_seq,
            created_at=now,
            last_message_at=_last_message_at(connection, line, at_seq),
        )
    )
    connection.exec_driver_sql(_COPY_SNAPSHOT, (new_id, now, now, tab_id))


def _owner(line: tuple[Stretch, ...], seq: int) -> Stretch | None:
    """The stretch in which the row at `seq` would lie."""
    return next((one for one in reversed(line) if one.after < seq <= one.end), None)


def _anchor(line: tuple[Stretch, ...], at_seq: int) -> str:
    owner = _owner(line, at_seq)
    return line[0].tab_id if owner is None else owner.tab_id


def _refuse_inside_a_turn(connection: Connection, line: tuple[Stretch, ...], at_seq: int) -> None:
    """A fork begins at the end of a turn or just before a user row, or is refused."""
    if at_seq == 0:
        return
    last, following = (_row(connection, line, seq) for seq in (at_seq, at_seq + 1))
    if last is None:
        raise StoreError(
            "This conversation has no row at which a branch could begin there.",
            detail=f"{line[-1].tab_id}: {at_seq}",
        )
    if following is None:
        is_end = last[2] or not _is_worked_in(connection, line[-1].tab_id)
    else:
        is_end = last[2] or following[1] == "user" or following[0] != last[0]
    if not is_end:
        raise StoreError(
            "A branch can't begin in the middle of a turn.",
            way_out="Choose the end of a turn or one of your messages.",
            detail=f"{line[-1].tab_id}: {at_seq}",
        )


def _row(
    connection: Connection, line: tuple[Stretch, ...], seq: int
) -> tuple[str, str, bool] | None:
    """(turn, role, whether it ends a turn) of a row of the log."""
    owner = _owner(line, seq)
    if owner is None:
        return None
    row = connection.exec_driver_sql(_ROW, (owner.tab_id, seq)).first()
    return None if row is None else (row[0], row[1], bool(row[2]))


def _is_worked_in(connection: Connection, tab_id: str) -> bool:
    """Whether a turn may be running there: its last row is no turn's end then."""
    found = connection.exec_driver_sql("SELECT 1 FROM leases WHERE tab_id = ?", (tab_id,))
    return found.first() is not None


def _last_message_at(connection: Connection, line: tuple[Stretch, ...], at_seq: int) -> int | None:
    for one in reversed(line):
        found = connection.exec_driver_sql(
            _LAST_MESSAGE, (one.tab_id, min(at_seq, one.end))
        ).scalar_one_or_none()
        if found is not None:
            return found
    return None


def _title(connection: Connection, title: str, root: str, *, is_fork: bool) -> str:
    """The parent's title with the next number of its family; none for a tab without a name.

    A number at the end of a title that is no fork's belongs to the title.
    """
    if not title:
        return ""
    base, taken = title, 1
    found = _NUMBERED.fullmatch(title)
    if is_fork and found is not None:
        base, taken = found[1], int(found[2])
    for (other,) in connection.exec_driver_sql(_TITLES, (root,)):
        found = _NUMBERED.fullmatch(other)
        if found is not None and found[1] == base:
            taken = max(taken, int(found[2]))
    return f"{base} ({taken + 1})"


def read_branches(connection: Connection, *, tab_id: str) -> tuple[Branch, ...]:
    """The places at which the log of `tab_id` has a row and other living conversations another.

    Each way on is named once: by the tab itself where it goes that way, else by the conversation
    that holds its first row (or stands in for it). The oldest row is first, whoever looks.
    """
    line = lineage(connection, tab_id)
    ends = {one.tab_id: one.end for one in line}
    next_in_line = {(one.tab_id, one.end): child.tab_id for one, child in pairwise(line)}
    # By the last shared row: who holds a next one, each with its ordinal.
    places: dict[tuple[str, int], dict[str, int]] = {}
    for anchor, at_seq, fork_id, own, beside in connection.exec_driver_sql(_PARTINGS, (tab_id,)):
        if at_seq > ends[anchor]:
            continue
        members = places.setdefault((anchor, at_seq), {})
        members[fork_id] = own
        if beside is not None:
            members[anchor] = beside
    found: list[Branch] = []
    for (anchor, at_seq), members in sorted(places.items(), key=lambda one: one[0][1]):
        mine = next_in_line.get((anchor, at_seq), anchor)
        if mine not in members:
            continue  # the tab's own log has no row there
        named = {
            member: tab_id if member == mine else _stands_for(connection, member, at_seq + 1)
            for member in sorted(members, key=members.__getitem__)
        }
        tab_ids = tuple(one for one in named.values() if one is not None)
        if len(tab_ids) > 1:
            found.append(Branch(at_seq + 1, tab_ids))
    return tuple(found)


def _stands_for(connection: Connection, tab_id: str, seq: int) -> str | None:
    return connection.exec_driver_sql(_STAND_IN, (tab_id, seq)).scalar_one_or_none()
