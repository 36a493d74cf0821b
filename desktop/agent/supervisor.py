"""All running agents of a process, side by side, behind the one `Commands` door.

Which agents there are is the business of `roster`, where other processes work that of `neighbours`.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

from desktop.agent import branching
from desktop.agent.agent import Agent
from desktop.agent.neighbours import Neighbours
from desktop.agent.roster import Roster, rest
from desktop.agent.surroundings import Chosen, Place, Surroundings
from desktop.agent.turnstile import Turnstile
from desktop.core.catalogue import Catalogue
from desktop.core.chunks import LogChunk, System
from desktop.core.errors import InBin, NacreError
from desktop.core.permissions import Answer, PermissionMode
from desktop.core.protocols import TurnStore
from desktop.core.records import Tab, Workspace, family
from desktop.core.status import Elsewhere, QueuedMessage, TabStatus

TITLE_LENGTH = 80

_log = logging.getLogger(__name__)


class Supervisor:
    """Implements `core.commands.Commands`.

    `place_for` says where a conversation works (from its tab and workspace), `defaults` what a new
    one is set to, `revision` reads a conversation's revision (0: unknown). `make_below` makes a
    subagent's conversation where its parent's rows are; without it the catalogue does.
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
        make_below: Callable[[Tab, Chosen, str], Awaitable[Tab]] | None = None,
    ) -> None:
        self._catalogue = catalogue
        self._around = around
        self._make_below = make_below or self._make_in_catalogue
        self._roster = Roster(
            catalogue=catalogue,
            store_for=store_for,
            place_for=place_for,
            around=around,
            defaults=defaults,
            revision=revision,
        )
        self._neighbours = Neighbours(self._roster, around.publisher)
        self._turnstile = Turnstile()

    def status(self, tab_id: str) -> TabStatus:
        agent = self._roster.known(tab_id)
        return agent.status if agent is not None else self._neighbours.status(tab_id)

    @property
    def running(self) -> tuple[str, ...]:
        """The conversations in which a turn runs."""
        return tuple(agent.tab_id for agent in self.agents if agent.is_running)

    @property
    def agents(self) -> tuple[Agent, ...]:
        """Those of the conversations that were used."""
        return self._roster.agents

    def is_awake(self, tab_id: str) -> bool:
        """Whether the conversation's rows are in memory here."""
        agent = self._roster.known(tab_id)
        return agent is not None and agent.is_awake

    async def open(self, tab_id: str) -> TabStatus:
        agent = await self._roster.agent(tab_id)
        status = await agent.open(self._neighbours.at(tab_id))
        await self._roster.let_rest()
        return status

    async def send(
        self, tab_id: str, text: str, attachments: Sequence[Mapping[str, object]] = ()
    ) -> None:
        async with self._begins(tab_id) as agent:
            await agent.send(text, attachments)
        await self._name(tab_id, text)
        await self._roster.let_rest()

    async def stop(self, tab_id: str) -> None:
        await self._stop(lambda: (tab_id, *self._around.kin.below(tab_id)))

    async def stop_all(self) -> None:
        await self._stop(lambda: self.running)

    async def _stop(self, found: Callable[[], Iterable[str]]) -> None:
        """Side by side; what a subagent's call had just begun is stopped, too."""
        stopped: set[str] = set()
        while new := [one for one in self._known(found()) if one.tab_id not in stopped]:
            await asyncio.gather(*(agent.stop() for agent in new))
            stopped.update(agent.tab_id for agent in new)

    # Subagents: what the tool needs that begins them (`subagents.Household`).

    def running_agent(self, tab_id: str) -> Agent | None:
        """The agent of a conversation that is used now."""
        return self._roster.known(tab_id)

    async def depth(self, tab_id: str) -> tuple[str, int]:
        """The conversation that a family goes back to, and how deep below it this one is."""
        line = [tab_id]
        parent = (await self._catalogue.tab(tab_id)).parent_tab_id
        while parent is not None and parent not in line:
            line.append(parent)
            parent = (await self._catalogue.tab(parent)).parent_tab_id
        return line[-1], len(line) - 1

    async def make_below(self, tab_id: str, *, title: str) -> str:
        """A conversation for a subagent of this one: in its folder, set to the same."""
        chosen = (await self._roster.agent(tab_id)).chosen
        parent = await self._catalogue.tab(tab_id)
        return (await self._make_below(parent, chosen, title_from(title))).id

    async def _make_in_catalogue(self, parent: Tab, chosen: Chosen, title: str) -> Tab:
        tab = await self._catalogue.create_tab(parent.workspace_id, title=title, parent=parent.id)
        await self._catalogue.save_snapshot(self._roster.snapshot(tab, chosen, "idle"))
        return tab

    async def begin_below(self, tab_id: str, text: str, *, prompt: System | None) -> None:
        """Its first message. Where that can't be sent, the conversation goes into the bin."""
        try:
            async with self._begins(tab_id) as agent:
                if (await self._catalogue.tab(tab_id)).archived_at is not None:
                    raise NacreError("The conversation has been archived meanwhile.")
                agent.inherit(prompt)
                await agent.send(text)
        except NacreError:
            with suppress(NacreError):
                await self._catalogue.trash_tab(tab_id)
            raise

    async def cancel_queued(self, tab_id: str, message_id: str) -> QueuedMessage | None:
        return await (await self._roster.agent(tab_id)).queue.take_back(message_id)

    async def edit_queued(self, tab_id: str, message_id: str) -> QueuedMessage | None:
        return await (await self._roster.agent(tab_id)).queue.begin_edit(message_id)

    async def put_queued(
        self,
        tab_id: str,
        message_id: str,
        text: str | None = None,
        attachments: Sequence[Mapping[str, object]] = (),
    ) -> bool:
        agent = await self._roster.agent(tab_id)
        if text is None and not agent.queue.is_owed:
            # Nothing begins by it: an archived conversation stays archived.
            return await agent.queue.put(message_id, None, ())
        async with self._begins(tab_id) as agent:
            return await agent.queue.put(message_id, text, attachments)

    async def order_queued(self, tab_id: str, message_ids: Sequence[str]) -> None:
        await (await self._roster.agent(tab_id)).queue.order(message_ids)

    async def release_queue(self, tab_id: str) -> None:
        async with self._begins(tab_id) as agent:
            await agent.queue.release()

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
        agent = await self._roster.agent(tab_id)
        await agent.choose(model=model, effort=effort, mode=mode)
        if mode is not None:  # what is taken back here must not go on below
            for one in self._known(self._around.kin.below(tab_id)):
                await one.choose(mode=mode)
        # It is shown already: who quits in this moment finds it again all the same (SPEC C27).
        await self._roster.keep(agent)

    async def fork(self, tab_id: str, *, at_seq: int) -> str:
        return (await self._catalogue.fork_tab(tab_id, at_seq=at_seq)).id

    async def edit(
        self,
        tab_id: str,
        chunk_id: str,
        text: str,
        attachments: Sequence[Mapping[str, object]] | None = None,
    ) -> str:
        return await self._say_anew(
            tab_id, lambda rows: branching.edited(rows, chunk_id, text, attachments)
        )

    async def regenerate(self, tab_id: str, chunk_id: str) -> str:
        return await self._say_anew(tab_id, lambda rows: branching.regenerated(rows, chunk_id))

    async def compact(self, tab_id: str, instruction: str = "") -> None:
        async with self._begins(tab_id) as agent:
            await agent.compact(instruction)
        await self._roster.let_rest()

    async def take_tools(self, tab_id: str) -> None:
        async with self._begins(tab_id) as agent:
            await agent.take_tools()
        await self._roster.let_rest()

    def found_elsewhere(self, found: Mapping[str, Elsewhere]) -> None:
        """A look found all conversations in which other living processes work."""
        self._neighbours.found(found)

    def look_at_tools(self) -> None:
        """Tool servers offer something else than before: conversations tell what is new to them."""
        for agent in self.agents:
            agent.look_at_tools()

    async def retry(self, tab_id: str) -> None:
        async with self._begins(tab_id) as agent:
            await agent.retry()

    async def try_now(self, tab_id: str) -> None:
        agent = self._roster.known(tab_id)
        if agent is not None:
            agent.try_now()

    async def go_on(self, tab_id: str) -> None:
        async with self._begins(tab_id) as agent:
            await agent.go_on()

    async def archive_tab(self, tab_id: str) -> None:
        async with self._stopped(await self._family(tab_id)):
            await self._catalogue.archive_tab(tab_id)

    async def archive_workspace(self, workspace_id: int) -> None:
        async with self._stopped(await self._inside({workspace_id})):
            await self._catalogue.archive_workspace(workspace_id)

    async def archive_project(self, project_id: int) -> None:
        view = await self._catalogue.view()
        inside = {one.id for one in view.workspaces if one.project_id == project_id}
        async with self._stopped(await self._inside(inside)):
            await self._catalogue.archive_project(project_id)

    async def trash_tab(self, tab_id: str) -> None:
        async with self._stopped(await self._family(tab_id)):
            await self._catalogue.trash_tab(tab_id)

    async def shutdown(self, deadline: float = 2.0) -> None:
        """Stops everything; what does not end within `deadline` seconds is cut off.

        Nothing is started after this.
        """
        self._neighbours.close()
        await self._roster.shutdown(deadline)

    @asynccontextmanager
    async def _begins(self, tab_id: str) -> AsyncGenerator[Agent]:
        """Around what may start a turn: refused in the bin, and it ends an archive.

        Who writes in an archived conversation works in it again. It comes back only once that
        worked, while the lease keeps other processes from putting it away.
        """
        async with self._turnstile.alone(tab_id):
            if (await self._catalogue.tab(tab_id)).trashed_at is not None:
                raise InBin(tab_id)
            yield await self._roster.agent(tab_id)
            try:
                if (await self._catalogue.tab(tab_id)).archived_at is not None:
                    await self._catalogue.unarchive_tab(tab_id)
            except NacreError:  # what was begun has begun
                _log.exception("%s stays in the archive", tab_id)

    @asynccontextmanager
    async def _stopped(self, tab_ids: Sequence[str]) -> AsyncGenerator[None]:
        """Around what puts conversations away: their turns are over, and none begins meanwhile.

        Raises LeaseHeld before anything is stopped where another living process works in one.
        """
        async with self._turnstile.alone(*tab_ids):
            await self._catalogue.refuse_elsewhere(tab_ids)
            agents = self._known(tab_ids)
            await asyncio.gather(*(agent.stop() for agent in agents))
            yield
            await rest(agents)

    async def _family(self, tab_id: str) -> tuple[str, ...]:
        return family((await self._catalogue.view()).tabs, tab_id)

    async def _inside(self, workspaces: set[int]) -> tuple[str, ...]:
        tabs = (await self._catalogue.view()).tabs
        return tuple(tab.id for tab in tabs if tab.workspace_id in workspaces)

    def _known(self, tab_ids: Iterable[str]) -> list[Agent]:
        """Those of these conversations that have an agent, each once."""
        found = (self._roster.known(one) for one in dict.fromkeys(tab_ids))
        return [agent for agent in found if agent is not None]

    async def _say_anew(
        self, tab_id: str, plan: Callable[[Sequence[LogChunk]], branching.Resend]
    ) -> str:
        """In place of an unanswered text at the end, else in a fork; the tab it was said in."""
        agent = await self._roster.agent(tab_id)
        await agent.open()
        resend = plan(agent.conversation)
        if resend.instead_of:
            async with self._begins(tab_id) as agent:
                if await agent.send_anew(resend):
                    return tab_id
                resend = plan(agent.conversation)  # the rows may have been read anew
        self._around.model_for(agent.chosen.model)  # without a model there is no need for a fork
        fork = await self.fork(tab_id, at_seq=resend.at_seq)
        try:
            async with self._begins(fork) as agent:
                await agent.send_anew(replace(resend, instead_of=frozenset()))
        except NacreError:
            with suppress(NacreError):  # nothing was said in it: it does not stand in the way
                await self._catalogue.trash_tab(fork)
            raise
        await self._name(fork, resend.text)
        await self._roster.let_rest()
        return fork

    async def _name(self, tab_id: str, text: str) -> None:
        """A conversation without a title gets the first line of its first message."""
        title = title_from(text)
        try:
            if title and not (await self._catalogue.tab(tab_id)).title:
                await self._catalogue.name_tab(tab_id, title)
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
