"""One subscription of a plugin: hands on what the feed tells, and ends with a last word.

The plugin keeps the records; batches go to it as they come, in their order, and a check goes only
where it tells of a revision that no batch did.
"""

from collections.abc import Callable, Mapping
from typing import Any

from desktop.feed.batches import Batch
from desktop.feed.faults import FeedError
from desktop.plugins.records import batch_seen

CHANGED = "session.conversation.changed"
Tell = Callable[[str, Mapping[str, Any]], None]


class Delivery:
    """A Follower of `feed.subscriptions`; `id` is the plugin's own word for it."""

    def __init__(self, id_: str, tell: Tell) -> None:
        self._id = id_
        self._tell = tell
        self._revision: int | None = None
        self._when_over: list[Callable[[], None]] = []
        self._is_over = False

    @property
    def revision(self) -> int | None:
        """The newest one that the plugin was told."""
        return self._revision

    def begin_at(self, revision: int) -> None:
        """What the plugin is told as it subscribes, if no batch came before."""
        if self._revision is None:
            self._revision = revision

    def when_over(self, call: Callable[[], None]) -> None:
        self._when_over.append(call)

    def batch(self, batch: Batch) -> None:
        if not self._is_over:
            self._revision = batch.revision
            self._say({"batch": batch_seen(batch)})

    def observe(self, epoch: str, revision: int, *, since: int | None = None) -> None:
        """`since` is what was told when the check began: what came meanwhile is newer."""
        if not self._is_over and revision != self._revision and since == self._revision:
            self._revision = revision
            self._say({"check": True, "epoch": epoch, "revision": str(revision)})

    def end(self, error: FeedError) -> None:
        if not self._is_over:
            self._say({"terminal": True, "code": error.code})
            self.close()

    def close(self) -> None:
        """Twice is harmless."""
        self._is_over = True
        calls, self._when_over = self._when_over, []
        for call in calls:
            call()

    def _say(self, what: Mapping[str, Any]) -> None:
        self._tell(CHANGED, {"subscription": self._id, **what})
