"""What runs in one conversation, in a task of its own: a turn, or a compaction in its place.

What waits follows when it came to its end by itself; when nothing follows the conversation rests.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from desktop.agent.board import Board, Work
from desktop.agent.loop import UNFORESEEN, Turn
from desktop.agent.tenure import Tenure
from desktop.agent.waiting import Waiting
from desktop.core.chunks import Outcome
from desktop.core.errors import NacreError

_log = logging.getLogger(__name__)


class Running:
    """`work` is what runs now. `gate` is held while one thing ends and the next begins, and by who
    begins something; `following` opens the turn of what waits, `rested` is awaited once the lease
    is given back."""

    def __init__(
        self,
        *,
        tab_id: str,
        gate: asyncio.Lock,
        tenure: Tenure,
        waiting: Waiting,
        board: Board,
        following: Callable[[], Awaitable[Turn]],
        rested: Callable[[], Awaitable[None]],
    ) -> None:
        self._tab_id = tab_id
        self._gate = gate
        self._tenure = tenure
        self._waiting = waiting
        self._board = board
        self._following = following
        self._rested = rested
        self._task: asyncio.Task[None] | None = None
        self.work: Work | None = None
        self.is_closing = False

    @property
    def is_stopping(self) -> bool:
        return self.work is not None and self.work.stopping

    def start(self, work: Work) -> None:
        """Runs it, and what follows, in a task."""
        self.work = work
        self._task = asyncio.create_task(self._run(work), name=f"turn {self._tab_id}")
        self._task.add_done_callback(self._ended)
        self._board.tell()

    async def follow(self) -> None:
        """Opens the turn of what waits, and runs it. Raises what that raises."""
        self.start(await self._following())

    def step_by_step(self, turn: Turn) -> None:
        """It is run by `step`, without a task."""
        self.work = turn
        self._board.tell()

    async def step(self) -> Outcome | None:
        """One step of the turn; its outcome after the last."""
        turn = self.work
        if not isinstance(turn, Turn):
            return None
        outcome = await turn.run_step()
        if outcome is not None:
            self.work = await self._after(turn, outcome)
        return outcome

    async def stop(self) -> None:
        """Ends what runs; returns when it is over."""
        work, task = self.work, self._task
        if work is None:
            return
        self._waiting.hold()
        work.stop()
        self._board.tell()
        if task is not None:
            await asyncio.wait({task})

    async def until_over(self) -> None:
        """Returns when what runs now is over, with what waits in the queue."""
        if self._task is not None:
            await asyncio.wait({self._task})

    async def close(self) -> None:
        """Stops; nothing follows."""
        self.is_closing = True
        await self.stop()
        await self.until_over()

    async def abandon(self) -> None:
        """Cuts it off where it did not end in time."""
        task = self._task
        if task is not None and not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=0.5)

    async def _run(self, work: Work) -> None:
        current: Work | None = work
        try:
            while current is not None:
                outcome = await current.run()
                current = self.work = await self._after(current, outcome)
        finally:
            if self.work is not None:
                await self._break_off()

    async def _after(self, work: Work, outcome: Outcome) -> Turn | None:
        """The turn of what waits, or None: the conversation rests."""
        async with self._gate:
            self._board.over(work, outcome)
            try:
                await self._waiting.read()
                if self._is_natural(outcome, work) and self._waiting.may_go:
                    following = await self._following()
                    await self._waiting.read()
                    if work.stopping:
                        following.stop()  # stop was pressed while the queue was on its way
                    self.work = following
                    self._board.tell()
                    return following
            except NacreError as error:
                self._board.problem = self._board.problem or str(error)
            self._board.read_ways()
            await self._tenure.release()
            await self._rested()
            self._waiting.hold_messages(natural=self._is_natural(outcome, work))
            self.work = None
            self._board.count()
            self._board.tell()
            return None

    def _is_natural(self, outcome: Outcome, work: Work) -> bool:
        """Whether it came to its end by itself, so that what waits may follow."""
        return outcome == "done" and not work.stopping and not self.is_closing

    async def _break_off(self) -> None:
        """The task ends without its work's end: cancelled hard, or by a fault of ours."""
        self.work = None
        self._waiting.hold_messages()
        await self._tenure.release()
        self._board.tell()

    def _ended(self, task: "asyncio.Task[None]") -> None:
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            _log.error("turn task of %s", self._tab_id, exc_info=error)
            self._board.problem = UNFORESEEN
            self._board.tell()
