"""A thread of its own with a plain asyncio loop, for everything that talks to a provider.

It starts on first need and imports the SDK there (seconds), so that no other thread waits for it.
Work is handed over as coroutines; what they find comes back through a `Pipe` or a future.
"""

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import ModuleType
from typing import Any, Generic, ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")
THREAD_NAME = "nacre-wire"


class Pipe(Generic[T]):
    """Values from the transport's thread to the one loop that reads them, with one wake-up a batch.

    The writer calls `put` and `end` from any thread; the reader awaits `take`. Nothing blocks.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._values: deque[T] = deque()
        self._lock = threading.Lock()
        self._woken = False
        self._ended = False
        self._news = asyncio.Event()

    def put(self, values: Sequence[T]) -> None:
        with self._lock:
            self._values.extend(values)
            wake, self._woken = not self._woken, True
        if wake:
            self._wake()

    def end(self) -> None:
        """Nothing more will come."""
        with self._lock:
            self._ended = True
        self._wake()

    async def take(self) -> list[T]:
        """All values that have come, as soon as there is one; [] at the end."""
        while True:
            with self._lock:
                values = list(self._values)
                self._values.clear()
                self._woken = False
                ended = self._ended
                self._news.clear()
            if values or ended:
                return values
            await self._news.wait()

    def _wake(self) -> None:
        # The reader's loop may be closed already, when the program is ending.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._news.set)


class Transport:
    """The thread. `load_sdk` imports `desktop.wire.sdk` and is called on the thread, once."""

    def __init__(self, load_sdk: Callable[[], ModuleType]) -> None:
        self._load_sdk = load_sdk
        self._sdk: ModuleType | None = None
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._over: Future[None] = Future()
        self._closing: dict[int, Callable[[], Awaitable[None]]] = {}
        self._closed = False

    def sdk(self) -> Any:
        """The SDK's door; only on the transport's thread."""
        if self._sdk is None:
            self._sdk = self._load_sdk()
        return self._sdk

    def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
        """Starts a coroutine on the thread. Cancelling the future cancels the coroutine.

        Raises RuntimeError after `close`.
        """
        loop = self._started()
        return asyncio.run_coroutine_threadsafe(_called(work), loop)

    def at_close(self, owner: object, close: Callable[[], Awaitable[None]]) -> None:
        """Have this awaited on the thread when it ends; one for an owner."""
        self._closing[id(owner)] = close

    async def closed_now(self, owner: object) -> None:
        """What `close` would do for this owner, now; on the thread."""
        close = self._closing.pop(id(owner), None)
        if close is not None:
            await close()

    async def close(self, *, seconds: float = 1.0) -> None:
        """Ends all requests and the thread; gives up waiting after `seconds`. Twice is harmless."""
        with self._lock:
            self._closed = True
            loop = self._loop
        if loop is None:
            return
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(loop.stop)
        over = asyncio.wrap_future(self._over)
        await asyncio.wait({over}, timeout=seconds)
        if over.done() and self._thread is not None:
            self._thread.join(timeout=0.1)  # it has nothing left to do

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._closed:
                raise RuntimeError("the transport is closed")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._loop.set_default_executor(_DaemonThreads(max_workers=1))
                self._thread = threading.Thread(
                    target=self._serve, args=(self._loop,), name=THREAD_NAME, daemon=True
                )
                self._thread.start()
            return self._loop

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
            loop.run_until_complete(self._end())
        finally:
            loop.close()
            self._over.set_result(None)

    async def _end(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=0.5)
        closing, self._closing = list(self._closing.values()), {}
        for close in closing:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(close(), 0.2)
        await asyncio.get_running_loop().shutdown_asyncgens()


async def _called(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    return await work()


class _DaemonThreads(ThreadPoolExecutor):
    """A thread a call, that nobody waits for: a name that is looked up must not hold up the end."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()

        def call() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = fn(*args, **kwargs)
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)

        threading.Thread(target=call, name=f"{THREAD_NAME}-lookup", daemon=True).start()
        return future
