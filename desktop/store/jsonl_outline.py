"""The outline of a conversation that is kept as a file: read off its pages, from one place back.

No index tells prompts from other rows: every row of the piece is decoded, so it is smaller than a
piece of the database's. Blocking; for the thread that reads the file.
"""

from collections.abc import Callable

from desktop.core.outline import Gathering, Piece, is_prompt
from desktop.core.records import Page
from desktop.store.outline import Asked

SLICE = 2_000
_PAGE = 200

PageOf = Callable[..., Page]


def read_piece(page: PageOf, asked: Asked) -> Piece:
    """One piece, as `OutlineReader.piece`; `page` gives the file's rows."""
    newest = page(limit=1)
    highest = newest.total
    last = _last(page, asked, highest)
    gathering = Gathering(asked.sought)
    stop = max(last - SLICE + 1, 1) if asked.after is None else asked.after + 1
    first, has_older = last + 1, last > 0
    while first > stop and has_older and not gathering.is_full:
        piece = page(limit=_PAGE, before=first)
        for row in reversed(piece.rows):
            if row.seq < stop or gathering.is_full:
                break
            gathering.see(row)
        first, has_older = piece.rows[0].seq if piece.rows else stop, piece.has_older
    first = max(first, stop)
    older = page(limit=1, before=first).rows
    return gathering.piece(
        first=first,
        last=last,
        has_older=bool(older),
        has_newer=last < highest,
        revision=newest.revision,
    )


def _last(page: PageOf, asked: Asked, highest: int) -> int:
    """The last row that the piece covers."""
    if asked.ahead is None:
        return highest if asked.before is None else min(asked.before - 1, highest)
    start, count = asked.ahead
    at, end = start - 1, start + SLICE - 1
    while at < end:
        piece = page(limit=_PAGE, after=at)
        for row in piece.rows:
            count -= is_prompt(row)
            if count < 0:
                return row.seq - 1
            at = row.seq
        if not piece.has_newer or not piece.rows:
            break
    return min(max(at, start - 1), highest)
