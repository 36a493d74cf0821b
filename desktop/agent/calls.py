"""The tool calls of one step: side by side, each with exactly one result, whatever happens.

Identical calls run once and each gets the result (SPEC C13). A call runs only when its row is in
the log, it is allowed, and the mark that says it started is durable (SPEC A07). Results become
rows as they finish.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from desktop.agent import attaching
from desktop.agent.approvals import Asker
from desktop.agent.guard import signature
from desktop.agent.ledger import Ledger
from desktop.agent.surroundings import Place, Surroundings
from desktop.core.chunks import LogChunk, NewChunk, ToolCall, ToolResult
from desktop.core.conversation import started_mark
from desktop.core.errors import StoreError, ToolFailed
from desktop.core.printed import Growth, as_json
from desktop.core.reducer import Grew, Opened
from desktop.core.tools import Origin, Stopped, ToolOutcome

END_WITHIN = 0.8  # seconds that a stopped tool has to end, before its result is written without it

STOPPED_BEFORE = "Stopped by the person before this call began. Nothing was done."
STOPPED_WHILE = (
    "Stopped by the person while this call was running. What it had done until then stays done."
)
# A longer change is told by its call alone.
LONGEST_DIFF = 65_536
NO_REASON = "The tool failed and gave no reason."
BROKE = (
    "The tool broke with an error that Nacre did not foresee. It may have done part of its work."
)
NOT_RECORDED = "Not started: the log could not be written, so the call was not run."

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Job:
    """Calls that are one execution; the first call's result has the id `id`."""

    id: str
    calls: list[LogChunk]
    started: bool = False
    over: bool = False

    @property
    def call(self) -> ToolCall:
        data = self.calls[0].data
        if not isinstance(data, ToolCall):
            raise TypeError("not a call")
        return data


@dataclass(frozen=True, slots=True)
class _Brought:
    """What becomes of a job's results."""

    outcome: ToolOutcome
    kept: dict[str, object] = field(default_factory=dict[str, object])


class Calls:
    """Runs the calls of a step; `stop` ends them from outside."""

    def __init__(
        self,
        *,
        ledger: Ledger,
        around: Surroundings,
        place: Place,
        asker: Asker,
        turn_id: str,
        stop: "asyncio.Future[None]",
    ) -> None:
        self._ledger = ledger
        self._around = around
        self._place = place
        self._asker = asker
        self._turn_id = turn_id
        self._stop = stop
        self._results: list[LogChunk] = []
        self._trouble: StoreError | None = None
        self._marking: asyncio.Task[None] | None = None
        self._to_mark: list[str] = []

    async def run(self, calls: Sequence[LogChunk]) -> tuple[LogChunk, ...]:
        """The result rows in the order they finished, one for each call.

        Raises StoreError after everything has ended when a result could not be saved: it then
        waits in the ledger.
        """
        jobs = self._jobs(calls)
        tasks = {
            asyncio.create_task(
                self._one(job), name=f"tool {job.call.name} {job.call.call_id}"
            ): job
            for job in jobs
        }
        pending = set(tasks)
        try:
            while pending and not self._stop.done():
                await asyncio.wait({*pending, self._stop}, return_when=asyncio.FIRST_COMPLETED)
                done = [task for task in tasks if task in pending and task.done()]
                pending.difference_update(done)
                await self._record({task: tasks[task] for task in done})
        finally:
            for task in pending:
                task.cancel()
            if pending:
                await asyncio.wait(pending, timeout=END_WITHIN)
        await self._record({task: tasks[task] for task in tasks if task in pending})
        if self._trouble is not None:
            raise self._trouble
        return tuple(self._results)

    async def refuse(self, calls: Sequence[LogChunk], reason: str) -> tuple[LogChunk, ...]:
        """Answers calls without running them."""
        brought = _Brought(ToolOutcome(reason, is_error=True))
        chunks = [self._result(self._around.new_id(), call, brought) for call in calls]
        return await self._ledger.append(chunks, keep=True)

    def _jobs(self, calls: Sequence[LogChunk]) -> list[_Job]:
        jobs: dict[tuple[str, str], _Job] = {}
        for call in calls:
            if not isinstance(call.data, ToolCall):
                continue
            job = jobs.setdefault(signature(call.data), _Job(self._around.new_id(), []))
            job.calls.append(call)
        return list(jobs.values())

    async def _record(self, finished: "dict[asyncio.Task[_Brought], _Job]") -> None:
        """Makes rows of what finished together, in one write."""
        chunks: list[NewChunk] = []
        for task, job in finished.items():
            job.over = True
            brought = self._brought(task, job)
            ids = [job.id, *(self._around.new_id() for _ in job.calls[1:])]
            chunks.extend(
                self._result(id_, call, brought) for id_, call in zip(ids, job.calls, strict=True)
            )
        try:
            self._results.extend(await self._ledger.append(chunks, keep=True))
        except StoreError as error:
            self._trouble = error

    def _brought(self, task: "asyncio.Task[_Brought]", job: _Job) -> _Brought:
        if task.done() and not task.cancelled():
            return task.result()
        if not self._stop.done():
            return _Brought(ToolOutcome(NO_REASON, is_error=True))
        if not task.done():
            _log.warning("%s did not end within %s s", task, END_WITHIN)
            task.add_done_callback(_forget)
        text = STOPPED_WHILE if job.started else STOPPED_BEFORE
        return _Brought(ToolOutcome(text, is_error=True))

    def _result(self, id_: str, call: LogChunk, brought: _Brought) -> NewChunk:
        if not isinstance(call.data, ToolCall):
            raise TypeError("not a call")
        outcome = brought.outcome
        text = outcome.text
        if outcome.is_error and not text.strip():
            text = NO_REASON
        data = ToolResult(
            call_id=call.data.call_id,
            name=call.data.name,
            result=text,
            is_error=outcome.is_error,
            shell_output=outcome.shell,
            extra=brought.kept,
        )
        return NewChunk(id=id_, turn_id=call.turn_id, role="tool", data=data, step=call.step)

    async def _one(self, job: _Job) -> _Brought:
        """Runs one job; every fault but a cancellation becomes an error result."""
        try:
            outcome = await self._attempt(job)
        except ToolFailed as error:
            return _failed(str(error))
        except Stopped as stopped:
            return _Brought(stopped.outcome, await self._kept(stopped.outcome))
        except StoreError as error:
            self._trouble = error
            return _failed(NOT_RECORDED)
        except Exception:
            _log.exception("a tool broke")
            return _failed(BROKE)
        return _Brought(outcome, await self._kept(outcome))

    async def _attempt(self, job: _Job) -> ToolOutcome:
        call = job.call
        malformed = call.extra.get("malformed")
        if malformed is not None:
            raise ToolFailed(
                "The arguments were not a JSON object, so the call was not run.",
                way_out="Send the call again with valid JSON.",
            )
        tool = self._around.tool(call.name)
        if tool is None:
            raise ToolFailed(f"There is no tool named {call.name} here.")
        scene = replace(self._place.scene, origin=self._origin(job))
        act = await tool.prepare(call.arguments, scene)
        refusal = await self._around.approvals.refusal(act, call_id=call.call_id, asker=self._asker)
        if refusal is not None:
            return ToolOutcome(refusal, is_error=True)
        await self._mark([one.data.call_id for one in job.calls if isinstance(one.data, ToolCall)])
        job.started = True
        self._open(job)

        def report(told: str | Growth) -> None:
            growth = told if isinstance(told, Growth) else Growth(told)
            if growth != Growth("") and not job.over:
                op = Grew(job.id, growth.text, growth.spans, growth.back, growth.lost)
                self._around.publisher.live(self._place.tab_id, op)

        return await tool.run(act, scene, report)

    def _origin(self, job: _Job) -> Origin:
        step = job.calls[0].step
        return Origin(self._place.tab_id, self._turn_id, step, job.call.call_id)

    def _open(self, job: _Job) -> None:
        first = job.calls[0]
        opened = Opened(
            id=job.id,
            turn_id=first.turn_id,
            step=first.step,
            role="tool",
            type="tool_result",
            name=job.call.name,
            call_id=job.call.call_id,
        )
        self._around.publisher.live(self._place.tab_id, opened)

    async def _kept(self, outcome: ToolOutcome) -> dict[str, object]:
        """What a row keeps beside the text: references to the whole output and to what is shown,
        colours, the change that was made. A result is worth more than any of them."""
        keep, spool = self._ledger.keep_file, self._place.scene.spool
        found: dict[str, object] = {}
        if outcome.colours:
            found["colours"] = as_json(outcome.colours)
        if 0 < len(outcome.diff) <= LONGEST_DIFF:
            found["diff"] = outcome.diff
        try:
            if outcome.images:
                found["images"] = list(await attaching.kept(outcome.images, keep, spool))
            if outcome.full is not None:
                sha256, size = await keep(outcome.full, "text/plain")
                found["full"] = {"sha256": sha256, "size": size}
        except StoreError:
            _log.exception("not all that a tool brought could be kept")
        return found

    async def _mark(self, call_ids: Sequence[str]) -> None:
        """Durably notes that these calls start; those that start together share a row."""
        self._to_mark.extend(call_ids)
        if self._marking is None:
            self._marking = asyncio.create_task(self._write_marks(), name="mark started calls")
            self._marking.add_done_callback(_forget)
        await asyncio.shield(self._marking)

    async def _write_marks(self) -> None:
        await asyncio.sleep(0)
        self._marking = None
        call_ids, self._to_mark = self._to_mark, []
        mark = NewChunk(
            id=self._around.new_id(),
            turn_id=self._turn_id,
            role="system",
            data=started_mark(call_ids),
        )
        await self._ledger.append([mark])


def _failed(text: str) -> _Brought:
    return _Brought(ToolOutcome(text, is_error=True))


def _forget(task: "asyncio.Task[object]") -> None:
    if not task.cancelled():
        task.exception()  # read: whoever waited has it, or nobody waits any more
