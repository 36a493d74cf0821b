"""Reading the outline of a conversation: its prompts and bookmarked rows, a keyset page at a time.

Only rows that say something of the outline are decoded; of the others no more than their kind is
looked at, and never more than a slice of them, so that one read takes some milliseconds whatever
the conversation is like. A piece without a heading therefore does not mean that there is none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection

from desktop.core.outline import Gathering, Piece, Sought
from desktop.store import codec
from desktop.store.connection import driver
from desktop.store.lanes import Lanes
from desktop.store.pages import ROW_COLUMNS, Stretch, read_head
from desktop.store.searching_within import SLICE, Wanted

_PROMPT = "role = 'user' AND type = 'text'"
_TELLING = (
    f"SELECT {ROW_COLUMNS} FROM chunks WHERE tab_id = ? AND seq >= ? AND seq <= ?"
    f" AND (type = 'system' OR (({_PROMPT}) OR seq IN (SELECT value FROM json_each(?)))"
    " AND (? IS NULL OR search_text LIKE ? ESCAPE '\\'))"
    " ORDER BY seq DESC"
)
_PROMPTS_FROM = (
    f"SELECT seq FROM chunks WHERE tab_id = ? AND seq >= ? AND seq <= ? AND {_PROMPT}"
    " ORDER BY seq LIMIT ?"
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a reader asks for, as `OutlineReader.piece`."""

    limit: int
    before: int | None = None
    after: int | None = None
    around: int | None = None
    bookmarks: frozenset[int] = frozenset()
    text: str = ""

    @property
    def wanted(self) -> Wanted | None:
        return Wanted.of(self.text)

    @property
    def sought(self) -> Sought:
        """After a place everything up to the span's end is wanted: the span counts the prompts."""
        limit = self.limit if self.after is None else SLICE
        wanted = self.wanted
        if wanted is None:
            return Sought(limit, self.bookmarks)
        return Sought(
            limit,
            self.bookmarks,
            lambda data: wanted.stands_in(codec.search_text(data) or ""),
        )

    @property
    def ahead(self) -> tuple[int, int] | None:
        """From which row on how many prompts are to be had before the piece ends; None where it
        ends at a known row."""
        if self.after is not None:
            return self.after + 1, self.limit
        return None if self.around is None else (self.around, self.limit // 2 + 1)


class SqlOutline:
    """The OutlineReader of a database."""

    def __init__(self, lanes: Lanes) -> None:
        self._lanes = lanes

    async def revision(self, tab_id: str) -> int:
        return await self._lanes.read(
            lambda connection: read_head(driver(connection), tab_id).revision
        )

    async def piece(
        self,
        tab_id: str,
        *,
        limit: int,
        before: int | None = None,
        after: int | None = None,
        around: int | None = None,
        bookmarks: frozenset[int] = frozenset(),
        text: str = "",
    ) -> Piece:
        asked = Asked(limit, before, after, around, bookmarks, text)
        # Looking for a text takes longer: no page waits behind it.
        lane = self._lanes.search if asked.wanted is not None else self._lanes.read
        return await lane(partial(read_piece, tab_id=tab_id, asked=asked))


def read_piece(connection: Connection, tab_id: str, asked: Asked) -> Piece:
    """One piece, as `OutlineReader.piece`. Raises UnknownConversation."""
    head = read_head(driver(connection), tab_id)
    line, lowest, highest = head.line, head.first, head.last
    last = _last(connection, line, asked, highest)
    first = max(last - SLICE + 1, lowest, 1) if asked.after is None else asked.after + 1
    gathering = Gathering(asked.sought)
    marks = f"[{','.join(map(str, sorted(asked.bookmarks)))}]"
    pattern = asked.wanted.pattern if asked.wanted is not None else None
    for stretch in reversed(line):
        low, high = max(first, stretch.after + 1), min(last, stretch.end)
        if low > high or gathering.is_full:
            continue
        values = (stretch.tab_id, low, high, marks, pattern, pattern)
        for row in driver(connection).execute(_TELLING, values):
            gathering.see(codec.chunk_of(tab_id, row))
            if gathering.is_full:
                break
    return gathering.piece(
        first=first,
        last=last,
        has_older=0 < lowest < first,
        has_newer=last < highest,
        revision=head.revision,
    )


def _last(connection: Connection, line: Sequence[Stretch], asked: Asked, highest: int) -> int:
    """The last row that the piece covers."""
    if asked.ahead is None:
        return highest if asked.before is None else min(asked.before - 1, highest)
    start, count = asked.ahead
    return min(_end_of(connection, line, start, count), highest)


def _end_of(connection: Connection, line: Sequence[Stretch], start: int, count: int) -> int:
    """The last row of so many turns from `start` on, a slice further at most."""
    end, left = start + SLICE - 1, count + 1
    for stretch in line:
        low, high = max(start, stretch.after + 1), min(end, stretch.end)
        if low <= high and left:
            found = driver(connection).execute(_PROMPTS_FROM, (stretch.tab_id, low, high, left))
            seqs = [seq for (seq,) in found]
            left -= len(seqs)
            if not left:
                return seqs[-1] - 1
    return end
