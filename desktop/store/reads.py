"""Reading a tab's rows: pages for views, whole conversations for agents.

Keyset only, never OFFSET. A fork is read through: its parent's rows up to the fork point, then its
own (DESIGN.md §5 "Branches"), all under the fork's own id. Each function is one read transaction.
"""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from desktop.core.chunks import DamagedRow, LogChunk, Stamp
from desktop.core.conversation import LoadedSession, split_dangling
from desktop.core.errors import UnknownConversation
from desktop.core.records import Page, RequestRecord, Requests
from desktop.store import codec
from desktop.store.blobs import Blobs
from desktop.store.connection import driver
from desktop.store.lanes import Lanes

logger = logging.getLogger(__name__)

NO_END = 2**62
# A damaged text would fail the whole read where SQLite's driver decodes it, so it comes as bytes.
ROW_COLUMNS = (
    "id, seq, turn_id, step, role, type, CAST(data_json AS BLOB), created_at, provider, model"
)
_OLDER = f"SELECT {ROW_COLUMNS} FROM chunks WHERE tab_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?"
_NEWER = (
    f"SELECT {ROW_COLUMNS} FROM chunks WHERE tab_id = ? AND seq > ? AND seq <= ?"
    " ORDER BY seq LIMIT ?"
)
_REVISION = "SELECT revision FROM conversation_session_revisions WHERE session_id = ?"
# From a tab up to its root, each with the place that it goes on from its parent at and the last one
# that is read of it; a ring in a damaged file ends where it closes.
_UPWARD = (
    "WITH RECURSIVE line(tab, parent, at_seq, end_seq) AS ("
    f"SELECT id, forked_from, coalesce(forked_at_seq, 0), {NO_END} FROM tabs"
    " WHERE id = ?1 AND purged_at IS NULL"
    " UNION SELECT t.id, t.forked_from, coalesce(t.forked_at_seq, 0), min(end_seq, at_seq)"
    " FROM line JOIN tabs t ON t.id = line.parent)"
)
_WITHIN = "FROM chunks WHERE tab_id = line.tab AND seq <= line.end_seq"
_BOUNDS = (
    "bounds(first_seq, last_seq, revision) AS MATERIALIZED ("
    f"SELECT coalesce(min((SELECT min(seq) {_WITHIN})), 0),"
    f" coalesce(max((SELECT max(seq) {_WITHIN})), 0), coalesce("
    "(SELECT revision FROM conversation_session_revisions WHERE session_id = ?1), 0) FROM line)"
)
_LINE = f"{_UPWARD} SELECT tab, parent, at_seq FROM line"
_HEAD = (
    f"{_UPWARD}, {_BOUNDS}"
    " SELECT tab, parent, at_seq, first_seq, last_seq, revision FROM line, bounds"
)
# Seqs have no holes, so the places of a page are known before its rows are: of ?2 rows, ?3 to ?5 as
# `before`, `after`, `around`. Each row brings along what a page says beside its rows.
_PAGE = (
    f"{_UPWARD}, {_BOUNDS}, span(low) AS MATERIALIZED (SELECT CASE"
    " WHEN ?5 IS NOT NULL THEN max(min(?5 - ?2 / 2, last_seq - ?2 + 1), first_seq)"
    " WHEN ?4 IS NOT NULL THEN ?4 + 1"
    " ELSE min(coalesce(?3 - 1, last_seq), last_seq) - ?2 + 1 END FROM bounds)"
    f" SELECT parent, first_seq, last_seq, revision, low, {ROW_COLUMNS}"
    " FROM bounds CROSS JOIN span CROSS JOIN line LEFT JOIN chunks"
    " ON tab_id = tab AND seq BETWEEN max(low, at_seq + 1) AND min(low + ?2 - 1, end_seq)"
)
_BESIDE = 5


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
    """The LogReader and RequestReader of a database."""

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

    async def requests(self, tab_id: str) -> Requests:
        return await self._lanes.read(partial(read_own_requests, tab_id=tab_id))

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
    """Raises UnknownConversation."""
    rows = driver(connection).execute(_HEAD, (tab_id,)).fetchall()
    return Head(_stretches(tab_id, rows), *rows[0][3:])


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


def newest_ordinal(connection: Connection) -> int:
    """Of the newest row of all conversations; 0 for an empty log."""
    (found,) = driver(connection).execute("SELECT max(ordinal) FROM chunks").fetchone()
    return found or 0


def read_page(
    connection: Connection,
    tab_id: str,
    *,
    limit: int,
    before: int | None = None,
    after: int | None = None,
    around: int | None = None,
) -> Page:
    """At most `limit` rows; unreadable ones come as DamagedRow. Attached texts stay in blobs.

    In one statement, unless a damaged log has holes.
    """
    limit = max(limit, 0)
    found = driver(connection).execute(_PAGE, (tab_id, limit, before, after, around)).fetchall()
    if not any(parent is None for parent, *_ in found):
        lineage(connection, tab_id)  # says what is missing
    _, first, last, revision, low = found[0][:_BESIDE]
    rows = [row[_BESIDE:] for row in found if row[_BESIDE] is not None]
    rows.sort(key=_seq)
    if len(rows) < min(low + limit - 1, last) - max(low, first) + 1:
        is_back = after is None and around is None
        read, place = (_older, low + limit) if is_back else (_newer, low - 1)
        rows = read(connection, lineage(connection, tab_id), place, limit)
    if rows:
        lower, upper = rows[0][1], rows[-1][1]
    else:
        lower = before if before is not None else (after or 0) + 1
        upper = lower - 1
    return Page(
        rows=tuple(codec.chunk_of(tab_id, row) for row in rows),
        total=last,
        has_older=0 < first < lower,
        has_newer=last > upper,
        revision=revision,
    )


def _seq(row: Sequence[Any]) -> int:
    return row[1]


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


def read_own_requests(connection: Connection, *, tab_id: str) -> Requests:
    """With the revision that they are of. Raises UnknownConversation."""
    lineage(connection, tab_id)
    return Requests(read_requests(connection, tab_id), read_revision(connection, tab_id))


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
