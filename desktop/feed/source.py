"""Where a scope reads: a conversation's pages at one revision, for one reader (DESIGN.md §7).

Every read asks again whether the reader may. Messages and turns of one answer are of the same
revision, or there is no answer (SPEC R13). Cursors are signed here and nowhere else.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, Protocol, TypeVar

from desktop.core.errors import NacreError, UnknownConversation
from desktop.core.sources import (
    EVERYTHING,
    MOST_RECORDS,
    Messages,
    Order,
    Question,
    RevisionMoved,
    Selection,
    SourceReader,
)
from desktop.feed import kinds
from desktop.feed.batches import Record
from desktop.feed.cursors import Cursors, Listing, Reader
from desktop.feed.faults import (
    FeedError,
    NotFound,
    ReconciliationRequired,
    Unauthenticated,
    UpstreamFailure,
)
from desktop.feed.loaded import Loaded

T = TypeVar("T")
Grant = Literal["granted", "hidden", "unauthenticated"]
Access = Callable[[Reader, str], Grant]
"""Whether a reader may read a conversation now."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Records at one revision, by kind. `cursor` goes on behind those of the kind with pages."""

    epoch: str
    revision: int
    ranges: Mapping[str, Loaded]
    cursor: str = ""


class Source(Protocol):
    """What a scope reads. All raise a NacreError, as `line.Keeper` takes it."""

    @property
    def paged(self) -> str:
        """The kind that comes page by page; the others are read whole."""
        ...

    async def read(self, loaded: Loaded | None) -> Snapshot:
        """What is loaded, anew; None: the first page. Raises ReconciliationRequired where its
        pages are not of one revision."""
        ...

    async def more(self, cursor: str, *, expected: int) -> Snapshot:
        """The next page, if the log stands at the `expected` revision."""
        ...

    async def revision(self) -> tuple[str, int]:
        """The epoch and the revision, without a record."""
        ...


@dataclass(frozen=True, slots=True)
class Query:
    """What a scope shows of a conversation, and to whom."""

    session_id: str
    selection: Selection = EVERYTHING
    order: Order = "descending"
    size: int = MOST_RECORDS
    with_turns: bool = False
    reader: Reader = field(default_factory=Reader)

    @property
    def bounded(self) -> int:
        return min(max(self.size, 1), MOST_RECORDS)

    @property
    def listing(self) -> Listing:
        return Listing(
            self.reader, self.session_id, kinds.MESSAGE, self.selection, self.order, self.bounded
        )


@dataclass(frozen=True, slots=True)
class Door:
    """What all conversations of a running program are read through."""

    reader: SourceReader
    access: Access
    cursors: Cursors
    epoch: str


class ConversationSource:
    """The Source of one query."""

    paged = kinds.MESSAGE

    def __init__(self, query: Query, door: Door) -> None:
        self._query = query
        self._door = door

    async def page(self, cursor: str, *, expected: int | None) -> Snapshot:
        """A page of messages alone, for who reads page by page; "" for the first."""
        place = self._door.cursors.open(cursor, self._query.listing) if cursor else None
        page = await self._page(replace(self._first(), after=place, expected=expected))
        return self._snapshot(page.revision, {kinds.MESSAGE: self._loaded(page)})

    async def read(self, loaded: Loaded | None) -> Snapshot:
        page = await (self._page(self._first()) if loaded is None else self._range(loaded))
        ranges = {kinds.MESSAGE: self._loaded(page, through=loaded.boundary if loaded else None)}
        if self._query.with_turns:
            ranges[kinds.TURN] = await self._turns(page.revision)
        return self._snapshot(page.revision, ranges)

    async def more(self, cursor: str, *, expected: int) -> Snapshot:
        return await self.page(cursor, expected=expected)

    async def turn_page(self, cursor: str, *, expected: int | None) -> Snapshot:
        """A page of turns alone, the same way."""
        listing = replace(self._query.listing, kind=kinds.TURN, selection=EVERYTHING)
        place = self._door.cursors.open(cursor, listing) if cursor else None
        question = replace(self._first(), after=place, expected=expected)
        page = await self._asked(partial(self._door.reader.turns, self._query.session_id, question))
        records = tuple(map(kinds.of_turn, page.records))
        boundary = records[-1].place if page.has_more else None
        loaded = Loaded(self._query.order, records, boundary)
        after = "" if boundary is None else self._door.cursors.sign(listing, boundary)
        return Snapshot(self._door.epoch, page.revision, {kinds.TURN: loaded}, after)

    async def revision(self) -> tuple[str, int]:
        name = self._query.session_id
        found = await self._asked(partial(self._door.reader.revisions, (name,)))
        if name not in found:
            raise NotFound
        return self._door.epoch, found[name]

    def _first(self) -> Question:
        return Question(self._query.bounded, self._query.order)

    async def _page(self, question: Question) -> Messages:
        query = self._query
        return await self._asked(
            partial(self._door.reader.messages, query.session_id, query.selection, question)
        )

    async def _range(self, loaded: Loaded) -> Messages:
        """From the head through the boundary; behind an open end up to a page that is new."""
        last = loaded.records[-1].place if loaded.records else None
        question = Question(order=self._query.order, through=loaded.boundary)
        found = await self._page(question)
        page = found
        while page.has_more and len(page.records) == MOST_RECORDS:
            place = page.records[-1].seq
            if loaded.boundary is None and last is not None and _is_past(loaded, place, last):
                break
            page = await self._page(replace(question, after=place, expected=found.revision))
            found = replace(found, records=(*found.records, *page.records), has_more=page.has_more)
        return found

    async def _turns(self, revision: int) -> Loaded:
        """All turns, if they are all of this revision."""
        name, order = self._query.session_id, self._query.order
        found: list[Record] = []
        question = Question(order=order, expected=revision)
        while True:
            page = await self._asked(partial(self._door.reader.turns, name, question))
            found += map(kinds.of_turn, page.records)
            if not page.has_more:
                return Loaded(order, tuple(found))
            question = replace(question, after=found[-1].place)

    def _loaded(self, page: Messages, *, through: int | None = None) -> Loaded:
        records = tuple(map(kinds.of_message, page.records))
        boundary: int | None = None
        if page.has_more:
            boundary = through if through is not None else records[-1].place
        return Loaded(self._query.order, records, boundary)

    def _snapshot(self, revision: int, ranges: Mapping[str, Loaded]) -> Snapshot:
        boundary = ranges[kinds.MESSAGE].boundary
        cursor = ""
        if boundary is not None:
            cursor = self._door.cursors.sign(self._query.listing, boundary)
        return Snapshot(self._door.epoch, revision, ranges, cursor)

    async def _asked(self, read: Callable[[], Awaitable[T]]) -> T:
        match self._door.access(self._query.reader, self._query.session_id):
            case "hidden":
                raise NotFound
            case "unauthenticated":
                raise Unauthenticated
            case _:
                pass
        try:
            return await read()
        except RevisionMoved as error:
            raise ReconciliationRequired from error
        except UnknownConversation as error:
            raise NotFound from error
        except FeedError:
            raise
        except NacreError as error:
            raise UpstreamFailure(str(error)) from error


def _is_past(loaded: Loaded, place: int, last: int) -> bool:
    return place >= last if loaded.order == "ascending" else place <= last
