"""A store that keeps nothing: for a turn that shall leave no trace (SPEC S06).

Places and revisions are counted all the same, so that an agent and a view can't tell it apart
while it runs; after that everything is gone.
"""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

from desktop.core.chunks import LogChunk, NewChunk, Stamp, Text
from desktop.core.conversation import LoadedSession
from desktop.core.records import Receipt, RequestRecord
from desktop.core.status import QueuedMessage, in_order

# Bytes of pictures and documents that are held for the requests to come.
ROOM = 64_000_000


class NullStore:
    """A TurnStore that writes nothing; only the waiting queue and what is shown to the model are
    held, in memory."""

    def __init__(self, session_id: str, *, now_ms: Callable[[], int]) -> None:
        self._session_id = session_id
        self._now_ms = now_ms
        self._seq = 0
        self._revision = 0
        self._queue: list[QueuedMessage] = []
        self._shown: dict[str, bytes] = {}

    @property
    def session_id(self) -> str:
        return self._session_id

    async def append(self, chunks: Sequence[NewChunk]) -> Receipt:
        base, now = self._revision, self._now_ms()
        rows = tuple(
            LogChunk(
                id=new.id,
                tab_id=self._session_id,
                seq=self._seq + place,
                turn_id=new.turn_id,
                step=new.step,
                role=new.role,
                data=new.data,
                created_at=now,
                stamp=new.stamp,
            )
            for place, new in enumerate(chunks, start=1)
        )
        self._seq += len(rows)
        self._revision += len(rows)
        return Receipt(self._session_id, base, self._revision, chunks=rows)

    async def load(self) -> LoadedSession:
        return LoadedSession()

    async def active_model(self) -> Stamp | None:
        return None

    async def start_request(self, record: RequestRecord) -> Receipt:
        return self._counted(record)

    async def finish_request(self, record: RequestRecord) -> Receipt:
        return self._counted(record)

    def _counted(self, record: RequestRecord) -> Receipt:
        base = self._revision
        self._revision += 1
        return Receipt(self._session_id, base, self._revision, requests=(record,))

    async def requests(self) -> tuple[RequestRecord, ...]:
        return ()

    async def queued(self) -> tuple[QueuedMessage, ...]:
        return tuple(self._queue)

    async def enqueue(self, message: QueuedMessage) -> None:
        if all(one.id != message.id for one in self._queue):
            self._queue.append(message)

    async def cancel_queued(self, message_id: str) -> QueuedMessage | None:
        for message in self._queue:
            if message.id == message_id:
                self._queue.remove(message)
                return message
        return None

    async def change_queued(self, message: QueuedMessage) -> bool:
        found = [at for at, one in enumerate(self._queue) if one.id == message.id]
        for at in found:
            self._queue[at] = message
        return bool(found)

    async def order_queued(self, message_ids: Sequence[str]) -> None:
        self._queue = list(in_order(self._queue, message_ids))

    async def take_queued(self, *, turn_id: str, step: int, stamp: Stamp) -> Receipt | None:
        if not self._queue:
            return None
        messages, self._queue = self._queue, []
        return await self.append(
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
            ]
        )

    async def acquire_lease(self) -> None:
        return

    async def release_lease(self) -> None:
        return

    async def keep_file(self, path: Path, media_type: str) -> tuple[str, int]:
        """Measures the file and lets it go: nothing is kept. What is to be shown to the model stays
        in memory, for as long as there is room."""
        return await asyncio.to_thread(self._measure_and_remove, path, media_type)

    def content(self, sha256: str) -> bytes | None:
        """The bytes of a picture or document."""
        return self._shown.get(sha256)

    def _measure_and_remove(self, path: Path, media_type: str) -> tuple[str, int]:
        with path.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
            size = content.tell()
            taken = sum(map(len, self._shown.values()))
            if media_type != "text/plain" and taken + size <= ROOM:
                content.seek(0)
                self._shown[digest] = content.read()
        path.unlink()
        return digest, size
