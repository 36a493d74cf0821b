"""How the turns of one conversation begin, and the compactions in their place.

Each takes the lease and lays down the rows that open it. Where that fails nothing was laid down and
the lease is given back; else what is returned is to be run.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from desktop.agent.approvals import Asker
from desktop.agent.board import Board
from desktop.agent.branching import Resend
from desktop.agent.compaction import Compaction, CompactionJob, Ties, turn_of
from desktop.agent.ledger import Ledger
from desktop.agent.listening import Haste
from desktop.agent.loop import Links, Turn
from desktop.agent.opening import Opening, Openings
from desktop.agent.surroundings import Chosen, Place, Surroundings
from desktop.agent.tenure import Tenure
from desktop.core.chunks import Json, Stamp
from desktop.core.errors import NacreError
from desktop.core.model import Model


class Turns:
    """`drain` lets a running turn take along what was queued meanwhile; `begun` is awaited once a
    turn is laid down. All raise ModelUnavailable, LeaseHeld, StoreError."""

    def __init__(
        self,
        ledger: Ledger,
        tenure: Tenure,
        openings: Openings,
        board: Board,
        *,
        place: Place,
        around: Surroundings,
        chosen: Callable[[], Chosen],
        drain: Callable[[Turn], Awaitable[None]],
        begun: Callable[[], Awaitable[None]],
    ) -> None:
        self._ledger = ledger
        self._tenure = tenure
        self._openings = openings
        self._board = board
        self._place = place
        self._around = around
        self._chosen = chosen
        self._begun = begun
        self._haste = Haste()
        ties = Ties(openings.fresh, board.show_compacting, board.show_retry, self._haste)
        self._links = Links(drain, board.progressed, ties)
        self._asker = Asker(
            tab_id=place.tab_id,
            workspace_id=place.workspace_id,
            mode=lambda: chosen().mode,
            changed=board.tell,
        )
        self._here: set[str] = set()

    async def with_text(self, text: str, attachments: Sequence[Json]) -> Turn:
        """Of a message."""
        if not text.strip() and not attachments:
            raise NacreError("There is nothing to send.")
        return await self._begin(partial(self._openings.with_text, text, attachments))

    async def with_queue(self) -> Turn:
        """Of what waits."""
        return await self._begin(self._openings.with_queue, then=self._take_queue)

    async def anew(self, resend: Resend) -> Turn:
        """Of messages in place of unanswered ones. Raises PlaceGone, too."""
        return await self._begin(partial(self._openings.anew, resend))

    async def again(self) -> Turn | None:
        """Of the failed step of the last turn; None where there is nothing to do again."""
        await self._tenure.reload()
        turn_id = self._openings.to_retry()
        if not turn_id:
            return None

        async def again(stamp: Stamp) -> Opening:
            return await self._openings.again(turn_id, stamp, began_here=turn_id in self._here)

        return await self._begin(again)

    async def compaction(self, instruction: str) -> CompactionJob:
        """A compaction that the person asked for."""
        model = self._around.model_for(self._chosen().model)
        await self._tenure.take()
        turn_id, step = turn_of(self._ledger.rows)
        return CompactionJob(
            lambda stop: Compaction(
                ledger=self._ledger,
                around=self._around,
                tab_id=self._place.tab_id,
                model=model,
                chosen=self._chosen(),
                turn_id=turn_id or self._around.new_id(),
                step=step,
                stop=stop,
                ties=self._links.ties,
            ),
            turn_id=turn_id,
            since=self._around.now_ms(),
            instruction=instruction,
        )

    async def take_along(self, turn: Turn) -> None:
        """What waits goes with the next step of a running turn. Raises StoreError."""
        await self._ledger.append(await self._openings.news(turn.id, turn.stamp, step=turn.step))
        await self._take_queue(turn)

    def hurry(self) -> None:
        """A request that waits to go out again goes at once; while none waits: a no-op."""
        self._haste.hurry()
        self._board.show_retry(None)

    async def _begin(
        self,
        opened: Callable[[Stamp], Awaitable[Opening]],
        *,
        then: Callable[[Turn], Awaitable[None]] | None = None,
    ) -> Turn:
        model = self._around.model_for(self._chosen().model)
        await self._tenure.take()
        try:
            opening = await opened(model.stamp(self._chosen().model))
            await self._ledger.append(opening.chunks)
            turn = self._make(opening, model)
            if then is not None:
                await then(turn)
        except BaseException as error:
            await self._tenure.release()
            self._board.not_begun(error)
            raise
        self._ledger.dangling = ()
        self._here.add(turn.id)
        await self._begun()
        return turn

    def _make(self, opening: Opening, model: Model) -> Turn:
        return Turn(
            turn_id=opening.turn_id,
            step=opening.step,
            ledger=self._ledger,
            around=self._around,
            place=self._place,
            asker=self._asker,
            model=model,
            chosen=self._chosen(),
            links=self._links,
            resumed=opening.resumed,
        )

    async def _take_queue(self, turn: Turn) -> None:
        await self._ledger.take_queued(turn_id=turn.id, step=turn.step, stamp=turn.stamp)
