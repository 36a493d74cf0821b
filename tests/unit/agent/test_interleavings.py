"""Whatever a person does at whatever moment: the log stays whole and the next request is valid."""

import asyncio
import contextlib
import logging
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from desktop.agent.ways import GO_ON
from desktop.core.chunks import LogChunk, System, Text, ToolCall, ToolResult
from desktop.core.conversation import retracted_ids, unanswered_calls
from desktop.core.errors import NacreError, StoreFull
from desktop.core.events import Failure, RetryScheduled
from desktop.core.model import RequestOptions
from desktop.core.permissions import Answer
from tests.fakes.models import (
    Batch,
    Response,
    ScriptedModel,
    begins,
    call,
    calls,
    ends,
    fails,
    nothing,
    says,
    text,
)
from tests.fakes.tools import ScriptedTool
from tests.unit.agent.stage import Stage, play

# What the model does next; calls get ids of their own when the script is made.
ANSWERS = ("says", "calls", "asks", "fails", "empty", "cut", "breaks", "refuses", "waits")
DEEDS = (
    "send",
    "stop",
    "answer",
    "deny",
    "cancel",
    "release",
    "retry",
    "go on",
    "hurry",
    "full",
    "open",
    "wait",
)


class Pause:
    """Something that takes a few turns of the loop, as a network or a tool does."""

    def __init__(self, turns: int) -> None:
        self.turns = turns

    async def wait(self) -> None:
        for _ in range(self.turns):
            await asyncio.sleep(0)


def script(kinds: list[str]) -> list[Response]:
    found: list[Response] = []
    for number, kind in enumerate(kinds):
        match kind:
            case "says":
                found.append(says(f"answer {number}"))
            case "calls":
                wanted = [call(f"c{number}.{n}", "look", {"n": n, "s": number}) for n in range(3)]
                found.append(calls(*wanted, words="Let me."))
            case "asks":
                found.append(
                    calls(
                        call(f"c{number}.0", "write", {"n": number}),
                        call(f"c{number}.1", "look", {"n": number}),
                    )
                )
            case "fails":
                found.append(fails(after="Half"))
            case "empty":
                found.append(nothing())
            case "cut":
                found.append(calls(call(f"c{number}.0"), words="Cut", stop_reason="max_tokens"))
            case "waits":
                busy = RetryScheduled(Failure("overloaded", "Busy."), 1, 0.0)
                found.append([[busy, busy], *says(f"answer {number}")])
            case "breaks":
                found.append([[*begins(), *text(0, "Then")], ValueError("broken model")])
            case _:
                found.append([[*begins(), *text(0, "No"), *ends("refusal")]])
    return found


class PausingModel(ScriptedModel):
    """A scripted model whose batches come in ones and with pauses between them."""

    async def respond(
        self, chunks: Sequence[LogChunk], options: RequestOptions
    ) -> AsyncIterator[Batch]:
        async for batch in super().respond(chunks, options):
            for event in batch:
                await Pause(2).wait()
                yield [event]


class PausingTool(ScriptedTool):
    async def run(self, act: Any, scene: Any, report: Any) -> Any:
        await Pause(int(act.prepared.get("n", 0)) * 3).wait()
        return await super().run(act, scene, report)


async def do(stage: Stage, deed: str, number: int) -> None:
    tab = stage.tab_id
    status = stage.supervisor.status(tab)
    match deed:
        case "send":
            await stage.send(f"message {number}")
        case "stop":
            await stage.supervisor.stop(tab)
        case "answer" | "deny":
            for question in status.questions[:1]:
                choice = "once" if deed == "answer" else "deny"
                await stage.supervisor.answer(question.id, Answer(choice))
        case "cancel":
            for message in status.queue[:1]:
                await stage.supervisor.cancel_queued(tab, message.id)
        case "release":
            await stage.supervisor.release_queue(tab)
        case "retry":
            await stage.supervisor.retry(tab)
        case "go on":
            await stage.supervisor.go_on(tab)
        case "hurry":
            await stage.supervisor.try_now(tab)
        case "full":
            stage.log.fail_next(StoreFull("The disk is full."))
        case "open":
            await stage.supervisor.open(tab)
        case _:
            pass


def check(rows: tuple[LogChunk, ...]) -> None:
    assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
    wanted = Counter(row.data.call_id for row in rows if isinstance(row.data, ToolCall))
    given_ = Counter(row.data.call_id for row in rows if isinstance(row.data, ToolResult))
    assert wanted == given_, "every call has exactly one result"
    assert set(wanted.values()) <= {1}
    assert unanswered_calls(rows) == ()
    said = Counter(
        row.data.text
        for row in rows
        if row.role == "user" and isinstance(row.data, Text) and row.data.text != GO_ON
    )
    assert set(said.values()) <= {1}, "nothing is laid down twice"
    for row in rows:
        if isinstance(row.data, ToolResult):
            assert row.data.result.strip() or not row.data.is_error
    check_ends(rows)


def check_ends(rows: tuple[LogChunk, ...]) -> None:
    """Each run of a turn has one end: between two ends of a turn stands a retry of it."""
    ends: Counter[str] = Counter()
    for row in rows:
        if isinstance(row.data, System) and row.data.kind == "turn_end":
            ends[row.turn_id] += 1
    for turn_id in {row.turn_id for row in rows}:
        assert ends[turn_id] >= 1, f"turn {turn_id} has no end"
        mine = [row for row in rows if row.turn_id == turn_id]
        assert isinstance(mine[-1].data, System)
        assert mine[-1].data.kind == "turn_end"
    gone = retracted_ids(rows)
    assert not any(row.id in gone for row in rows if row.type in ("tool_call", "tool_result"))


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
@given(
    answers=st.lists(st.sampled_from(ANSWERS), min_size=1, max_size=8),
    deeds=st.lists(
        st.tuples(st.integers(min_value=0, max_value=40), st.sampled_from(DEEDS)), max_size=10
    ),
)
def test_U21_whatever_happens_when_the_log_stays_whole(
    answers: list[str], deeds: list[tuple[int, str]]
) -> None:
    async def scenario() -> None:
        model = PausingModel(script(answers) + [says(f"last {n}") for n in range(60)])
        tools = [PausingTool("look"), PausingTool("write", kind="write")]
        with tempfile.TemporaryDirectory() as folder:
            stage = Stage(Path(folder), model, tools)
            await stage.tab()
            with contextlib.suppress(NacreError):
                await stage.send("message first")
            doing: list[asyncio.Task[None]] = []
            for number, (turns, deed) in enumerate(deeds):
                await Pause(turns).wait()
                doing.append(asyncio.create_task(do(stage, deed, number)))
            for one in doing:
                with contextlib.suppress(NacreError):
                    await one
            await stage.supervisor.stop(stage.tab_id)
            stage.log.failures.clear()
            await stage.supervisor.open(stage.tab_id)
            await stage.supervisor.choose(stage.tab_id, mode="auto")
            await stage.run("message last")
            await stage.supervisor.stop(stage.tab_id)
            status = stage.supervisor.status(stage.tab_id)
            assert status.questions == ()
            assert not status.problem
            assert model.complaints == []
            check(stage.rows)
            ended = [record.ended_at is not None for record in stage.requests]
            assert all(ended)

    logging.disable(logging.CRITICAL)  # the broken model's tracebacks are meant to be there
    try:
        play(scenario)
    finally:
        logging.disable(logging.NOTSET)
