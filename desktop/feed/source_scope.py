"""One reader's records of one source: what is loaded, followed batch by batch (DESIGN.md §7).

The records always are those of the revision that they stand at, and the scope says whether it
knows of a later one. It reads in four cases only: at first, for one more page, where batches are
missing or can't be placed, and after it was out of sight. Reads of a closed scope change nothing.

`line` keeps to the revisions; what is loaded, its order and its pages are kept here.
"""

import asyncio
from collections.abc import Callable

from desktop.core.errors import NacreError
from desktop.feed.batches import Batch, Operation, Record
from desktop.feed.faults import (
    CursorExpired,
    FeedError,
    NotFound,
    ReconciliationRequired,
    Unauthenticated,
    UpstreamFailure,
)
from desktop.feed.line import Line, Operations
from desktop.feed.loaded import Loaded
from desktop.feed.repairs import MOST_READS
from desktop.feed.source import Snapshot, Source
from desktop.feed.timing import Clock, Later, Start

Listener = Callable[[tuple[Operation, ...] | None], None]
"""Hears operations that were committed; None: all records are others now; an empty tuple: only
what is known of them changed (`is_fresh`, `has_more`, `error`)."""

NOTHING = Loaded()


class SourceScope:
    """`open` it once it is subscribed, `close` it."""

    def __init__(self, source: Source, *, start: Start, later: Later, clock: Clock) -> None:
        self._source = source
        self._start = start
        self._listener: Listener | None = None
        self._line = Line(self, start=start, later=later, clock=clock, what="a scope")
        self._line.when_over(self._answer)
        self._ranges: dict[str, Loaded] = {}
        self._cursor = ""
        self._more: asyncio.Future[int | NacreError] | None = None

    # What a reader sees

    def records(self, kind: str) -> tuple[Record, ...]:
        return self.loaded(kind).records

    def loaded(self, kind: str) -> Loaded:
        """The records of a kind in their order, and how far they reach."""
        return self._ranges.get(kind, NOTHING)

    @property
    def is_loaded(self) -> bool:
        return bool(self._ranges)

    @property
    def has_more(self) -> bool:
        return self.loaded(self._source.paged).has_more

    @property
    def revision(self) -> int | None:
        """What the records stand at; None where that has to be read."""
        return self._line.revision

    @property
    def is_fresh(self) -> bool:
        """Whether nothing is known that is not in the records."""
        return self._line.is_fresh

    @property
    def is_over(self) -> bool:
        """Closed, or ended: what is loaded stays and nothing is read any more."""
        return self._line.is_over

    @property
    def error(self) -> NacreError | None:
        """Of the last read; None where it was right."""
        return self._line.error

    def listen(self, listener: Listener | None) -> None:
        self._listener = listener

    def when_over(self, call: Callable[[], None]) -> None:
        """Is called once, at the end: a subscription goes with its scope."""
        self._line.when_over(call)

    # What a reader asks for

    def open(self, found: Snapshot | None = None) -> None:
        """Reads everything, unless that was just `found`."""
        if found is None:
            self._line.open()
            return
        self._line.hold(is_whole=True)
        self.put(found)
        self._line.stand_at(found.epoch, found.revision)

    def close(self) -> None:
        """Ends it: reads on their way are cancelled and commit nothing. Twice is harmless."""
        self._line.close()

    def show(self, is_seen: bool) -> None:
        """Whether anybody looks, as `Line.show`."""
        self._line.show(is_seen)

    def retry(self) -> None:
        """The person wants another try after a failure."""
        self._line.retry()

    async def load_more(self) -> int:
        """One more page; how many records are there that were not at the call. Calls that meet
        are one. Raises a NacreError; then nothing of the page is there."""
        if self.is_over or not self.is_loaded:
            return 0
        if self._more is None:
            self._more = asyncio.get_running_loop().create_future()
            self._start(self._load_more(self._more), "one more page of a scope")
        found = await asyncio.shield(self._more)
        if isinstance(found, NacreError):
            raise found
        return found

    # What the feed tells

    def batch(self, batch: Batch) -> None:
        self._line.batch(batch)

    def observe(
        self, epoch: str, revision: int, *, since: int | None = None, is_sure: bool = False
    ) -> None:
        """A check, or that the subscription is ready, as `Line.observe`."""
        self._line.observe(epoch, revision, since=since, is_sure=is_sure)

    def lost(self) -> None:
        """The connection broke: what was delivered meanwhile is not known."""
        self._line.lost()

    def end(self, error: FeedError) -> None:
        """The conversation or the reader is not there any more; what is loaded stays."""
        self._line.end(error)

    # What the line asks for

    async def read(self) -> Snapshot:
        return await self._source.read(self._ranges.get(self._source.paged))

    async def look(self) -> tuple[str, int]:
        return await self._source.revision()

    def put(self, found: Snapshot) -> None:
        self._ranges = dict(found.ranges)
        self._cursor = found.cursor

    def apply(self, operations: Operations) -> None:
        for one in operations:
            found = self._ranges.get(one.key[0])
            if found is not None:
                self._ranges[one.key[0]] = found.changed(one)

    def told(self, operations: Operations | None) -> None:
        if self._listener is not None:
            self._listener(operations)

    # One more page

    def _answer(self) -> None:
        """Whoever waits for a page when it is over gets none."""
        if self._more is not None and not self._more.done():
            self._more.set_result(self.error or 0)

    async def _load_more(self, answer: "asyncio.Future[int | NacreError]") -> None:
        view = {one.key for one in self.records(self._source.paged)}
        fault: NacreError | None = None
        with self._line.reads:
            try:
                await self._extend()
            except (NotFound, Unauthenticated) as error:
                self._line.end(error)
            except NacreError as error:
                fault = error
        self._more = None
        if not answer.done():
            now = {one.key for one in self.records(self._source.paged)}
            answer.set_result(fault or len(now - view))

    async def _extend(self) -> None:
        for _ in range(MOST_READS):
            if not self._line.is_settled or self.revision is None:
                await self._line.repaired()
            if self.is_over or not self.has_more:
                return
            expected = self.revision
            assert expected is not None
            try:
                page = await self._paging(expected)
            except ReconciliationRequired:
                # What came meanwhile may have brought the scope on; else it lacks something.
                if self.revision == expected:
                    self._line.want()
            except CursorExpired:
                self._line.want()
            else:
                self._put_page(page)
                return
        raise UpstreamFailure("the conversation changed with every read")

    async def _paging(self, expected: int) -> Snapshot:
        self._line.hold()
        try:
            return await self._source.more(self._cursor, expected=expected)
        except NacreError:
            self._line.release()
            raise

    def _put_page(self, page: Snapshot) -> None:
        if not self.is_over:
            kind = self._source.paged
            self._ranges[kind] = self._ranges[kind].extended(page.ranges[kind])
            self._cursor = page.cursor
        self._line.release(is_anew=True)
