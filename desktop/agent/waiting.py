"""The messages of one conversation that wait for its agent, and whether they are held back."""

from collections.abc import Callable, Sequence

from desktop.core.chunks import Json
from desktop.core.protocols import TurnStore
from desktop.core.status import QueuedMessage


class Waiting:
    """The queue as it was last read. While it is `held` only the person lets it go.

    `stopping` says whether the person is stopping a turn: what comes meanwhile is held, too.
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

    @property
    def messages(self) -> tuple[QueuedMessage, ...]:
        return self._messages

    @property
    def held(self) -> bool:
        return self._held

    @property
    def may_go(self) -> bool:
        """Whether a message waits that is not held back."""
        return bool(self._messages) and not self._held

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

    def hold(self) -> None:
        """Nothing goes, not even what comes now."""
        self._held = True

    def hold_messages(self) -> None:
        """What waits now, if anything, is held."""
        self._held = bool(self._messages)

    def let_go(self) -> None:
        self._held = False
