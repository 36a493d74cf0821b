"""The messages of one conversation that wait for its agent, and whether they are held back."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from desktop.core.chunks import Json
from desktop.core.protocols import TurnStore
from desktop.core.status import QueuedMessage


class Waiting:
    """The queue as it was last read. While it is `held` only the person lets it go.

    `stopping` says whether the person is stopping a turn: what comes meanwhile is held, too. While
    the person changes one of the messages, none goes.
    """

    def __init__(
        self,
        store: TurnStore,
        *,
        tab_id: str,
        new_id: Callable[[], str],
        now_ms: Callable[[], int],
        stopping: Callable[[], bool],
    ) -> None:
        self._store = store
        self._tab_id = tab_id
        self._new_id = new_id
        self._now_ms = now_ms
        self._stopping = stopping
        self._messages: tuple[QueuedMessage, ...] = ()
        self._held = False
        self._edited = ""
        self._is_owed = False

    @property
    def messages(self) -> tuple[QueuedMessage, ...]:
        return self._messages

    @property
    def held(self) -> bool:
        return self._held

    @property
    def may_go(self) -> bool:
        """Whether a message waits that is not held back."""
        return bool(self._messages) and not self._held and not self._edited

    @property
    def is_edited(self) -> bool:
        """Whether the person changes a message that waits."""
        return bool(self._edited)

    @property
    def is_owed(self) -> bool:
        """Whether what waits would have gone, had it not been for an edit."""
        return self._is_owed

    async def read(self) -> None:
        """What waits now; an empty queue is held no longer, unless a turn is being stopped."""
        self._messages = await self._store.queued()
        if not self._messages:
            # Asked after the wait: stop may have been pressed during it.
            self._held = self._held and self._stopping()

    async def add(self, text: str, attachments: Sequence[Json]) -> None:
        """Durable when it returns. Raises StoreError."""
        message = QueuedMessage(
            id=self._new_id(),
            tab_id=self._tab_id,
            text=text,
            created_at=self._now_ms(),
            attachments=tuple(attachments),
        )
        await self._store.enqueue(message)
        await self.read()

    async def take_back(self, message_id: str) -> QueuedMessage | None:
        """The message; None when it was sent already (SPEC C06)."""
        message = await self._store.cancel_queued(message_id)
        await self.read()
        return message

    async def order(self, message_ids: Sequence[str]) -> None:
        """They go out in this order, those not named behind. Durable when it returns."""
        await self._store.order_queued(message_ids)
        await self.read()

    async def begin_edit(self, message_id: str) -> QueuedMessage | None:
        """The message, and nothing goes until `end_edit`; None when it was sent already."""
        await self.read()
        found = next((one for one in self._messages if one.id == message_id), None)
        if found is not None:
            self._edited = found.id
        return found

    async def change(self, message_id: str, text: str, attachments: Sequence[Json]) -> bool:
        """Another text in the message's place; whether it still waited. Raises StoreError."""
        found = next((one for one in self._messages if one.id == message_id), None)
        if found is None:
            return False
        changed = replace(found, text=text, attachments=tuple(attachments))
        is_there = await self._store.change_queued(changed)
        await self.read()
        return is_there

    def end_edit(self, message_id: str) -> bool:
        """The edit of this message is over; whether what waits is to go now."""
        if self._edited != message_id:
            return False
        self._edited = ""
        owed, self._is_owed = self._is_owed, False
        return owed

    def owe(self) -> None:
        """What waits is to go when the edit is over."""
        self._is_owed = True

    def hold(self) -> None:
        """Nothing goes, not even what comes now."""
        self._held, self._is_owed = True, False

    def hold_messages(self, *, natural: bool = False) -> None:
        """What waits now, if anything, is held. `natural`: it would go if nobody changed it."""
        self._is_owed = natural and bool(self._edited) and not self._held
        self._held = bool(self._messages)

    def let_go(self) -> None:
        self._held, self._is_owed = False, False
