"""The store's threads: one that writes, four that read, one that moves files, one that folds.

Each database lane is one thread with one connection; a job runs there inside one transaction. The
caller's loop (plain or Qt's) only ever waits on a future. A job that has begun is not taken back
when its caller is cancelled: what it wrote is written. Only a search and a look over the whole
file are stopped in their middle.
"""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from desktop.core.errors import StoreError
from desktop.core.records import CatalogueReceipt
from desktop.store import failures
from desktop.store.checkpoints import Checkpoints
from desktop.store.connection import driver, engine
from desktop.store.plain import Mode

T = TypeVar("T")
Job = Callable[[Connection], T]

CLOSED = "The log is closed."
STOPPED = "This was stopped."


STEPS_BETWEEN_LOOKS = 10_000  # of SQLite's machine: less than a millisecond


class Lane:
    """One thread, one connection, jobs in order."""

    def __init__(
        self,
        name: str,
        database: Path,
        engine: Engine,
        *,
        committed: Callable[[], None] | None = None,
    ) -> None:
        self._database = database
        self._engine = engine
        self._committed = committed
        self._connection: Connection | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"nacre-{name}")

    def submit(self, job: Job[T]) -> Future[T]:
        """Queues a job; its future fails with a StoreError or what the job itself raised."""
        try:
            return self._thread.submit(self._run, job)
        except RuntimeError as error:
            raise StoreError(CLOSED) from error

    def close(self, last: Callable[[Connection], None] | None = None) -> Future[None]:
        """Queues the end: `last` runs outside of a transaction, then the connection closes."""
        return self._thread.submit(self._end, last)

    def join(self) -> None:
        self._thread.shutdown(wait=True)

    def ask(self, pragma: Callable[[sqlite3.Connection], T]) -> Future[T]:
        """As `submit`, outside of a transaction: no lock of writers is taken."""
        try:
            return self._thread.submit(self._asked, pragma)
        except RuntimeError as error:
            raise StoreError(CLOSED) from error

    def _run(self, job: Job[T]) -> T:
        with failures.told(self._database):
            connection = self._connected()
            with connection.begin():
                result = job(connection)
        if self._committed is not None:
            self._committed()
        return result

    def _asked(self, pragma: Callable[[sqlite3.Connection], T]) -> T:
        with failures.told(self._database):
            return pragma(driver(self._connected()))

    def _connected(self) -> Connection:
        if self._connection is None:
            self._connection = self._engine.connect()
        return self._connection

    def _end(self, last: Callable[[Connection], None] | None) -> None:
        connection, self._connection = self._connection, None
        try:
            with failures.told(self._database):
                if connection is not None and last is not None:
                    last(connection)
        finally:
            if connection is not None:
                connection.close()
            self._engine.dispose()


class Stoppable(Generic[T]):
    """A reading job that another thread can stop, before it begins and in its middle.

    SQLite asks now and then whether it should go on, and is interrupted besides: an interrupt is
    lost between two statements, and a check of the whole file does not ask.
    """

    def __init__(self, job: Job[T]) -> None:
        self._job = job
        self._stopped = threading.Event()
        self._running = threading.Lock()
        self._raw: sqlite3.Connection | None = None

    def __call__(self, connection: Connection) -> T:
        if self._stopped.is_set():
            raise StoreError(STOPPED)
        raw = driver(connection)
        raw.set_progress_handler(self._stopped.is_set, STEPS_BETWEEN_LOOKS)
        with self._running:
            self._raw = raw
        try:
            return self._job(connection)
        except DBAPIError as error:
            if self._stopped.is_set():
                raise StoreError(STOPPED) from error
            raise
        finally:
            with self._running:
                self._raw = None
            raw.set_progress_handler(None, 0)

    def stop(self) -> None:
        self._stopped.set()
        with self._running:
            if self._raw is not None:
                self._raw.interrupt()


class Touched(Protocol):
    """Finds what a write changed of the catalogue, inside of its transaction."""

    def begin(self, connection: Connection) -> int: ...

    def end(self, connection: Connection, base: int) -> CatalogueReceipt | None: ...


class Lanes:
    """All lanes of one log, and the notice that goes out when the catalogue changed.

    `on_catalogue_change` is called on the loop of the caller whose write moved it, after the
    commit, with what `touched` found in the transaction. `writes` counts the jobs that wrote. In a
    read-only log every write raises StoreReadOnly.
    """

    def __init__(
        self,
        database: Path,
        *,
        read_mode: Mode,
        busy_ms: int,
        touched: Touched,
        on_catalogue_change: Callable[[CatalogueReceipt], None] | None,
    ) -> None:
        self._database = database
        self._on_change = on_catalogue_change
        self._touched = touched
        self._is_closed = False
        self._checkpoints = Checkpoints(database)
        self._writer = (
            Lane(
                "writer",
                database,
                engine(database, "write", busy_ms=busy_ms),
                committed=self._checkpoints.wake,
            )
            if read_mode == "read"
            else None
        )
        self._reader = Lane("reader", database, engine(database, read_mode, busy_ms=busy_ms))
        self._loader = Lane("loader", database, engine(database, read_mode, busy_ms=busy_ms))
        self._searcher = Lane("searcher", database, engine(database, read_mode, busy_ms=busy_ms))
        self._overseer = Lane("overseer", database, engine(database, read_mode, busy_ms=busy_ms))
        self._overseeing: set[Stoppable[Any]] = set()
        self._files = ThreadPoolExecutor(1, thread_name_prefix="nacre-files")
        self.writes = 0

    @property
    def is_writable(self) -> bool:
        return self._writer is not None

    def writable(self) -> Lane:
        if self._writer is None:
            raise failures.read_only(self._database)
        return self._writer

    async def write(self, job: Job[T]) -> T:
        """Runs a job in one write transaction; durable when it returns."""
        future = self.writable().submit(lambda connection: self._counted(job, connection))
        if self._on_change is not None:
            loop = asyncio.get_running_loop()
            future.add_done_callback(lambda done: self._tell(done, loop))
        result, _ = await asyncio.wrap_future(future)
        return result

    async def read(self, job: Job[T]) -> T:
        """Runs a job in one read transaction."""
        return await asyncio.wrap_future(self._reader.submit(job))

    async def moved(self) -> int:
        """SQLite's number of what others committed. Asked on the writer's connection, for which
        this process's own writes are no others'; it has written what was handed in before."""
        lane = self._writer or self._reader
        return await asyncio.wrap_future(lane.ask(_data_version))

    async def load(self, job: Job[T]) -> T:
        """As `read`, for what may take long: pages don't wait behind it."""
        return await asyncio.wrap_future(self._loader.submit(job))

    async def search(self, job: Job[T]) -> T:
        """As `read`, on a thread of its own; a caller that is cancelled stops the job."""
        return await _stoppable(self._searcher, Stoppable(job))

    async def oversee(self, job: Job[T]) -> T:
        """As `search`, for what reads the whole file; closing the log stops it too."""
        stoppable = Stoppable(job)
        self._overseeing.add(stoppable)
        try:
            return await _stoppable(self._overseer, stoppable)
        finally:
            self._overseeing.discard(stoppable)

    async def file(self, work: Callable[[], T]) -> T:
        """Runs work on files; refused in a read-only log."""
        self.writable()

        def told() -> T:
            with failures.told(self._database):
                return work()

        try:
            return await asyncio.wrap_future(self._files.submit(told))
        except RuntimeError as error:
            raise StoreError(CLOSED) from error

    async def close(self, last: Callable[[Connection], None]) -> None:
        """Waits for what was queued; `last` runs on the writer's connection. Threads are over.

        A second close finds nothing to do.
        """
        if self._is_closed:
            return
        self._is_closed = True
        lanes = [self._reader, self._loader, self._searcher, self._overseer]
        for one in self._overseeing:
            one.stop()
        self._files.shutdown(wait=False)
        try:
            for lane in lanes:
                await asyncio.wrap_future(lane.close())
            if self._writer is not None:
                lanes.append(self._writer)
                await asyncio.to_thread(self._checkpoints.close)
                await asyncio.wrap_future(self._writer.close(last))
        finally:
            self._checkpoints.close()
            for lane in lanes:
                lane.join()
            self._files.shutdown(wait=True)

    def _counted(self, job: Job[T], connection: Connection) -> tuple[T, CatalogueReceipt | None]:
        base = self._touched.begin(connection)
        result = job(connection)
        self.writes += 1
        return result, self._touched.end(connection, base)

    def _tell(
        self, done: Future[tuple[T, CatalogueReceipt | None]], loop: asyncio.AbstractEventLoop
    ) -> None:
        if done.cancelled() or done.exception() is not None:
            return
        receipt = done.result()[1]
        if receipt is None:
            return
        assert self._on_change is not None
        try:
            loop.call_soon_threadsafe(self._on_change, receipt)
        except RuntimeError:
            return  # the loop is closed: nobody is there to be told


async def _stoppable(lane: Lane, job: Stoppable[T]) -> T:
    future = lane.submit(job)
    try:
        return await asyncio.wrap_future(future)
    except asyncio.CancelledError:
        job.stop()
        raise


def _data_version(raw: sqlite3.Connection) -> int:
    return raw.execute("PRAGMA data_version").fetchone()[0]
