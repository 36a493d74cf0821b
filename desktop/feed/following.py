"""How what happens to a conversation, or to all, reaches a line that the program itself keeps.

Receipts come as batches of what the line is about, looks say what there is. The program reads its
own log, so there is one epoch, and one who looks knows that nobody is on the way to tell.
"""

from collections.abc import Callable, Iterable
from typing import Protocol

from desktop.core.records import Receipt
from desktop.core.reducer import BlockOp
from desktop.core.status import TabStatus
from desktop.feed.batches import Batch, Operation
from desktop.feed.hub import WHOLE_LOG, Hub

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
    listener = _Listener(follower, lambda receipt: _of_conversation(receipt, project))
    follower.when_over(hub.subscribe(listener, tab_id=tab_id))
    follower.when_over(hub.on_revision(tab_id, listener))


def follow_log(follower: Follower, hub: Hub, project: Project) -> None:
    """As `follow`, for the rows of all conversations; its revisions are numbers of rows."""
    listener = _Listener(follower, lambda receipt: _of_log(receipt, project))
    follower.when_over(hub.subscribe(listener))
    follower.when_over(hub.on_revision(WHOLE_LOG, listener))


def _of_conversation(receipt: Receipt, project: Project) -> Batch | None:
    base, revision = receipt.base_revision, receipt.revision
    if base == revision:
        return None
    if receipt.is_partial:
        return Batch(EPOCH, base, revision, is_reset=True)
    return Batch(EPOCH, base, revision, tuple(project(receipt)))


def _of_log(receipt: Receipt, project: Project) -> Batch | None:
    """Rows of one write have numbers in a row. Those that nobody counts are in no interval."""
    if not receipt.chunks or not receipt.ordinal:
        return None
    base = receipt.ordinal - len(receipt.chunks)
    if receipt.is_partial:
        return Batch(EPOCH, base, receipt.ordinal, is_reset=True)
    return Batch(EPOCH, base, receipt.ordinal, tuple(project(receipt)))


class _Listener:
    """A Publisher, and one who follows looks."""

    def __init__(self, follower: Follower, batch_of: Callable[[Receipt], Batch | None]) -> None:
        self._follower = follower
        self._batch_of = batch_of

    @property
    def revision(self) -> int | None:
        return self._follower.revision

    def receipt(self, receipt: Receipt) -> None:
        batch = self._batch_of(receipt)
        if batch is not None:
            self._follower.batch(batch)

    def found(self, revision: int, since: int | None) -> None:
        self._follower.observe(EPOCH, revision, since=since, is_sure=True)

    def live(self, tab_id: str, op: BlockOp) -> None:
        """Blocks that stream are no records."""

    def status(self, status: TabStatus) -> None:
        """Nor is a state."""
