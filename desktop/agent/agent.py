"""One conversation's agent: it owns the conversation and its store, and runs its turns.

Commands come one at a time; a turn runs in a task of its own and only with the lease in hand.
Everything that enters the conversation is durable before it has an effect.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

from desktop.agent import attaching, repair, ways
from desktop.agent.approvals import Asker
from desktop.agent.branching import PlaceGone, Resend
from desktop.agent.compaction import (
    DEFAULT_WINDOW,
    Compaction,
    CompactionJob,
    Ties,
    context_size,
    turn_of,
)
from desktop.agent.late_tools import LateTools
from desktop.agent.ledger import Ledger
from desktop.agent.listening import Haste
from desktop.agent.loop import UNFORESEEN, Links, Turn
from desktop.agent.opening import Opening, Openings, told_prompt
from desktop.agent.spending import Next, spent
from desktop.agent.surroundings import Chosen, Place, Surroundings
from desktop.agent.tenure import Tenure
from desktop.agent.waiting import Waiting
from desktop.agent.warming import Refresh, new_record, next_refresh, refreshed
from desktop.core.chunks import Json, LogChunk, Outcome, Stamp, System, Text
from desktop.core.conversation import subagent_mark
from desktop.core.errors import LeaseHeld, NacreError, StoreError
from desktop.core.model import Model, Retry, Spent
from desktop.core.permissions import PermissionMode
from desktop.core.protocols import TurnStore
from desktop.core.records import RequestRecord
from desktop.core.status import Compacting, Elsewhere, NewTools, QueuedMessage, TabStatus
from desktop.core.ways import Way

WORKING = "The agent is working in this conversation."

_log = logging.getLogger(__name__)


async def _no_revision() -> int:
    return 0


async def _tell_nobody(lifecycle: str) -> None:
    del lifecycle


class Agent:
    """`revision` reads the conversation's revision (0: unknown) and saves a reload when nobody
    else wrote; `lifecycle` is told `running` and `idle`."""

    def __init__(
        self,
        store: TurnStore,
        *,
        place: Place,
        around: Surroundings,
        chosen: Chosen,
        revision: Callable[[], Awaitable[int]] = _no_revision,
        lifecycle: Callable[[str], Awaitable[None]] = _tell_nobody,
    ) -> None:
        self._place = place
        self._around = around
        self._chosen = chosen
        self._lifecycle = lifecycle
        self._ledger = Ledger(store, around.publisher)
        self._tenure = Tenure(
            store,
            self._ledger,
            tab_id=place.tab_id,
            new_id=around.new_id,
            revision=revision,
            loaded=self._count,
            held_elsewhere=self.tell,
        )
        self._openings = Openings(
            self._ledger, place=place, around=around, mode=lambda: self._chosen.mode
        )
        self._gate = asyncio.Lock()
        self._turn: Turn | CompactionJob | None = None
        self._task: asyncio.Task[None] | None = None
        self._lived: set[str] = set()
        self._waiting = Waiting(
            store,
            tab_id=place.tab_id,
            new_id=around.new_id,
            now_ms=around.now_ms,
            stopping=lambda: self._turn is not None and self._turn.stopping,
        )
        self._closing = False
        self._retry: Retry | None = None
        self._haste = Haste()
        self._compacting: Compacting | None = None
        self._spent = Spent(window=DEFAULT_WINDOW)
        self._late_tools = LateTools(self._ledger, around)
        self._new_tools: NewTools | None = None
        self._problem = ""
        self._last_outcome = ""
        self._ways_on: tuple[Way, ...] = ()
        self._asker = Asker(
            tab_id=place.tab_id,
            workspace_id=place.workspace_id,
            mode=lambda: self._chosen.mode,
            changed=self.tell,
        )

    @property
    def tab_id(self) -> str:
        return self._place.tab_id

    @property
    def chosen(self) -> Chosen:
        return self._chosen

    @property
    def is_running(self) -> bool:
        return self._turn is not None

    @property
    def is_awake(self) -> bool:
        """Whether the rows are in memory."""
        return self._tenure.is_loaded

    @property
    def conversation(self) -> tuple[LogChunk, ...]:
        """All rows as this agent knows them."""
        return tuple(self._ledger.rows)

    @property
    def prompt(self) -> System | None:
        """What the model is told before everything else, with its tools."""
        return told_prompt(self._ledger.rows)

    def inherit(self, prompt: System | None) -> None:
        """What a conversation without a row begins with, instead of a prompt of its own."""
        self._openings.inherited = prompt

    def requests_of(self, turn_id: str) -> tuple[RequestRecord, ...]:
        """The requests of a turn, as far as they are in memory: all, while it runs."""
        return tuple(one for one in self._ledger.requests.values() if one.turn_id == turn_id)

    @property
    def status(self) -> TabStatus:
        turn, holder = self._turn, self._tenure.holder
        dangling = self._ledger.dangling
        texts = [row.data.text for row in dangling if isinstance(row.data, Text)]
        return TabStatus(
            tab_id=self.tab_id,
            phase="running" if turn else "elsewhere" if holder else "idle",
            turn_id=turn.id if turn else "",
            since=turn.since if turn else holder.since if holder else 0,
            stopping=turn.stopping if turn else False,
            queue=self._waiting.messages,
            held=self._waiting.held,
            questions=self._around.approvals.questions(self.tab_id),
            retry=self._retry,
            dangling="\n\n".join(texts) if dangling and not holder else None,
            model=self._chosen.model,
            effort=self._chosen.effort,
            mode=self._chosen.mode,
            spent=self._spent,
            holder=holder.holder if holder else "",
            problem=self._problem,
            last_outcome=self._last_outcome,
            compacting=self._compacting,
            ways_on=() if turn or holder else self._ways_on,
            new_tools=self._new_tools,
            asking=self._around.kin.asking(self.tab_id),
            unsaved=tuple(one.id for one in self._ledger.unsaved),
        )

    async def open(self, elsewhere: Elsewhere | None = None) -> TabStatus:
        """Loads the conversation and mends what a crash left, if no living process runs it.

        `elsewhere` is what the last look found. Raises StoreError when it can't be read.
        """
        async with self._gate:
            if not self.is_running:
                await self._open(elsewhere)
            return self.status

    def found_elsewhere(self, holder: Elsewhere) -> None:
        """A look found that another living process works here."""
        if self.is_running or holder == self._tenure.holder:
            return
        self._tenure.found_holder(holder)
        self._waiting.let_go()
        self.tell()

    async def send(self, text: str, attachments: Sequence[Json] = ()) -> None:
        """Starts a turn with a message, or queues it while one runs. Durable when it returns."""
        attachments = await self._kept(attachments)
        async with self._gate:
            self._problem = ""
            if self.is_running:
                await self._waiting.add(text, attachments)
                self.tell()
                return
            self._start(await self._submit(text, attachments))

    async def send_anew(self, resend: Resend) -> bool:
        """Starts a turn with messages in place of unanswered ones. Durable when it returns.

        False where they are being answered, here or elsewhere, or have been. Raises as `send`.
        """
        messages = [
            replace(one, attachments=await self._kept(one.attachments)) for one in resend.messages
        ]
        resend = replace(resend, messages=tuple(messages))
        async with self._gate:
            self._problem = ""
            if self.is_running:
                return False
            try:
                self._start(await self._begin(partial(self._openings.anew, resend)))
            except (PlaceGone, LeaseHeld):
                return False
            return True

    async def submit_user_message(self, text: str, attachments: Sequence[Json] = ()) -> str:
        """Lays a message down and opens its turn, to be driven by `run_step`; the turn's id."""
        async with self._gate:
            self._problem = ""
            if self.is_running:
                raise NacreError("A turn is running in this conversation.")
            turn = self._turn = await self._submit(text, attachments)
            self.tell()
            return turn.id

    async def add_system_message(self, text: str, kind: str = "notice") -> None:
        """Lays down a row of the program's own. Raises StoreError, LeaseHeld."""
        async with self._gate:
            if not self.is_running:
                await self._tenure.take()
            try:
                turn_id = self._turn.id if self._turn else repair.last_turn_id(self._ledger.rows)
                await self._ledger.append(
                    [self._openings.system(turn_id or self._around.new_id(), System(kind, text))]
                )
            finally:
                if not self.is_running:
                    await self._tenure.release()

    async def note_subagent(self, tab_id: str, *, call_id: str) -> None:
        """Durably notes in which conversation the subagent of a running call works."""
        turn = self._turn
        if turn is None:
            raise NacreError("The turn is over.")
        mark = self._openings.system(turn.id, subagent_mark(call_id, tab_id))
        await self._ledger.append([mark])

    async def run_step(self) -> Outcome | None:
        """One step of the turn that `submit_user_message` opened; its outcome after the last."""
        turn = self._turn
        if not isinstance(turn, Turn):
            return None
        outcome = await turn.run_step()
        if outcome is not None:
            self._turn = await self._after(turn, outcome)
        return outcome

    async def stop(self) -> None:
        """Ends the running turn; returns when it is over."""
        turn, task = self._turn, self._task
        if turn is None:
            return
        self._waiting.hold()
        turn.stop()
        self.tell()
        if task is not None:
            await asyncio.wait({task})

    async def until_over(self) -> None:
        """Returns when what runs now is over, with what waits in the queue."""
        if self._task is not None:
            await asyncio.wait({self._task})

    async def cancel_queued(self, message_id: str) -> QueuedMessage | None:
        """Takes a queued message back; None when it was sent already (SPEC C06)."""
        async with self._gate:
            message = await self._waiting.take_back(message_id)
            self.tell()
            return message

    async def release_queue(self) -> None:
        """Lets a held queue go: at once as a new turn, or with the next step of a running one."""
        async with self._gate:
            self._problem = ""
            if self._waiting.is_edited and not self.is_running:
                self._waiting.owe()
            else:
                await self._release()

    @property
    def owes_queue(self) -> bool:
        """Whether the queue would have gone out by now, had no message of it been changed."""
        return self._waiting.is_owed

    async def edit_queued(self, message_id: str) -> QueuedMessage | None:
        """Keeps the queue back while the person changes a message of it; None when it was sent."""
        async with self._gate:
            return await self._waiting.begin_edit(message_id)

    async def put_queued(
        self, message_id: str, text: str | None, attachments: Sequence[Json]
    ) -> bool:
        """Ends the edit of a queued message; whether it still waited (SPEC C06)."""
        attachments = await self._kept(attachments)
        async with self._gate:
            waited = text is None or await self._waiting.change(message_id, text, attachments)
            if self._waiting.end_edit(message_id):
                await self._release()
            self.tell()
            return waited

    async def order_queued(self, message_ids: Sequence[str]) -> None:
        """Another order for the messages that wait; one that was sent meanwhile: no matter."""
        async with self._gate:
            await self._waiting.order(message_ids)
            self.tell()

    async def _release(self) -> None:
        await self._waiting.read()
        if self._waiting.messages and not self.is_running:
            self._start(await self._submit_queue())
            await self._waiting.read()  # what went out waits no longer
        self._waiting.let_go()
        self.tell()

    async def retry(self) -> None:
        """Sends the failed step of the last turn again; nothing to do again: a no-op."""
        async with self._gate:
            if self.is_running:
                return
            self._problem = ""
            turn = await self._again()
            if turn is not None:
                self._start(turn)

    def try_now(self) -> None:
        """Sends a request that waits to go out again at once; while none waits: a no-op."""
        self._haste.hurry()
        self._show_retry(None)

    async def go_on(self) -> None:
        """Asks for the rest of an answer that was cut; where there is none: a no-op."""
        async with self._gate:
            if self.is_running:
                return
            self._problem = ""
            await self._tenure.reload()
            if "go_on" in ways.ways_on(self._ledger.rows):
                self._start(await self._submit(ways.GO_ON, ()))

    async def compact(self, instruction: str = "") -> None:
        """Begins to compact; what comes of it is in the rows and in `problem` of the status.

        Raises NacreError while a turn runs, ModelUnavailable, LeaseHeld, StoreError.
        """
        async with self._gate:
            self._problem = ""
            if self.is_running:
                raise NacreError(WORKING, way_out="Compact it when the turn is over, or stop it.")
            model = self._around.model_for(self._chosen.model)
            await self._tenure.take()
            turn_id, step = turn_of(self._ledger.rows)

            def make(stop: "asyncio.Future[None]") -> Compaction:
                return Compaction(
                    ledger=self._ledger,
                    around=self._around,
                    tab_id=self.tab_id,
                    model=model,
                    chosen=self._chosen,
                    turn_id=turn_id or self._around.new_id(),
                    step=step,
                    stop=stop,
                    ties=self._ties(),
                )

            since = self._around.now_ms()
            self._start(CompactionJob(make, turn_id=turn_id, since=since, instruction=instruction))
            await self._say("running")

    async def take_tools(self) -> None:
        """Lays down that the model is told the tools of the moment from the next request on.

        Raises NacreError while a turn runs, LeaseHeld, StoreError.
        """
        async with self._gate:
            self._problem = ""
            if self.is_running:
                raise NacreError(WORKING, way_out="Take the tools when the turn is over.")
            await self._tenure.take()
            try:
                await self._ledger.append(self._openings.other_tools())
            finally:
                await self._tenure.release()
            self._count()
            self.tell()

    def look_at_tools(self) -> None:
        """What tool servers offer has changed."""
        before = self._new_tools
        self._count()
        if self._new_tools != before:
            self.tell()

    async def choose(
        self,
        *,
        model: str | None = None,
        effort: str | None = None,
        mode: PermissionMode | None = None,
    ) -> None:
        """A new mode judges from now on; the model learns of it, and of the others, next time."""
        chosen = self._chosen
        self._chosen = Chosen(
            chosen.model if model is None else model,
            chosen.effort if effort is None else effort,
            chosen.mode if mode is None else mode,
        )
        self._count()
        await self._around.approvals.judge_again(self._place.workspace_id)
        self.tell()

    def refresh_due(self) -> Refresh | None:
        """When what lies in the provider's cache wants to be kept there; None for not at all."""
        rests = self._last_outcome == "done" and not self._tenure.holder and not self._closing
        if self.is_running or not self.is_awake or not rests:
            return None
        return next_refresh(self._ledger, self._around, chosen=self._chosen)

    async def keep_warm(self) -> None:
        """Keeps it there once, if it still wants that. A message does not wait for it.

        Raises ModelUnavailable, LeaseHeld, StoreError.
        """
        async with self._gate:
            due = self.refresh_due()
            if due is None:
                return
            model = self._around.model_for(self._chosen.model)
            turn_id, step = turn_of(self._ledger.rows)
            record = new_record(due, self._around, tab_id=self.tab_id, turn_id=turn_id, step=step)
            async with self._tenure.held():
                await self._ledger.start_request(record)
        record = await refreshed(due, record, ledger=self._ledger, around=self._around, model=model)
        async with self._gate:
            async with self._tenure.held():
                await self._ledger.finish_request(record)
            self._count()
            self.tell()

    async def rest(self) -> None:
        """Lets the rows go until they are needed; a no-op for one that is busy (SPEC P12).

        Raises StoreError.
        """
        if self._gate.locked():
            return
        async with self._gate:
            if not self.is_running:
                await self._tenure.forget()

    async def close(self) -> None:
        """Stops, saves what waits if that works, and lets the conversation go."""
        self._closing = True
        await self.stop()
        if self._task is not None:
            await asyncio.wait({self._task})
        try:
            await self._ledger.flush()
            await self._tenure.release()
        except StoreError:
            _log.exception("rows of %s could not be saved", self.tab_id)

    async def abandon(self) -> None:
        """Cuts a turn off that did not end in time; its rows are mended at the next open."""
        task = self._task
        if task is not None and not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=0.5)

    async def _open(self, elsewhere: Elsewhere | None) -> None:
        self._tenure.found_holder(elsewhere)
        self._problem = ""
        try:
            await self._ledger.flush()
        except StoreError as error:
            self._problem = str(error)  # what is in memory is more than what is on disk
            self.tell()
            return
        await self._tenure.release()
        await self._tenure.reload()
        try:
            await self._tenure.mend()
        except StoreError as error:
            self._problem = str(error)  # it can still be read
        await self._waiting.read()
        if self._tenure.holder:
            self._waiting.let_go()
        else:
            self._waiting.hold_messages()
        rows = self._ledger.rows
        self._last_outcome = repair.outcome_of(rows, repair.last_turn_id(rows))
        self._ways_on = ways.ways_on(rows)
        self.tell()

    # Beginning a turn.

    async def _kept(self, attachments: Sequence[Json]) -> tuple[Json, ...]:
        """Raises StoreError, and then nothing was laid down."""
        return await attaching.kept(attachments, self._ledger.keep_file, self._place.scene.spool)

    async def _submit(self, text: str, attachments: Sequence[Json]) -> Turn:
        if not text.strip() and not attachments:
            raise NacreError("There is nothing to send.")
        return await self._begin(lambda stamp: self._openings.with_text(text, attachments, stamp))

    async def _submit_queue(self) -> Turn:
        async def take(turn: Turn) -> None:
            await self._ledger.take_queued(turn_id=turn.id, step=0, stamp=turn.stamp)

        return await self._begin(self._openings.with_queue, then=take)

    async def _again(self) -> Turn | None:
        await self._tenure.reload()
        turn_id = self._openings.to_retry()
        if not turn_id:
            return None

        async def again(stamp: Stamp) -> Opening:
            return await self._openings.again(turn_id, stamp, began_here=turn_id in self._lived)

        return await self._begin(again)

    async def _begin(
        self,
        opened: Callable[[Stamp], Awaitable[Opening]],
        *,
        then: Callable[[Turn], Awaitable[None]] | None = None,
    ) -> Turn:
        """Takes the lease, lays down the rows that open a turn, and makes the turn.

        Raises ModelUnavailable, LeaseHeld, StoreError; then nothing was laid down.
        """
        model = self._around.model_for(self._chosen.model)
        await self._tenure.take()
        try:
            opening = await opened(model.stamp(self._chosen.model))
            await self._ledger.append(opening.chunks)
            turn = self._make_turn(opening, model)
            if then is not None:
                await then(turn)
        except BaseException as error:
            if isinstance(error, StoreError):
                self._problem = str(error)
            await self._tenure.release()
            self.tell()
            raise
        self._ledger.dangling = ()
        self._lived.add(turn.id)
        await self._say("running")
        return turn

    def _make_turn(self, opening: Opening, model: Model) -> Turn:
        return Turn(
            turn_id=opening.turn_id,
            step=opening.step,
            ledger=self._ledger,
            around=self._around,
            place=self._place,
            asker=self._asker,
            model=model,
            chosen=self._chosen,
            links=Links(self._drain, self._progressed, self._ties()),
            resumed=opening.resumed,
        )

    def _ties(self) -> Ties:
        return Ties(self._openings.fresh, self._show_compacting, self._show_retry, self._haste)

    def _start(self, turn: Turn | CompactionJob) -> None:
        self._turn = turn
        self._task = asyncio.create_task(self._work(turn), name=f"turn {self.tab_id}")
        self._task.add_done_callback(self._over)
        self.tell()

    # While a turn runs, and after it.

    async def _work(self, turn: Turn | CompactionJob) -> None:
        current: Turn | CompactionJob | None = turn
        try:
            while current is not None:
                outcome = await current.run()
                current = self._turn = await self._after(current, outcome)
        finally:
            if self._turn is not None:
                await self._break_off()

    async def _after(self, turn: Turn | CompactionJob, outcome: Outcome) -> Turn | None:
        """A turn is over: the next one begins with the queue, or the conversation rests."""
        async with self._gate:
            if isinstance(turn, Turn):
                self._last_outcome = outcome
            self._problem = turn.problem
            self._retry = None
            try:
                await self._waiting.read()
                if self._is_natural(outcome, turn) and self._waiting.may_go:
                    following = await self._submit_queue()
                    await self._waiting.read()
                    if turn.stopping:
                        following.stop()  # stop was pressed while the queue was on its way
                    self._turn = following
                    self.tell()
                    return following
            except NacreError as error:
                self._problem = self._problem or str(error)
            self._ways_on = ways.ways_on(self._ledger.rows)
            await self._tenure.release()
            await self._say("idle")
            self._waiting.hold_messages(natural=self._is_natural(outcome, turn))
            self._turn = None
            self._count()
            self.tell()
            return None

    def _is_natural(self, outcome: Outcome, turn: Turn | CompactionJob) -> bool:
        """Whether it came to its end by itself, so that what waits may follow."""
        return outcome == "done" and not turn.stopping and not self._closing

    async def _break_off(self) -> None:
        """The turn's task ends without its turn's end: cancelled hard, or by a fault of ours."""
        self._turn = None
        self._waiting.hold_messages()
        await self._tenure.release()
        self.tell()

    def _over(self, task: "asyncio.Task[None]") -> None:
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            _log.error("turn task of %s", self.tab_id, exc_info=error)
            self._problem = UNFORESEEN
            self.tell()

    async def _drain(self, turn: Turn) -> None:
        """After the results of a step: what was queued meanwhile goes along (SPEC C05)."""
        async with self._gate:
            await self._waiting.read()
            if not self._waiting.may_go or self._openings.waits_for_server(turn.id):
                return
            await self._ledger.append(
                await self._openings.news(turn.id, turn.stamp, step=turn.step)
            )
            await self._ledger.take_queued(turn_id=turn.id, step=turn.step, stamp=turn.stamp)
            await self._waiting.read()
            self.tell()

    async def _say(self, lifecycle: str) -> None:
        try:
            await self._lifecycle(lifecycle)
        except NacreError:
            _log.exception("the state of %s could not be noted", self.tab_id)

    # What the status is made of.

    def _show_retry(self, retry: Retry | None) -> None:
        if retry != self._retry:
            self._retry = retry
            self.tell()

    def _show_compacting(self, compacting: Compacting | None) -> None:
        before, self._compacting = self._compacting, compacting
        if compacting != before:
            if before and compacting and compacting.part != before.part:
                self._count()  # the piece before has been paid
            self.tell()

    def _progressed(self) -> None:
        if self._turn is not None:
            self._problem = self._turn.problem
        self._count()
        self.tell()

    def _count(self) -> None:
        info = self._around.model_info(self._chosen.model)
        window = info.window if info else DEFAULT_WINDOW
        if not self.is_awake:
            self._spent = replace(self._spent, window=window)
            return
        records = self._ledger.requests.values()
        following = Next(self._chosen.model, self._around.ttl(), self._around.now_ms())
        found = spent(records, tariff=self._around.tariff, window=window, following=following)
        self._spent = replace(found, context=context_size(self._ledger, self._around))
        self._new_tools = self._late_tools.to_take(self._spent.context, following)

    def tell(self) -> None:
        """Publishes the status; also when something beside this conversation has changed it."""
        self._around.publisher.status(self.status)
