"""Whatever a plugin does, it is contained and named, and the program goes on."""

import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from desktop.plugins import host
from desktop.plugins.limits import LINE_BYTES, MOST_GARBAGE, MOST_OUTSTANDING
from tests.unit.plugins.hosts import Line, Stage, is_alive, play, until

if sys.platform == "win32":
    pytest.skip("the plain plugin listens to a Unix socket", allow_module_level=True)

Tell = Callable[..., None]


@pytest.fixture
def tell(tmp_path: Path) -> Tell:
    return partial(play, tmp_path)


async def asks(line: Line, data: bytes) -> int:
    """The number of the fault that a line of bytes is answered with."""
    await line.put(data + b"\n")
    return (await line.hear(lambda one: "error" in one))["error"]["code"]


def test_what_is_no_call_is_answered_with_its_fault_and_breaks_nothing(tell: Tell) -> None:
    async def story(stage: Stage) -> None:
        line = await stage.show()
        assert await asks(line, b"garbage") == -32700
        assert await asks(line, b"\xff\xfe") == -32700
        assert await asks(line, b"[" * 100_000) == -32700
        assert await asks(line, b"[]") == -32600
        assert await asks(line, b'{"jsonrpc": "1.0", "id": 1, "method": "session.list"}') == -32600
        assert await asks(line, b'{"jsonrpc": "2.0", "id": [], "method": "session.list"}') == -32600
        assert (
            await asks(line, b'{"jsonrpc": "2.0", "id": 1, "method": "x", "params": []}') == -32600
        )
        assert await line.fault("session.conversation.delete") == "unknown_method"
        assert await line.fault("session.list", more=1) == "invalid_query"
        assert await line.fault("session.conversation.messages") == "invalid_query"
        assert (await line.get("session.list"))["hasMore"] is False
        assert stage.plugin.state.phase == "ready"

    tell(story)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (b"x" * (LINE_BYTES + 2), "it sent a line of more than 1 MiB"),
        (b'{"jsonrpc": "2.0", "method": "x"}\n' * 1_000, "it said more than it may"),
        (
            b"{}" * 400_000 + b"\n" + b"{}" * 400_000 + b"\n" + b"{}" * 400_000 + b"\n",
            "it said more",
        ),
        (b"oh\n" * (MOST_GARBAGE + 1), "it kept printing what is no message"),
    ],
    ids=["a line without end", "many lines", "large lines", "garbage"],
)
def test_a_plugin_that_floods_is_ended_and_named(tell: Tell, said: bytes, why: str) -> None:
    async def story(stage: Stage) -> None:
        line = await stage.show()
        await line.put(said)
        sentence = await stage.lost()
        assert sentence.startswith("The plugin “Plain” was ended: ")
        assert why in sentence
        await until(lambda: not is_alive(line.pids[0]))

    tell(story)


def test_one_that_does_not_read_what_it_is_told_is_ended(tell: Tell) -> None:
    async def story(stage: Stage) -> None:
        stage.plugin.show(stage.tab)
        line = await stage.started()
        await line.say({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 2}})
        await until(lambda: stage.plugin.state.phase == "ready")
        run = stage.plugin._run  # pyright: ignore[reportPrivateUsage]
        assert run is not None
        for _ in range(200):
            run._tell("x", {"text": "x" * 100_000})  # pyright: ignore[reportPrivateUsage]
        assert "it does not read what it is told" in await stage.lost()

    tell(story, "deaf")


def test_one_that_does_not_answer_is_ended(tell: Tell) -> None:
    async def story(stage: Stage) -> None:
        stage.plugin.show(stage.tab)
        await stage.started()
        assert "it did not answer within" in await stage.lost()

    tell(story, patience=0.5)


def test_one_of_another_version_is_not_talked_to(tell: Tell) -> None:
    async def story(stage: Stage) -> None:
        stage.plugin.show(stage.tab)
        line = await stage.started()
        await line.answer("host.initialize", {"protocolVersion": 3})
        assert "it does not speak version 2" in await stage.lost()

    tell(story)


def test_one_that_is_killed_comes_back_after_a_growing_pause_a_few_times(tell: Tell) -> None:
    """Each start is another generation; in the end the person is asked."""

    async def story(stage: Stage) -> None:
        line = await stage.show()
        for number, pause in enumerate(host.PAUSES):
            os.kill(line.pids[0], signal.SIGKILL)
            assert "it was killed (signal 9)" in await stage.lost()
            stage.time.advance(pause - 0.1)
            assert stage.plugin.state.phase == "waiting"
            stage.time.advance(0.2)
            line = await stage.started()
            greeting = await line.answer("host.initialize", {"protocolVersion": 2})
            assert greeting["plugin"]["generation"] == number + 2
            await until(lambda: stage.plugin.state.phase == "ready")
        os.kill(line.pids[0], signal.SIGKILL)
        await stage.lost()
        assert stage.plugin.state.phase == "failed"
        stage.plugin.retry()
        await stage.ready()

    tell(story)


def test_nothing_that_it_started_outlives_it(tell: Tell) -> None:
    async def story(stage: Stage) -> None:
        line = await stage.show()
        assert len(line.pids) == 2
        await stage.plugin.close()
        await until(lambda: not any(map(is_alive, line.pids)))

    tell(story, "parent")


def test_no_more_than_a_few_calls_are_answered_at_a_time(tell: Tell) -> None:
    async def story(stage: Stage) -> None:
        line = await stage.show()
        call = b'{"jsonrpc": "2.0", "id": 7, "method": "session.list", "params": {}}\n'
        stage.gate.clear()
        await line.put(call * (MOST_OUTSTANDING + 40))
        for _ in range(40):
            refused = await line.hear(lambda one: one.get("id") == 7)
            assert refused["error"]["data"]["code"] == "too_many"
        stage.gate.set()
        for _ in range(MOST_OUTSTANDING):
            assert "result" in await line.hear(lambda one: one.get("id") == 7)
        assert (await line.get("session.list"))["hasMore"] is False

    tell(story)
