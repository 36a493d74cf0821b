"""One agent's store: the TurnStore of one tab in the database.

Every write is one transaction that begins with the lock; what it changed comes back as a receipt
whose revisions are those of the committed interval (SPEC R04).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from desktop.core.chunks import LogChunk, NewChunk, Stamp, Text
from desktop.core.conversation import LoadedSession, is_message
from desktop.core.errors import PayloadError, UnknownConversation
from desktop.core.records import Receipt, RequestRecord
from desktop.core.status import QueuedMessage, in_order
from desktop.store import codec, reads
from desktop.store.blobs import Blobs
from desktop.store.lanes import Lanes
from desktop.store.leases import Leases
from desktop.store.receipts import Receipts

_HEAD = (
    "SELECT coalesce((SELECT max(seq) FROM chunks WHERE tab_id = tabs.id), forked_at_seq, 0)"
    " FROM tabs WHERE id = ? AND purged_at IS NULL"
)
_INSERT = (
    "INSERT INTO chunks(id, tab_id, seq, turn_id, step, role, type, data_json, created_at,"
    " provider, model, search_text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_KEEP_BLOB = (
    "INSERT INTO blobs(sha256, size, media_type) VALUES (?, ?, ?) ON CONFLICT(sha256) DO NOTHING"
)


class SqlSession:
    """The TurnStore of `session_id`."""

    def __init__(
        self,
        tab_id: str,
        *,
        lanes: Lanes,
        blobs: Blobs,
        leases: Leases,
        now_ms: Callable[[], int],
    ) -> None:
        self._tab_id = tab_id
        self._lanes = lanes
        self._blobs = blobs
        self._leases = leases
        self._now_ms = now_ms
        self._receipts = Receipts(tab_id)

    @property
    def session_id(self) -> str:
        return self._tab_id

    async def append(self, chunks: Sequence[NewChunk]) -> Receipt:
        write = partial(self._append, new=tuple(chunks))
        return self._receipts.committed(await self._lanes.write(write))

    async def load(self) -> LoadedSession:
        return await self._lanes.load(
            lambda connection: reads.read_session(connection, self._tab_id, self._blobs)
        )

    async def active_model(self) -> Stamp | None:
        return await self._lanes.read(lambda connection: reads.read_stamp(connection, self._tab_id))

    async def start_request(self, record: RequestRecord) -> Receipt:
        write = partial(self._put_request, record=record)
        return self._receipts.committed(await self._lanes.write(write))

    async def finish_request(self, record: RequestRecord) -> Receipt:
        return await self.start_request(record)

    async def requests(self) -> tuple[RequestRecord, ...]:
        return await self._lanes.read(
            lambda connection: reads.read_requests(connection, self._tab_id)
        )

    async def queued(self) -> tuple[QueuedMessage, ...]:
        return await self._lanes.read(self._queued)

    async def enqueue(self, message: QueuedMessage) -> None:
        await self._lanes.write(partial(self._enqueue, message=message))

    async def cancel_queued(self, message_id: str) -> QueuedMessage | None:
        return await self._lanes.write(partial(self._cancel, message_id=message_id))

    async def change_queued(self, message: QueuedMessage) -> bool:
        return await self._lanes.write(partial(self._change_queued, message=message))

    async def order_queued(self, message_ids: Sequence[str]) -> None:
        await self._lanes.write(partial(self._order_queued, message_ids=tuple(message_ids)))

    async def take_queued(self, *, turn_id: str, step: int, stamp: Stamp) -> Receipt | None:
        receipt = await self._lanes.write(
            partial(self._take_queued, turn_id=turn_id, step=step, stamp=stamp)
        )
        return None if receipt is None else self._receipts.committed(receipt)

    async def acquire_lease(self) -> None:
        await self._lanes.write(lambda connection: self._leases.acquire(connection, self._tab_id))

    async def release_lease(self) -> None:
        await self._lanes.write(lambda connection: self._leases.release(connection, self._tab_id))

    async def keep_file(self, path: Path, media_type: str) -> tuple[str, int]:
        sha256, size = await self._lanes.file(lambda: self._blobs.take(path))

        def job(connection: Connection) -> None:
            connection.exec_driver_sql(_KEEP_BLOB, (sha256, size, codec.clean(media_type)))

        await self._lanes.write(job)
        return sha256, size

    def _append(self, connection: Connection, new: Sequence[NewChunk]) -> Receipt:
        head = connection.exec_driver_sql(_HEAD, (self._tab_id,)).scalar_one_or_none()
        if head is None:
            raise UnknownConversation("No conversation has this id.", detail=self._tab_id)
        base = reads.read_revision(connection, self._tab_id)
        if not new:
            return Receipt(self._tab_id, base, base)
        now = self._now_ms()
        chunks = tuple(
            _placed(one, tab_id=self._tab_id, seq=head + place, created_at=now)
            for place, one in enumerate(new, start=1)
        )
        connection.exec_driver_sql(_INSERT, [self._row(connection, chunk) for chunk in chunks])
        if any(is_message(chunk) for chunk in chunks):
            connection.exec_driver_sql(
                "UPDATE tabs SET last_message_at = ? WHERE id = ?", (now, self._tab_id)
            )
        return self._receipts.of_chunks(connection, base, chunks)

    def _row(self, connection: Connection, chunk: LogChunk) -> tuple[Any, ...]:
        """The columns of a chunk, its attached texts kept first."""
        encoded = codec.encode(chunk.data)
        for text in encoded.texts:
            self._blobs.write(text.sha256, text.content)
            connection.exec_driver_sql(
                _KEEP_BLOB, (text.sha256, len(text.content), codec.clean(text.media_type))
            )
        return (
            chunk.id,
            chunk.tab_id,
            chunk.seq,
            chunk.turn_id,
            chunk.step,
            chunk.role,
            chunk.type,
            encoded.data_json,
            chunk.created_at,
            chunk.stamp.provider or None,
            chunk.stamp.model or None,
            encoded.search_text,
        )

    def _put_request(self, connection: Connection, record: RequestRecord) -> Receipt:
        reads.lineage(connection, self._tab_id)
        base = reads.read_revision(connection, self._tab_id)
        connection.exec_driver_sql(
            "INSERT INTO model_requests(id, tab_id, turn_id, step, message_id, provider, model,"
            " stop_reason, usage_json, started_at, ended_at, error_json, cache_json)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT(id) DO UPDATE SET message_id = excluded.message_id,"
            " provider = excluded.provider, model = excluded.model,"
            " stop_reason = excluded.stop_reason, usage_json = excluded.usage_json,"
            " started_at = excluded.started_at, ended_at = excluded.ended_at,"
            " error_json = excluded.error_json, cache_json = excluded.cache_json",
            (
                record.id,
                self._tab_id,
                record.turn_id,
                record.step,
                _cleaned(record.message_id),
                codec.clean(record.provider),
                codec.clean(record.model),
                _cleaned(record.stop_reason),
                _json_or_none(record.usage),
                record.started_at,
                record.ended_at,
                _json_or_none(record.error),
                _json_or_none(record.cache),
            ),
        )
        return self._receipts.of_request(connection, base, record)

    def _queued(self, connection: Connection) -> tuple[QueuedMessage, ...]:
        rows = connection.exec_driver_sql(
            "SELECT id, created_at, data_json FROM queued_messages WHERE tab_id = ?"
            " ORDER BY ordinal",
            (self._tab_id,),
        ).all()
        return tuple(self._message_of(row) for row in rows)

    def _message_of(self, row: Any) -> QueuedMessage:
        """A damaged row's text is offered as it lies there, rather than lost."""
        id_, created_at, data_json = row
        try:
            payload = codec.decode("text", data_json)
        except PayloadError:
            payload = Text(data_json)
        assert isinstance(payload, Text)
        return QueuedMessage(
            id=id_,
            tab_id=self._tab_id,
            text=payload.text,
            created_at=created_at,
            attachments=payload.attachments,
        )

    def _enqueue(self, connection: Connection, message: QueuedMessage) -> None:
        reads.lineage(connection, self._tab_id)
        connection.exec_driver_sql(
            "INSERT INTO queued_messages(id, tab_id, data_json, created_at) VALUES (?, ?, ?, ?)"
            " ON CONFLICT(id) DO NOTHING",
            (message.id, self._tab_id, _message_json(message), message.created_at),
        )

    def _change_queued(self, connection: Connection, message: QueuedMessage) -> bool:
        changed = connection.exec_driver_sql(
            "UPDATE queued_messages SET data_json = ? WHERE tab_id = ? AND id = ?",
            (_message_json(message), self._tab_id, message.id),
        )
        return changed.rowcount > 0

    def _order_queued(self, connection: Connection, message_ids: Sequence[str]) -> None:
        """The places stay, of all together; who stands at which is another."""
        queue = self._queued(connection)
        places = connection.exec_driver_sql(
            "SELECT ordinal FROM queued_messages WHERE tab_id = ? ORDER BY ordinal",
            (self._tab_id,),
        ).scalars()
        wanted = list(zip(places.all(), in_order(queue, message_ids), strict=True))
        # A place has to be free before another message can stand there.
        connection.exec_driver_sql(
            "UPDATE queued_messages SET ordinal = -ordinal WHERE tab_id = ?", (self._tab_id,)
        )
        for place, message in wanted:
            connection.exec_driver_sql(
                "UPDATE queued_messages SET ordinal = ? WHERE id = ?", (place, message.id)
            )

    def _cancel(self, connection: Connection, message_id: str) -> QueuedMessage | None:
        row = connection.exec_driver_sql(
            "DELETE FROM queued_messages WHERE tab_id = ? AND id = ?"
            " RETURNING id, created_at, data_json",
            (self._tab_id, message_id),
        ).first()
        return None if row is None else self._message_of(row)

    def _take_queued(
        self, connection: Connection, *, turn_id: str, step: int, stamp: Stamp
    ) -> Receipt | None:
        messages = self._queued(connection)
        if not messages:
            return None
        connection.exec_driver_sql("DELETE FROM queued_messages WHERE tab_id = ?", (self._tab_id,))
        return self._append(
            connection,
            [
                NewChunk(
                    id=message.id,
                    turn_id=turn_id,
                    role="user",
                    data=Text(message.text, attachments=message.attachments),
                    step=step,
                    stamp=stamp,
                )
                for message in messages
            ],
        )


def _message_json(message: QueuedMessage) -> str:
    data: dict[str, Any] = {"text": message.text}
    if message.attachments:
        data["attachments"] = [dict(one) for one in message.attachments]
    return codec.to_json(data)


def _placed(new: NewChunk, *, tab_id: str, seq: int, created_at: int) -> LogChunk:
    """The chunk with its place, its column texts as the columns can hold them."""
    return LogChunk(
        id=codec.clean(new.id),
        tab_id=tab_id,
        seq=seq,
        turn_id=codec.clean(new.turn_id),
        step=new.step,
        role=new.role,
        data=new.data,
        created_at=created_at,
        stamp=Stamp(codec.clean(new.stamp.provider), codec.clean(new.stamp.model)),
    )


def _json_or_none(value: Mapping[str, Any] | None) -> str | None:
    return None if value is None else codec.to_json(value)


def _cleaned(text: str | None) -> str | None:
    return None if text is None else codec.clean(text)
