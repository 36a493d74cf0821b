"""Batches on their way to one scope: the first goes at once, what follows in 100 ms goes as one.

Only batches that touch are joined, so nothing is covered that was not told.
"""

from collections.abc import Callable

from desktop.feed.applying import MOST_BYTES, MOST_OPERATIONS
from desktop.feed.batches import Batch, joined
from desktop.feed.timing import Cancellable, Later

COALESCE_SECONDS = 0.1


class Coalescing:
    """`put` batches in; `deliver` gets them in their order."""

    def __init__(
        self, deliver: Callable[[Batch], None], *, later: Later, clock: Callable[[], float]
    ) -> None:
        self._deliver = deliver
        self._later = later
        self._clock = clock
        self._last = float("-inf")
        self._pending: Batch | None = None
        self._timer: Cancellable | None = None

    def put(self, batch: Batch) -> None:
        both = joined(self._pending, batch) if self._pending is not None else batch
        if both is None or len(both.operations) > MOST_OPERATIONS or both.size > MOST_BYTES:
            self.flush()
            both = batch
        self._pending = both
        left = self._last + COALESCE_SECONDS - self._clock()
        if left <= 0:
            self.flush()
        elif self._timer is None:
            self._timer = self._later(left, self.flush)

    def flush(self) -> None:
        self.stop()
        pending, self._pending = self._pending, None
        if pending is not None:
            self._last = self._clock()
            self._deliver(pending)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
