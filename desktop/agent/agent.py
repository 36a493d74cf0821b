"""One conversation's agent: it owns the conversation and its store, and runs its turns.

Commands come one at a time; a turn runs in a task of its own and only with the lease in hand.
Everything that enters the conversation is durable before it has an effect. What a turn begins with
is the business of `turns`, what runs that of `running`, what is told of it that of `board`.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

from desktop.agent import attaching, repair, ways
from desktop.agent.board import Board
from desktop.agent.branching import PlaceGone, Resend
from desktop.agent.compaction import turn_of
from desktop.agent.ledger import Ledger
from desktop.agent.loop import Turn
from desktop.agent.opening import Openings, told_prompt
from desktop.agent.queue import Queue
from desktop.agent.running import Running
from desktop.agent.surroundings import Chosen, Place, Surroundings
from desktop.agent.tenure import Tenure
from desktop.agent.turns import Turns
from desktop.agent.waiting import Waiting
from desktop.agent.warming import Refresh, new_record, next_refresh, refreshed
from desktop.core.chunks import Json, LogChunk, Outcome, System
from desktop.core.conversation import subagent_mark
from desktop.core.errors import LeaseHeld, NacreError, StoreError
from desktop.core.permissions import PermissionMode
from desktop.core.protocols import TurnStore
from desktop.core.records import RequestRecord
from desktop.core.status import Elsewhere, TabStatus

WORKING = "The agent is working in this conversation."

_log = logging.getLogger(__name__)


async def _no_revision() -> int:
    return 0


async def _tell_nobody(lifecycle: str) -> None:
    del lifecycle


class Agent:
    """`revision` reads the conversation's revision (0: unknown) and saves a reload when nobody
    else wrote; `lifecycle` is told `running` and `idle`. `queue` is what waits for it."""

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
        self._gate = asyncio.Lock()
        self._ledger = Ledger(store, around.publisher, around.tariff)
        self._tenure = Tenure(
            store,
            self._ledger,
            tab_id=place.tab_id,
            new_id=around.new_id,
            revision=revision,
            loaded=self._loaded,
            held_elsewhere=self.tell,
        )
        self._openings = Openings(
            self._ledger, place=place, around=around, mode=lambda: self._chosen.mode
        )
        self._waiting = Waiting(
            store,
            tab_id=place.tab_id,
            new_id=around.new_id,
            now_ms=around.now_ms,
            stopping=lambda: self._running.is_stopping,
        )
        self._board = Board(
            self._ledger,
            self._tenure,
            self._waiting,
            tab_id=place.tab_id,
            around=around,
            work=lambda: self._running.work,
            chosen=lambda: self._chosen,
        )
        self._turns = Turns(
            self._ledger,
            self._tenure,
            self._openings,
            self._board,
            place=place,
            around=around,
            chosen=lambda: self._chosen,
            drain=self._drain,
            begun=partial(self._say, "running"),
        )
        self._running = Running(
            tab_id=place.tab_id,
            gate=self._gate,
            tenure=self._tenure,
            waiting=self._waiting,
            board=self._board,
            following=self._turns.with_queue,
            rested=partial(self._say, "idle"),
        )
        self.queue = Queue(
            self._waiting, self._running, self._board, gate=self._gate, keep=self._kept
        )

    @property
    def tab_id(self) -> str:
        return self._place.tab_id

    @property
    def chosen(self) -> Chosen:
        return self._chosen

    @property
    def is_running(self) -> bool:
        return self._running.work is not None

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
        return self._board.status

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
            self._board.problem = ""
            if self.is_running:
                await self._waiting.add(text, attachments)
                self.tell()
                return
            self._running.start(await self._turns.with_text(text, attachments))

    async def send_anew(self, resend: Resend) -> bool:
        """Starts a turn with messages in place of unanswered ones. Durable when it returns.

        False where they are being answered, here or elsewhere, or have been. Raises as `send`.
        """
        messages = [
            replace(one, attachments=await self._kept(one.attachments)) for one in resend.messages
        ]
        resend = replace(resend, messages=tuple(messages))
        async with self._gate:
            self._board.problem = ""
            if self.is_running:
                return False
            try:
                self._running.start(await self._turns.anew(resend))
            except (PlaceGone, LeaseHeld):
                return False
            return True

    async def submit_user_message(self, text: str, attachments: Sequence[Json] = ()) -> str:
        """Lays a message down and opens its turn, to be driven by `run_step`; the turn's id."""
        async with self._gate:
            self._board.problem = ""
            if self.is_running:
                raise NacreError("A turn is running in this conversation.")
            turn = await self._turns.with_text(text, attachments)
            self._running.step_by_step(turn)
            return turn.id

    async def add_system_message(self, text: str, kind: str = "notice") -> None:
        """Lays down a row of the program's own. Raises StoreError, LeaseHeld."""
        async with self._gate:
            if not self.is_running:
                await self._tenure.take()
            try:
                work = self._running.work
                turn_id = work.id if work else repair.last_turn_id(self._ledger.rows)
                await self._ledger.append(
                    [self._openings.system(turn_id or self._around.new_id(), System(kind, text))]
                )
            finally:
                if not self.is_running:
                    await self._tenure.release()

    async def note_subagent(self, tab_id: str, *, call_id: str) -> None:
        """Durably notes in which conversation the subagent of a running call works."""
        work = self._running.work
        if work is None:
            raise NacreError("The turn is over.")
        mark = self._openings.system(work.id, subagent_mark(call_id, tab_id))
        await self._ledger.append([mark])

    async def run_step(self) -> Outcome | None:
        """One step of the turn that `submit_user_message` opened; its outcome after the last."""
        return await self._running.step()

    async def stop(self) -> None:
        """Ends the running turn; returns when it is over."""
        await self._running.stop()

    async def until_over(self) -> None:
        """Returns when what runs now is over, with what waits in the queue."""
        await self._running.until_over()

    async def retry(self) -> None:
        """Sends the failed step of the last turn again; nothing to do again: a no-op."""
        async with self._gate:
            if self.is_running:
                return
            self._board.problem = ""
            turn = await self._turns.again()
            if turn is not None:
                self._running.start(turn)

    def try_now(self) -> None:
        """Sends a request that waits to go out again at once; while none waits: a no-op."""
        self._turns.hurry()

    async def go_on(self) -> None:
        """Asks for the rest of an answer that was cut; where there is none: a no-op."""
        async with self._gate:
            if self.is_running:
                return
            self._board.problem = ""
            await self._tenure.reload()
            if "go_on" in ways.ways_on(self._ledger.rows):
                self._running.start(await self._turns.with_text(ways.GO_ON, ()))

    async def compact(self, instruction: str = "") -> None:
        """Begins to compact; what comes of it is in the rows and in `problem` of the status.

        Raises NacreError while a turn runs, ModelUnavailable, LeaseHeld, StoreError.
        """
        async with self._gate:
            self._board.problem = ""
            if self.is_running:
                raise NacreError(WORKING, way_out="Compact it when the turn is over, or stop it.")
            self._running.start(await self._turns.compaction(instruction))
            await self._say("running")

    async def take_tools(self) -> None:
        """Lays down that the model is told the tools of the moment from the next request on.

        Raises NacreError while a turn runs, LeaseHeld, StoreError.
        """
        async with self._gate:
            self._board.problem = ""
            if self.is_running:
                raise NacreError(WORKING, way_out="Take the tools when the turn is over.")
            await self._tenure.take()
            try:
                await self._ledger.append(self._openings.other_tools())
            finally:
                await self._tenure.release()
            self._board.count()
            self.tell()

    def look_at_tools(self) -> None:
        """What tool servers offer has changed."""
        self._board.look_at_tools()

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
        self._board.count()
        await self._around.approvals.judge_again(self._place.workspace_id)
        self.tell()

    def refresh_due(self) -> Refresh | None:
        """When what lies in the provider's cache wants to be kept there; None for not at all."""
        is_closing = self._running.is_closing
        rests = self._board.last_outcome == "done" and not self._tenure.holder and not is_closing
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
            self._board.count()
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
        await self._running.close()
        try:
            await self._ledger.flush()
            await self._tenure.release()
        except StoreError:
            _log.exception("rows of %s could not be saved", self.tab_id)

    async def abandon(self) -> None:
        """Cuts a turn off that did not end in time; its rows are mended at the next open."""
        await self._running.abandon()

    async def _open(self, elsewhere: Elsewhere | None) -> None:
        self._tenure.found_holder(elsewhere)
        self._board.problem = ""
        try:
            await self._ledger.flush()
        except StoreError as error:
            self._board.problem = str(error)  # what is in memory is more than what is on disk
            self.tell()
            return
        await self._tenure.release()
        await self._tenure.reload()
        try:
            await self._tenure.mend()
        except StoreError as error:
            self._board.problem = str(error)  # it can still be read
        await self._waiting.read()
        if self._tenure.holder:
            self._waiting.let_go()
        else:
            self._waiting.hold_messages()
        self._board.read()
        self.tell()

    async def _kept(self, attachments: Sequence[Json]) -> tuple[Json, ...]:
        """Raises StoreError, and then nothing was laid down."""
        return await attaching.kept(attachments, self._ledger.keep_file, self._place.scene.spool)

    async def _drain(self, turn: Turn) -> None:
        """After the results of a step: what was queued meanwhile goes along (SPEC C05)."""
        async with self._gate:
            await self._waiting.read()
            if not self._waiting.may_go or self._openings.waits_for_server(turn.id):
                return
            await self._turns.take_along(turn)
            await self._waiting.read()
            self.tell()

    async def _say(self, lifecycle: str) -> None:
        try:
            await self._lifecycle(lifecycle)
        except NacreError:
            _log.exception("the state of %s could not be noted", self.tab_id)

    def _loaded(self) -> None:
        self._board.count()

    def tell(self) -> None:
        """Publishes the status; also when something beside this conversation has changed it."""
        self._board.tell()
