"""The machine sleeps and wakes in the middle of everything (SPEC U29).

The clock that runs on in its sleep is the test's; the server, the transport and the silence of a
stopped process are real.
"""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from desktop.core.events import ModelEvent, ResponseFailed, RetryScheduled
from desktop.core.model import RequestOptions
from desktop.wire.connections import Connections
from desktop.wire.wake import SLEPT, Clocks, Sleep, rested
from tests.fakes.messages_api import MessagesServer, fails, reply, text
from tests.unit.wire.asking import Asking, asking, failure_of, finished, retries
from tests.unit.wire.rows_of import OPUS
from tests.unit.wire.test_client import hello, texts

FOREVER = 600.0


@dataclass
class Nights:
    """Clocks whose outside runs on while the test lets the machine sleep."""

    slept: float = 0.0
    tick: float = 0.01
    patience: float = 0.2
    clocks: Clocks = field(init=False)

    def __post_init__(self) -> None:
        self.clocks = Clocks(
            outside=lambda: time.monotonic() + self.slept, tick=self.tick, patience=self.patience
        )

    def sleep(self, seconds: float = 3_600.0) -> None:
        self.slept += seconds

    def now(self) -> float:
        """The wall clock."""
        return 1_800_000_000.0 + time.monotonic() + self.slept


def test_the_clocks_part_in_a_sleep_and_a_late_look_says_so_too() -> None:
    inside, outside = [0.0], [1_000.0]
    sleep = Sleep(Clocks(inside=lambda: inside[0], outside=lambda: outside[0]))

    def passed(within: float, without: float, due: float | None = None) -> bool:
        inside[0] += within
        outside[0] += without
        return sleep.noticed(due=due)

    assert not passed(2, 2, 2)
    assert not passed(3_600, 3_600), "nobody looked for an hour"
    assert not passed(2, 2 + SLEPT - 1, 2), "a clock that was set a little"
    assert not passed(2, -3_600, 2), "a clock that was set back"
    assert passed(2, 3_600, 2)
    assert not passed(2, 2, 2), "each sleep is noticed once"
    assert passed(40, 40, 2), "a process that was stopped"


def test_u29_an_answer_that_hangs_after_a_sleep_is_cut_and_keeps_its_text() -> None:
    nights = Nights()
    hanging = reply(text("Ahoi", chunk=1)).gate_after(5, "never")

    async def run(one: Asking) -> list[ModelEvent]:
        task = asyncio.create_task(one.collected(hello().rows))
        await asyncio.to_thread(server.wait_at_gate, "never")
        while not task.done():  # the first night may come before there is a watch
            nights.sleep()
            await asyncio.wait({task}, timeout=1)
        return await task

    with (
        MessagesServer([hanging]) as server,
        asking(server.base_url, read_seconds=FOREVER, clocks=nights.clocks) as one,
    ):
        events = asyncio.run(run(one))
    assert texts(events)
    assert "slept" in failure_of(events).sentence
    assert retries(events) == []


def test_u29_before_its_first_token_it_goes_out_again_after_a_sleep() -> None:
    nights = Nights()

    async def run(one: Asking) -> list[ModelEvent]:
        task = asyncio.create_task(one.collected(hello().rows))
        await asyncio.to_thread(server.wait_at_gate, "never")
        nights.sleep()
        return await task

    with (
        MessagesServer([reply("No").gate_before_head("never"), reply("Ahoi")]) as server,
        asking(server.base_url, read_seconds=FOREVER, clocks=nights.clocks) as one,
    ):
        events = asyncio.run(run(one))
    assert ["slept" in event.failure.sentence for event in retries(events)] == [True]
    assert texts(events) == "Ahoi"
    assert finished(events)


def test_an_answer_that_comes_on_after_a_sleep_is_not_cut() -> None:
    nights = Nights(patience=30.0)

    async def run(one: Asking) -> list[ModelEvent]:
        task = asyncio.create_task(one.collected(hello().rows))
        await asyncio.to_thread(server.wait_at_gate, "night")
        nights.sleep()
        await asyncio.sleep(5 * nights.tick)
        server.release("night")
        await asyncio.to_thread(server.wait_at_gate, "day")
        server.release("day")
        return await task

    slow = reply(text("Ahoi", chunk=1)).gate_after(7, "day").gate_after(5, "night")
    with (
        MessagesServer([slow]) as server,
        asking(server.base_url, clocks=nights.clocks) as one,
    ):
        events = asyncio.run(run(one))
    assert texts(events) == "Ahoi"
    assert finished(events)


@pytest.mark.parametrize(("slept", "rest"), [(3_600.0, 0.0), (40.0, 20.0)])
def test_u29_f_x03_a_wait_passes_in_the_sleep_too(slept: float, rest: float) -> None:
    """A minute was asked for: what is left of it after the sleep is waited for, and no more."""
    nights = Nights()
    waits: list[float] = []

    async def pause(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 1:
            nights.sleep(slept)
            await asyncio.Event().wait()

    with (
        MessagesServer([fails(529, retry_after=60), reply("Ahoi")]) as server,
        asking(server.base_url, pause=pause, now=nights.now, clocks=nights.clocks) as one,
    ):
        assert texts(one.ask(hello().rows)) == "Ahoi"
    assert waits[0] == 60
    assert [round(wait) for wait in waits[1:]] == ([round(rest)] if rest else [])


def test_a_wait_that_is_cancelled_leaves_nothing_running() -> None:
    async def run() -> None:
        begun: asyncio.Future[asyncio.Future[None]] = asyncio.get_running_loop().create_future()

        def pause(seconds: float) -> "asyncio.Future[None]":
            begun.set_result(asyncio.ensure_future(asyncio.sleep(seconds)))
            return begun.result()

        waiting = asyncio.create_task(
            rested(60, clocks=Nights().clocks, now=time.time, pause=pause)
        )
        resting = await begun
        waiting.cancel()
        await asyncio.wait({waiting, resting})
        assert resting.cancelled()

    asyncio.run(run())


class Pool:
    """A client that only knows whether it was closed."""

    def __init__(self) -> None:
        self.closed = False

    async def close(self) -> None:
        self.closed = True


def test_u29_after_a_sleep_the_next_request_has_connections_of_its_own() -> None:
    """One that still runs keeps its own; the old pool goes with the last of them."""
    nights = Nights()

    async def run() -> None:
        connections = Connections(Pool, nights.clocks)
        async with connections.client() as first, connections.client() as same:
            assert first is same
            nights.sleep()
            async with connections.client() as fresh:
                assert fresh is not first
                assert not first.closed
        assert first.closed
        async with connections.client() as again:
            assert again is fresh
        nights.sleep()
        async with connections.client() as third:
            assert third is not fresh
            assert fresh.closed
        await connections.close()
        assert third.closed

    asyncio.run(run())


# -- a process that really stands still -------------------------------------------------------

SCRIPT = """\
{"request": 1}
{"event": {"type": "message_start", "message": {"id": "auto", "type": "message", \
"role": "assistant", "model": "auto", "content": [], "stop_reason": null, "usage": "auto"}}}
{"event": {"type": "content_block_start", "index": 0, \
"content_block": {"type": "text", "text": ""}}}
{"event": {"type": "content_block_delta", "index": 0, \
"delta": {"type": "text_delta", "text": "Half"}}}
{"silent": null}
"""


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """The stand-in as a process of its own, whose first answer hangs after a word."""
    script = tmp_path / "script.jsonl"
    script.write_text(SCRIPT)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.fakes.messages_api", "--script", str(script)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip(), process
    finally:
        process.send_signal(signal.SIGCONT)
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="nothing can be stopped here")
def test_u29_ten_seconds_after_waking_the_next_answer_is_on_its_way(
    own_server: tuple[str, "subprocess.Popen[str]"],
) -> None:
    """The server is really stopped in mid-answer, as it seems to one who slept; the ticks and the
    patience are the program's own."""
    address, process = own_server
    ours = Clocks()
    nights = Nights(tick=ours.tick, patience=ours.patience)

    async def first_words(one: Asking, heard: Callable[[], object]) -> list[ModelEvent]:
        events: list[ModelEvent] = []
        async for batch in one.model.respond(hello().rows, RequestOptions(OPUS)):
            events.extend(batch)
            if texts(events):
                heard()
        return events

    async def run(one: Asking) -> None:
        words = asyncio.Event()
        hanging = asyncio.create_task(first_words(one, words.set))
        await words.wait()
        os.kill(process.pid, signal.SIGSTOP)
        nights.sleep()
        woke = time.monotonic()
        events = await hanging
        os.kill(process.pid, signal.SIGCONT)
        assert texts(events) == "Half"
        assert isinstance(events[-1], ResponseFailed)
        first = asyncio.Event()
        asked = asyncio.create_task(first_words(one, first.set))
        await first.wait()
        assert time.monotonic() - woke < 10
        assert not any(isinstance(event, RetryScheduled) for event in await asked)

    with asking(address, read_seconds=FOREVER, clocks=nights.clocks) as one:
        asyncio.run(run(one))
