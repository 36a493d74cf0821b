"""What a receipt means for one query: the batch of records that its scope is to hear of. Pure.

What the query does not select leaves an empty batch, which says that the interval has nothing for
it. A receipt that does not tell all is never made into one (SPEC R04, R07).
"""

from desktop.core.records import Receipt
from desktop.core.sources import message_of
from desktop.feed import kinds
from desktop.feed.batches import Batch, Operation, Upsert
from desktop.feed.source import Query


def projected(receipt: Receipt, query: Query, *, epoch: str) -> Batch | None:
    """The batch of a receipt of the query's conversation; None where nothing was changed."""
    if receipt.revision == receipt.base_revision:
        return None
    base, revision = receipt.base_revision, receipt.revision
    if receipt.is_partial:
        return Batch(epoch, base, revision, is_reset=True)
    messages = {one.id: message_of(one) for one in receipt.chunks}
    messages |= {one.id: one for one in receipt.revised}
    operations: list[Operation] = [
        Upsert(kinds.of_message(one))
        for one in messages.values()
        if query.selection.admits(one.role, one.type)
    ]
    if query.with_turns:
        operations += [Upsert(kinds.of_turn(one)) for one in receipt.turns]
    return Batch(epoch, base, revision, tuple(operations))
