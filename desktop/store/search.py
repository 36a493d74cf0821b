"""Finding rows by what a person types: the full-text index first, a plain look where it can't help.

Whatever is typed is words, never an operator, and never an error (FIELD F-I04). Hits come newest
first, because ranking by relevance reads every hit of a common word. The index splits text at
everything that is neither letter nor number, so `src/main.py` is the phrase *src main py*. What it
can't find are signs alone, a piece of a word, and words in scripts without spaces, which it keeps
as one run: those are looked for letter by letter, a slice of rows at a time.
"""

import re
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

from sqlalchemy import Connection

from desktop.core.chunks import LogChunk
from desktop.core.records import (
    EVERYTHING,
    FoundRows,
    SearchFilter,
    SearchHit,
    SearchPage,
    SearchPlace,
    tool_of,
)
from desktop.store.codec import search_text
from desktop.store.connection import driver
from desktop.store.lanes import Lanes
from desktop.store.reads import newest_ordinal
from desktop.store.search_conditions import FIELDS, Conditions
from desktop.store.search_query import Query, parse
from desktop.store.search_texts import (
    CLOSE,
    OPEN,
    SNIPPET_WORDS,
    Found,
    Marks,
    any_blanks,
    around,
    decoded,
    holding,
    marked,
    matching,
)
from desktop.store.searching_within import Wanted, look

# Rows that one look without the index reads at most; so many of 1 KiB take some 15 ms.
SLICE = 4_000
# Rows that the index names, of which one page asks whether the filter takes them. What they cost is
# little beside what the index takes to name the first one, where what was typed is a prefix.
NAMED = 10_000
# The newest rows that a prefix is tried on first, and how much text of them.
NEWEST_ROWS = 200
NEWEST_LETTERS = 256 * 1024
_NO_END = 2**62
_SIGN_OF_LIKE = re.compile(r"[%_\\]")
_ESCAPED = r"\\\g<0>"

# The order of these joins is kept: what is found leads, the rest is looked up for each hit.
_JOINED = (
    "{kind} JOIN tabs t ON t.id = {only.tab} {kind} JOIN workspaces w ON w.id = t.workspace_id"
)
_ASKED = _JOINED.replace("{kind}", "CROSS")
_ANY = _JOINED.replace("{kind}", "LEFT")
# Texts come as bytes: a damaged one would otherwise fail the whole search. What is not asked for
# comes without one: the rows that were looked at are counted as they are read.
_INDEXED = (
    "SELECT c.ordinal, CASE WHEN {only.sql}"
    f" THEN CAST(snippet(chunks_search, 0, ?, ?, '…', {SNIPPET_WORDS}) AS BLOB) END"
    f" FROM chunks_search CROSS JOIN chunks c ON c.ordinal = chunks_search.rowid {_ANY}"
    " WHERE chunks_search MATCH ? AND chunks_search.rowid < ?"
    " ORDER BY chunks_search.rowid DESC"
)
_ROW = f"SELECT {FIELDS} FROM chunks c {_ASKED} WHERE c.ordinal = ?"
_LOOKED = (
    f"SELECT {FIELDS}, CAST(c.search_text AS BLOB) FROM chunks c {_ASKED}"
    " WHERE c.ordinal < ? AND c.ordinal > ? AND {only.sql} AND {text}"
    " ORDER BY c.ordinal DESC LIMIT ?"
)


class SqlSearch:
    """The Search of a database, on a lane of its own: pages never wait behind a long search."""

    def __init__(self, lanes: Lanes) -> None:
        self._lanes = lanes

    async def find(
        self,
        text: str,
        *,
        limit: int,
        place: SearchPlace | None = None,
        only: SearchFilter = EVERYTHING,
    ) -> SearchPage:
        """At most `limit` hits older than `place`; a cancelled search stops in its middle."""
        query = parse(text)
        if not query.words or limit < 1:
            return SearchPage()
        read = partial(read_hits, query=query, limit=limit, place=place, only=Conditions.of(only))
        if place is not None:
            return await self._lanes.search(read)
        return await self._lanes.search(
            lambda connection: replace(read(connection), newest=newest_ordinal(connection))
        )

    async def newest(self) -> int:
        return await self._lanes.read(newest_ordinal)

    async def among(
        self, rows: Sequence[tuple[int, LogChunk]], text: str, *, only: SearchFilter = EVERYTHING
    ) -> tuple[SearchHit, ...]:
        return await self._lanes.search(lambda _: hits_among(rows, parse(text), only))

    async def within(self, tab_id: str, text: str, *, place: int | None = None) -> FoundRows:
        wanted = Wanted.of(text)
        if wanted is None:
            return FoundRows()
        return await self._lanes.search(
            partial(look, tab_id=tab_id, wanted=wanted, end=_NO_END if place is None else place)
        )


def hits_among(
    rows: Sequence[tuple[int, LogChunk]], query: Query, only: SearchFilter
) -> tuple[SearchHit, ...]:
    """As `Search.among`. Words that the index can't find are looked for letter by letter."""
    taken = {
        ordinal: (row, text)
        for ordinal, row in rows
        if only.takes(row) and (text := search_text(row.data)) is not None
    }
    texts = {ordinal: text for ordinal, (_, text) in taken.items()}
    if not texts or not query.words:
        return ()
    found = (
        matching(query.match, texts, len(texts))
        if query.match
        else holding(query.words, texts, len(texts))
    )
    return tuple(hit_of(taken[one.key][0], one) for one in found)


def hit_of(row: LogChunk, found: Found) -> SearchHit:
    """What the row is found by; where its conversation is to be found stands in the catalogue."""
    return SearchHit(
        ordinal=found.key,
        tab_id=row.tab_id,
        title="",
        directory="",
        seq=row.seq,
        role=row.role,
        type=row.type,
        created_at=row.created_at,
        snippet=found.snippet,
        marks=found.marks,
        tool=tool_of(row),
    )


def read_hits(
    connection: Connection,
    *,
    query: Query,
    limit: int,
    place: SearchPlace | None,
    only: Conditions,
) -> SearchPage:
    """One page; where the index knows nothing at all, rows are looked through."""
    if query.match and not (place and place.is_looking):
        if query.match.endswith("*"):
            found = _by_newest(connection, query, limit, place, only)
            if found is not None:
                return found
        found = _by_index(connection, query.match, limit, place, only)
        if found.hits or found.next or place is not None:
            return found
    return _by_looking(connection, query.words, limit, place, only)


def _by_index(
    connection: Connection, match: str, limit: int, place: SearchPlace | None, only: Conditions
) -> SearchPage:
    """Of the rows that the index names, at most NAMED are asked whether the filter takes them."""
    before = place.ordinal if place else _NO_END
    values = (*only.values, OPEN, CLOSE, match, before)
    found: list[tuple[int, bytes]] = []
    ordinal, is_cut = before, False
    with closing(driver(connection).execute(_INDEXED.format(only=only), values)) as rows:
        for looked, (ordinal, snippet) in enumerate(rows, 1):
            if snippet is not None:
                found.append((ordinal, snippet))
            if is_cut := len(found) > limit or looked == NAMED:
                break
    hits = tuple(_of_index(connection, only, *one) for one in found[:limit])
    if len(found) > limit:
        ordinal = hits[-1].ordinal
    return SearchPage(hits, SearchPlace(ordinal) if is_cut else None)


def _of_index(connection: Connection, only: Conditions, ordinal: int, snippet: bytes) -> SearchHit:
    row = driver(connection).execute(_ROW.format(only=only), (ordinal,)).fetchone()
    return _hit(row, *marked(decoded(snippet)))


def _by_newest(
    connection: Connection, query: Query, limit: int, place: SearchPlace | None, only: Conditions
) -> SearchPage | None:
    """A page from the newest rows alone, where they fill it.

    For a prefix the index gathers every hit before it gives the first one: hundreds of
    milliseconds where a million rows match. Such a prefix fills its page from a few rows, which a
    small index of the same kind answers in the same way.
    """
    newest = _newest(connection, place)
    rows: dict[int, Any] = {}
    last = query.words[-1]
    # A text of ASCII letters holds the prefix as typed or not at all; others go to the index.
    prefix = re.split(r"[\W_]+", last)[-1].lower() if last.isascii() else ""
    letters = 0
    with closing(
        driver(connection).execute(
            _LOOKED.format(only=only, text="c.search_text IS NOT NULL"),
            (newest + 1, newest - SLICE, *only.values, NEWEST_ROWS),
        )
    ) as found:
        while letters < NEWEST_LETTERS and len(rows) < 2 * (limit + 1):
            row = found.fetchone()
            if row is None:
                break
            letters += len(row[-1])
            if not row[-1].isascii() or prefix.encode() in row[-1].lower():
                rows[row[0]] = row
    if len(rows) <= limit:
        return None
    texts = {ordinal: decoded(row[-1]) for ordinal, row in rows.items()}
    hits = matching(query.match, texts, limit + 1)
    if len(hits) <= limit:
        return None
    shown = tuple(_hit(rows[one.key], one.snippet, one.marks) for one in hits[:limit])
    return SearchPage(shown, SearchPlace(shown[-1].ordinal))


def _by_looking(
    connection: Connection,
    words: tuple[str, ...],
    limit: int,
    place: SearchPlace | None,
    only: Conditions,
) -> SearchPage:
    """Looks through one slice; the page may be empty and still not be the last."""
    newest = _newest(connection, place)
    oldest = newest - SLICE
    like = " AND ".join("c.search_text LIKE ? ESCAPE '\\'" for _ in words)
    values = (newest + 1, oldest, *only.values, *map(_like, words), limit + 1)
    rows = driver(connection).execute(_LOOKED.format(only=only, text=like), values).fetchall()
    wanted = re.compile("|".join(map(any_blanks, words)), re.IGNORECASE)
    hits = tuple(_hit(row, *around(decoded(row[-1]), wanted)) for row in rows[:limit])
    if len(rows) > limit:
        return SearchPage(hits, SearchPlace(rows[limit - 1][0], is_looking=True))
    has_older = connection.exec_driver_sql(
        "SELECT EXISTS (SELECT 1 FROM chunks WHERE ordinal <= ?)", (oldest,)
    ).scalar_one()
    return SearchPage(hits, SearchPlace(oldest + 1, is_looking=True) if has_older else None)


def _newest(connection: Connection, place: SearchPlace | None) -> int:
    """The newest row that comes next; 0 where there is none."""
    before = place.ordinal if place else _NO_END
    found = connection.exec_driver_sql(
        "SELECT max(ordinal) FROM chunks WHERE ordinal < ?", (before,)
    )
    return found.scalar_one() or 0


def _like(phrase: str) -> str:
    """The words of a phrase in their order; what stands between them is not looked at."""
    return "%" + "%".join(_SIGN_OF_LIKE.sub(_ESCAPED, word) for word in phrase.split()) + "%"


def _hit(row: Any, snippet: str, marks: Marks) -> SearchHit:
    ordinal, tab_id, title, directory, seq, role, type_, created_at, shelf, tool, *_ = row
    return SearchHit(
        ordinal=ordinal,
        tab_id=tab_id,
        title=title,
        directory=directory,
        seq=seq,
        role=role,
        type=type_,
        created_at=created_at,
        snippet=snippet,
        marks=marks,
        shelf=shelf,
        tool=decoded(tool or b""),
    )
