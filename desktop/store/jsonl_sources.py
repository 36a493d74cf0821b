"""Reading for scopes of a conversation that is kept as a file: as `sources` does of the database.

Which rows were taken back and what the turns are is found by one reading of the whole file, and
known until the file is another. Blocking; for the thread that reads the file.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from desktop.core.chunks import DamagedRow, LogChunk
from desktop.core.conversation import retracted_ids
from desktop.core.sources import Message, Messages, Question, RevisionMoved, Selection, Turns
from desktop.core.turns import Turn, turns_of
from desktop.store.jsonl_pages import FSJSONLPages

T = TypeVar("T", Message, Turn)

_PAGE = 200
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Digest:
    """What is known of the whole file at a revision."""

    revision: int
    retracted: frozenset[str]
    turns: tuple[Turn, ...]


class FileSource:
    """The pages of one file, for scopes. All raise RevisionMoved and StoreError."""

    def __init__(self, pages: FSJSONLPages) -> None:
        self._pages = pages
        self._digest: Digest | None = None

    def messages(self, selection: Selection, question: Question) -> Messages:
        known = self._known(question)
        is_down = question.order == "descending"
        rows = self._down(question, known) if is_down else self._up(question, known)
        found = (
            Message(row, row.role, row.type, row.id in known.retracted)
            for row in rows
            if isinstance(row, LogChunk) and selection.admits(row.role, row.type)
        )
        records, has_more = _page_of(found, question)
        return Messages(records, has_more, known.revision)

    def turns(self, question: Question) -> Turns:
        known = self._known(question)
        after = question.after
        if question.order == "descending":
            found = (t for t in reversed(known.turns) if after is None or t.seq < after)
        else:
            found = (turn for turn in known.turns if after is None or turn.seq > after)
        records, has_more = _page_of(found, question)
        return Turns(records, has_more, known.revision)

    def _known(self, question: Question) -> Digest:
        revision = self._pages.revision()
        if question.expected not in (None, revision):
            raise RevisionMoved(revision)
        if self._digest is None or self._digest.revision != revision:
            self._digest = self._read_all()
        if question.expected not in (None, self._digest.revision):
            raise RevisionMoved(self._digest.revision)
        return self._digest

    def _read_all(self) -> Digest:
        for _ in range(_TRIES):
            revision = self._pages.revision()
            rows = list(self._up(Question(), None))
            if self._pages.revision() == revision:
                whole = [row for row in rows if isinstance(row, LogChunk)]
                return Digest(revision, retracted_ids(whole), turns_of(rows))
        raise RevisionMoved(self._pages.revision())  # somebody writes without a pause

    def _up(self, question: Question, known: Digest | None) -> Iterator[LogChunk | DamagedRow]:
        at, has_more = question.after or 0, True
        while has_more:
            page = self._pages.page(limit=_PAGE, after=at)
            _compare(page.revision, known)
            yield from page.rows
            has_more = page.has_newer and bool(page.rows)
            at = page.rows[-1].seq if page.rows else at

    def _down(self, question: Question, known: Digest) -> Iterator[LogChunk | DamagedRow]:
        at, has_more = question.after, True
        while has_more:
            page = self._pages.page(limit=_PAGE, before=at)
            _compare(page.revision, known)
            yield from reversed(page.rows)
            has_more = page.has_older and bool(page.rows)
            at = page.rows[0].seq if page.rows else at


def _page_of(found: Iterator[T], question: Question) -> tuple[tuple[T, ...], bool]:
    """As many as are wanted, and whether there are more, also beyond the end of the question."""
    records: list[T] = []
    for one in found:
        if len(records) == question.bounded or _is_beyond(one.seq, question):
            return tuple(records), True
        records.append(one)
    return tuple(records), False


def _is_beyond(seq: int, question: Question) -> bool:
    through = question.through
    if through is None:
        return False
    return seq < through if question.order == "descending" else seq > through


def _compare(revision: int, known: Digest | None) -> None:
    if known is not None and revision != known.revision:
        raise RevisionMoved(revision)
