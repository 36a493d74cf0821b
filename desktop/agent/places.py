"""When a subagent may start: it waits for a place in its family, then for the first of its step.

An entry of the provider's cache can be read once the response that writes it has begun (API C9),
so of several that are begun together one goes ahead. Every wait can be cancelled.
"""

import asyncio
from collections.abc import Hashable
from dataclasses import dataclass

from desktop.agent.limits import Caps, Family


@dataclass(frozen=True, slots=True)
class _Waiting:
    child: Hashable
    parent: Hashable | None
    turn: "asyncio.Future[None]"


class Places:
    """The places of one family, given in the order they were asked for."""

    def __init__(self, caps: Caps) -> None:
        self._family = Family(caps)
        self._waiting: list[_Waiting] = []

    @property
    def at_work(self) -> int:
        return self._family.at_work

    def has_place(self, parent: Hashable | None) -> bool:
        """Whether one that `parent` began would not have to wait."""
        return self._family.has_place(parent)

    async def take(self, child: Hashable, *, parent: Hashable | None) -> None:
        """Returns once `child` has a place, which it must give back."""
        one = _Waiting(child, parent, asyncio.get_running_loop().create_future())
        self._waiting.append(one)
        self._serve()
        try:
            await one.turn
        except asyncio.CancelledError:
            if one in self._waiting:
                self._waiting.remove(one)
            else:
                self.give_back(child)
            raise

    def give_back(self, child: Hashable) -> None:
        """One that has no place: a no-op."""
        self._family.end(child)
        self._serve()

    def _serve(self) -> None:
        for one in list(self._waiting):
            if not one.turn.done() and self._family.has_place(one.parent):
                self._family.begin(one.child, parent=one.parent)
                self._waiting.remove(one)
                one.turn.set_result(None)


class Lead:
    """Who of those that a step begins goes ahead; the next one, should it end unanswered."""

    def __init__(self) -> None:
        self._ahead = asyncio.Lock()
        self._is_answered = False
        self._leader: Hashable | None = None

    async def wait(self, child: Hashable) -> None:
        """Returns when `child` may send its first request."""
        if self._is_answered:
            return
        await self._ahead.acquire()
        if self._is_answered:
            self._ahead.release()
        else:
            self._leader = child

    def answered(self, child: Hashable) -> None:
        """A response to `child` has begun: the others may go."""
        if child == self._leader:
            self._is_answered = True
            self.ended(child)

    def ended(self, child: Hashable) -> None:
        """`child` is over, answered or not."""
        if child == self._leader:
            self._leader = None
            self._ahead.release()
