"""One conversation's history for a reader that comes back: the tail, what is before, what is after.

After a connection was lost the rows after a cursor are exactly those that were not read yet, each
once (SPEC P09). Only sealed rows are history. Reading starts no provider and writes nothing, no
time of last activity either (SPEC P08).
"""

from collections.abc import Sequence

from desktop.core.chunks import DamagedRow, LogChunk
from desktop.core.cursor import MOST_ROWS, Cursor
from desktop.core.protocols import LogReader
from desktop.core.records import Page, TimelinePage


class AgentTimelineStore:
    """History by cursors, over what a backend reads.

    Every `limit` counts as at least 1 and at most `MOST_ROWS`: none is endless (SPEC P07).
    """

    def __init__(self, reader: LogReader) -> None:
        self._reader = reader

    async def tail(self, tab_id: str, *, limit: int) -> TimelinePage:
        page = await self._reader.page(tab_id, limit=_bounded(limit))
        return _answer(page.rows, page, at=Cursor())

    async def after(self, tab_id: str, cursor: Cursor, *, limit: int) -> TimelinePage:
        """The oldest rows after the cursor's; the flagged tail where that row is not there."""
        # The cursor's own row is read along, so that it is looked at in the same transaction.
        extra = min(max(cursor.seq, 0), 1)
        page = await self._reader.page(
            tab_id, limit=_bounded(limit) + extra, after=max(cursor.seq, 0) - extra
        )
        if extra and not _stands(page.rows[:1], cursor):
            return await self._reset(tab_id, limit)
        return _answer(page.rows[extra:], page, at=cursor, has_older=bool(extra))

    async def before(self, tab_id: str, cursor: Cursor, *, limit: int) -> TimelinePage:
        """The newest rows before the cursor's; the flagged tail where that row is not there."""
        limit = _bounded(limit)
        page = await self._reader.page(tab_id, limit=limit + 1, before=max(cursor.seq, 0) + 1)
        if cursor.seq > 0 and not _stands(page.rows[-1:], cursor):
            return await self._reset(tab_id, limit)
        rows = page.rows[:-1]
        return _answer(rows, page, at=cursor, has_newer=bool(page.rows) or page.has_newer)

    async def _reset(self, tab_id: str, limit: int) -> TimelinePage:
        page = await self._reader.page(tab_id, limit=_bounded(limit))
        return _answer(page.rows, page, at=Cursor(), is_reset=True)


def _bounded(limit: int) -> int:
    return min(max(limit, 1), MOST_ROWS)


def _stands(rows: Sequence[LogChunk | DamagedRow], cursor: Cursor) -> bool:
    """Whether the row that was read for the cursor is its row."""
    return any(row.seq == cursor.seq and cursor.row_id in ("", row.id) for row in rows)


def _answer(
    rows: Sequence[LogChunk | DamagedRow],
    page: Page,
    *,
    at: Cursor,
    has_older: bool | None = None,
    has_newer: bool | None = None,
    is_reset: bool = False,
) -> TimelinePage:
    return TimelinePage(
        rows=tuple(rows),
        first=Cursor(rows[0].seq, rows[0].id) if rows else at,
        last=Cursor(rows[-1].seq, rows[-1].id) if rows else at,
        has_older=page.has_older if has_older is None else has_older,
        has_newer=page.has_newer if has_newer is None else has_newer,
        is_reset=is_reset,
        revision=page.revision,
    )
