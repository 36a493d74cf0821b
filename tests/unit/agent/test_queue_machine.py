"""The queue under any order of sending, taking back, stopping, releasing and restarting (C05, C06).

A plain list says what must come of it. Every message enters the log at most once and in the order
in which it was said; what was taken back never does; after a stop, a failure or a restart nothing
goes out until the person says so; what the log holds is only ever added to.
"""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from desktop.core.chunks import LogChunk, Text
from desktop.core.status import QueuedMessage, TabStatus
from tests.fakes.models import Batch, Gate, Response, ScriptedModel, call, calls, fails, says
from tests.fakes.tools import ScriptedTool
from tests.unit.agent.stage import Stage

KINDS = st.sampled_from(["says", "says", "calls", "fails"])


class QueueMachine(RuleBasedStateMachine):
    """Each answer of the model waits at a gate, so that every rule meets a turn in its midst."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory()
        self.model = ScriptedModel()
        self.stage = Stage(Path(self.folder.name), self.model, [ScriptedTool("look")])
        self.numbers = 0
        self.said: list[str] = []
        self.taken_back: set[str] = set()
        self.before: tuple[LogChunk, ...] = ()
        self.gate: Gate | None = None
        self.edited: QueuedMessage | None = None

    # -- what happens -------------------------------------------------------------------------

    @initialize(kind=KINDS)
    def begin(self, kind: str) -> None:
        self.do(self.stage.tab)
        self.send(kind)

    @rule(kind=KINDS)
    def send(self, kind: str) -> None:
        """Begins a turn, or waits while one runs."""
        words = f"message {len(self.said)}"
        self.said.append(words)
        if not self.running:
            self.offer(kind)
        self.do(lambda: self.stage.send(words))
        self.settle()

    @rule(kind=KINDS)
    @precondition(lambda self: self.running)
    def answer(self, kind: str) -> None:
        """The model answers; another request may follow, whose answer is of this kind."""
        gate = self.gate
        assert gate is not None
        self.offer(kind)
        gate.open()
        self.settle()

    @rule()
    @precondition(lambda self: self.running)
    def stop(self) -> None:
        self.do(lambda: self.stage.supervisor.stop(self.stage.tab_id))
        self.gate = None
        assert self.status.held == bool(self.status.queue)

    @rule(kind=KINDS)
    @precondition(lambda self: bool(self.status.queue) and self.edited is None)
    def release(self, kind: str) -> None:
        if not self.running:
            self.offer(kind)
        self.do(lambda: self.stage.supervisor.release_queue(self.stage.tab_id))
        self.settle()
        assert not self.status.held

    @rule(at=st.integers(0, 3))
    @precondition(lambda self: bool(self.status.queue))
    def take_back(self, at: int) -> None:
        message = self.status.queue[at % len(self.status.queue)]
        self.do(lambda: self.stage.supervisor.cancel_queued(self.stage.tab_id, message.id))
        self.taken_back.add(message.text)

    @rule(at=st.integers(0, 3))
    @precondition(lambda self: bool(self.status.queue) and self.edited is None)
    def begin_edit(self, at: int) -> None:
        self.edited = self.status.queue[at % len(self.status.queue)]
        message_id = self.edited.id
        self.do(lambda: self.stage.supervisor.edit_queued(self.stage.tab_id, message_id))

    @rule(kind=KINDS, is_changed=st.booleans())
    @precondition(lambda self: self.edited is not None)
    def end_edit(self, kind: str, is_changed: bool) -> None:
        """Another text in the same place, or the old one; the queue goes if it would have gone."""
        edited, self.edited = self.edited, None
        assert edited is not None
        text = f"{edited.text} changed" if is_changed else None
        if text and edited.text not in self.taken_back:
            self.said[self.said.index(edited.text)] = text
        agent = self.stage.supervisor.running_agent(self.stage.tab_id)
        if not self.running and agent is not None and agent.queue.is_owed and self.status.queue:
            self.offer(kind)
        self.do(lambda: self.stage.supervisor.put_queued(self.stage.tab_id, edited.id, text))
        self.settle()

    @rule()
    @precondition(lambda self: not self.running)
    def restart(self) -> None:
        """Another process opens the conversation: it holds what waits, and asks nothing."""
        waiting = [one.text for one in self.status.queue]
        self.edited = None
        self.model = ScriptedModel()
        self.stage = self.stage.again(self.model, [ScriptedTool("look")])
        self.do(lambda: self.stage.supervisor.open(self.stage.tab_id))
        assert [one.text for one in self.status.queue] == waiting
        assert self.status.held == bool(waiting)
        assert self.model.asked == []

    # -- what must hold -----------------------------------------------------------------------

    @invariant()
    def what_was_laid_down_stays(self) -> None:
        rows = self.stage.rows
        assert rows[: len(self.before)] == self.before
        self.before = rows

    @invariant()
    def every_message_is_somewhere_once_and_in_order(self) -> None:
        logged = [
            row.data.text
            for row in self.stage.rows
            if row.role == "user" and isinstance(row.data, Text)
        ]
        waiting = [one.text for one in self.status.queue] if self.stage.tab_id else []
        assert not self.taken_back & {*logged, *waiting}
        assert sorted(logged + waiting) == sorted(set(self.said) - self.taken_back)
        assert waiting == [one for one in self.said if one in waiting]

    @invariant()
    def what_is_edited_has_not_gone_out(self) -> None:
        if self.edited is not None and self.edited.text not in self.taken_back:
            assert self.edited.id in {one.id for one in self.status.queue}

    @invariant()
    def held_means_that_nothing_goes_out(self) -> None:
        assert self.model.complaints == []
        if self.stage.tab_id and self.status.held:
            logged = {row.id for row in self.stage.rows}
            assert not logged & {one.id for one in self.status.queue}

    def teardown(self) -> None:
        try:
            if self.stage.tab_id:
                self.do(lambda: self.stage.supervisor.stop(self.stage.tab_id))
                assert self.model.complaints == []
            self.do(self.stage.supervisor.shutdown)
        finally:
            self.loop.close()
            self.folder.cleanup()

    # -- parts --------------------------------------------------------------------------------

    @property
    def status(self) -> TabStatus:
        return self.stage.supervisor.status(self.stage.tab_id)

    @property
    def running(self) -> bool:
        return self.status.phase == "running"

    def do(self, deed: Callable[[], Awaitable[object]]) -> None:
        async def doing() -> None:
            await asyncio.wait_for(deed(), 10)

        self.loop.run_until_complete(doing())

    def offer(self, kind: str) -> None:
        """What the next request is answered with, once its gate opens."""
        self.numbers += 1
        self.gate = Gate()
        answers: dict[str, Response] = {
            "says": says(f"answer {self.numbers}"),
            "calls": calls(call(f"c{self.numbers}", "look", {"n": self.numbers})),
            "fails": fails(after="Half"),
        }
        script: list[Batch | Gate | Exception] = [self.gate, *answers[kind]]
        self.model.script[len(self.model.asked) :] = [script]

    def settle(self) -> None:
        """Until the model stands at its gate again, or nothing runs."""

        async def settled() -> None:
            ends = [asyncio.ensure_future(self.stage.published.until(lambda: not self.running))]
            if self.gate is not None:
                ends.append(asyncio.ensure_future(self.gate.reached()))
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            for one in ends:
                one.cancel()
            await asyncio.wait(ends)

        self.do(settled)


TestQueueMachine = QueueMachine.TestCase
TestQueueMachine.settings = settings(
    max_examples=40,
    phases=(Phase.explicit, Phase.generate),
    stateful_step_count=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
