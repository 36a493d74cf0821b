"""What other processes do to the log, heard of soon: a wake-up, and a check as the floor.

A wake-up (something was written into the write-ahead log, by whomever) asks for one number; only
where that says that others have committed, one bounded look finds what moved and who works where.
Readers then repair themselves. A storm of wake-ups is one in a tenth of a second; without any, a
look every five seconds finds the same (DESIGN.md §7, SPEC U05).
"""

import logging
from collections.abc import Callable, Mapping

from desktop.core.errors import StoreError
from desktop.core.sources import Lookout
from desktop.core.status import Elsewhere
from desktop.feed.hub import WHOLE_LOG, Hub
from desktop.feed.timing import Cancellable, Later, Start

_LOG = logging.getLogger(__name__)

CHECK_SECONDS = 5.0
PAUSE_SECONDS = 0.1


class Outside:
    """Begun by `open`, ended by `close`. `arm` asks for one call of `wake` at the next write, or at
    once where one came since the last call; nobody may answer it. `heard` is told at each look who
    else works where. `asked` and `looks` count."""

    def __init__(
        self,
        lookout: Lookout,
        hub: Hub,
        *,
        heard: Callable[[Mapping[str, Elsewhere]], None],
        start: Start,
        later: Later,
        arm: Callable[[], None] = lambda: None,
    ) -> None:
        self._lookout = lookout
        self._hub = hub
        self._heard = heard
        self._start = start
        self._later = later
        self._arm = arm
        self._pause: Cancellable | None = None
        self._check: Cancellable | None = None
        self._is_woken = False
        self._is_open = False
        self._is_asking = False
        self._moved: int | None = None
        self.asked = self.looks = 0

    def open(self) -> None:
        self._is_open = True
        self._ask_soon()
        self._check_later()

    def close(self) -> None:
        """Hears nothing any more; what is being asked is not told."""
        self._is_open = False
        for timer in (self._pause, self._check):
            if timer is not None:
                timer.cancel()

    def wake(self) -> None:
        """Something was written since `arm`."""
        self._is_woken = True
        if self._pause is None and not self._is_asking:
            self._ask_soon()

    # Asking after a wake-up

    def _ask_soon(self) -> None:
        """At once, and not again before the pause is over and the answer is there."""
        if not self._is_open:
            return
        self._is_woken, self._is_asking = False, True
        self._arm()  # before it is asked, so that nothing falls between
        self._pause = self._later(PAUSE_SECONDS, self._rested)
        self._start(self._ask(), "ask for what other processes wrote")

    def _rested(self) -> None:
        self._pause = None
        self._go_on()

    def _go_on(self) -> None:
        if self._is_woken and self._pause is None and not self._is_asking:
            self._ask_soon()

    async def _ask(self) -> None:
        self.asked += 1
        try:
            moved = await self._lookout.moved()
            if moved != self._moved:
                await self._look()
                self._moved = moved
        except StoreError as error:
            _LOG.info("What others wrote could not be looked for: %s", error)
        finally:
            self._is_asking = False
        self._go_on()

    # The floor

    def _check_later(self) -> None:
        if self._is_open:
            self._check = self._later(CHECK_SECONDS, self._begin_check)

    def _begin_check(self) -> None:
        self._start(self._check_now(), "look at what other processes did")

    async def _check_now(self) -> None:
        try:
            await self._look()
        except StoreError as error:
            _LOG.info("What others did could not be looked at: %s", error)
        finally:
            self._check_later()

    # The look

    async def _look(self) -> None:
        self.looks += 1
        known = self._hub.known()
        sight = await self._lookout.look(self._hub.followed)
        if not self._is_open:
            return
        self._hub.catalogue_changed(sight.catalogue)
        for tab_id, revision in sight.revisions.items():
            self._hub.revision_found(tab_id, revision, known)
        self._hub.revision_found(WHOLE_LOG, sight.newest, known)
        self._heard(sight.elsewhere)
