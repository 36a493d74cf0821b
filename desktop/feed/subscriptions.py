"""Where scopes on conversations come from: subscribed first, then read, checked until they end.

A scope hears the receipts of its conversation as batches of its own selection.
"""

from collections.abc import Callable
from functools import partial
from typing import Protocol

from desktop.core.records import Receipt
from desktop.core.reducer import BlockOp
from desktop.core.status import TabStatus
from desktop.feed.batches import Batch
from desktop.feed.checks import Checks, Watched
from desktop.feed.coalescing import Coalescing
from desktop.feed.hub import Hub
from desktop.feed.projecting import projected
from desktop.feed.source import ConversationSource, Door, Query
from desktop.feed.source_scope import SourceScope
from desktop.feed.timing import Later, Start


class Follower(Watched, Protocol):
    def batch(self, batch: Batch) -> None: ...


class Subscriptions:
    """`open` gives a scope that is on its way; it ends with its `close`. Whoever keeps the records
    elsewhere is told of them from `follow` on, until it is over."""

    def __init__(
        self, hub: Hub, door: Door, *, start: Start, later: Later, clock: Callable[[], float]
    ) -> None:
        self._hub = hub
        self._door = door
        self._start = start
        self._later = later
        self._clock = clock
        self._checks = Checks(door.reader, door.access, epoch=door.epoch, start=start, later=later)

    def open(self, query: Query) -> SourceScope:
        source = ConversationSource(query, self._door)
        scope = SourceScope(source, start=self._start, later=self._later, clock=self._clock)
        self.follow(scope, query)
        scope.open()
        return scope

    def follow(self, follower: Follower, query: Query) -> None:
        """Hands it the batches and checks of the query. It has yet to read."""
        coalescing = Coalescing(follower.batch, later=self._later, clock=self._clock)
        listener = _Listener(query, self._door.epoch, coalescing)
        follower.when_over(self._hub.subscribe(listener, tab_id=query.session_id))
        follower.when_over(coalescing.stop)
        looking = _Looking(follower, self._door.epoch)
        follower.when_over(self._hub.on_revision(query.session_id, looking))
        self._checks.watch(follower, query)


class _Looking:
    """Hears at each look at what other processes did where the conversation's log stands."""

    def __init__(self, follower: Follower, epoch: str) -> None:
        self._follower = follower
        self._epoch = epoch

    @property
    def revision(self) -> int | None:
        return self._follower.revision

    def found(self, revision: int, since: int | None) -> None:
        known = self._follower.revision
        if known is not None and revision > known:
            self._follower.observe(self._epoch, revision, since=since)


class _Listener:
    """A Publisher that makes batches of receipts; open blocks and states are not records."""

    def __init__(self, query: Query, epoch: str, coalescing: Coalescing) -> None:
        self._coalescing = coalescing
        self._projected = partial(projected, query=query, epoch=epoch)

    def receipt(self, receipt: Receipt) -> None:
        batch = self._projected(receipt)
        if batch is not None:
            self._coalescing.put(batch)

    def live(self, tab_id: str, op: BlockOp) -> None: ...

    def status(self, status: TabStatus) -> None: ...
