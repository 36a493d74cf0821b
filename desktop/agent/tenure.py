"""Holding one conversation's log: its lease, and its rows as they are now.

Who holds the lease has read what others wrote and mended what a crash left; nobody gives it back
while rows of theirs still wait to be written.
"""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from desktop.agent import repair
from desktop.agent.ledger import Ledger
from desktop.core.errors import InBin, LeaseHeld, StoreError
from desktop.core.protocols import TurnStore
from desktop.core.status import Elsewhere

_log = logging.getLogger(__name__)


class Tenure:
    """`revision` reads the log's revision (0: unknown). `loaded` is told when the rows were read
    anew, `held_elsewhere` when another process turned out to hold the lease."""

    def __init__(
        self,
        store: TurnStore,
        ledger: Ledger,
        *,
        tab_id: str,
        new_id: Callable[[], str],
        revision: Callable[[], Awaitable[int]],
        loaded: Callable[[], None],
        held_elsewhere: Callable[[], None],
    ) -> None:
        self._store = store
        self._ledger = ledger
        self._tab_id = tab_id
        self._new_id = new_id
        self._revision = revision
        self._loaded = loaded
        self._held_elsewhere = held_elsewhere
        self._was_loaded = False
        self._has_lease = False
        self._holder: Elsewhere | None = None

    @property
    def is_loaded(self) -> bool:
        """Whether the ledger has the rows."""
        return self._was_loaded

    @property
    def holder(self) -> Elsewhere | None:
        """Who else worked here when the lease was last asked for, or looked at."""
        return self._holder

    def found_holder(self, holder: Elsewhere | None) -> None:
        """A look found who else works here. Who holds the lease knows better."""
        if not self._has_lease:
            self._holder = holder

    async def take(self) -> None:
        """Takes the lease and the rows as they are now. Raises LeaseHeld, StoreError."""
        try:
            await self._store.acquire_lease()
        except LeaseHeld as error:
            holder = error.detail or error.sentence
            if self._holder is None or self._holder.holder != holder:
                self._holder = Elsewhere(holder)
            self._held_elsewhere()
            raise
        self._holder = None
        self._has_lease = True
        try:
            await self.reload()
            await self._ledger.append(repair.mending(self._ledger.rows, self._new_id))
        except BaseException:
            await self.release()
            raise

    async def release(self) -> None:
        """Gives the lease back, unless rows still wait here: nobody may write in between."""
        if not self._has_lease or not self._ledger.all_saved:
            return
        try:
            await self._store.release_lease()
            self._has_lease = False
        except StoreError:
            _log.exception("the lease of %s could not be released", self._tab_id)

    @asynccontextmanager
    async def held(self) -> AsyncGenerator[None]:
        """Around a write between turns; in a turn the lease is in hand and stays. As `take`."""
        if self._has_lease:
            yield
            return
        await self.take()
        try:
            yield
        finally:
            await self.release()

    async def reload(self) -> None:
        """Reads the rows anew unless nobody else has written since. Raises StoreError."""
        await self._ledger.flush()
        revision = await self._revision()
        if self._was_loaded and revision and revision == self._ledger.revision:
            return
        await self._ledger.load(revision)
        self._was_loaded = True
        self._loaded()

    async def forget(self) -> None:
        """Lets the rows go where the log holds the same, to be read again. Raises StoreError."""
        if not self._was_loaded or not self._ledger.all_saved:
            return
        revision = await self._revision()
        if revision and revision == self._ledger.revision:
            self._ledger.forget()
            self._was_loaded = False

    async def mend(self) -> None:
        """Ends the last turn if a crash left it open and no living process runs it.

        Raises StoreError; the rows can still be read then.
        """
        rows = self._ledger.rows
        if not repair.is_open(rows, repair.last_turn_id(rows)):
            return
        try:
            await self.take()
        except (LeaseHeld, InBin):
            return  # `holder` says who works here; in the bin nobody does
        await self.release()
