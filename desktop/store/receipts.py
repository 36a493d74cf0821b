"""What a write of one conversation changed, told from inside of its transaction (SPEC R04).

A new row can change an earlier record: it ends a turn, or takes a row back. Those are told whole,
too. An interval that holds more than the write itself did is told as partial, never as covered.
Nothing of this is stored.
"""

from collections.abc import Sequence

from sqlalchemy import Connection

from desktop.core.chunks import LogChunk
from desktop.core.conversation import retracted_ids
from desktop.core.records import Receipt, RequestRecord
from desktop.core.turns import Turn, opens_turn
from desktop.store import reads, sources


class Receipts:
    """The receipts of one session.

    A turn that was told is remembered with its revision: while nobody else wrote, a row that
    neither opens nor ends anything leaves an open turn as it was told.
    """

    def __init__(self, tab_id: str) -> None:
        self._tab_id = tab_id
        self._told: tuple[int, Turn] | None = None

    def of_chunks(self, connection: Connection, base: int, chunks: tuple[LogChunk, ...]) -> Receipt:
        revision = reads.read_revision(connection, self._tab_id)
        gone = retracted_ids(chunks)
        return Receipt(
            self._tab_id,
            base,
            revision,
            chunks=chunks,
            revised=sources.read_by_id(connection, self._tab_id, sorted(gone)) if gone else (),
            turns=self._turns(connection, base, chunks),
            is_partial=revision - base != len(chunks),
            ordinal=reads.newest_ordinal(connection),
        )

    def of_request(self, connection: Connection, base: int, record: RequestRecord) -> Receipt:
        revision = reads.read_revision(connection, self._tab_id)
        partial = revision - base > 1
        return Receipt(self._tab_id, base, revision, requests=(record,), is_partial=partial)

    def committed(self, receipt: Receipt) -> Receipt:
        """Remembers what a write told that was not rolled back."""
        if receipt.turns:
            self._told = (receipt.revision, receipt.turns[-1])
        elif self._told is not None and self._told[0] == receipt.base_revision:
            self._told = (receipt.revision, self._told[1])
        return receipt

    def _turns(
        self, connection: Connection, base: int, chunks: Sequence[LogChunk]
    ) -> tuple[Turn, ...]:
        """The turns that are other than they were, in the order of the rows."""
        told = self._told
        known = told[1] if told is not None and told[0] == base else None
        found: list[Turn] = []
        for turn_id in dict.fromkeys(chunk.turn_id for chunk in chunks):
            of_turn = [chunk for chunk in chunks if chunk.turn_id == turn_id]
            if known is not None and known.id == turn_id and not _moves(known, of_turn):
                continue
            turn = sources.read_turn(connection, self._tab_id, turn_id)
            if turn is not None:
                found.append(turn)
        return tuple(found)


def _moves(turn: Turn, chunks: Sequence[LogChunk]) -> bool:
    """Whether the rows can make the turn another."""
    return bool(turn.outcome) or any(opens_turn(chunk) for chunk in chunks)
