"""Reading a tab's rows: pages for views, whole conversations for agents (`pages`).

Each function is one read transaction.
"""

import json
import logging
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from desktop.core.chunks import DamagedRow, LogChunk, Stamp
from desktop.core.conversation import LoadedSession, split_dangling
from desktop.core.records import Page, RequestRecord, Requests
from desktop.store import codec, pages
from desktop.store.blobs import Blobs
from desktop.store.connection import driver
from desktop.store.lanes import Lanes
from desktop.store.pages import Stretch

logger = logging.getLogger(__name__)

_REVISION = "SELECT revision FROM conversation_session_revisions WHERE session_id = ?"


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
            lambda connection: pages.read_page(
                driver(connection), tab_id, limit=limit, before=before, after=after, around=around
            )
        )

    async def requests(self, tab_id: str) -> Requests:
        return await self._lanes.read(partial(read_own_requests, tab_id=tab_id))

    async def revision(self, tab_id: str) -> int:
        return await self._lanes.read(
            lambda connection: pages.read_head(driver(connection), tab_id).revision
        )

    async def blob_path(self, sha256: str) -> Path | None:
        return await self._lanes.read(lambda _: self._blobs.path(sha256))


def lineage(connection: Connection, tab_id: str) -> tuple[Stretch, ...]:
    """As `pages.lineage`."""
    return pages.lineage(driver(connection), tab_id)


def read_revision(connection: Connection, tab_id: str) -> int:
    """0 for a tab that nothing was written to."""
    found = driver(connection).execute(_REVISION, (tab_id,)).fetchone()
    return found[0] if found else 0


def newest_ordinal(connection: Connection) -> int:
    """Of the newest row of all conversations; 0 for an empty log."""
    (found,) = driver(connection).execute("SELECT max(ordinal) FROM chunks").fetchone()
    return found or 0


def read_session(connection: Connection, tab_id: str, blobs: Blobs) -> LoadedSession:
    """The whole conversation, attached texts included; damaged rows are left out and counted."""
    chunks: list[LogChunk] = []
    damaged = 0
    for row in pages.newer(driver(connection), lineage(connection, tab_id), 0, pages.NO_END):
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
