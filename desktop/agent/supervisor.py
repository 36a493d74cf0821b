"""All running agents of a process, side by side, behind the one `Commands` door.

Makes an agent when its conversation is first used. A conversation that another living process runs
can be looked at, not worked in.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from desktop.agent import branching
from desktop.agent.agent import Agent
from desktop.agent.surroundings import Chosen, Place, Surroundings
from desktop.core.chunks import LogChunk
from desktop.core.errors import NacreError
from desktop.core.permissions import Answer, PermissionMode
from desktop.core.protocols import Catalogue, TurnStore
from desktop.core.records import Snapshot, Tab, Workspace
from desktop.core.status import QueuedMessage, TabStatus

TITLE_LENGTH = 80

_log = logging.getLogger(__name__)


class Supervisor:
    """Implements `core.protocols.Commands`.

    `place_for` says where a conversation works (from its tab and workspace), `defaults` what a new
    one is set to, `revision` reads a conversation's revision (0: unknown).
    """

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
        self._closed = False

    def status(self, tab_id: str) -> TabStatus:
        agent = self._agents.get(tab_id)
        return agent.status if agent else TabStatus(tab_id)

    @property
    def running(self) -> tuple[str, ...]:
        """The conversations in which a turn runs."""
        return tuple(id_ for id_, agent in self._agents.items() if agent.is_running)

    async def open(self, tab_id: str) -> TabStatus:
        return await (await self._agent(tab_id)).open()

    async def send(
        self, tab_id: str, text: str, attachments: Sequence[Mapping[str, object]] = ()
    ) -> None:
        agent = await self._agent(tab_id)
        await agent.send(text, attachments)
        await self._name(tab_id, text)

    async def stop(self, tab_id: str) -> None:
        agent = self._agents.get(tab_id)
        if agent is not None:
            await agent.stop()

    async def cancel_queued(self, tab_id: str, message_id: str) -> QueuedMessage | None:
        return await (await self._agent(tab_id)).cancel_queued(message_id)

    async def release_queue(self, tab_id: str) -> None:
        await (await self._agent(tab_id)).release_queue()

    async def answer(self, question_id: str, answer: Answer) -> None:
        await self._around.approvals.answer(question_id, answer)

    async def choose(
        self,
        tab_id: str,
        *,
        model: str | None = None,
        effort: str | None = None,
        mode: PermissionMode | None = None,
    ) -> None:
        """Takes effect at once and is kept; raises StoreError when it could not be kept."""
        agent = await self._agent(tab_id)
        await agent.choose(model=model, effort=effort, mode=mode)
        await self._save(tab_id, agent, "running" if agent.is_running else "idle")

    async def fork(self, tab_id: str, *, at_seq: int) -> str:
        return (await self._catalogue.fork_tab(tab_id, at_seq=at_seq)).id

    async def edit(
        self,
        tab_id: str,
        chunk_id: str,
        text: str,
        attachments: Sequence[Mapping[str, object]] = (),
    ) -> str:
        return await self._say_anew(
            tab_id, lambda rows: branching.edited(rows, chunk_id, text, attachments)
        )

    async def regenerate(self, tab_id: str, chunk_id: str) -> str:
        return await self._say_anew(tab_id, lambda rows: branching.regenerated(rows, chunk_id))

    async def retry(self, tab_id: str) -> None:
        await (await self._agent(tab_id)).retry()

    async def shutdown(self, deadline: float = 2.0) -> None:
        """Stops everything; what does not end within `deadline` seconds is cut off.

        Nothing is started after this.
        """
        self._closed = True
        agents = list(self._agents.values())
        closing = [asyncio.create_task(one.close(), name=f"close {one.tab_id}") for one in agents]
        if not closing:
            return
        done, late = await asyncio.wait(closing, timeout=deadline)
        for task in late:
            _log.warning("%s did not end within %s s", task.get_name(), deadline)
            task.cancel()
        if late:
            await asyncio.gather(*(agent.abandon() for agent in agents))
            await asyncio.wait(late, timeout=0.5)
        for task in done:
            error = task.exception() if not task.cancelled() else None
            if error is not None:
                _log.error("%s", task.get_name(), exc_info=error)

    async def _say_anew(
        self, tab_id: str, plan: Callable[[Sequence[LogChunk]], branching.Resend]
    ) -> str:
        """In place of an unanswered text at the end, else in a fork; the tab it was said in."""
        agent = await self._agent(tab_id)
        await agent.open()
        resend = plan(agent.conversation)
        if resend.instead_of and await agent.send_anew(resend):
            return tab_id
        resend = plan(agent.conversation)  # the rows may have been read anew
        self._around.model_for(agent.chosen.model)  # without a model there is no need for a fork
        fork = await self.fork(tab_id, at_seq=resend.at_seq)
        try:
            await (await self._agent(fork)).send_anew(replace(resend, instead_of=frozenset()))
        except BaseException:
            with suppress(NacreError):  # nothing was said in it: it does not stand in the way
                await self._catalogue.set_tab_open(fork, is_open=False)
            raise
        await self._name(fork, resend.text)
        return fork

    async def _agent(self, tab_id: str) -> Agent:
        async with self._making:
            if self._closed:
                raise NacreError("Nacre is closing.")
            agent = self._agents.get(tab_id)
            if agent is None:
                agent = await self._make(tab_id)
                self._agents[tab_id] = agent
            return agent

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
            await self._save(tab_id, agent, state)

        agent = Agent(
            store,
            place=self._place_for(tab, workspace),
            around=self._around,
            chosen=chosen,
            revision=revision,
            lifecycle=lifecycle,
        )
        return agent

    async def _save(self, tab_id: str, agent: Agent, lifecycle: str) -> None:
        """Keeps what the agent is set to, for the next start (SPEC C27)."""
        chosen = agent.chosen
        tab = await self._catalogue.tab(tab_id)
        snapshot = Snapshot(
            tab_id=tab_id,
            workspace_id=tab.workspace_id,
            provider=self._provider(chosen.model),
            model=chosen.model,
            effort=chosen.effort,
            mode=chosen.mode,
            lifecycle=lifecycle,
        )
        await self._catalogue.save_snapshot(snapshot)

    def _provider(self, model: str) -> str:
        try:
            return self._around.model_for(model).stamp(model).provider
        except NacreError:
            return ""  # no model can be reached now; the choice is worth keeping all the same

    async def _name(self, tab_id: str, text: str) -> None:
        """A conversation without a title gets the first line of its first message."""
        title = title_from(text)
        try:
            tab = await self._catalogue.tab(tab_id)
            if not tab.title and title:
                await self._catalogue.rename_tab(tab_id, title)
        except NacreError:
            _log.exception("%s could not be named", tab_id)


def title_from(text: str) -> str:
    """The first line that says something, at most 80 characters, cut at a word where possible."""
    line = next((one for one in text.splitlines() if one.strip()), "")
    words = " ".join(line.split())
    if len(words) <= TITLE_LENGTH:
        return words
    head = words[:TITLE_LENGTH].rpartition(" ")[0]
    return f"{head if len(head) > TITLE_LENGTH // 2 else words[: TITLE_LENGTH - 1]}…"
