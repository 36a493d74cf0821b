"""The tool `agent`: a task for another agent, which works in a conversation of its own.

The call starts a turn in a new conversation below this one, on the same log, and its result is the
last answer there. Who may start, and when, is said in `limits` and `places`. The agents that run
ask here what concerns the family (`surroundings.Kin`).
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol, cast
from weakref import WeakValueDictionary

from desktop.agent import budget, limits
from desktop.agent.agent import Agent
from desktop.agent.errands import Errand, Head, Watch, first_text
from desktop.agent.limits import Caps
from desktop.agent.places import Lead, Places
from desktop.agent.spending import Tariff
from desktop.core.chunks import Json, System
from desktop.core.errors import NacreError, ToolFailed
from desktop.core.permissions import Act
from desktop.core.protocols import Publisher, Unsubscribe
from desktop.core.records import RequestRecord
from desktop.core.tools import Origin, Scene, Stopped, ToolOutcome, ToolSpec
from desktop.tools.arguments import text

NAME = "agent"
WAITING = "Waiting until another subagent is done…\n"

_SPEC = ToolSpec(
    name=NAME,
    description="Gives a task to a subagent with the same tools and a context of its own; returns"
    " its last answer. Calls made together work at the same time.",
    input_schema={
        "type": "object",
        "properties": {
            "task": {
                "type": "string",
                "description": "All that it must know: it does not see this conversation",
            },
            "title": {"type": "string", "description": "A few words"},
        },
        "required": ["task"],
    },
)


class Household(Protocol):
    """All agents of the program; the supervisor is it."""

    def running_agent(self, tab_id: str) -> Agent | None: ...

    async def depth(self, tab_id: str) -> tuple[str, int]:
        """The conversation that a family goes back to, and how deep below it this one is."""
        ...

    async def make_below(self, tab_id: str, *, title: str) -> str: ...

    async def begin_below(self, tab_id: str, text: str, *, prompt: System | None) -> None: ...

    async def stop(self, tab_id: str) -> None: ...


@dataclass(frozen=True, slots=True)
class _Task:
    text: str
    title: str


class Subagents:
    """Implements `core.tools.Tool` and `surroundings.Kin`.

    `listen` lets a listener hear one conversation; `dollars` is what one message may cost with all
    that it begins, 0 for no limit.
    """

    def __init__(
        self,
        household: Callable[[], Household],
        *,
        listen: Callable[[Publisher, str], Unsubscribe],
        tariff: Tariff,
        dollars: Callable[[], float],
        caps: Caps = Caps(),  # noqa: B008 (frozen)
    ) -> None:
        self._household = household
        self._listen = listen
        self._tariff = tariff
        self._dollars = dollars
        self._caps = caps
        self._errands: dict[str, Errand] = {}
        self._heads: dict[str, Head] = {}
        self._places: dict[str, Places] = {}
        self._leads: WeakValueDictionary[tuple[str, str, int], Lead] = WeakValueDictionary()
        self._leading: dict[str, Lead] = {}

    # -- the tool -----------------------------------------------------------------------------

    @property
    def spec(self) -> ToolSpec:
        return _SPEC

    async def prepare(self, arguments: Json, scene: Scene) -> Act:
        del scene
        task = text(arguments, "task")
        if not task.strip():
            raise ToolFailed("The argument task is empty: say what is to be done.")
        title = text(arguments, "title", default="")
        # What the subagent does is judged when it does it; to begin it changes nothing.
        return Act(
            tool=NAME,
            kind="read",
            sentence="Give a task to a subagent",
            detail=task,
            prepared=_Task(task, title),
        )

    async def run(self, act: Act, scene: Scene, report: Callable[[str], None]) -> ToolOutcome:
        task, origin = cast("_Task", act.prepared), scene.origin
        top, depth = await self._household().depth(origin.tab_id)
        errand = self._errand(origin, report)
        refused = limits.refusal(self._caps, depth=depth + 1, begun=errand.head.begun)
        if refused:
            raise ToolFailed(refused)
        errand.head.begun += 1
        places = self._places.setdefault(top, Places(self._caps))
        lead = self._leads.setdefault((origin.tab_id, origin.turn_id, origin.step), Lead())
        try:
            if not places.has_place(errand.parent):
                report(WAITING)
            await places.take(errand, parent=errand.parent)
            await lead.wait(errand)
            await self._refuse_beyond_budget(errand)
            return await self._work(errand, lead, task, origin, limit=scene.result_bytes)
        finally:
            lead.ended(errand)
            places.give_back(errand)
            if not places.at_work and self._places.get(top) is places:
                del self._places[top]

    def _errand(self, origin: Origin, report: Callable[[str], None]) -> Errand:
        """Begun by a subagent it is for the same message as that one, else for this turn."""
        parent = self._errands.get(origin.tab_id)
        head = parent.head if parent else self._heads.get(origin.tab_id)
        if head is None or (parent is None and head.turn_id != origin.turn_id):
            head = self._heads[origin.tab_id] = Head(origin.tab_id, origin.turn_id)
        errand = Errand(origin.tab_id, parent, head, Watch(report, lambda: self._asks(errand)))
        return errand

    async def _work(
        self, errand: Errand, lead: Lead, task: _Task, origin: Origin, *, limit: int
    ) -> ToolOutcome:
        unsubscribes: list[Unsubscribe] = []

        def known(tab_id: str) -> None:
            errand.tab_id = tab_id
            self._errands[tab_id], self._leading[tab_id] = errand, lead
            errand.head.requests.append(errand.watch.requests)
            unsubscribes.append(self._listen(errand.watch, tab_id))

        try:
            await _unbroken(self._start(task, origin, known))
            agent = self._household().running_agent(errand.tab_id)
            if agent is not None:
                await agent.until_over()
        except asyncio.CancelledError:
            if errand.tab_id:
                await self._household().stop(errand.tab_id)
            raise Stopped(errand.watch.brought(limit=limit)) from None
        finally:
            for unsubscribe in unsubscribes:
                unsubscribe()
            self._errands.pop(errand.tab_id, None)
            self._leading.pop(errand.tab_id, None)
            self._asks(errand)
        await self._tell_beyond_budget(errand)
        return errand.watch.brought(limit=limit)

    async def _start(self, task: _Task, origin: Origin, known: Callable[[str], None]) -> None:
        household = self._household()
        parent = household.running_agent(origin.tab_id)
        if parent is None:
            raise ToolFailed("Not started: the turn is over.")
        try:
            tab_id = await household.make_below(
                origin.tab_id, title=task.title.strip() or task.text
            )
            await parent.note_subagent(tab_id, call_id=origin.call_id)
            known(tab_id)
            await household.begin_below(tab_id, first_text(task.text), prompt=parent.prompt)
        except NacreError as error:
            raise ToolFailed(f"The subagent could not be started. {error}") from error

    # -- the budget ---------------------------------------------------------------------------

    async def _refuse_beyond_budget(self, errand: Errand) -> None:
        if self._is_used_up(errand.head):
            await self._tell_beyond_budget(errand)
            raise ToolFailed(f"Not started: {budget.sentence(self._dollars())}")

    async def _tell_beyond_budget(self, errand: Errand) -> None:
        """The person reads it where they asked, once."""
        head = errand.head
        if head.is_told or not self._is_used_up(head):
            return
        head.is_told = True
        agent = self._household().running_agent(head.tab_id)
        if agent is not None:
            await agent.add_system_message(budget.sentence(self._dollars()))

    def _is_used_up(self, head: Head) -> bool:
        agent = self._household().running_agent(head.tab_id)
        own = agent.requests_of(head.turn_id) if agent is not None else ()
        records: list[RequestRecord] = [*own]
        for requests in head.requests:
            records.extend(requests.values())
        return budget.is_used_up(records, tariff=self._tariff, dollars=self._dollars())

    # -- what agents ask ----------------------------------------------------------------------

    def answering(self, tab_id: str) -> None:
        lead = self._leading.get(tab_id)
        if lead is not None:
            lead.answered(self._errands[tab_id])

    def spent_up(self, tab_id: str) -> str:
        errand = self._errands.get(tab_id)
        if errand is None or not self._is_used_up(errand.head):
            return ""
        return budget.sentence(self._dollars())

    def below(self, tab_id: str) -> tuple[str, ...]:
        return tuple(one.tab_id for one in self._errands.values() if tab_id in one.ancestors())

    def asking(self, tab_id: str) -> tuple[str, ...]:
        return tuple(
            one.tab_id
            for one in self._errands.values()
            if one.watch.is_asking and tab_id in one.ancestors()
        )

    def _asks(self, errand: Errand) -> None:
        for tab_id in errand.ancestors():
            agent = self._household().running_agent(tab_id)
            if agent is not None:
                agent.tell()


async def _unbroken(work: Awaitable[None]) -> None:
    """Done to its end also when the one who waits is cancelled, who then goes on being so."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        if not task.cancelled():
            task.exception()  # read: the cancellation is what counts
        raise
