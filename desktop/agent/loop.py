"""One turn: ask, run the calls, ask again, until there is nothing more to do.

A turn never wedges its conversation: whatever happens, every call gets its result, what was shown
is sealed, and the turn's end is a row (or waits to become one). Knows the rules of going on and
ending; streaming is `step`'s business, tools are `calls`'.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from desktop.agent import circling, misses, refusals, repair
from desktop.agent.approvals import Asker
from desktop.agent.calls import STOPPED_BEFORE, Calls
from desktop.agent.circling import Decision
from desktop.agent.compaction import NOTHING, Compaction, Ties, is_due
from desktop.agent.guard import Circles, Shape
from desktop.agent.ledger import Ledger
from desktop.agent.rewriting import Rewriting
from desktop.agent.step import Step, StepEnd
from desktop.agent.surroundings import Chosen, Place, Surroundings
from desktop.core.chunks import ErrorNote, LogChunk, NewChunk, Outcome, System, Text
from desktop.core.errors import StoreError
from desktop.core.events import Failure
from desktop.core.model import Model, RequestOptions
from desktop.core.records import RequestRecord

PAUSES = 8  # continued answers in a row (API.md §1.6)
EMPTY_RETRIES = 2  # SPEC A06

UNFORESEEN = "Something in Nacre went wrong that it did not foresee, so the turn was ended."
EMPTY = "The model answered with nothing, several times in a row."
PAUSED_TOO_OFTEN = "The model paused its answer too often without coming to an end."
CUT_OFF = "The answer reached its length limit and was cut off."
WINDOW_FULL = "The conversation has reached the end of the model's window; the answer was cut off."
KEPT = "What the answer had said until then is kept, marked as cut off."

_FINISHED = frozenset({"end_turn", "stop_sequence", "tool_use"})
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Links:
    """What a turn is connected to: it drains the queue after a step's results, and tells."""

    drain: Callable[["Turn"], Awaitable[None]]
    progressed: Callable[[], None]
    ties: Ties


class Turn:
    """A running turn. `step` is the request that comes next; `stop` ends the turn from outside.

    `resumed`: it begins by continuing an answer that the provider had paused.
    """

    def __init__(
        self,
        *,
        turn_id: str,
        step: int,
        ledger: Ledger,
        around: Surroundings,
        place: Place,
        asker: Asker,
        model: Model,
        chosen: Chosen,
        links: Links,
        resumed: bool = False,
    ) -> None:
        self.id = turn_id
        self.step = step
        self.stamp = model.stamp(chosen.model)
        self.since = around.now_ms()
        self.problem = ""
        self._ledger = ledger
        self._around = around
        self._place = place
        self._asker = asker
        self._model = model
        self._chosen = chosen
        self._links = links
        self._began = around.monotonic()
        self._stop: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._circles = Circles()
        self._rewriting = Rewriting(ledger, turn_id=turn_id, new_id=around.new_id)
        self._empties = 0
        self._pauses = 1 if resumed else 0
        self._compacts = True
        self._closing: list[NewChunk] = []

    @property
    def stopping(self) -> bool:
        return self._stop.done()

    def stop(self) -> None:
        """Asks the turn to end; it does within a second."""
        if not self._stop.done():
            self._stop.set_result(None)

    async def run(self) -> Outcome:
        """Runs the turn to its end, which is in the log (or waits in the ledger) on return."""
        while True:
            outcome = await self.run_step()
            if outcome is not None:
                return outcome

    async def run_step(self) -> Outcome | None:
        """One request with its calls; the turn's outcome when that was the last one."""
        try:
            outcome = await self._run_step()
        except StoreError as error:
            outcome = self._not_saved(error)
        except Exception:
            _log.exception("turn %s of %s", self.id, self._place.tab_id)
            self._closing.extend(self._missing_results(repair.OUTCOME_UNKNOWN))
            self._note_error(UNFORESEEN)
            outcome = "failed"
        if outcome is not None:
            await self._end(outcome)
        return outcome

    async def _run_step(self) -> Outcome | None:
        if self.stopping:
            return "stopped"
        spent_up = self._around.kin.spent_up(self._place.tab_id)
        if spent_up:
            self._note(spent_up)
            return "failed"
        await self._rewriting.keep_within()
        await self._compact_when_due()
        if self.stopping:
            return "stopped"
        end = await self._ask()
        self._links.progressed()
        if end.stopped:
            return "stopped"
        if await self._rewriting.mends(end):
            return None
        if _is_too_long(end) and await self._make_room(end):
            return None
        calls = [row for row in end.rows if row.type == "tool_call"]
        if calls:  # also when Stop came as they were laid down: each gets its result
            return await self._run_calls(calls, end)
        if self.stopping:
            return "stopped"
        if end.failure is not None:
            self._note_failure(end.failure, end.rows)
            return "failed"
        return await self._conclude(end)

    async def _compact_when_due(self) -> None:
        """Between two steps, at the size that the person set; not again in a turn in which it
        did not help."""
        if self._compacts and not self._pauses and self._is_due():
            problem = await self._compact()
            self._compacts = problem == NOTHING or not (problem or self._is_due())

    async def _make_room(self, end: StepEnd) -> bool:
        """The model can't read more: a summary makes room to ask it again. Once for a step, for
        behind a summary there is nothing to sum up until the model has answered."""
        if await self._compact(end):
            return False
        self._pauses = 0  # the answer that was to be continued is behind the summary
        return True

    async def _compact(self, end: StepEnd | None = None) -> str:
        """'' when it is done, else why not."""
        compaction = Compaction(
            ledger=self._ledger,
            around=self._around,
            tab_id=self._place.tab_id,
            model=self._model,
            chosen=self._chosen,
            turn_id=self.id,
            step=self.step,
            stop=self._stop,
            ties=self._links.ties,
        )
        refused = end is not None and end.failure is not None
        problem = await compaction.run(refused=refused, partial=end.rows if end else ())
        # Where nothing was said yet, a summary was no help that anybody asked for.
        self.problem = "" if problem == NOTHING else problem
        self._links.progressed()
        return problem

    def _is_due(self) -> bool:
        return is_due(self._ledger, self._around, model=self._chosen.model)

    async def _ask(self) -> StepEnd:
        record = RequestRecord(
            id=self._around.new_id(),
            tab_id=self._place.tab_id,
            turn_id=self.id,
            step=self.step,
            provider=self.stamp.provider,
            model=self.stamp.model,
            started_at=self._around.now_ms(),
        )
        last = self._ledger.digest.bill.last_answered
        options = RequestOptions(
            self._chosen.model,
            self._chosen.effort,
            resumed=self._pauses > 0,
            ttl=self._around.ttl(),
            previous_message_id=misses.answer_to_name(last, provider=self.stamp.provider),
        )
        step = Step(
            ledger=self._ledger,
            around=self._around,
            model=self._model,
            record=record,
            options=options,
            stop=self._stop,
            retrying=self._links.ties.retrying,
            haste=self._links.ties.haste,
        )
        return await step.ask()

    async def _run_calls(self, calls: Sequence[LogChunk], end: StepEnd) -> Outcome | None:
        self._empties = self._pauses = 0
        runner = Calls(
            ledger=self._ledger,
            around=self._around,
            place=self._place,
            asker=self._asker,
            turn_id=self.id,
            stop=self._stop,
        )
        shape = self._circles.shape(calls)
        if shape is not None:
            decision = await self._ask_about(shape, calls)
            if decision.kind != "on":
                return await self._not_again(runner, calls, decision)
        results = await runner.run(calls)
        if self.stopping:
            return "stopped"
        self._circles.add(calls, results)
        if end.stop_reason not in _FINISHED:
            await self._ledger.append([self._notice(_unknown(end.stop_reason))])
        await self._links.drain(self)
        self.step += 1
        return None

    async def _ask_about(self, shape: Shape, calls: Sequence[LogChunk]) -> Decision:
        """Whether a circle goes on; whatever the person says, it is counted anew (SPEC U27)."""
        self._circles = Circles()
        approvals = self._around.approvals
        return await circling.decided(
            shape, calls, approvals=approvals, asker=self._asker, stop=self._stop
        )

    async def _not_again(
        self, runner: Calls, calls: Sequence[LogChunk], decision: Decision
    ) -> Outcome | None:
        """The calls of a circle get their results without being run."""
        match decision.kind:
            case "told":
                await runner.refuse(calls, circling.TOLD.format(words=decision.words))
                await self._links.drain(self)
                self.step += 1
                return None
            case "stopped":
                await runner.refuse(calls, STOPPED_BEFORE)
                return "stopped"
            case "nobody":
                await runner.refuse(calls, circling.NOT_RUN_AGAIN)
                self._note(circling.IN_CIRCLES)
                return "failed"
            case _:
                await runner.refuse(calls, circling.NOT_RUN_AGAIN)
                return "stopped"

    async def _conclude(self, end: StepEnd) -> Outcome | None:
        """What a response without calls means (API.md §1.6)."""
        match end.stop_reason:
            case "pause_turn":
                return self._pause()
            case "refusal":
                self._note(refusals.words(end.details))
                await self._retract(end.rows)
                return "refused"
            case "max_tokens":
                self._note(CUT_OFF)
                return "failed"
            case "model_context_window_exceeded":
                self._note(WINDOW_FULL)
                return "failed"
            case reason:
                if not any(_says_something(row) for row in end.rows):
                    return await self._try_again(end)
                if reason not in _FINISHED:
                    self._note(_unknown(reason))
                return "done"

    def _pause(self) -> Outcome | None:
        self._pauses += 1
        if self._pauses > PAUSES:
            self._note_error(PAUSED_TOO_OFTEN)
            return "failed"
        self.step += 1
        return None

    async def _try_again(self, end: StepEnd) -> Outcome | None:
        """Asks the same again; what an empty answer left would change the request's bytes."""
        self._empties += 1
        await self._retract(end.rows)
        if self._empties > EMPTY_RETRIES:
            self._note_error(EMPTY)
            return "failed"
        return None

    async def _retract(self, rows: Sequence[LogChunk]) -> None:
        if rows:
            data = System("retracted", fields={"chunkIds": [row.id for row in rows]})
            await self._ledger.append([self._system(data)], keep=True)

    def _not_saved(self, error: StoreError) -> Outcome:
        """The log refuses: nothing runs on, and what was shown waits in memory (SPEC A08)."""
        self.problem = str(error)
        self._closing[:0] = self._missing_results(repair.NOT_SAVED)
        self._note_error(str(error))
        return "failed"

    def _missing_results(self, reason: str) -> list[NewChunk]:
        saved = repair.turn_rows(self._ledger.rows, self.id)
        return repair.missing_results(
            self._ledger.unsaved, saved, reason=reason, new_id=self._around.new_id
        )

    async def _end(self, outcome: Outcome) -> None:
        duration = round((self._around.monotonic() - self._began) * 1000)
        end = repair.ended(self._around.new_id(), self.id, outcome, max(0, duration))
        closing, self._closing = [*self._closing, end], []
        try:
            await self._ledger.append(closing, keep=True)
        except StoreError as error:
            self.problem = str(error)

    def _note_failure(self, failure: Failure, rows: Sequence[LogChunk]) -> None:
        found = {
            "kept": KEPT if any(isinstance(row.data, Text) for row in rows) else "",
            "kind": failure.kind,
            "wayOut": failure.way_out,
            "detail": failure.detail,
            "requestId": failure.request_id,
        }
        self._note_error(
            failure.sentence,
            status_code=failure.status_code,
            extra={key: value for key, value in found.items() if value},
        )

    def _note_error(
        self, message: str, *, status_code: int | None = None, extra: dict[str, str] | None = None
    ) -> None:
        self._closing.append(
            NewChunk(
                id=self._around.new_id(),
                turn_id=self.id,
                role="assistant",
                data=ErrorNote(message, status_code, extra or {}),
                step=self.step,
                stamp=self.stamp,
            )
        )

    def _note(self, text: str) -> None:
        self._closing.append(self._notice(text))

    def _notice(self, text: str) -> NewChunk:
        return self._system(System("notice", text))

    def _system(self, data: System) -> NewChunk:
        return NewChunk(id=self._around.new_id(), turn_id=self.id, role="system", data=data)


def _is_too_long(end: StepEnd) -> bool:
    """Whether the window was too small for the request or for its answer."""
    refused = end.failure is not None and end.failure.kind == "too_large"
    return refused or end.stop_reason == "model_context_window_exceeded"


def _says_something(row: LogChunk) -> bool:
    return isinstance(row.data, Text) or row.type == "opaque"


def _unknown(reason: str) -> str:
    return f"The model ended its answer for a reason that Nacre does not know: {reason or 'none'}."
