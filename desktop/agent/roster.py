"""The agents of one process: made when their conversations are first used, kept while it lives.

What each is set to is kept in the catalogue, for the next start (SPEC C27).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable

from desktop.agent.agent import Agent
from desktop.agent.surroundings import Chosen, Place, Surroundings
from desktop.core.catalogue import Catalogue
from desktop.core.errors import NacreError
from desktop.core.protocols import TurnStore
from desktop.core.records import Snapshot, Tab, Workspace

# Idle agents that keep their rows in memory, the last used; the others read them again when used.
AWAKE = 4

_log = logging.getLogger(__name__)


class Roster:
    """`store_for`, `place_for`, `defaults` and `revision` as of `Supervisor`."""

    def __init__(
        self,
        *,
        catalogue: Catalogue,
        store_for: Callable[[str], Awaitable[TurnStore]],
        place_for: Callable[[Tab, Workspace], Place],
        around: Surroundings,
        defaults: Callable[[], Chosen],
        revision: Callable[[str], Awaitable[int]],
    ) -> None:
        self._catalogue = catalogue
        self._store_for = store_for
        self._place_for = place_for
        self._around = around
        self._defaults = defaults
        self._revision = revision
        self._agents: dict[str, Agent] = {}
        self._making = asyncio.Lock()
        self._saving: set[asyncio.Task[None]] = set()
        self.is_closed = False

    @property
    def agents(self) -> tuple[Agent, ...]:
        """Those of the conversations that were used, the last used at the end."""
        return tuple(self._agents.values())

    def known(self, tab_id: str) -> Agent | None:
        """The agent of a conversation that was used."""
        return self._agents.get(tab_id)

    async def agent(self, tab_id: str) -> Agent:
        """The agent of a conversation, which is used now. Raises NacreError after the end."""
        async with self._making:
            if self.is_closed:
                raise NacreError("Nacre is closing.")
            agent = self._agents.pop(tab_id, None) or await self._make(tab_id)
            self._agents[tab_id] = agent  # the last one is the last used
            return agent

    async def let_rest(self) -> None:
        """Of the idle agents only the last used keep their rows in memory (SPEC P12)."""
        awake = [one for one in self._agents.values() if one.is_awake and not one.is_running]
        await rest(awake[:-AWAKE])

    async def keep(self, agent: Agent) -> None:
        """Keeps what it is set to, also when who waits for that is cancelled. Raises StoreError."""
        saving = asyncio.create_task(self._save(agent, "running" if agent.is_running else "idle"))
        self._saving.add(saving)
        saving.add_done_callback(self._saving.discard)
        await asyncio.shield(saving)

    def snapshot(self, tab: Tab, chosen: Chosen, lifecycle: str) -> Snapshot:
        """What is kept of an agent that is set to `chosen`."""
        return Snapshot(
            tab_id=tab.id,
            workspace_id=tab.workspace_id,
            provider=self._provider(chosen.model),
            model=chosen.model,
            effort=chosen.effort,
            mode=chosen.mode,
            lifecycle=lifecycle,
        )

    async def shutdown(self, deadline: float) -> None:
        """Stops all; what does not end within `deadline` seconds is cut off. No agent is made
        after this."""
        self.is_closed = True
        if self._saving:
            await asyncio.wait(self._saving, timeout=deadline)
        agents = self.agents
        closing = [asyncio.create_task(one.close(), name=f"close {one.tab_id}") for one in agents]
        if not closing:
            return
        done, late = await asyncio.wait(closing, timeout=deadline)
        for task in late:
            _log.warning("%s did not end within %s s", task, deadline)
            task.cancel()
        if late:
            await asyncio.gather(*(agent.abandon() for agent in agents))
            await asyncio.wait(late, timeout=0.5)
        for task in done:
            error = task.exception() if not task.cancelled() else None
            if error is not None:
                _log.error("%s failed", task, exc_info=error)

    async def _make(self, tab_id: str) -> Agent:
        tab = await self._catalogue.tab(tab_id)
        workspace = await self._catalogue.workspace(tab.workspace_id)
        snapshot = await self._catalogue.snapshot(tab_id)
        chosen = (
            Chosen(snapshot.model, snapshot.effort, snapshot.mode) if snapshot else self._defaults()
        )

        store = await self._store_for(tab_id)

        async def revision() -> int:
            return await self._revision(tab_id)

        async def lifecycle(state: str) -> None:
            await self._save(agent, state)
            await self.let_rest()

        agent = Agent(
            store,
            place=self._place_for(tab, workspace),
            around=self._around,
            chosen=chosen,
            revision=revision,
            lifecycle=lifecycle,
        )
        return agent

    async def _save(self, agent: Agent, lifecycle: str) -> None:
        tab = await self._catalogue.tab(agent.tab_id)
        await self._catalogue.save_snapshot(self.snapshot(tab, agent.chosen, lifecycle))

    def _provider(self, model: str) -> str:
        try:
            return self._around.model_for(model).stamp(model).provider
        except NacreError:
            return ""  # no model can be reached now; the choice is worth keeping all the same


async def rest(agents: Iterable[Agent]) -> None:
    """Lets their rows go; those that can't keep them."""
    for agent in agents:
        try:
            await agent.rest()
        except NacreError:
            _log.exception("%s keeps its rows in memory", agent.tab_id)
