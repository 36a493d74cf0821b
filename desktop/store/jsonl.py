"""A conversation kept as a file of JSON lines: `FOLDER/SESSION.jsonl`, one line an appended row.

Lines are added at the end and never rewritten, so that an append costs the same however long the
conversation is (SPEC P11). What is appended together is whole or not there (SPEC S04): what a
process that was killed left of it is set aside at the next write (SPEC S09). Long results lie in
`FOLDER/blobs/`. Who writes holds the lock of the file (SPEC S10).
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from desktop.core.chunks import LogChunk, NewChunk, Stamp, Text
from desktop.core.conversation import LoadedSession, is_message, split_dangling
from desktop.core.errors import StoreDamaged, StoreError
from desktop.core.protocols import TurnStore
from desktop.core.records import Receipt, RequestRecord
from desktop.core.status import QueuedMessage, in_order
from desktop.store import failures
from desktop.store.blobs import Blobs
from desktop.store.jsonl_file import Reading, SessionFile
from desktop.store.jsonl_lines import Cancelled, Contents, Record, RowHead, Taken, lines_of
from desktop.store.lanes import CLOSED

T = TypeVar("T")
Report = Callable[[str], None]
Said = Callable[[int], Awaitable[None]]

logger = logging.getLogger(__name__)

# What may be a file's name on every system; ids of conversations are uuids.
_FILE_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,120}")


class FSJSONLStore:
    """The TurnStore of `session_id` in one file of `folder`.

    Nothing is made before the first write or `make`; with `must_exist` the file was made before,
    and one that is gone is told instead of begun anew. `report` is told, once each, in a sentence
    for the person, what was found damaged; it is called on the store's thread. `said` is told the
    times of messages (SPEC S12). Who holds the file holds `lease` too, so that the catalogue knows.
    Ended by `close`.
    """

    def __init__(
        self,
        folder: Path,
        session_id: str,
        *,
        now_ms: Callable[[], int],
        must_exist: bool = False,
        report: Report | None = None,
        said: Said | None = None,
        lease: TurnStore | None = None,
    ) -> None:
        if not _FILE_NAME.fullmatch(session_id):
            raise StoreError(
                "The id of this conversation can't be the name of a file.", detail=repr(session_id)
            )
        self._session_id = session_id
        self._path = folder / f"{session_id}.jsonl"
        self._file = SessionFile(self._path, session_id, must_exist=must_exist)
        self._blobs = Blobs(folder / "blobs")
        self._now_ms = now_ms
        self._report = report or _note_unheard
        self._said = said
        self._lease = lease
        self._reading = Reading()
        self._told: set[int] = set()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="nacre-jsonl")
        self._is_closed = False

    @property
    def session_id(self) -> str:
        return self._session_id

    @property
    def path(self) -> Path:
        """The file of the conversation; it is there after the first write."""
        return self._path

    async def append(self, chunks: Sequence[NewChunk]) -> Receipt:
        new = tuple(chunks)
        receipt = await self._run(lambda: self._append(new))
        await self._tell_said(receipt.chunks)
        return receipt

    async def load(self) -> LoadedSession:
        loaded = await self._run(self._load)
        # A process that was killed may have had no time to tell.
        await self._tell_said((*loaded.chunks, *loaded.dangling))
        return loaded

    async def active_model(self) -> Stamp | None:
        return await self._run(lambda: self._looked_at().stamp)

    async def start_request(self, record: RequestRecord) -> Receipt:
        return await self._run(lambda: self._put_request(record))

    async def finish_request(self, record: RequestRecord) -> Receipt:
        return await self._run(lambda: self._put_request(record))

    async def requests(self) -> tuple[RequestRecord, ...]:
        return await self._run(lambda: tuple(self._looked_at().requests.values()))

    async def queued(self) -> tuple[QueuedMessage, ...]:
        return await self._run(lambda: tuple(self._looked_at().queue.values()))

    async def enqueue(self, message: QueuedMessage) -> None:
        await self._run(lambda: self._enqueue(message))

    async def cancel_queued(self, message_id: str) -> QueuedMessage | None:
        return await self._run(lambda: self._cancel(message_id))

    async def change_queued(self, message: QueuedMessage) -> bool:
        return await self._run(lambda: self._change_queued(message))

    async def order_queued(self, message_ids: Sequence[str]) -> None:
        await self._run(lambda: self._order_queued(message_ids))

    async def take_queued(self, *, turn_id: str, step: int, stamp: Stamp) -> Receipt | None:
        receipt = await self._run(lambda: self._take_queued(turn_id, step, stamp))
        await self._tell_said(receipt.chunks if receipt else ())
        return receipt

    async def make(self) -> None:
        """Makes the file with its header, where there is none. Raises StoreError."""
        await self._run(self._make)

    async def acquire_lease(self) -> None:
        await self._run(self._file.lock)
        if self._lease is not None:
            try:
                await self._lease.acquire_lease()
            except BaseException:
                await self._run(self._file.unlock)
                raise

    async def release_lease(self) -> None:
        if self._lease is not None:
            await self._lease.release_lease()
        await self._run(self._file.unlock)

    async def keep_file(self, path: Path, media_type: str) -> tuple[str, int]:
        return await self._run(lambda: self._blobs.take(path))

    async def blob_path(self, sha256: str) -> Path | None:
        """Where a kept file lies; None where it does not."""
        return await self._run(lambda: self._blobs.path(sha256))

    async def close(self) -> None:
        """Waits for what was asked, gives the lock back, ends the thread. Again: a no-op."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            await asyncio.wrap_future(self._thread.submit(self._file.unlock))
        finally:
            self._thread.shutdown(wait=True)

    async def _tell_said(self, rows: Sequence[LogChunk]) -> None:
        """The list can be wrong about a time; rows that are kept are not lost for it."""
        at = max((row.created_at for row in rows if is_message(row)), default=None)
        if self._said is None or at is None:
            return
        try:
            await self._said(at)
        except StoreError as error:
            logger.warning("The time of a message in %s is not noted: %s", self._path, error)

    async def _run(self, work: Callable[[], T]) -> T:
        """Runs work on the store's thread; what has begun is not taken back by a cancellation."""
        if self._is_closed:
            raise StoreError(CLOSED)

        def told() -> T:
            with failures.told(self._path):
                return work()

        return await asyncio.wrap_future(self._thread.submit(told))

    # On the store's thread.

    def _make(self) -> None:
        with self._writing():
            pass

    def _append(self, new: Sequence[NewChunk]) -> Receipt:
        if not new:
            revision = self._looked_at().revision
            return Receipt(self._session_id, revision, revision)
        with self._writing() as contents:
            return self._add_rows(contents, new)

    def _add_rows(
        self, contents: Contents, new: Sequence[NewChunk], after: Sequence[Taken] = ()
    ) -> Receipt:
        ids = {one.id for one in new}
        if len(ids) != len(new) or not ids.isdisjoint(contents.ids):
            raise StoreError("A row with this id is already in the log.")
        rows = contents.placed(new, self._session_id, self._now_ms())
        base = contents.revision
        self._write(*rows, *after)
        for row in rows:
            contents.add_row(row)
        for one in after:
            contents.add(one)
        # Which turns these rows began or ended, and what they took back, is not told here.
        return Receipt(self._session_id, base, contents.revision, chunks=rows, is_partial=True)

    def _load(self) -> LoadedSession:
        rows: list[LogChunk] = []

        def keep(seq: int, at: int, found: LogChunk | RowHead | str) -> None:
            del seq, at
            if isinstance(found, LogChunk):
                rows.append(found)

        self._reading = self._file.read(Reading(), keep)
        self._tell_damage()
        damaged = len(self._reading.contents.damaged)
        return replace(split_dangling(rows), damaged=damaged)

    def _put_request(self, record: RequestRecord) -> Receipt:
        with self._writing() as contents:
            base = contents.revision
            if contents.requests.get(record.id) != record:
                self._write(record)
                contents.add(record)
            return Receipt(self._session_id, base, contents.revision, requests=(record,))

    def _enqueue(self, message: QueuedMessage) -> None:
        with self._writing() as contents:
            if message.id not in contents.queue and message.id not in contents.ids:
                self._write(message)
                contents.add(message)

    def _change_queued(self, message: QueuedMessage) -> bool:
        """The same id once more: the later line is the message, in the place of the first."""
        with self._writing() as contents:
            waits = message.id in contents.queue
            if waits:
                self._write(message)
                contents.add(message)
            return waits

    def _order_queued(self, message_ids: Sequence[str]) -> None:
        """What moves is taken back and waits again, in one batch: any version reads that."""
        with self._writing() as contents:
            queue = tuple(contents.queue.values())
            wanted = in_order(queue, message_ids)
            moves = [at for at, one in enumerate(queue) if wanted[at] is not one]
            if not moves:
                return
            moved = wanted[moves[0] :]
            lines = (*(Cancelled(one.id) for one in moved), *moved)
            self._write(*lines)
            for line in lines:
                contents.add(line)

    def _cancel(self, message_id: str) -> QueuedMessage | None:
        with self._writing() as contents:
            message = contents.queue.get(message_id)
            if message is not None:
                gone = Cancelled(message_id)
                self._write(gone)
                contents.add(gone)
            return message

    def _take_queued(self, turn_id: str, step: int, stamp: Stamp) -> Receipt | None:
        with self._writing() as contents:
            messages = tuple(contents.queue.values())
            if not messages:
                return None
            rows = [
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
            # The rows come first: a message whose row was cut off still waits.
            return self._add_rows(contents, rows, [Taken(tuple(one.id for one in messages))])

    def _looked_at(self) -> Contents:
        """What the file says now; changes nothing."""
        self._reading = self._file.read(self._reading, _not_kept)
        self._tell_damage()
        return self._reading.contents

    @contextmanager
    def _writing(self) -> Generator[Contents]:
        """The contents as they are now, with the lock in hand and the file's end mended."""
        was_locked = self._file.is_locked
        self._file.lock()
        try:
            if self._file.grown_smaller(self._reading):
                raise StoreDamaged(
                    f"{self._path} was cut off while Nacre worked in it.",
                    way_out="Put it back as it was, or begin a new conversation.",
                )
            contents = self._looked_at()
            aside = self._file.mend(self._reading, created=self._now_ms())
            if aside is not None:
                self._report(
                    f"The end of {self._path} was cut off, by a crash perhaps. What is not"
                    f" whole was set aside in {aside.name}; everything before it is kept."
                )
            yield contents
        finally:
            if not was_locked:
                self._file.unlock()

    def _write(self, *records: Record) -> None:
        self._file.append(lines_of(records), self._reading)

    def _tell_damage(self) -> None:
        damaged = self._reading.contents.damaged
        for number in sorted(damaged.keys() - self._told):
            self._report(
                f"Line {number} of {self._path} can't be read ({damaged[number]}) and is left out."
                " It stays in the file."
            )
        self._told.update(damaged)


def _note_unheard(sentence: str) -> None:
    del sentence
    logger.warning("damage in a file of lines was told to nobody")


def _not_kept(seq: int, at: int, found: LogChunk | RowHead | str) -> None:
    """Rows are read anew by each load; between loads only what they say is kept."""
