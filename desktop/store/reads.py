"""Reading a tab's rows: pages for views, whole conversations for agents.

Keyset only, never OFFSET. A fork is read through: its parent's rows up to the fork point, then its
own (DESIGN.md §5 "Branches"), all under the fork's own id. Each function is one read transaction.
"""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from desktop.core.chunks import DamagedRow, LogChunk, Stamp
from desktop.core.conversation import LoadedSession, split_dangling
from desktop.core.errors import UnknownConversation
from desktop.core.records import Page, RequestRecord
from desktop.store import codec
from desktop.store.blobs import Blobs
from desktop.store.connection import driver
from desktop.store.lanes import Lanes

logger = logging.getLogger(__name__)

# A damaged text would fail the whole read where SQLite's driver decodes it, so it comes as bytes.
ROW_COLUMNS = (
    "id, seq, turn_id, step, role, type, CAST(data_json AS BLOB), created_at, provider, model"
)
_OLDER = f"SELECT {ROW_COLUMNS} FROM chunks WHERE tab_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?"
_NEWER = (
    f"SELECT {ROW_COLUMNS} FROM chunks WHERE tab_id = ? AND seq > ? AND seq <= ?"
    " ORDER BY seq LIMIT ?"
)
_LOWEST = "SELECT min(seq) FROM chunks WHERE tab_id = ? AND seq <= ?"
_HIGHEST = "SELECT max(seq) FROM chunks WHERE tab_id = ? AND seq <= ?"
_REVISION = "SELECT revision FROM conversation_session_revisions WHERE session_id = ?"
NO_END = 2**62


# From a tab up to its root; a ring in a damaged file ends where it closes.
_UPWARD = (
    "WITH RECURSIVE line(id, forked_from, at) AS ("
    "SELECT id, forked_from, coalesce(forked_at_seq, 0) FROM tabs"
    " WHERE id = ?1 AND purged_at IS NULL"
    " UNION SELECT t.id, t.forked_from, coalesce(t.forked_at_seq, 0)"
    " FROM line JOIN tabs t ON t.id = line.forked_from)"
)
_LINE = f"{_UPWARD} SELECT id, forked_from, at FROM line"
# And where the log begins and ends, if the root and the tab have rows of their own, as they mostly
# do; its revision.
_HEAD = (
    f"{_UPWARD} SELECT id, forked_from, at, CASE WHEN forked_from IS NULL THEN"
    " (SELECT min(seq) FROM chunks WHERE tab_id = line.id) END, CASE WHEN id = ?1 THEN"
    " (SELECT max(seq) FROM chunks WHERE tab_id = line.id) END, CASE WHEN id = ?1 THEN"
    " (SELECT revision FROM conversation_session_revisions WHERE session_id = line.id) END"
    " FROM line"
)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A piece of a log: the rows of `tab_id` behind seq `after`, up to and with seq `end`."""

    tab_id: str
    after: int
    end: int


@dataclass(frozen=True, slots=True)
class Head:
    """What a log is made of, its first and its last seq (0 for an empty one), and its revision."""

    line: tuple[Stretch, ...]
    first: int
    last: int
    revision: int


class LogPages:
    """The LogReader of a database."""

    def __init__(self, lanes: Lanes, blobs: Blobs) -> None:
        self._lanes = lanes
        self._blobs = blobs

    async def page(
        self,
        tab_id: str,
        *,
        limit: int,
        before: int | None = None,
        after: int | None = None,
        around: int | None = None,
    ) -> Page:
        return await self._lanes.read(
            lambda connection: read_page(
                connection, tab_id, limit=limit, before=before, after=after, around=around
            )
        )

    async def revision(self, tab_id: str) -> int:
        return await self._lanes.read(lambda connection: read_head(connection, tab_id).revision)

    async def blob_path(self, sha256: str) -> Path | None:
        return await self._lanes.read(lambda _: self._blobs.path(sha256))


def lineage(connection: Connection, tab_id: str) -> tuple[Stretch, ...]:
    """The stretches that make the tab's log, oldest first; raises UnknownConversation.

    A purged conversation is unknown; what forks of it read is still there for them.
    """
    return _stretches(tab_id, driver(connection).execute(_LINE, (tab_id,)).fetchall())


def read_head(connection: Connection, tab_id: str) -> Head:
    """In one statement, mostly; raises UnknownConversation."""
    rows = driver(connection).execute(_HEAD, (tab_id,)).fetchall()
    line = _stretches(tab_id, rows)
    lowest, highest, revision = rows[-1][3], rows[0][4], rows[0][5] or 0
    first = lowest if _is_in(line[0], lowest) else _first_of(connection, line[1:], _LOWEST)
    last = highest or _first_of(connection, line[-2::-1], _HIGHEST)
    return Head(line, first, last if first else 0, revision)


def _is_in(stretch: Stretch, seq: int | None) -> bool:
    return seq is not None and seq <= stretch.end


def _stretches(tab_id: str, rows: Sequence[Sequence[Any]]) -> tuple[Stretch, ...]:
    missing = rows[-1][1] if rows else tab_id
    if missing is not None:
        raise UnknownConversation("No conversation has this id.", detail=missing)
    found: list[Stretch] = []
    end = NO_END
    for id_, _, at_seq, *_ in rows:
        found.append(Stretch(id_, at_seq, end))
        end = min(end, at_seq)
    return tuple(reversed(found))


def read_revision(connection: Connection, tab_id: str) -> int:
    """0 for a tab that nothing was written to."""
    found = driver(connection).execute(_REVISION, (tab_id,)).fetchone()
    return found[0] if found else 0


def read_page(
    connection: Connection,
    tab_id: str,
    *,
    limit: int,
    before: int | None = None,
    after: int | None = None,
    around: int | None = None,
) -> Page:
    """At most `limit` rows; unreadable ones come as DamagedRow. Attached texts stay in blobs."""
    head = read_head(connection, tab_id)
    if around is not None:
        after = _before_half(head, around, limit)
    if after is not None:
        rows = _newer(connection, head.line, after, limit)
    else:
        rows = _older(connection, head.line, NO_END if before is None else before, limit)
    if rows:
        lower, upper = rows[0][1], rows[-1][1]
    else:
        lower = before if before is not None else (after or 0) + 1
        upper = lower - 1
    return Page(
        rows=tuple(codec.chunk_of(tab_id, row) for row in rows),
        total=head.last,
        has_older=0 < head.first < lower,
        has_newer=head.last > upper,
        revision=head.revision,
    )


def read_session(connection: Connection, tab_id: str, blobs: Blobs) -> LoadedSession:
    """The whole conversation, attached texts included; damaged rows are left out and counted."""
    chunks: list[LogChunk] = []
    damaged = 0
    for row in _newer(connection, lineage(connection, tab_id), 0, NO_END):
        chunk = codec.chunk_of(tab_id, row, blobs.text)
        if isinstance(chunk, DamagedRow):
            damaged += 1
            logger.warning("Row %d of %s can't be read", chunk.seq, tab_id)
        else:
            chunks.append(chunk)
    return replace(split_dangling(chunks), damaged=damaged)


def read_stamp(connection: Connection, tab_id: str) -> Stamp | None:
    """The last stamp of the log (SPEC S11)."""
    for stretch in reversed(lineage(connection, tab_id)):
        row = connection.exec_driver_sql(
            "SELECT provider, model FROM chunks WHERE tab_id = ? AND seq <= ?"
            " AND (provider IS NOT NULL OR model IS NOT NULL) ORDER BY seq DESC LIMIT 1",
            (stretch.tab_id, stretch.end),
        ).first()
        if row is not None:
            return Stamp(row[0] or "", row[1] or "")
    return None


def read_requests(connection: Connection, tab_id: str) -> tuple[RequestRecord, ...]:
    """The tab's own requests, in the order they were started."""
    rows = connection.exec_driver_sql(
        "SELECT id, turn_id, step, provider, model, started_at, message_id, stop_reason,"
        " usage_json, error_json, ended_at, cache_json FROM model_requests WHERE tab_id = ?"
        " ORDER BY rowid",
        (tab_id,),
    ).all()
    return tuple(_request_of(tab_id, row) for row in rows)


def _request_of(tab_id: str, row: Any) -> RequestRecord:
    return RequestRecord(
        id=row[0],
        tab_id=tab_id,
        turn_id=row[1],
        step=row[2],
        provider=row[3],
        model=row[4],
        started_at=row[5],
        message_id=row[6],
        stop_reason=row[7],
        usage=_object(row[8]),
        error=_object(row[9]),
        ended_at=row[10],
        cache=_object(row[11]),
    )


def _object(text: str | None) -> dict[str, Any] | None:
    """A record's JSON; a damaged one counts as none, for a conversation is more than its bill."""
    if text is None:
        return None
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _older(
    connection: Connection, line: Sequence[Stretch], before: int, limit: int
) -> list[Sequence[Any]]:
    found: list[Sequence[Any]] = []
    for stretch in reversed(line):
        if len(found) >= limit:
            break
        if stretch.after < before - 1:
            found += driver(connection).execute(
                _OLDER, (stretch.tab_id, min(before, stretch.end + 1), limit - len(found))
            )
    found.reverse()
    return found


def _newer(
    connection: Connection, line: Sequence[Stretch], after: int, limit: int
) -> list[Sequence[Any]]:
    found: list[Sequence[Any]] = []
    for stretch in line:
        if len(found) >= limit:
            break
        if stretch.end > after:
            found += driver(connection).execute(
                _NEWER, (stretch.tab_id, after, stretch.end, limit - len(found))
            )
    return found


def _before_half(head: Head, around: int, limit: int) -> int:
    """The seq after which `limit` rows have a place in their middle, or reach to the log's end."""
    return max(min(around - limit // 2, head.last - limit + 1), head.first) - 1


def _first_of(connection: Connection, line: Sequence[Stretch], sql: str) -> int:
    """The answer of the first stretch that has rows; 0 where none has."""
    for stretch in line:
        (found,) = driver(connection).execute(sql, (stretch.tab_id, stretch.end)).fetchone()
        if found is not None:
            return found
    return 0
