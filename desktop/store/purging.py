"""Emptying the bin: a conversation's rows go for good, but never one that a fork still reads.

What is left to do is a function of the tables alone (`purged_at`, and what forks need), so a purge
that was killed at any point goes on where it stood. It is done in slices, each a write transaction
of some 20 ms with a pause after it, so that other writers get in. A log goes from its end: what is
left of it has no gaps at any moment.
"""

import asyncio
import time
from collections.abc import Callable
from functools import partial

from sqlalchemy import Connection

from desktop.core.errors import StoreError, UnknownConversation
from desktop.store.lanes import Lanes
from desktop.store.merging import merge

# How long a slice should hold the write lock, its commit included.
SLICE_SECONDS = 0.016
# So many slices leave so many pieces in the search index; SQLite would merge sixty-four at once.
SLICES_BEFORE_MERGE = 16
MERGE_PAGES = 64
# A row weighs its letters, which are taken out of the search index, and so much beside them.
ROW_WEIGHT = 1_000
FIRST_WEIGHT, LEAST_WEIGHT = 30_000, 3_000
# By how much the weight of a slice changes at most from one to the next.
SHRINK, GROW = 0.5, 1.25

_STATE = "SELECT trashed_at, purged_at FROM tabs WHERE id = ?"
_MARK = (
    "WITH RECURSIVE gone(id) AS (SELECT ?1 UNION SELECT t.id FROM gone JOIN tabs t"
    " ON t.parent_tab_id = gone.id)"
    " UPDATE tabs SET purged_at = ?2, is_open = 0, title = ''"
    " WHERE id IN (SELECT id FROM gone) AND purged_at IS NULL RETURNING id"
)
# What stands beside the rows and is small. Requests are many: they go in slices.
_BESIDE = (
    ("drafts", "tab_id"),
    ("queued_messages", "tab_id"),
    ("view_state", "tab_id"),
    ("leases", "tab_id"),
    ("agent_snapshots", "agent_id"),
)
# Those of rows that forks still read stay with them.
_BOOKMARKS = (
    "DELETE FROM bookmarks WHERE tab_id = ?1 AND seq >"
    " coalesce((SELECT max(forked_at_seq) FROM tabs WHERE forked_from = ?1), 0)"
)
# A purged tab with something left to remove: subagents before their parents, forks before theirs.
_NEXT = (
    "SELECT gone.id, need, is_needed FROM (SELECT p.id, p.parent_tab_id, p.created_at,"
    " coalesce((SELECT max(f.forked_at_seq) FROM tabs f WHERE f.forked_from = p.id), 0) AS need,"
    " EXISTS (SELECT 1 FROM tabs f WHERE f.forked_from = p.id)"
    " OR EXISTS (SELECT 1 FROM tabs s WHERE s.parent_tab_id = p.id) AS is_needed"
    " FROM tabs p WHERE p.purged_at IS NOT NULL) gone WHERE NOT is_needed"
    " OR EXISTS (SELECT 1 FROM chunks c WHERE c.tab_id = gone.id AND c.seq > need)"
    " OR EXISTS (SELECT 1 FROM model_requests r WHERE r.tab_id = gone.id)"
    " ORDER BY parent_tab_id IS NULL, created_at DESC, gone.id LIMIT 1"
)
_LAST_ROWS = (
    "SELECT seq, coalesce(length(search_text), 0) FROM chunks WHERE tab_id = ? AND seq > ?"
    " ORDER BY seq DESC LIMIT ?"
)
_ROWS = "DELETE FROM chunks WHERE tab_id = ? AND seq >= ?"
_REQUESTS = (
    "DELETE FROM model_requests WHERE rowid IN"
    " (SELECT rowid FROM model_requests WHERE tab_id = ? LIMIT ?)"
)


class Purging:
    """The purges of one log; `clock` in seconds. `count` says how many slices deleted something.

    `told` gets how long each slice and merge held the write lock.
    """

    def __init__(
        self,
        lanes: Lanes,
        *,
        clock: Callable[[], float] = time.perf_counter,
        told: Callable[[float], None] | None = None,
    ) -> None:
        self._lanes = lanes
        self._clock = clock
        self._told = told
        self._weight = float(FIRST_WEIGHT)
        self.count = 0

    async def purge(self, tab_id: str, *, now: int) -> None:
        """Deletes a conversation in the bin and returns when it is gone. Raises StoreError."""
        await self._lanes.write(partial(mark, tab_id=tab_id, now=now))
        while await self.go_on():
            pass

    async def go_on(self, seconds: float = 1.0) -> bool:
        """Goes on with whatever purge is not at its end, for a while; whether there is more."""
        end = self._clock() + seconds
        slices = 0
        while await self._lanes.read(has_more):
            if self._clock() > end:
                return True
            if slices % SLICES_BEFORE_MERGE == 0:
                while await self._merge():
                    pass
            await self._slice()
            slices += 1
        return False

    async def _slice(self) -> None:
        took = await self._timed(partial(delete_some, weight=int(self._weight)))
        change = min(max(SLICE_SECONDS / took, SHRINK), GROW)
        self._weight = max(self._weight * change, LEAST_WEIGHT)
        self.count += 1
        await asyncio.sleep(took)

    async def _merge(self) -> bool:
        """One step of merging what the slices left; whether there is more."""
        is_more = False

        def job(connection: Connection) -> None:
            nonlocal is_more
            is_more = merge(connection, pages=MERGE_PAGES)

        await asyncio.sleep(await self._timed(job))
        return is_more

    async def _timed(self, job: Callable[[Connection], None]) -> float:
        """Runs a job; how long it and its commit held the write lock (and the loop was busy)."""
        began = 0.0

        def timed(connection: Connection) -> None:
            nonlocal began
            began = self._clock()
            job(connection)

        await self._lanes.write(timed)
        took = self._clock() - began
        if self._told is not None:
            self._told(took)
        return took


def mark(connection: Connection, *, tab_id: str, now: int) -> None:
    """From here on the conversation, with its subagents', is gone for everyone but its forks."""
    state = connection.exec_driver_sql(_STATE, (tab_id,)).first()
    if state is None:
        raise UnknownConversation("No conversation has this id.", detail=tab_id)
    trashed_at, purged_at = state
    if trashed_at is None and purged_at is None:
        raise StoreError(
            "Only a conversation that is in the bin can be deleted for good.",
            way_out="Put it into the bin first.",
            detail=tab_id,
        )
    for id_ in connection.exec_driver_sql(_MARK, (tab_id, now)).scalars().all():
        for table, column in _BESIDE:
            connection.exec_driver_sql(f"DELETE FROM {table} WHERE {column} = ?", (id_,))
        connection.exec_driver_sql(_BOOKMARKS, (id_,))


def has_more(connection: Connection) -> bool:
    """Whether a purge is not at its end."""
    return connection.exec_driver_sql(_NEXT).first() is not None


def delete_some(connection: Connection, *, weight: int) -> None:
    """One slice: rows from a log's end, then its requests, then the tab, as the weight allows.

    Few statements: each one that deletes rows leaves a piece in the search index.
    """
    while weight > 0 and (found := connection.exec_driver_sql(_NEXT).first()):
        tab_id, need, is_needed = found
        done = _delete_rows(connection, tab_id, need, weight)
        done = done or _delete_requests(connection, tab_id, weight)
        if not done and not is_needed:
            connection.exec_driver_sql("DELETE FROM tabs WHERE id = ?", (tab_id,))
        weight -= max(done, ROW_WEIGHT)


def _delete_rows(connection: Connection, tab_id: str, need: int, weight: int) -> int:
    """Deletes from the end what `weight` allows, at least one row; the weight of what went."""
    first, done = None, 0
    last_rows = connection.exec_driver_sql(
        _LAST_ROWS, (tab_id, need, weight // ROW_WEIGHT + 1)
    ).all()
    for seq, letters in last_rows:
        first, done = seq, done + letters + ROW_WEIGHT
        if done >= weight:
            break
    if first is not None:
        connection.exec_driver_sql(_ROWS, (tab_id, first))
    return done


def _delete_requests(connection: Connection, tab_id: str, weight: int) -> int:
    count = weight // ROW_WEIGHT + 1
    return ROW_WEIGHT * connection.exec_driver_sql(_REQUESTS, (tab_id, count)).rowcount
