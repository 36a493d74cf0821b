"""One reader's records of one source: what is loaded, followed batch by batch (DESIGN.md §7).

The records always are those of the revision that they stand at, and the scope says whether it
knows of a later one. It reads in four cases only: at first, for one more page, where batches are
missing or can't be placed, and after it was out of sight. Reads of a closed scope change nothing.

All state changes on the loop's thread. `applying` and `repairs` decide, this carries out.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from desktop.core.errors import NacreError
from desktop.feed.applying import Applied, Step
from desktop.feed.batches import Batch, Operation, Record
from desktop.feed.faults import (
    CursorExpired,
    FeedError,
    NotFound,
    ReconciliationRequired,
    Unauthenticated,
    UpstreamFailure,
)
from desktop.feed.loaded import Loaded
from desktop.feed.repairs import MOST_READS, Repairs
from desktop.feed.source import Snapshot, Source


class Cancellable(Protocol):
    def cancel(self) -> object: ...


Start = Callable[[Coroutine[Any, Any, None], str], object]
Later = Callable[[float, Callable[[], None]], Cancellable]
Listener = Callable[[tuple[Operation, ...] | None], None]
"""Hears operations that were committed; None: all records are others now; an empty tuple: only
what is known of them changed (`is_fresh`, `has_more`, `error`)."""

NOTHING = Loaded()


class SourceScope:
    """`open` it once it is subscribed, `close` it; `clock` counts seconds."""

    def __init__(
        self, source: Source, *, start: Start, later: Later, clock: Callable[[], float]
    ) -> None:
        self._source = source
        self._start = start
        self._later = later
        self._clock = clock
        self._listener: Listener | None = None
        self._applied = Applied()
        self._repairs = Repairs()
        self._ranges: dict[str, Loaded] = {}
        self._cursor = ""
        self._is_seen = True
        self._is_unchecked = False
        self._is_over = False
        self._reads: set[asyncio.Task[Any]] = set()
        self._more: asyncio.Future[int | FeedError] | None = None
        self._is_paging = False
        self._waiting: list[asyncio.Future[None]] = []
        self._timer: Cancellable | None = None
        self._when_over: list[Callable[[], None]] = []
        self.error: FeedError | None = None

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
        return self._applied.revision

    @property
    def is_fresh(self) -> bool:
        """Whether nothing is known that is not in the records."""
        return (
            self._repairs.is_settled
            and not self._applied.is_behind
            and not self._is_unchecked
            and not self._is_over
        )

    @property
    def is_over(self) -> bool:
        """Closed, or ended: what is loaded stays and nothing is read any more."""
        return self._is_over

    def listen(self, listener: Listener | None) -> None:
        self._listener = listener

    def when_over(self, call: Callable[[], None]) -> None:
        """Is called once, at the end: a subscription goes with its scope."""
        self._when_over.append(call)

    # What a reader asks for

    def open(self) -> None:
        self._want()

    def close(self) -> None:
        """Ends it: reads on their way are cancelled and commit nothing. Twice is harmless."""
        self._is_over = True
        calls, self._when_over = self._when_over, []
        for call in calls:
            call()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for one in self._reads:
            one.cancel()
        if self._more is not None and not self._more.done():
            self._more.set_result(self.error or 0)
        self._let_on()

    def show(self, is_seen: bool) -> None:
        """Whether anybody looks. Out of sight nothing is repaired; back in sight the scope is not
        fresh before it has compared its revision."""
        if self._is_over or is_seen == self._is_seen:
            return
        self._is_seen = is_seen
        if is_seen:
            self._is_unchecked = True
            self._start(self._look(), "revision of a scope")
            self._plan()

    def retry(self) -> None:
        """The person wants another try after a failure."""
        if not self._is_over and self._repairs.has_failed:
            self._want()

    async def load_more(self) -> int:
        """One more page; how many records are there that were not at the call. Calls that meet
        are one. Raises a FeedError; then nothing of the page is there."""
        if self._is_over or not self.is_loaded:
            return 0
        if self._more is None:
            self._more = asyncio.get_running_loop().create_future()
            self._start(self._load_more(self._more), "one more page of a scope")
        found = await asyncio.shield(self._more)
        if isinstance(found, FeedError):
            raise found
        return found

    # What the feed tells

    def batch(self, batch: Batch) -> None:
        if not self._is_over:
            self._take(self._applied.receive(batch, self._clock()))

    def observe(self, epoch: str, revision: int, *, since: int | None = None) -> None:
        """A check, or that the subscription is ready; `since` as in `Applied.observe`."""
        if self._is_over:
            return
        was_unchecked, self._is_unchecked = self._is_unchecked, False
        step = self._applied.observe(epoch, revision, self._clock(), since)
        if self._repairs.has_failed:
            self._repairs = self._repairs.wanted()
        self._take(step, is_news=was_unchecked)

    def lost(self) -> None:
        """The connection broke: what was delivered meanwhile is not known."""
        if not self._is_over:
            self._applied = self._applied.lost(self._applied.epoch, self._applied.observed)
            self._want()

    def end(self, error: FeedError) -> None:
        """The conversation or the reader is not there any more; what is loaded stays."""
        if self._is_over:
            return
        self.error = error
        self.close()
        self._emit(())

    # Committing

    def _take(self, step: Step, *, is_news: bool = False) -> None:
        was_fresh = self.is_fresh
        self._applied = step.applied
        operations = tuple(one for batch in step.ready for one in batch.operations)
        for one in operations:
            found = self._ranges.get(one.key[0])
            if found is not None:
                self._ranges[one.key[0]] = found.changed(one)
        if step.why is not None:
            self._repairs = self._repairs.wanted()
        self._plan()
        if operations or is_news or was_fresh != self.is_fresh:
            self._emit(operations)

    def _commit(self, snapshot: Snapshot) -> None:
        self._ranges = dict(snapshot.ranges)
        self._cursor = snapshot.cursor
        self.error = None
        self._emit_after(self._applied.snapshot(snapshot.epoch, snapshot.revision, self._clock()))

    def _emit_after(self, step: Step) -> None:
        """The records are others; what was held is applied to them before anybody looks."""
        listener, self._listener = self._listener, None
        self._take(step)
        self._listener = listener
        self._emit(None)

    def _emit(self, operations: tuple[Operation, ...] | None) -> None:
        if self._listener is not None:
            self._listener(operations)

    # Repairs

    def _want(self) -> None:
        self._repairs = self._repairs.wanted()
        self._plan()

    def _plan(self) -> None:
        """Begins what is due; sets the timer for what will be."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._is_over:
            return
        now = self._clock()
        may_read = (self._is_seen or bool(self._waiting)) and not self._is_paging
        due = self._repairs.due() if may_read else None
        if due is not None and due <= now:
            self._repairs = self._repairs.begun(now)
            self._applied = self._applied.reading()
            self._start(self._repair(), "records of a scope")
            return
        times = [one for one in (due, self._applied.deadline()) if one is not None]
        if times:
            self._timer = self._later(max(min(times) - now, 0.0), self._ring)

    def _ring(self) -> None:
        self._timer = None
        self._take(self._applied.late(self._clock()))

    async def _repair(self) -> None:
        with _Read(self._reads):
            try:
                snapshot = await self._read()
            except (NotFound, Unauthenticated) as error:
                self.end(error)
                return
            except FeedError as error:
                self._failed(error)
                return
        if self._is_over:
            return
        self._repairs = self._repairs.done()
        self._commit(snapshot)
        self._let_on()

    async def _read(self) -> Snapshot:
        """A consistent read, tried so often at most."""
        for _ in range(MOST_READS):
            try:
                return await self._source.read(self._ranges.get(self._source.paged))
            except ReconciliationRequired:
                continue
        raise UpstreamFailure("the conversation changed with every read")

    def _failed(self, error: FeedError) -> None:
        if self._is_over:
            return
        self.error = error
        self._repairs = self._repairs.failed()
        self._take(self._applied.released(self._clock()), is_news=True)
        self._let_on()

    def _let_on(self) -> None:
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            if not one.done():
                one.set_result(None)

    async def _look(self) -> None:
        with _Read(self._reads):
            since = self._applied.revision
            try:
                epoch, revision = await self._source.revision()
            except (NotFound, Unauthenticated) as error:
                self.end(error)
                return
            except NacreError:
                return  # the next check looks again; until then the scope is not fresh
        self.observe(epoch, revision, since=since)

    # One more page

    async def _load_more(self, answer: "asyncio.Future[int | FeedError]") -> None:
        view = {one.key for one in self.records(self._source.paged)}
        fault: FeedError | None = None
        with _Read(self._reads):
            try:
                await self._extend()
            except (NotFound, Unauthenticated) as error:
                self.end(error)
            except FeedError as error:
                fault = error
        self._more = None
        if not answer.done():
            now = {one.key for one in self.records(self._source.paged)}
            answer.set_result(fault or len(now - view))

    async def _extend(self) -> None:
        for _ in range(MOST_READS):
            if not self._repairs.is_settled or self._applied.revision is None:
                await self._repaired()
            if self._is_over or not self.has_more:
                return
            expected = self._applied.revision
            assert expected is not None
            try:
                page = await self._paging(expected)
            except ReconciliationRequired:
                # What came meanwhile may have brought the scope on; else it lacks something.
                if self._applied.revision == expected:
                    self._want()
            except CursorExpired:
                self._want()
            else:
                self._put_page(page)
                return
        raise UpstreamFailure("the conversation changed with every read")

    async def _paging(self, expected: int) -> Snapshot:
        self._is_paging = True
        self._applied = self._applied.reading()
        try:
            return await self._source.more(self._cursor, expected=expected)
        except FeedError:
            self._is_paging = False
            self._take(self._applied.released(self._clock()))
            raise
        finally:
            self._is_paging = False

    def _put_page(self, page: Snapshot) -> None:
        if self._is_over:
            return
        kind = self._source.paged
        self._ranges[kind] = self._ranges[kind].extended(page.ranges[kind])
        self._cursor = page.cursor
        self._emit_after(self._applied.released(self._clock()))

    async def _repaired(self) -> None:
        """Waits for the repair that is wanted; raises what it failed of."""
        done = asyncio.get_running_loop().create_future()
        self._waiting.append(done)
        self._want()
        await done
        if self._repairs.has_failed and self.error is not None:
            raise self.error


class _Read:
    """While it lasts, the task that runs it can be cancelled with the scope."""

    def __init__(self, reads: set[asyncio.Task[Any]]) -> None:
        self._reads = reads
        self._task = asyncio.current_task()

    def __enter__(self) -> None:
        if self._task is not None:
            self._reads.add(self._task)

    def __exit__(self, *_: object) -> None:
        if self._task is not None:
            self._reads.discard(self._task)
