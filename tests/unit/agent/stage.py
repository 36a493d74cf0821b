"""Everything an agent stands on, in memory, and readings of what it left behind."""

import asyncio
import functools
import itertools
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ParamSpec, cast

from desktop.agent.agent import Agent
from desktop.agent.approvals import Approvals
from desktop.agent.facts import Facts
from desktop.agent.limits import Caps
from desktop.agent.spending import Tariff
from desktop.agent.subagents import Subagents
from desktop.agent.supervisor import Supervisor
from desktop.agent.surroundings import Chosen, Place, Surroundings
from desktop.core.chunks import LogChunk, System, Text, ToolCall, ToolResult
from desktop.core.conversation import is_started_mark
from desktop.core.events import Usage
from desktop.core.model import Model, ModelInfo
from desktop.core.permissions import PermissionMode
from desktop.core.protocols import Publisher, TurnStore, Unsubscribe
from desktop.core.records import Receipt, RequestRecord, Tab, Workspace
from desktop.core.reducer import BlockOp, Grew
from desktop.core.status import TabStatus
from desktop.core.tools import Tool
from tests.fakes.models import ScriptedModel
from tests.fakes.stores import MemoryLog
from tests.fakes.tools import scene

P = ParamSpec("P")
PLAY = "play"
SOON = 60.0  # a hang fails the test instead of stopping it


def played(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Runs a test on a loop of its own; tasks left behind and errors nobody saw fail it."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        play(lambda: test(*args, **kwargs))

    return run


def play(scenario: Callable[[], Coroutine[Any, Any, None]], *, seconds: float = SOON) -> None:
    lost: list[dict[str, Any]] = []

    async def main() -> None:
        cast("asyncio.Task[Any]", asyncio.current_task()).set_name(PLAY)
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: lost.append(context))
        await asyncio.wait_for(scenario(), SOON)
        await asyncio.sleep(0)
        left = asyncio.all_tasks() - {cast("asyncio.Task[Any]", asyncio.current_task())}
        assert not left, f"tasks left behind: {left}"

    asyncio.run(main())
    assert not lost, lost


@dataclass(slots=True)
class Published:
    """A publisher that remembers, in order."""

    events: list[Receipt | BlockOp | TabStatus] = field(
        default_factory=list[Receipt | BlockOp | TabStatus]
    )
    latest: dict[str, TabStatus] = field(default_factory=dict[str, TabStatus])
    listeners: dict[str, list[Publisher]] = field(default_factory=dict[str, list[Publisher]])
    _waiting: list[tuple[Callable[[], bool], "asyncio.Future[None]"]] = field(
        default_factory=list[tuple[Callable[[], bool], "asyncio.Future[None]"]]
    )

    def listen(self, listener: Publisher, tab_id: str) -> Unsubscribe:
        """Hands on what is published of one conversation."""
        self.listeners.setdefault(tab_id, []).append(listener)
        return lambda: self.listeners[tab_id].remove(listener)

    def receipt(self, receipt: Receipt) -> None:
        self._take(receipt)
        for one in self.listeners.get(receipt.tab_id, ()):
            one.receipt(receipt)

    def live(self, tab_id: str, op: BlockOp) -> None:
        self._take(op)
        for one in self.listeners.get(tab_id, ()):
            one.live(tab_id, op)

    def status(self, status: TabStatus) -> None:
        self.latest[status.tab_id] = status
        self._take(status)
        for one in self.listeners.get(status.tab_id, ()):
            one.status(status)

    def _take(self, event: Receipt | BlockOp | TabStatus) -> None:
        self.events.append(event)
        for met, future in self._waiting:
            if not future.done() and met():
                future.set_result(None)

    async def until(self, met: Callable[[], bool]) -> None:
        """Returns when something published makes `met` true."""
        if not met():
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append((met, future))
            await future

    def live_ops(self) -> list[BlockOp]:
        return [one for one in self.events if not isinstance(one, Receipt | TabStatus)]

    def grown(self) -> str:
        return "".join(one.text for one in self.events if isinstance(one, Grew))

    def statuses(self) -> list[TabStatus]:
        return [one for one in self.events if isinstance(one, TabStatus)]


def no_trouble(name: str, args: tuple[Any, ...]) -> None:
    del name, args


class ThreadedSession:
    """A store whose every call takes a few turns of the loop, as one with threads does.

    `trouble(name)` may give an error to raise instead of calling; `seen` are the calls' names.
    """

    def __init__(self, session: TurnStore) -> None:
        self._session = session
        self.trouble: Callable[[str, tuple[Any, ...]], Exception | None] = no_trouble
        self.seen: list[str] = []
        self.before: Callable[[str], Awaitable[None]] | None = None

    @property
    def session_id(self) -> str:
        return self._session.session_id

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        call = getattr(self._session, name)

        async def threaded(*args: Any, **kwargs: Any) -> Any:
            self.seen.append(name)
            await asyncio.sleep(0)
            if self.before is not None:
                await self.before(name)
            error = self.trouble(name, args)
            if error is not None:
                raise error
            result = await call(*args, **kwargs)
            await asyncio.sleep(0)
            return result

        return threaded


def read_usage(raw: Mapping[str, Any]) -> Usage:
    return Usage(
        input=raw.get("input_tokens", 0),
        output=raw.get("output_tokens", 0),
        cache_read=raw.get("cache_read_input_tokens", 0),
        cache_write=raw.get("cache_creation_input_tokens", 0),
    )


class Stage:
    """One process: a log, a model, tools, a supervisor. `again` is the next process.

    With `caps` the tool that begins subagents is offered before the others.
    """

    def __init__(
        self,
        folder: Path,
        model: Model | None = None,
        tools: Sequence[Tool] = (),
        *,
        mode: PermissionMode = "ask",
        has_person: bool = True,
        compact_at: int = 0,
        caps: Caps | None = None,
        budget: float = 0.0,
        log: MemoryLog | None = None,
        ids: "itertools.count[int] | None" = None,
        process_id: str = "one",
    ) -> None:
        self.folder = folder
        self.ids = ids or itertools.count(1)
        self.clock = itertools.count(1_000)
        self.model = model if model is not None else ScriptedModel()
        self.unreachable: Exception | None = None
        self.today = "2026-11-29"
        self.log = log or MemoryLog(
            now_ms=self.now_ms, new_id=self.new_id, scratch=folder, process_id=process_id
        )
        self.log.process_id = process_id
        self.published = Published()
        self.stores: dict[str, ThreadedSession] = {}
        self.approvals = Approvals(
            self.log.catalogue, has_person=has_person, new_id=self.new_id, now_ms=self.now_ms
        )
        self.subagents = Subagents(
            lambda: self.supervisor,
            listen=self.published.listen,
            tariff=TARIFF,
            dollars=lambda: budget,
            caps=caps or Caps(),
        )
        offered = (*(() if caps is None else (self.subagents,)), *tools)
        self.around = Surroundings(
            model_for=self.model_for,
            model_info=lambda id_: ModelInfo(id_, id_, window=1_000),
            tools=offered,
            prompt="You are Nacre.",
            publisher=self.published,
            approvals=self.approvals,
            tariff=TARIFF,
            new_id=self.new_id,
            now_ms=self.now_ms,
            monotonic=lambda: next(self.clock) / 1000,
            compact_at=lambda: compact_at,
            kin=self.subagents,
        )
        self.chosen = Chosen("scripted-1", mode=mode)
        self.surround(self.around)
        self.tab_id = next(iter(self.log.conversations), "")

    def surround(self, around: Surroundings) -> None:
        """The agents have other surroundings from now on: none was made yet."""
        self.around = around
        self.supervisor = Supervisor(
            catalogue=self.log.catalogue,
            store_for=self.store_for,
            place_for=self.place,
            around=around,
            defaults=lambda: self.chosen,
            revision=self.log.reader.revision,
        )

    def again(
        self,
        model: Model,
        tools: Sequence[Tool] = (),
        *,
        mode: PermissionMode = "ask",
        has_person: bool = True,
        caps: Caps | None = None,
    ) -> "Stage":
        """Another process on the same log, after this one has died."""
        for conversation in self.log.conversations.values():
            conversation.holder = ""
        return Stage(
            self.folder,
            model,
            tools,
            mode=mode,
            has_person=has_person,
            caps=caps,
            log=self.log,
            ids=self.ids,
            process_id="two",
        )

    def new_id(self) -> str:
        return f"id{next(self.ids)}"

    def now_ms(self) -> int:
        return next(self.clock)

    def model_for(self, model_id: str) -> Model:
        del model_id
        if self.unreachable is not None:
            raise self.unreachable
        return self.model

    async def store_for(self, tab_id: str) -> TurnStore:
        return self.store(tab_id)

    def store(self, tab_id: str) -> TurnStore:
        session = self.stores.setdefault(tab_id, ThreadedSession(self.log.session(tab_id)))
        return cast("TurnStore", session)

    def place(self, tab: Tab, workspace: Workspace) -> Place:
        return Place(tab.id, workspace.id, scene(self.folder), self.facts)

    async def facts(self) -> Facts:
        return Facts(self.today, "TestOS 1", str(self.folder), is_git=True)

    async def tab(self, *, title: str = "") -> str:
        """A new conversation; the first one is `tab_id`."""
        workspace = await self.log.catalogue.scratch_workspace()
        tab = await self.log.catalogue.create_tab(workspace.id, title=title)
        self.tab_id = self.tab_id or tab.id
        return tab.id

    def agent(self) -> Agent:
        """An agent of its own on the first conversation, without a supervisor."""
        tab = self.log.find(self.tab_id).tab
        place = Place(tab.id, tab.workspace_id, scene(self.folder), self.facts)
        return Agent(self.store(tab.id), place=place, around=self.around, chosen=self.chosen)

    async def send(self, text: str, tab_id: str = "") -> None:
        await self.supervisor.send(tab_id or self.tab_id, text)

    async def idle(self, tab_id: str = "") -> TabStatus:
        """Waits until nothing runs in a conversation."""
        tab_id = tab_id or self.tab_id
        await self.published.until(lambda: self.published.latest[tab_id].phase != "running")
        if isinstance(self.model, ScriptedModel):
            assert not self.model.complaints, self.model.complaints
        return self.supervisor.status(tab_id)

    async def run(self, text: str) -> TabStatus:
        """A whole turn."""
        await self.send(text)
        return await self.idle()

    @property
    def rows(self) -> tuple[LogChunk, ...]:
        return self.log.chunks(self.tab_id)

    @property
    def story(self) -> list[str]:
        return story(self.rows)

    @property
    def requests(self) -> tuple[RequestRecord, ...]:
        return tuple(self.log.find(self.tab_id).requests.values())


def tokens_price(model: str, usage: Usage, at: int) -> float | None:
    """A written token costs 12, a read one 1, another 10 cents; scripted-0 has no price."""
    del at
    if model == "scripted-0":
        return None
    return (usage.input * 10 + usage.cache_write * 12 + usage.cache_read) / 100


def dollars(record: RequestRecord) -> float | None:
    return None if record.usage is None else read_usage(record.usage).prompt / 100


TARIFF = Tariff(usage=read_usage, dollars=dollars, tokens=tokens_price)


def story(rows: Sequence[LogChunk]) -> list[str]:
    """The rows as short lines, without prompt, facts and marks."""
    return [line for line in map(_line, rows) if line]


def _line(row: LogChunk) -> str:
    data = row.data
    if is_started_mark(data):
        return ""
    match data:
        case System(kind="prompt" | "fact"):
            return ""
        case System(kind="turn_end"):
            return f"end {data.fields['outcome']}"
        case System(kind="retracted"):
            return f"retracted {len(data.fields['chunkIds'])}"
        case System():
            return f"{data.kind} {data.text}".strip()
        case Text():
            return f"{row.role}: {data.text}{' (interrupted)' if data.interrupted else ''}"
        case ToolCall():
            return f"call {data.call_id}"
        case ToolResult():
            return f"{'error' if data.is_error else 'result'} {data.call_id}"
        case _:
            return row.type


def results(rows: Sequence[LogChunk]) -> dict[str, ToolResult]:
    return {row.data.call_id: row.data for row in rows if isinstance(row.data, ToolResult)}
