"""Reading a page of a tab's rows, by SQLite's own module alone (`plain`).

Keyset only, never OFFSET. A fork is read through: its parent's rows up to the fork point, then its
own (DESIGN.md §5 "Branches"), all under the fork's own id.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from desktop.core.errors import UnknownConversation
from desktop.core.records import Page
from desktop.store import codec

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


def lineage(connection: sqlite3.Connection, tab_id: str) -> tuple[Stretch, ...]:
    """The stretches that make the tab's log, oldest first; raises UnknownConversation.

    A purged conversation is unknown; what forks of it read is still there for them.
    """
    return _stretches(tab_id, connection.execute(_LINE, (tab_id,)).fetchall())


def read_head(connection: sqlite3.Connection, tab_id: str) -> Head:
    """Raises UnknownConversation."""
    rows = connection.execute(_HEAD, (tab_id,)).fetchall()
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


def read_page(
    connection: sqlite3.Connection,
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
    found = connection.execute(_PAGE, (tab_id, limit, before, after, around)).fetchall()
    if not any(parent is None for parent, *_ in found):
        lineage(connection, tab_id)  # says what is missing
    _, first, last, revision, low = found[0][:_BESIDE]
    rows = [row[_BESIDE:] for row in found if row[_BESIDE] is not None]
    rows.sort(key=_seq)
    if len(rows) < min(low + limit - 1, last) - max(low, first) + 1:
        is_back = after is None and around is None
        read, place = (older, low + limit) if is_back else (newer, low - 1)
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


def older(
    connection: sqlite3.Connection, line: Sequence[Stretch], before: int, limit: int
) -> list[Sequence[Any]]:
    found: list[Sequence[Any]] = []
    for stretch in reversed(line):
        if len(found) >= limit:
            break
        if stretch.after < before - 1:
            found += connection.execute(
                _OLDER, (stretch.tab_id, min(before, stretch.end + 1), limit - len(found))
            )
    found.reverse()
    return found


def newer(
    connection: sqlite3.Connection, line: Sequence[Stretch], after: int, limit: int
) -> list[Sequence[Any]]:
    found: list[Sequence[Any]] = []
    for stretch in line:
        if len(found) >= limit:
            break
        if stretch.end > after:
            found += connection.execute(
                _NEWER, (stretch.tab_id, after, stretch.end, limit - len(found))
            )
    return found
