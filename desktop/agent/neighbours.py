"""Where other living processes work, as the last look at the log found it.

Their conversations can be looked at, not worked in; what was said there is read once they let go.
"""

import asyncio
import logging
from collections.abc import Mapping

from desktop.agent.agent import Agent
from desktop.agent.roster import Roster
from desktop.core.errors import NacreError
from desktop.core.protocols import Publisher
from desktop.core.status import Elsewhere, TabStatus

_log = logging.getLogger(__name__)


class Neighbours:
    """Tells the agents of one process, and its publisher, what has changed next door."""

    def __init__(self, roster: Roster, publisher: Publisher) -> None:
        self._roster = roster
        self._publisher = publisher
        self._found: Mapping[str, Elsewhere] = {}
        self._reopening: set[asyncio.Task[None]] = set()

    def at(self, tab_id: str) -> Elsewhere | None:
        """Who works in a conversation."""
        return self._found.get(tab_id)

    def status(self, tab_id: str) -> TabStatus:
        """Of a conversation that has no agent here."""
        found = self._found.get(tab_id)
        if found is None:
            return TabStatus(tab_id)
        return TabStatus(tab_id, phase="elsewhere", holder=found.holder, since=found.since)

    def found(self, found: Mapping[str, Elsewhere]) -> None:
        """A look found all conversations in which other living processes work."""
        if self._roster.is_closed:
            return
        before, self._found = self._found, found
        agents = self._roster.agents
        known = {one.tab_id for one in agents if one.status.phase == "elsewhere"}
        for tab_id, holder in found.items():
            agent = self._roster.known(tab_id)
            if agent is not None:
                agent.found_elsewhere(holder)
            elif before.get(tab_id) != holder:
                self._publisher.status(self.status(tab_id))
        for tab_id in (known | before.keys()) - found.keys():
            self._let_go(tab_id)

    def close(self) -> None:
        """Nothing is read again any more."""
        for task in self._reopening:
            task.cancel()

    def _let_go(self, tab_id: str) -> None:
        """What was said there is read; looks go on meanwhile."""
        agent = self._roster.known(tab_id)
        if agent is None:
            self._publisher.status(self.status(tab_id))
            return
        task = asyncio.create_task(self._reopen(agent), name=f"reopen {tab_id}")
        self._reopening.add(task)
        task.add_done_callback(self._reopening.discard)

    async def _reopen(self, agent: Agent) -> None:
        try:
            await agent.open(self.at(agent.tab_id))
        except NacreError:
            _log.exception("%s could not be read again", agent.tab_id)
        await self._roster.let_rest()
