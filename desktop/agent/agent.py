"""One conversation's agent: it owns the conversation and its store, and runs its turns.

Commands come one at a time; a turn runs in a task of its own and only with the lease in hand.
Everything that enters the conversation is durable before it has an effect.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from desktop.agent import facts, repair
from desktop.agent.approvals import Asker
from desktop.agent.ledger import Ledger
from desktop.agent.loop import UNFORESEEN, Links, Turn
from desktop.agent.spending import spent
from desktop.agent.surroundings import Chosen, Place, Surroundings
from desktop.core.chunks import Json, LogChunk, NewChunk, Outcome, Stamp, System, Text
from desktop.core.conversation import prompt_of
from desktop.core.errors import LeaseHeld, NacreError, StoreError
from desktop.core.model import Model, Retry, Spent
from desktop.core.permissions import PermissionMode
from desktop.core.protocols import TurnStore
from desktop.core.status import QueuedMessage, TabStatus

DEFAULT_WINDOW = 200_000

Opening = tuple[str, int, list[NewChunk]]  # of a turn: its id, its first step, the rows before it

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
        self._store = store
        self._place = place
        self._around = around
        self._chosen = chosen
        self._revision = revision
        self._lifecycle = lifecycle
        self._ledger = Ledger(store, around.publisher)
        self._gate = asyncio.Lock()
        self._turn: Turn | None = None
        self._task: asyncio.Task[None] | None = None
        self._loaded = False
        self._has_lease = False
        self._lived: set[str] = set()
        self._queue: tuple[QueuedMessage, ...] = ()
        self._held = False
        self._closing = False
        self._retry: Retry | None = None
        self._spent = Spent(window=DEFAULT_WINDOW)
        self._holder = ""
        self._problem = ""
        self._last_outcome = ""
        self._asker = Asker(
            tab_id=place.tab_id,
            workspace_id=place.workspace_id,
            mode=lambda: self._chosen.mode,
            changed=self._tell,
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
    def conversation(self) -> tuple[LogChunk, ...]:
        """All rows as this agent knows them."""
        return tuple(self._ledger.rows)

    @property
    def status(self) -> TabStatus:
        turn = self._turn
        dangling = self._ledger.dangling
        texts = [row.data.text for row in dangling if isinstance(row.data, Text)]
        return TabStatus(
            tab_id=self.tab_id,
            phase="running" if turn else "elsewhere" if self._holder else "idle",
            turn_id=turn.id if turn else "",
            since=turn.since if turn else 0,
            stopping=turn.stopping if turn else False,
            queue=self._queue,
            held=self._held,
            questions=self._around.approvals.questions(self.tab_id),
            retry=self._retry,
            dangling="\n\n".join(texts) if dangling and not self._holder else None,
            model=self._chosen.model,
            effort=self._chosen.effort,
            mode=self._chosen.mode,
            spent=self._spent,
            holder=self._holder,
            problem=self._problem,
            last_outcome=self._last_outcome,
        )

    async def open(self) -> TabStatus:
        """Loads the conversation and mends what a crash left, if no living process runs it.

        Raises StoreError when it can't be read.
        """
        async with self._gate:
            if not self.is_running:
                await self._open()
            return self.status

    async def send(self, text: str, attachments: Sequence[Json] = ()) -> None:
        """Starts a turn with a message, or queues it while one runs. Durable when it returns."""
        async with self._gate:
            self._problem = ""
            if self.is_running:
                await self._enqueue(text, attachments)
                return
            self._start(await self._submit(text, attachments))

    async def submit_user_message(self, text: str, attachments: Sequence[Json] = ()) -> str:
        """Lays a message down and opens its turn, to be driven by `run_step`; the turn's id."""
        async with self._gate:
            self._problem = ""
            if self.is_running:
                raise NacreError("A turn is running in this conversation.")
            self._turn = await self._submit(text, attachments)
            self._tell()
            return self._turn.id

    async def add_system_message(self, text: str, kind: str = "notice") -> None:
        """Lays down a row of the program's own. Raises StoreError, LeaseHeld."""
        async with self._gate:
            if not self.is_running:
                await self._take_up()
            try:
                turn_id = self._turn.id if self._turn else repair.last_turn_id(self._ledger.rows)
                await self._ledger.append(
                    [self._system(turn_id or self._around.new_id(), System(kind, text))]
                )
            finally:
                if not self.is_running:
                    await self._let_go()

    async def run_step(self) -> Outcome | None:
        """One step of the turn that `submit_user_message` opened; its outcome after the last."""
        if self._turn is None:
            return None
        outcome = await self._turn.run_step()
        if outcome is not None:
            self._turn = await self._after(self._turn, outcome)
        return outcome

    async def stop(self) -> None:
        """Ends the running turn; returns when it is over."""
        turn, task = self._turn, self._task
        if turn is None:
            return
        self._held = True
        turn.stop()
        self._tell()
        if task is not None:
            await asyncio.wait({task})

    async def cancel_queued(self, message_id: str) -> QueuedMessage | None:
        """Takes a queued message back; None when it was sent already (SPEC C06)."""
        async with self._gate:
            message = await self._store.cancel_queued(message_id)
            await self._read_queue()
            self._tell()
            return message

    async def release_queue(self) -> None:
        """Lets a held queue go: at once as a new turn, or with the next step of a running one."""
        async with self._gate:
            self._problem = ""
            await self._read_queue()
            if self._queue and not self.is_running:
                self._start(await self._submit_queue())
            self._held = False
            self._tell()

    async def retry(self) -> None:
        """Sends the failed step of the last turn again; nothing to do again: a no-op."""
        async with self._gate:
            if self.is_running:
                return
            self._problem = ""
            turn = await self._again()
            if turn is not None:
                self._start(turn)

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
        self._tell()

    async def close(self) -> None:
        """Stops, saves what waits if that works, and lets the conversation go."""
        self._closing = True
        await self.stop()
        if self._task is not None:
            await asyncio.wait({self._task})
        try:
            await self._ledger.flush()
            await self._let_go()
        except StoreError:
            _log.exception("rows of %s could not be saved", self.tab_id)

    async def abandon(self) -> None:
        """Cuts a turn off that did not end in time; its rows are mended at the next open."""
        task = self._task
        if task is not None and not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=0.5)

    # Taking the conversation up and letting it go.

    async def _open(self) -> None:
        self._holder = ""
        self._problem = ""
        try:
            await self._ledger.flush()
        except StoreError as error:
            self._problem = str(error)  # what is in memory is more than what is on disk
            self._tell()
            return
        await self._let_go()
        await self._reload()
        if repair.is_open(self._ledger.rows, repair.last_turn_id(self._ledger.rows)):
            try:
                await self._take_up()
            except LeaseHeld:
                pass  # the status says who works here
            except StoreError as error:
                self._problem = str(error)  # it can still be read
            else:
                await self._let_go()
        await self._read_queue()
        self._held = bool(self._queue) and not self._holder
        rows = self._ledger.rows
        self._last_outcome = repair.outcome_of(rows, repair.last_turn_id(rows))
        self._tell()

    async def _take_up(self) -> None:
        """Takes the lease and the rows as they are now. Raises LeaseHeld, StoreError."""
        try:
            await self._store.acquire_lease()
        except LeaseHeld as error:
            self._holder = error.detail or error.sentence
            self._tell()
            raise
        self._holder = ""
        self._has_lease = True
        try:
            await self._reload()
            await self._ledger.append(repair.mending(self._ledger.rows, self._around.new_id))
        except BaseException:
            await self._let_go()
            raise

    async def _let_go(self) -> None:
        """Gives the lease back, unless rows still wait here: nobody may write in between."""
        if not self._has_lease or not self._ledger.all_saved:
            return
        try:
            await self._store.release_lease()
            self._has_lease = False
        except StoreError:
            _log.exception("the lease of %s could not be released", self.tab_id)

    async def _reload(self) -> None:
        """Reads the rows anew unless nobody else has written since."""
        await self._ledger.flush()
        revision = await self._revision()
        if self._loaded and revision and revision == self._ledger.revision:
            return
        await self._ledger.load(revision)
        self._loaded = True
        self._count()

    # Beginning a turn.

    async def _submit(self, text: str, attachments: Sequence[Json]) -> Turn:
        if not text.strip() and not attachments:
            raise NacreError("There is nothing to send.")
        return await self._begin(lambda stamp: self._with_text(text, attachments, stamp))

    async def _submit_queue(self) -> Turn:
        async def rows(stamp: Stamp) -> Opening:
            turn_id = self._around.new_id()
            return turn_id, 0, [*self._retraction(), *await self._news(turn_id, stamp)]

        async def take(turn: Turn) -> None:
            await self._ledger.take_queued(turn_id=turn.id, step=0, stamp=turn.stamp)

        return await self._begin(rows, then=take)

    async def _again(self) -> Turn | None:
        await self._reload()
        rows, dangling = self._ledger.rows, self._ledger.dangling
        turn_id = dangling[-1].turn_id if dangling else repair.last_turn_id(rows)
        if not dangling and repair.outcome_of(rows, turn_id) in ("", "done"):
            return None

        async def again(stamp: Stamp) -> Opening:
            del stamp  # the same bytes go out: no news
            step, partial = repair.next_step(self._ledger.rows, turn_id)
            chunks: list[NewChunk] = []
            if partial:
                data = System("retracted", fields={"chunkIds": list(partial)})
                chunks.append(self._system(turn_id, data))
            if step and turn_id not in self._lived:
                # A turn is not continued after a restart (DESIGN.md §1).
                return self._around.new_id(), 0, chunks
            return turn_id, step, chunks

        return await self._begin(again)

    async def _begin(
        self,
        rows: Callable[[Stamp], Awaitable[Opening]],
        *,
        then: Callable[[Turn], Awaitable[None]] | None = None,
    ) -> Turn:
        """Takes the lease, lays down the rows that open a turn, and makes the turn.

        Raises ModelUnavailable, LeaseHeld, StoreError; then nothing was laid down.
        """
        model = self._around.model_for(self._chosen.model)
        await self._take_up()
        try:
            turn_id, step, chunks = await rows(model.stamp(self._chosen.model))
            await self._ledger.append(chunks)
            turn = self._make_turn(turn_id, step, model)
            if then is not None:
                await then(turn)
        except BaseException as error:
            if isinstance(error, StoreError):
                self._problem = str(error)
            await self._let_go()
            self._tell()
            raise
        self._ledger.dangling = ()
        self._lived.add(turn_id)
        await self._say("running")
        return turn

    async def _with_text(self, text: str, attachments: Sequence[Json], stamp: Stamp) -> Opening:
        dangling = self._ledger.dangling
        if repair.is_same_text(dangling, text, attachments):
            turn_id = dangling[-1].turn_id
            step, _ = repair.next_step(self._ledger.rows, turn_id)
            return turn_id, step, await self._news(turn_id, stamp)
        turn_id = self._around.new_id()
        message = NewChunk(
            id=self._around.new_id(),
            turn_id=turn_id,
            role="user",
            data=Text(text, attachments=tuple(attachments)),
            stamp=stamp,
        )
        return turn_id, 0, [*self._retraction(), *await self._news(turn_id, stamp), message]

    def _retraction(self) -> list[NewChunk]:
        """Takes the unanswered texts back, and ends their turn if nobody did (SPEC S03)."""
        dangling = self._ledger.dangling
        if not dangling:
            return []
        turn_id = dangling[-1].turn_id
        data = System("retracted", fields={"chunkIds": [row.id for row in dangling]})
        chunks = [self._system(turn_id, data)]
        if repair.is_open(self._ledger.rows, turn_id):
            chunks.append(repair.ended(self._around.new_id(), turn_id, "interrupted", 0))
        return chunks

    async def _news(self, turn_id: str, stamp: Stamp, *, step: int = 0) -> list[NewChunk]:
        """What must stand before the next user text: the prompt, a change of model, new facts."""
        surroundings = await self._place.facts()
        rows = self._ledger.rows
        mode = self._chosen.mode
        if prompt_of(rows) is None:
            tools = [tool.spec.as_json() for tool in self._around.tools]
            found = [
                System("prompt", self._around.prompt, {"tools": tools}),
                facts.opening(surroundings, mode),
            ]
        else:
            changes = [self._model_change(stamp), facts.news(rows, surroundings, mode)]
            found = [one for one in changes if one is not None]
        return [self._system(turn_id, data, step=step) for data in found]

    def _model_change(self, stamp: Stamp) -> System | None:
        last = next((row.stamp.model for row in reversed(self._ledger.rows) if row.stamp.model), "")
        if not last or last == stamp.model:
            return None
        return System("model", fields={"from": last, "to": stamp.model})

    def _make_turn(self, turn_id: str, step: int, model: Model) -> Turn:
        return Turn(
            turn_id=turn_id,
            step=step,
            ledger=self._ledger,
            around=self._around,
            place=self._place,
            asker=self._asker,
            model=model,
            chosen=self._chosen,
            links=Links(self._drain, self._show_retry, self._progressed),
        )

    def _start(self, turn: Turn) -> None:
        self._turn = turn
        self._task = asyncio.create_task(self._work(turn), name=f"turn {self.tab_id}")
        self._task.add_done_callback(self._over)
        self._tell()

    # While a turn runs, and after it.

    async def _work(self, turn: Turn) -> None:
        current: Turn | None = turn
        try:
            while current is not None:
                outcome = await current.run()
                current = self._turn = await self._after(current, outcome)
        finally:
            if self._turn is not None:
                await self._break_off()

    async def _after(self, turn: Turn, outcome: Outcome) -> Turn | None:
        """A turn is over: the next one begins with the queue, or the conversation rests."""
        async with self._gate:
            self._last_outcome = outcome
            self._problem = turn.problem
            self._retry = None
            try:
                await self._read_queue()
                if self._goes_on(outcome, turn):
                    following = await self._submit_queue()
                    await self._read_queue()
                    if turn.stopping:
                        following.stop()  # stop was pressed while the queue was on its way
                    self._turn = following
                    self._tell()
                    return following
            except NacreError as error:
                self._problem = self._problem or str(error)
            await self._let_go()
            await self._say("idle")
            self._held = bool(self._queue)
            self._turn = None
            self._count()
            self._tell()
            return None

    def _goes_on(self, outcome: Outcome, turn: Turn) -> bool:
        natural = outcome == "done" and not turn.stopping and not self._closing
        return natural and bool(self._queue) and not self._held

    async def _break_off(self) -> None:
        """The turn's task ends without its turn's end: cancelled hard, or by a fault of ours."""
        self._turn = None
        self._held = bool(self._queue)
        await self._let_go()
        self._tell()

    def _over(self, task: "asyncio.Task[None]") -> None:
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            _log.error("turn task of %s", self.tab_id, exc_info=error)
            self._problem = UNFORESEEN
            self._tell()

    async def _drain(self, turn: Turn) -> None:
        """After the results of a step: what was queued meanwhile goes along (SPEC C05)."""
        async with self._gate:
            await self._read_queue()
            if not self._queue or self._held:
                return
            await self._ledger.append(await self._news(turn.id, turn.stamp, step=turn.step))
            await self._ledger.take_queued(turn_id=turn.id, step=turn.step, stamp=turn.stamp)
            await self._read_queue()
            self._tell()

    async def _enqueue(self, text: str, attachments: Sequence[Json]) -> None:
        message = QueuedMessage(
            id=self._around.new_id(),
            tab_id=self.tab_id,
            text=text,
            created_at=self._around.now_ms(),
            attachments=tuple(attachments),
        )
        await self._store.enqueue(message)
        await self._read_queue()
        self._tell()

    async def _read_queue(self) -> None:
        self._queue = await self._store.queued()
        if not self._queue:
            self._held = self._held and self._turn is not None and self._turn.stopping

    async def _say(self, lifecycle: str) -> None:
        try:
            await self._lifecycle(lifecycle)
        except NacreError:
            _log.exception("the state of %s could not be noted", self.tab_id)

    # What the status is made of.

    def _show_retry(self, retry: Retry | None) -> None:
        if retry != self._retry:
            self._retry = retry
            self._tell()

    def _progressed(self) -> None:
        self._count()
        self._tell()

    def _count(self) -> None:
        info = self._around.model_info(self._chosen.model)
        self._spent = spent(
            self._ledger.requests.values(),
            tariff=self._around.tariff,
            window=info.window if info else DEFAULT_WINDOW,
        )

    def _system(self, turn_id: str, data: System, *, step: int = 0) -> NewChunk:
        return NewChunk(
            id=self._around.new_id(), turn_id=turn_id, role="system", data=data, step=step
        )

    def _tell(self) -> None:
        self._around.publisher.status(self.status)
