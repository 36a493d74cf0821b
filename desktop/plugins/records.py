"""What a plugin sees of a conversation: what was said in words, and how its turns went. Pure.

No results or calls of tools, no thinking, nothing of the program's own, no block of a provider
and no key that is not named here: what is new in a row stays inside until somebody lets it out.
"""

from collections.abc import Mapping
from typing import Any

from desktop.core.chunks import DamagedRow, Role, Text, Type
from desktop.core.sources import Message, Selection
from desktop.core.turns import Turn
from desktop.feed.batches import Batch, Operation, Record, Upsert
from desktop.plugins.limits import TEXT_CHARACTERS

Json = Mapping[str, Any]

ROLES: frozenset[Role] = frozenset({"user", "assistant"})
TYPES: frozenset[Type] = frozenset({"text"})
SAFE = Selection(ROLES, TYPES)
MOST_OPERATIONS = 100


def seen(record: Record) -> Json | None:
    """A record as a plugin sees it; None where it sees nothing of it."""
    match record.value:
        case Message() as message:
            return _message(message)
        case Turn() as turn:
            return _turn(turn)
        case _:
            return None


def batch_seen(batch: Batch) -> Json:
    """What happened; where that is too much for a line it says that it does not tell all."""
    is_reset = batch.is_reset or len(batch.operations) > MOST_OPERATIONS
    operations = [] if is_reset else [_operation(one) for one in batch.operations]
    return {
        "epoch": batch.epoch,
        "baseRevision": str(batch.base_revision),
        "revision": str(batch.revision),
        "reset": is_reset,
        "operations": operations,
    }


def _operation(operation: Operation) -> Json:
    if isinstance(operation, Upsert):
        record = seen(operation.record)
        if record is not None:
            return {"op": "upsert", "record": record}
    kind, id_ = operation.key
    return {"op": "remove", "kind": kind, "id": id_}


def _message(message: Message) -> Json | None:
    row = message.row
    if not SAFE.admits(message.role, message.type):
        return None
    common = {
        "kind": "message",
        "id": message.id,
        "seq": message.seq,
        "role": message.role,
        "isRetracted": message.is_retracted,
    }
    if isinstance(row, DamagedRow):
        return {**common, "isDamaged": True, "text": ""}
    if not isinstance(row.data, Text):
        return None
    text = row.data.text
    return {
        **common,
        "turnId": row.turn_id,
        "createdAt": row.created_at,
        "text": text[:TEXT_CHARACTERS],
        "isCut": len(text) > TEXT_CHARACTERS,
        "attachments": len(row.data.attachments),
    }


def _turn(turn: Turn) -> Json:
    return {
        "kind": "turn",
        "id": turn.id,
        "seq": turn.seq,
        "startedAt": turn.started_at,
        "endedAt": turn.ended_at,
        "outcome": turn.outcome,
        "durationMs": turn.duration_ms,
    }
