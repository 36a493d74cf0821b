"""What one agent knows of its log and still has to write into it.

The one place where a running agent writes: rows get their order here, their receipts are published
here, and what could not be saved waits here, in order, and goes before anything else (SPEC A08).
A write that has begun is finished even when the one who waits for it is cancelled, so that memory
and log never differ.
"""

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from desktop.agent.digest import Digest
from desktop.agent.spending import Tariff
from desktop.core.chunks import LogChunk, NewChunk, Stamp
from desktop.core.conversation import LoadedSession, split_dangling
from desktop.core.protocols import Publisher, TurnStore
from desktop.core.records import Receipt, RequestRecord

T = TypeVar("T")


@dataclass(slots=True)
class _Write:
    chunks: tuple[NewChunk, ...]
    keep: bool
    done: "asyncio.Future[tuple[LogChunk, ...]]"


@dataclass(frozen=True, slots=True)
class _Read:
    rows: list[LogChunk]
    requests: dict[str, RequestRecord]
    digest: Digest


def _read(session: LoadedSession, records: Sequence[RequestRecord], tariff: Tariff) -> _Read:
    rows = sorted((*session.chunks, *session.dangling), key=lambda row: row.seq)
    digest = Digest(tariff)
    digest.begin(rows, records)
    digest.size()
    return _Read(rows, {record.id: record for record in records}, digest)


class Ledger:
    """The rows of one conversation in memory, and the way new ones get into its store.

    `rows` are all rows in seq order, `dangling` the unanswered user texts among them that were
    there when the conversation was loaded (SPEC S03). `unsaved` waits for a store that works.
    `digest` answers what is asked of all of it before each request.
    """

    def __init__(self, store: TurnStore, publisher: Publisher, tariff: Tariff) -> None:
        self.rows: list[LogChunk] = []
        self.digest = Digest(tariff)
        self._tariff = tariff
        self.dangling: tuple[LogChunk, ...] = ()
        self.requests: dict[str, RequestRecord] = {}
        self.unsaved: list[NewChunk] = []
        self.revision = 0
        self._unsaved_requests: dict[str, RequestRecord] = {}
        self._stood_here: frozenset[str] = frozenset()
        self._store = store
        self._publisher = publisher
        self._lock = asyncio.Lock()
        self._writes: list[_Write] = []
        self._running: set[asyncio.Task[Any]] = set()

    async def load(self, revision: int = 0) -> None:
        """Takes the conversation up from the store; `revision` is one read just before.

        Texts that were here before in this process are not dangling: they simply stay.
        """
        async with self._lock:
            session = await self._store.load()
            records = await self._store.requests()
            # Off the loop: a conversation of a day has a hundred thousand rows.
            read = await asyncio.to_thread(_read, session, records, self._tariff)
        if self.rows and (not read.rows or read.rows[-1].seq < self.rows[-1].seq):
            return  # a log never shrinks: this store keeps nothing (SPEC S06)
        known = self._stood_here.union(row.id for row in self.rows)
        self.dangling = tuple(row for row in session.dangling if row.id not in known)
        self._stood_here = frozenset()
        self.rows, self.requests, self.digest = read.rows, read.requests, read.digest
        self.revision = revision

    def forget(self) -> None:
        """Lets the rows go, to be loaded again; for a log that holds them all.

        Which unanswered texts were written in this process is remembered.
        """
        at_load = {row.id for row in self.dangling}
        standing = (row.id for row in split_dangling(self.rows).dangling)
        self._stood_here = frozenset(standing) - at_load
        self.rows = []
        self.requests = {}
        self.digest = Digest(self._tariff)
        self.digest.begin(self.rows, ())

    async def append(
        self, chunks: Sequence[NewChunk], *, keep: bool = False
    ) -> tuple[LogChunk, ...]:
        """Writes rows, all or nothing, and publishes them; the rows as they stand in the log.

        Raises StoreError: then nothing of it is in the log; with `keep` the rows wait in `unsaved`.
        Writes that wait at the same moment share one transaction.
        """
        if not chunks:
            return ()
        write = _Write(tuple(chunks), keep, asyncio.get_running_loop().create_future())
        self._writes.append(write)
        return await self._unbroken(self._drain(write), name="append")

    def keep(self, chunks: Sequence[NewChunk]) -> None:
        """Puts rows to those that wait, without trying to write: the store has just failed."""
        self.unsaved.extend(chunks)

    async def flush(self) -> None:
        """Writes what waits. Raises StoreError."""
        await self._unbroken(self._flush(), name="flush")

    @property
    def all_saved(self) -> bool:
        return not self.unsaved and not self._unsaved_requests

    async def start_request(self, record: RequestRecord) -> None:
        """Raises StoreError; then the request must not go out."""
        await self._unbroken(self._start_request(record), name="start request")

    async def finish_request(self, record: RequestRecord) -> None:
        """Raises StoreError; the record then waits with the rows."""
        self.requests[record.id] = record
        self.digest.records_came((record,))
        self._unsaved_requests[record.id] = record
        await self._unbroken(self._flush(), name="finish request")

    async def take_queued(self, *, turn_id: str, step: int, stamp: Stamp) -> tuple[LogChunk, ...]:
        """Moves the queue into the log; the rows it became. Raises StoreError."""
        taking = self._take_queued(turn_id=turn_id, step=step, stamp=stamp)
        return await self._unbroken(taking, name="take queue")

    async def keep_file(self, path: Path, media_type: str) -> tuple[str, int]:
        """Takes a file over as a blob; its (sha256, size). Raises StoreError."""
        return await self._unbroken(self._store.keep_file(path, media_type), name="keep file")

    async def settle(self) -> None:
        """Waits for the writes that run now."""
        while self._running:
            await asyncio.wait(self._running)

    async def _drain(self, write: _Write) -> tuple[LogChunk, ...]:
        async with self._lock:
            if not write.done.done():
                batch, self._writes = self._writes, []
                await self._write(batch)
        return write.done.result()

    async def _write(self, batch: Sequence[_Write]) -> None:
        waiting = tuple(self.unsaved)
        chunks = [*waiting, *(chunk for write in batch for chunk in write.chunks)]
        try:
            receipt = await self._store.append(chunks)
        except Exception as error:
            for write in batch:
                if write.keep:
                    self.unsaved.extend(write.chunks)
                write.done.set_exception(error)
                write.done.exception()  # read once: a caller may be gone
            return
        del self.unsaved[: len(waiting)]
        self._took(receipt)
        rows = {row.id: row for row in receipt.chunks}
        for write in batch:
            write.done.set_result(tuple(rows[chunk.id] for chunk in write.chunks))

    async def _flush(self) -> None:
        async with self._lock:
            await self._flush_locked()

    async def _flush_locked(self) -> None:
        if self.unsaved:
            waiting = tuple(self.unsaved)
            receipt = await self._store.append(waiting)
            del self.unsaved[: len(waiting)]
            self._took(receipt)
        for id_, record in list(self._unsaved_requests.items()):
            self._took(await self._store.finish_request(record))
            self._unsaved_requests.pop(id_, None)

    async def _start_request(self, record: RequestRecord) -> None:
        async with self._lock:
            await self._flush_locked()
            self._took(await self._store.start_request(record))

    async def _take_queued(self, *, turn_id: str, step: int, stamp: Stamp) -> tuple[LogChunk, ...]:
        async with self._lock:
            await self._flush_locked()
            receipt = await self._store.take_queued(turn_id=turn_id, step=step, stamp=stamp)
            if receipt is None:
                return ()
            self._took(receipt)
            return receipt.chunks

    def _took(self, receipt: Receipt) -> None:
        self.rows.extend(receipt.chunks)
        self.requests.update({record.id: record for record in receipt.requests})
        self.digest.rows_came(receipt.chunks)
        self.digest.records_came(receipt.requests)
        self.revision = receipt.revision
        self._publisher.receipt(receipt)

    async def _unbroken(self, work: Coroutine[Any, Any, T], *, name: str) -> T:
        task = asyncio.create_task(work, name=f"ledger {name}")
        self._running.add(task)
        task.add_done_callback(self._over)
        return await asyncio.shield(task)

    def _over(self, task: "asyncio.Task[Any]") -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waited has it; if nobody did, the rows wait in `unsaved`
