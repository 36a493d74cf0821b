"""The line of revisions that everything which follows the log keeps to (DESIGN.md §7).

A line knows what its keeper's records stand at and what there is beside. Only batches without a gap
and reads move it; what is missing is read by one repair at a time, seldom, and only while somebody
looks. What was kept stays under an error. Transcript, sidebar, usage, outline, search and plugins
differ in what they keep and read; this is what they have in common.

All state changes on the loop's thread. `applying` and `repairs` decide, this carries out.
"""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar

from desktop.core.errors import NacreError
from desktop.feed.applying import Applied, Step
from desktop.feed.batches import Batch, Operation
from desktop.feed.faults import NotFound, ReconciliationRequired, Unauthenticated, UpstreamFailure
from desktop.feed.repairs import MOST_READS, Repairs
from desktop.feed.timing import Cancellable, Clock, Later, Start

Operations = tuple[Operation, ...]


class Standing(Protocol):
    """What a read found, as of one revision."""

    @property
    def epoch(self) -> str: ...

    @property
    def revision(self) -> int: ...


T = TypeVar("T", bound=Standing)


class Keeper(Protocol[T]):
    """Who has the records. `read` and `look` raise a NacreError; NotFound and Unauthenticated end
    the line, ReconciliationRequired asks for another try."""

    async def read(self) -> T:
        """All that is kept, anew, of one revision."""
        ...

    async def look(self) -> tuple[str, int]:
        """The epoch and the revision, without a record."""
        ...

    def put(self, found: T) -> None:
        """The records are these now."""
        ...

    def apply(self, operations: Operations) -> None:
        """This happened to the records, in this order."""
        ...

    def told(self, operations: Operations | None) -> None:
        """After `apply`; None: the records are others; empty: what is known of them changed."""
        ...


class Line(Generic[T]):
    """`open` it once it is subscribed, `close` it. `what` it is kept for stands in logs."""

    def __init__(
        self, keeper: Keeper[T], *, start: Start, later: Later, clock: Clock, what: str
    ) -> None:
        self._keeper = keeper
        self._start = start
        self._later = later
        self._clock = clock
        self._what = what
        self._applied = Applied()
        self._repairs = Repairs()
        self._repair_number = 0
        self._is_seen = True
        self._is_unchecked = False
        self._is_held = False
        self._is_quiet = False
        self._is_over = False
        self._waiting: list[asyncio.Future[None]] = []
        self._timer: Cancellable | None = None
        self._when_over: list[Callable[[], None]] = []
        self.reads = Reads()
        self.error: NacreError | None = None

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
    def is_reading(self) -> bool:
        """Whether a repair is on its way, or a read of the keeper's own."""
        return self._applied.is_reading

    @property
    def is_settled(self) -> bool:
        """Whether no repair is wanted, runs or has failed."""
        return self._repairs.is_settled

    @property
    def is_over(self) -> bool:
        """Closed, or ended: what is kept stays and nothing is read any more."""
        return self._is_over

    def when_over(self, call: Callable[[], None]) -> None:
        """Is called once, at the end: a subscription goes with its line."""
        self._when_over.append(call)

    # What a reader asks for

    def open(self) -> None:
        self.want()

    def close(self) -> None:
        """Ends it: reads on their way are cancelled and commit nothing. Twice is harmless."""
        self._is_over = True
        calls, self._when_over = self._when_over, []
        for call in calls:
            call()
        self._stop_timer()
        self.reads.cancel()
        self._let_on()

    def show(self, is_seen: bool) -> None:
        """Whether anybody looks. Out of sight nothing is repaired; back in sight the line is not
        fresh before it has compared its revision."""
        if self._is_over or is_seen == self._is_seen:
            return
        self._is_seen = is_seen
        if is_seen:
            self._is_unchecked = True
            self._start(self._look(), f"revision of {self._what}")
            self._plan()

    def retry(self) -> None:
        """The person wants another try after a failure."""
        if not self._is_over and self._repairs.has_failed:
            self.want()

    def want(self) -> None:
        """The records are not known to be right: they are read anew as soon as that may be."""
        if self._is_over:
            return
        self._repairs = self._repairs.wanted()
        self._plan()

    async def repaired(self) -> None:
        """Waits for the repair that is wanted; raises what it failed of."""
        done = asyncio.get_running_loop().create_future()
        self._waiting.append(done)
        self.want()
        await done
        if self._repairs.has_failed and self.error is not None:
            raise self.error

    # What the feed tells

    def batch(self, batch: Batch) -> None:
        if not self._is_over:
            self._take(self._applied.receive(batch, self._clock()))

    def observe(
        self, epoch: str, revision: int, *, since: int | None = None, is_sure: bool = False
    ) -> None:
        """A check, or that the subscription is ready; `since` as in `Applied.observe`.

        `is_sure`: nobody is on the way to tell of it, so it is not waited for.
        """
        if self._is_over:
            return
        was_unchecked, self._is_unchecked = self._is_unchecked, False
        step = self._applied.observe(epoch, revision, self._clock(), since)
        is_news = is_sure and step.applied.deadline() is not None
        if self._repairs.has_failed or is_news:
            self._repairs = self._repairs.wanted(is_news=is_news)
        self._take(step, is_news=was_unchecked)

    def lost(self) -> None:
        """What was delivered meanwhile is not known."""
        if not self._is_over:
            self._applied = self._applied.lost(self._applied.epoch, self._applied.observed)
            self.want()

    def end(self, error: NacreError) -> None:
        """What is kept or its reader is not there any more; what is loaded stays."""
        if self._is_over:
            return
        self.error = error
        self.close()
        self._tell(())

    # Reads of the keeper's own, beside repairs

    def hold(self, *, is_whole: bool = False) -> None:
        """The keeper reads, and what comes waits until `stand_at`, `release` or `fail`.

        `is_whole`: it reads everything anew, so that a repair on its way is overtaken.
        """
        self._is_held = True
        if is_whole:
            self._repair_number += 1
            self._repairs = self._repairs.overtaken()
        self._applied = self._applied.reading()
        self._plan()

    def stand_at(self, epoch: str, revision: int) -> None:
        """The keeper read everything anew, as of this revision."""
        if self._is_over:
            return
        self._is_held = False
        self._anew(self._applied.snapshot(epoch, revision, self._clock()))
        self._let_on()

    def release(self, *, is_anew: bool = False) -> None:
        """The read moved no revision; `is_anew`: but the records are others."""
        self._is_held = False
        if self._is_over:
            return
        step = self._applied.released(self._clock())
        if is_anew:
            self._anew(step)
        else:
            self._take(step)

    def fail(self, error: NacreError) -> None:
        """The read failed; the next look or `retry` begins a repair."""
        self._is_held = False
        if self._is_over:
            return
        self.error = error
        self._repairs = self._repairs.failed()
        self._take(self._applied.released(self._clock()), is_news=True)
        self._let_on()

    # Committing

    def _take(self, step: Step, *, is_news: bool = False) -> None:
        was_fresh = self.is_fresh
        self._applied = step.applied
        operations = tuple(one for batch in step.ready for one in batch.operations)
        if operations:
            self._keeper.apply(operations)
        if step.why is not None:
            self._repairs = self._repairs.wanted()
        self._plan()
        if operations or is_news or was_fresh != self.is_fresh:
            self._tell(operations)

    def _anew(self, step: Step) -> None:
        """The records are others; what was held is applied to them before anybody looks."""
        self.error = None
        self._is_quiet = True
        self._take(step)
        self._is_quiet = False
        self._tell(None)

    def _tell(self, operations: Operations | None) -> None:
        if not self._is_quiet:
            self._keeper.told(operations)

    # Repairs

    def _plan(self) -> None:
        """Begins what is due; sets the timer for what will be."""
        self._stop_timer()
        if self._is_over:
            return
        now = self._clock()
        may_read = (self._is_seen or bool(self._waiting)) and not self._is_held
        due = self._repairs.due() if may_read else None
        if due is not None and due <= now:
            self._repairs = self._repairs.begun(now)
            self._applied = self._applied.reading()
            self._start(self._repair(self._repair_number), f"records of {self._what}")
            return
        # After a failure nothing begins by itself: the next look does, or the person.
        deadline = None if self._repairs.has_failed else self._applied.deadline()
        times = [one for one in (due, deadline) if one is not None]
        if times:
            self._timer = self._later(max(min(times) - now, 0.0), self._ring)

    def _ring(self) -> None:
        self._timer = None
        self._take(self._applied.late(self._clock()))

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def _repair(self, number: int) -> None:
        with self.reads:
            try:
                found = await self._read()
            except (NotFound, Unauthenticated) as error:
                if number == self._repair_number:
                    self.end(error)
                return
            except NacreError as error:
                if number == self._repair_number:
                    self.fail(error)
                return
        if self._is_over or number != self._repair_number:
            return
        self._repairs = self._repairs.done()
        self._keeper.put(found)
        self._anew(self._applied.snapshot(found.epoch, found.revision, self._clock()))
        self._let_on()

    async def _read(self) -> T:
        """A consistent read, tried so often at most."""
        for _ in range(MOST_READS):
            try:
                return await self._keeper.read()
            except ReconciliationRequired:
                continue
        raise UpstreamFailure(f"{self._what} changed with every read")

    def _let_on(self) -> None:
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            if not one.done():
                one.set_result(None)

    async def _look(self) -> None:
        with self.reads:
            since = self._applied.revision
            try:
                epoch, revision = await self._keeper.look()
            except (NotFound, Unauthenticated) as error:
                self.end(error)
                return
            except NacreError:
                return  # the next check looks again; until then the line is not fresh
        self.observe(epoch, revision, since=since)


class Reads:
    """The tasks that read for a line: one who is inside can be cancelled with it."""

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[Any]] = []

    def cancel(self) -> None:
        for one in self._tasks:
            one.cancel()

    def __enter__(self) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._tasks.append(task)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        task = asyncio.current_task()
        if task in self._tasks:
            self._tasks.remove(task)
