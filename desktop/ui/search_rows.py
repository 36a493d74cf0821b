"""What the search over everything shows, as plain lists: hits under the conversation they are of.

Hits stay in the order they come in, the newest first; those of one conversation that follow each
other stand under one head. Snippets are of anybody's making: they are shown so that nothing in them
is invisible, and as one run of words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from desktop.ui.visible import visible

if TYPE_CHECKING:
    from desktop.core.records import SearchHit, Shelf

LEAD_LETTERS = 60  # before the first mark, which would else stand beyond the second line

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class HeadRow:
    """The conversation that the hits below it are of."""

    tab_id: str
    title: str
    directory: str
    shelf: Shelf


@dataclass(frozen=True, slots=True)
class HitRow:
    """One hit: `text` with the stretches that were found in it."""

    hit: SearchHit
    text: str
    marks: tuple[Span, ...]


SearchRow = HeadRow | HitRow


def rows_of(hits: Iterable[SearchHit], after: SearchRow | None) -> Iterator[SearchRow]:
    """The rows of these hits below `after`."""
    above = after.hit.tab_id if isinstance(after, HitRow) else None
    for hit in hits:
        if hit.tab_id != above:
            above = hit.tab_id
            yield HeadRow(above, hit.title, hit.directory, hit.shelf)
        yield HitRow(hit, *excerpt(hit.snippet, hit.marks))


def excerpt(snippet: str, marks: tuple[Span, ...]) -> tuple[str, tuple[Span, ...]]:
    """The snippet in one run of words, and its marks in that."""
    parts: list[str] = []
    places = [0]
    blank = True
    for letter in snippet:
        part = visible(letter) if not letter.isspace() else "" if blank else " "
        blank = letter.isspace()
        parts.append(part)
        places.append(places[-1] + len(part))
    moved = tuple((places[low], places[high]) for low, high in marks)
    return _led("".join(parts), tuple(one for one in moved if one[0] < one[1]))


def found_texts(hit: SearchHit) -> tuple[str, ...]:
    """The texts that the search found in the row, as they stand there, the longest first."""
    texts = dict.fromkeys(hit.snippet[low:high].strip() for low, high in hit.marks)
    return tuple(sorted(filter(None, texts), key=len, reverse=True))


def _led(text: str, marks: tuple[Span, ...]) -> tuple[str, tuple[Span, ...]]:
    cut = marks[0][0] - LEAD_LETTERS if marks else 0
    if cut <= 1:
        return text, marks
    return f"…{text[cut:]}", tuple((low - cut + 1, high - cut + 1) for low, high in marks)
