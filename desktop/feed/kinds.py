"""The records of a conversation: messages and turns, under the names that scopes know them by."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from desktop.core.chunks import DamagedRow, LogChunk, payload_to_json
from desktop.core.records import Receipt
from desktop.core.sources import Message
from desktop.core.turns import Turn
from desktop.feed.batches import Operation, Record, Upsert

MESSAGE = "message"
TURN = "turn"
FRAME_BYTES = 200
"""About what a record takes beside its texts."""


def of_message(message: Message) -> Record:
    return Record(MESSAGE, message.id, message.seq, message, size_of(message.row))


def rows_of(receipt: Receipt) -> Iterable[Operation]:
    """The new rows of a receipt as they are, for who shows rows; what else it tells is no row."""
    for row in receipt.chunks:
        yield Upsert(Record(MESSAGE, row.id, row.seq, row, size_of(row)))


def numbered_rows_of(receipt: Receipt) -> Iterable[Operation]:
    """As `rows_of`, each at its number among the rows of all conversations."""
    first = receipt.ordinal - len(receipt.chunks) + 1
    for ordinal, row in enumerate(receipt.chunks, first):
        yield Upsert(Record(MESSAGE, row.id, ordinal, row, size_of(row)))


def rows_in(operations: Iterable[Operation]) -> list[LogChunk]:
    """The rows that `rows_of` made operations of."""
    values = (one.record.value for one in operations if isinstance(one, Upsert))
    return [row for row in values if isinstance(row, LogChunk)]


def of_turn(turn: Turn) -> Record:
    return Record(TURN, turn.id, turn.seq, turn, FRAME_BYTES)


def size_of(row: LogChunk | DamagedRow) -> int:
    """About what a row takes on a wire, in bytes."""
    said = row.raw if isinstance(row, DamagedRow) else payload_to_json(row.data)
    return FRAME_BYTES + _size(said)


def _size(value: Any) -> int:
    match value:
        case str():
            return len(value)
        case Mapping():
            return sum(_size(one) + 8 for one in value.values())
        case Sequence():
            return sum(_size(one) + 2 for one in value)
        case _:
            return 8
