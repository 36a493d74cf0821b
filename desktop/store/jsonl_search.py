"""Finding rows in a conversation's file, from its end back, a slice at a time.

No index is kept: what the words of a query mean is the same as in the log's own index, asked anew
for each slice, and letter by letter where that finds nothing. Blocking; for a thread of its own.
"""

import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from desktop.core.chunks import LogChunk
from desktop.core.records import EVERYTHING, FoundRows, SearchFilter
from desktop.store import failures
from desktop.store.codec import search_text
from desktop.store.jsonl_lines import read_line
from desktop.store.search_query import Query
from desktop.store.search_texts import Found, holding, matching
from desktop.store.searching_within import Wanted

# What one look reads at most, unless a single line is longer.
SLICE_BYTES = 4 * 1024 * 1024
_PIECE = 256 * 1024
_SIGNS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Sought:
    """What is looked for; `stopped` is asked before each line."""

    query: Query
    limit: int
    only: SearchFilter = EVERYTHING
    stopped: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True)
class Hits:
    """Rows that were found, the newest first; more may stand before the byte `before`."""

    found: tuple[tuple[LogChunk, Found], ...]
    before: int | None


def look(path: Path, session_id: str, sought: Sought, *, before: int | None) -> Hits:
    """Looks through the slice that ends at a byte, or at the file's end. Raises StoreError."""
    may_hold = _first_sieve(sought.query)

    def takes(row: LogChunk, text: str) -> bool:
        return sought.only.takes(row) and may_hold(text)

    rows, place = _slice(path, session_id, before, takes=takes, stopped=sought.stopped)
    found = _found(sought, {at: text for at, (_, text) in rows.items()})
    if len(found) > sought.limit:
        found = found[: sought.limit]
        place = found[-1].key
    return Hits(tuple((rows[one.key][0], one) for one in found), place or None)


def look_within(path: Path, session_id: str, wanted: Wanted, *, before: int | None) -> FoundRows:
    """As `look`, for a text as it stands; the place is a byte. Raises StoreError."""
    rows, place = _slice(
        path,
        session_id,
        before,
        takes=lambda _, text: wanted.stands_in(text),
        stopped=lambda: False,
    )
    return FoundRows(tuple(row.seq for row, _ in rows.values()), place or None)


def _slice(
    path: Path,
    session_id: str,
    before: int | None,
    *,
    takes: Callable[[LogChunk, str], bool],
    stopped: Callable[[], bool],
) -> tuple[dict[int, tuple[LogChunk, str]], int]:
    """The taken rows of a slice by their first byte, the last first, and where the slice begins."""
    rows: dict[int, tuple[LogChunk, str]] = {}
    with failures.told(path), path.open("rb") as file:
        end = file.seek(0, 2) if before is None else before
        place = end
        for place, row in _rows_before(file, end, session_id, is_end=before is None):
            text = search_text(row.data) if row is not None else None
            if row is not None and text is not None and takes(row, text):
                rows[place] = row, text
            if end - place >= SLICE_BYTES or stopped():
                break
        else:
            place = 0
    return rows, place


def _found(sought: Sought, texts: dict[int, str]) -> list[Found]:
    """One hit more than asked for says that there are more."""
    query, limit = sought.query, sought.limit + 1
    found = matching(query.match, texts, limit) if texts and query.match else []
    return found or holding(query.words, texts, limit)


def _first_sieve(query: Query) -> Callable[[str], bool]:
    """Lets through whatever may match: a plain text holds the letters as typed or not at all."""
    words = " ".join(query.words)
    pieces = [one for one in _SIGNS.split(words.lower()) if one] if words.isascii() else []
    if not pieces:
        return lambda text: True

    def may_hold(text: str) -> bool:
        if not text.isascii():
            return True
        small = text.lower()
        return all(one in small for one in pieces)

    return may_hold


def _rows_before(
    file: BinaryIO, end: int, session_id: str, *, is_end: bool
) -> Generator[tuple[int, LogChunk | None]]:
    """What the lines before a byte are, the last first; None for what is no row.

    At the file's end stands, it may be, a batch that is not whole: it does not count.
    """
    for at, text in lines_before(file, end):
        if not text:
            continue
        line = read_line(text.strip(b"\0\r"), session_id, at=at)
        is_torn = at + len(text) == end and not isinstance(line.found, LogChunk)
        is_end = is_end and (line.more > 0 or is_torn)
        yield at, line.found if isinstance(line.found, LogChunk) and not is_end else None


def lines_before(file: BinaryIO, end: int) -> Iterator[tuple[int, bytes]]:
    """The lines that begin before a byte, the last first, each with the byte that it begins at."""
    pieces: list[bytes] = []
    while end > 0:
        start = max(end - _PIECE, 0)
        file.seek(start)
        first, *others = file.read(end - start).split(b"\n")
        for text in reversed(others):
            end -= len(text)
            yield end, b"".join([text, *reversed(pieces)])
            pieces = []
            end -= 1
        pieces.append(first)
        end = start
    yield 0, b"".join(reversed(pieces))
