"""How what happens to one conversation reaches a line that the program itself keeps.

Receipts come as batches of what the line is about, looks say what there is. The program reads its
own log, so there is one epoch, and one who looks knows that nobody is on the way to tell.
"""

from collections.abc import Callable, Iterable
from typing import Protocol

from desktop.core.records import Receipt
from desktop.core.reducer import BlockOp
from desktop.core.status import TabStatus
from desktop.feed.batches import Batch, Operation
from desktop.feed.hub import Hub

EPOCH = "log"

Project = Callable[[Receipt], Iterable[Operation]]
"""What of a receipt a line is about, as operations; nothing of it is nothing."""


class Follower(Protocol):
    """A line, or a scope that has one."""

    @property
    def revision(self) -> int | None: ...

    def when_over(self, call: Callable[[], None]) -> None: ...

    def batch(self, batch: Batch) -> None: ...

    def observe(
        self, epoch: str, revision: int, *, since: int | None = None, is_sure: bool = False
    ) -> None: ...


def follow(follower: Follower, tab_id: str, hub: Hub, project: Project) -> None:
    """Tells it all of the conversation from now on, until it is over. It has yet to read."""
    listener = _Listener(follower, project)
    follower.when_over(hub.subscribe(listener, tab_id=tab_id))
    follower.when_over(hub.on_revision(tab_id, listener))


class _Listener:
    """A Publisher, and one who follows looks."""

    def __init__(self, follower: Follower, project: Project) -> None:
        self._follower = follower
        self._project = project

    @property
    def revision(self) -> int | None:
        return self._follower.revision

    def receipt(self, receipt: Receipt) -> None:
        base, revision = receipt.base_revision, receipt.revision
        if base == revision:
            return
        if receipt.is_partial:
            batch = Batch(EPOCH, base, revision, is_reset=True)
        else:
            batch = Batch(EPOCH, base, revision, tuple(self._project(receipt)))
        self._follower.batch(batch)

    def found(self, revision: int, since: int | None) -> None:
        self._follower.observe(EPOCH, revision, since=since, is_sure=True)

    def live(self, tab_id: str, op: BlockOp) -> None:
        """Blocks that stream are no records."""

    def status(self, status: TabStatus) -> None:
        """Nor is a state."""
