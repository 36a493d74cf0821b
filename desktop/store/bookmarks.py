"""Rows that a person wants to find again. A bookmark is the row's own: it stands with the
conversation that holds the row, and whoever reads the row, a fork through its parent too, has it
(decision 27)."""

from collections.abc import Callable
from functools import partial

from sqlalchemy import Connection

from desktop.core.errors import StoreError
from desktop.store.lanes import Lanes
from desktop.store.pages import Stretch
from desktop.store.reads import lineage

_OF = "SELECT seq FROM bookmarks WHERE tab_id = ? AND seq > ? AND seq <= ?"
_SET = (
    "INSERT INTO bookmarks(tab_id, seq, note, created_at) VALUES (?, ?, '', ?)"
    " ON CONFLICT DO NOTHING"
)
_TAKE = "DELETE FROM bookmarks WHERE tab_id = ? AND seq = ?"
_MOVED = "UPDATE catalogue_revision SET revision = revision + 1"


class Bookmarks:
    """The bookmarks of a database, those of conversations that are kept as files among them."""

    def __init__(self, lanes: Lanes, *, now_ms: Callable[[], int]) -> None:
        self._lanes = lanes
        self._now_ms = now_ms

    async def of(self, tab_id: str) -> frozenset[int]:
        return await self._lanes.read(partial(read_bookmarks, tab_id=tab_id))

    async def set(self, tab_id: str, seq: int, *, is_set: bool) -> None:
        now = self._now_ms() if is_set else None
        await self._lanes.write(partial(set_bookmark, tab_id=tab_id, seq=seq, now=now))


def read_bookmarks(connection: Connection, *, tab_id: str) -> frozenset[int]:
    """The seqs that are bookmarked in the log as it is read."""
    return frozenset(
        seq
        for one in lineage(connection, tab_id)
        for (seq,) in connection.exec_driver_sql(_OF, (one.tab_id, one.after, one.end))
    )


def set_bookmark(connection: Connection, *, tab_id: str, seq: int, now: int | None) -> None:
    """Sets the row's bookmark, or takes it away where there is no `now`."""
    holder = _holder(lineage(connection, tab_id), seq)
    job = (_TAKE, (holder, seq)) if now is None else (_SET, (holder, seq, now))
    if connection.exec_driver_sql(*job).rowcount > 0:
        connection.exec_driver_sql(_MOVED)


def _holder(line: tuple[Stretch, ...], seq: int) -> str:
    for one in line:
        if one.after < seq <= one.end:
            return one.tab_id
    raise StoreError("There is no such row.", detail=str(seq))
