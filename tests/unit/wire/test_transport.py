"""The transport's thread: what it loads, how it ends, how values cross over."""

import asyncio
import subprocess
import sys
import threading
from types import ModuleType

import pytest

from desktop.wire.transport import THREAD_NAME, Pipe, Transport

LOADED = (
    "import sys, desktop.wire.client, desktop.wire.replay, desktop.wire.prices;"
    "print([n for n in ('anthropic', 'httpx2', 'ssl') if n in sys.modules])"
)


def no_sdk() -> ModuleType:
    return ModuleType("sdk")


def test_nothing_of_the_sdk_is_loaded_with_the_modules_of_the_wire():
    done = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True
    )
    assert "anthropic" not in done.stdout
    assert "httpx2" not in done.stdout


def test_the_thread_starts_with_the_first_work_and_loads_the_sdk_there_once():
    seen: list[str] = []

    def load() -> ModuleType:
        seen.append(threading.current_thread().name)
        return no_sdk()

    async def run() -> None:
        transport = Transport(load)
        assert not _running()

        async def work() -> None:
            transport.sdk()

        for _ in range(2):
            await asyncio.wrap_future(transport.run(work))
        await transport.close()

    asyncio.run(run())
    assert seen == [THREAD_NAME]
    assert not _running()


def test_closing_one_that_never_started_or_is_closed_is_harmless():
    async def run() -> None:
        transport = Transport(no_sdk)
        await transport.close()
        await transport.close()
        with pytest.raises(RuntimeError):
            transport.run(_nothing)

    asyncio.run(run())


def test_closing_cancels_what_runs_and_awaits_what_wants_to_be_closed():
    closed: list[str] = []

    async def close() -> None:
        closed.append(threading.current_thread().name)

    async def run() -> None:
        transport = Transport(no_sdk)
        owner = object()
        transport.at_close(owner, close)
        started = threading.Event()

        async def work() -> None:
            started.set()
            await asyncio.Event().wait()

        job = transport.run(work)
        await asyncio.to_thread(started.wait)
        await transport.close()
        assert job.cancelled()

    asyncio.run(run())
    assert closed == [THREAD_NAME]


def test_a_pipe_carries_everything_in_order_from_another_thread():
    async def run() -> list[int]:
        pipe: Pipe[int] = Pipe()

        def write() -> None:
            for at in range(0, 10_000, 10):
                pipe.put(range(at, at + 10))
            pipe.end()

        writer = threading.Thread(target=write)
        writer.start()
        values: list[int] = []
        while batch := await pipe.take():
            values.extend(batch)
        writer.join()
        return values

    assert asyncio.run(run()) == list(range(10_000))


def test_a_pipe_wakes_its_reader_once_for_many_values():
    wakes = 0

    async def run() -> None:
        nonlocal wakes
        pipe: Pipe[int] = Pipe()
        loop = asyncio.get_running_loop()
        real = loop.call_soon_threadsafe

        def counted(*arguments: object, **more: object) -> object:
            nonlocal wakes
            wakes += 1
            return real(*arguments, **more)  # type: ignore[arg-type]

        loop.call_soon_threadsafe = counted  # type: ignore[method-assign]
        for value in range(1000):
            pipe.put([value])
        assert len(await pipe.take()) == 1000

    asyncio.run(run())
    assert wakes == 1


def test_a_writer_outlives_the_reader_without_an_error():
    async def run() -> Pipe[int]:
        return Pipe()

    pipe = asyncio.run(run())
    pipe.put([1])
    pipe.end()


async def _nothing() -> None: ...


def _running() -> bool:
    return any(thread.name == THREAD_NAME for thread in threading.enumerate())
