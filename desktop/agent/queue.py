"""What the person does with the messages that wait for an agent; each command comes alone."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from desktop.agent.board import Board
from desktop.agent.running import Running
from desktop.agent.waiting import Waiting
from desktop.core.chunks import Json
from desktop.core.status import QueuedMessage


class Queue:
    """The queue of one conversation. `keep` keeps the bytes of what is attached. All raise
    StoreError, and where a turn begins what that raises."""

    def __init__(
        self,
        waiting: Waiting,
        running: Running,
        board: Board,
        *,
        gate: asyncio.Lock,
        keep: Callable[[Sequence[Json]], Awaitable[tuple[Json, ...]]],
    ) -> None:
        self._waiting = waiting
        self._running = running
        self._board = board
        self._gate = gate
        self._keep = keep

    @property
    def is_owed(self) -> bool:
        """Whether it would have gone out by now, had no message of it been changed."""
        return self._waiting.is_owed

    async def take_back(self, message_id: str) -> QueuedMessage | None:
        """Takes a message back; None when it was sent already (SPEC C06)."""
        async with self._gate:
            message = await self._waiting.take_back(message_id)
            self._board.tell()
            return message

    async def begin_edit(self, message_id: str) -> QueuedMessage | None:
        """Keeps it back while the person changes a message of it; None when it was sent."""
        async with self._gate:
            return await self._waiting.begin_edit(message_id)

    async def put(self, message_id: str, text: str | None, attachments: Sequence[Json]) -> bool:
        """Ends the edit of a message; whether it still waited (SPEC C06)."""
        attachments = await self._keep(attachments)
        async with self._gate:
            waited = text is None or await self._waiting.change(message_id, text, attachments)
            if self._waiting.end_edit(message_id):
                await self._release()
            self._board.tell()
            return waited

    async def order(self, message_ids: Sequence[str]) -> None:
        """Another order for the messages; one that was sent meanwhile: no matter."""
        async with self._gate:
            await self._waiting.order(message_ids)
            self._board.tell()

    async def release(self) -> None:
        """Lets it go when it is held: at once as a new turn, or with the next step of a running
        one."""
        async with self._gate:
            self._board.problem = ""
            if self._waiting.is_edited and self._running.work is None:
                self._waiting.owe()
            else:
                await self._release()

    async def _release(self) -> None:
        await self._waiting.read()
        if self._waiting.messages and self._running.work is None:
            await self._running.follow()
            await self._waiting.read()  # what went out waits no longer
        self._waiting.let_go()
        self._board.tell()
