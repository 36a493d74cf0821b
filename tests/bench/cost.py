"""What conversations cost, as a ratio to the least that the price list allows.

The whole program without its window, on a real database, over HTTP to the strict stand-in for the
provider, whose cache keeps the account. Where the rules force a rewrite, the least is what remains
to be paid after it, and the row names the reason.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from desktop.core.chunks import LogChunk
from desktop.core.records import Receipt
from desktop.core.reducer import BlockOp
from desktop.core.status import TabStatus
from desktop.diagnostics import Redaction
from desktop.headless.runtime import Runtime, start
from desktop.paths import DataFolder
from desktop.settings import CACHE_TTL, read
from tests.bench import Figure
from tests.bench._account import WRITE_1H, WRITE_5M, paid_to_least
from tests.e2e.nacre import Home, ended, kill
from tests.fakes.messages_api import (
    Block,
    MessagesServer,
    Received,
    Reply,
    reply,
    text,
    thinking,
    tool_use,
)
from tests.fakes.sim.replies import Responder

GOAL = 1.01
FIRST_REQUEST = 3_500  # tokens, as bytes / 4
FILES = 150
PLAIN_SERVER = Path(__file__).parents[1] / "fakes" / "plain_tool_server.py"
WORDS = "lorem ipsum dolor sit amet consectetur " * 12
# 26 hours apart: whatever the time is, another day.
EARLIER, LATER = "Etc/GMT+12", "Etc/GMT-14"


@dataclass(frozen=True, slots=True)
class Row:
    """A conversation to be had: the provider's replies, and what the person does.

    Where several are answered side by side, `answers` tells whose reply it is. `reason` is why the
    rules force a rewrite, `write` the price of a token that is written.
    """

    name: str
    replies: tuple[Reply, ...]
    act: Callable[["Work"], Awaitable[None]]
    reason: str = ""
    write: float = WRITE_5M
    answers: Responder | None = None


class Work:
    """A person at work in one conversation; `restart` ends the program and begins it anew."""

    def __init__(self, home: Home, server: MessagesServer) -> None:
        self.home = home
        self.server = server
        self.branches: set[int] = set()
        self.tab_id = ""
        self._runtime: Runtime | None = None

    @property
    def runtime(self) -> Runtime:
        assert self._runtime is not None
        return self._runtime

    async def begin(self) -> None:
        folder = DataFolder(self.home.data)
        folder.prepare()
        self._runtime = await start(folder, redaction=Redaction(), has_person=False)
        await self._runtime.find_key()

    async def end(self) -> None:
        if self._runtime is not None:
            await self._runtime.close()
            self._runtime = None

    async def restart(self) -> None:
        await self.end()
        await self.begin()

    async def send(self, message: str) -> None:
        if not self.tab_id:
            workspace = await self.runtime.catalogue.open_workspace(self.home.workspace)
            self.tab_id = (await self.runtime.catalogue.create_tab(workspace.id)).id
            await self.runtime.commands.choose(self.tab_id, mode="auto")
        await self.runtime.commands.send(self.tab_id, message)

    async def turn(self, message: str) -> None:
        await self.send(message)
        await self.runtime.until_idle()

    async def stop_at(self, gate: str) -> None:
        """Stops the turn in the middle of an answer."""
        await asyncio.to_thread(self.server.wait_at_gate, gate)
        await self.runtime.commands.stop(self.tab_id)

    async def rows(self) -> list[LogChunk]:
        page = await self.runtime.reader.page(self.tab_id, limit=500)
        return [row for row in page.rows if isinstance(row, LogChunk)]

    def branch(self, tab_id: str) -> None:
        """The next request begins a fork, in which the work goes on."""
        self.tab_id = tab_id
        self.branches.add(len(self.server.requests))


def figures() -> Iterable[Figure]:
    first = 0.0
    for row in _rows():
        ratio, first = _had(row)
        yield Figure(f"cost.{row.name}", ratio, "x", GOAL, reason=row.reason)
    yield Figure("cost.first_request", first, "tokens", FIRST_REQUEST)


def _had(row: Row) -> tuple[float, float]:
    """Has a conversation; its ratio, and the size of its first request."""
    with (
        tempfile.TemporaryDirectory(prefix="nacre-bench-") as root,
        MessagesServer(row.answers or list(row.replies)) as server,
    ):
        home = Home(Path(root), base_url=server.base_url)
        for number in range(FILES):
            lines = "".join(f"{number} {line} {WORDS}\n" for line in range(1 + number % 3))
            (home.workspace / f"f{number}.txt").write_text(lines, "utf-8")
        work = Work(home, server)
        with _surroundings(home):
            asyncio.run(_whole(row, work))
        assert not server.rejected, server.rejected[0].error
        if row.answers is None:
            assert len(server.requests) == len(row.replies), "not every reply was asked for"
        ratio = paid_to_least(server.requests, branches=work.branches, write=row.write)
        return ratio, len(server.requests[0].body) / 4


async def _whole(row: Row, work: Work) -> None:
    try:
        await work.begin()
        await row.act(work)
    finally:
        await work.end()


@contextmanager
def _surroundings(home: Home) -> Generator[None]:
    """The environment of a home, and nothing of this machine's."""
    before, own = dict(os.environ), home.environment()
    os.environ.clear()
    os.environ.update(own, TZ=EARLIER)
    time.tzset()
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        time.tzset()


# -- the conversations ----------------------------------------------------------------------------


def _rows() -> list[Row]:
    return [
        Row("single_steps", _answers(8), _turns(8)),
        Row("150_steps", (*_reads(150), *_answers(1)), _turns(1)),
        Row("3_steps_of_25_calls", (*_reads(3, calls=25), *_answers(1)), _turns(1)),
        Row("60_parallel_calls", (*_reads(1, calls=60), *_answers(1)), _turns(1)),
        Row("interrupt_in_each_step", tuple(_interrupted(6)), _interrupt_each(6)),
        Row("stop_and_go_on", (_sleeps(), *_answers(2)), _stop_and_go_on),
        Row("kill_and_resume", (*_reads(2), _stands("kill"), *_answers(1)), _kill_and_resume),
        Row("another_day_and_git_state", (*_reads(1), *_answers(4)), _another_day),
        Row("fork_at_the_middle", _answers(8), _fork, "a fork begins before the end"),
        Row("edit_of_the_last_prompt", _answers(6), _edit, "an edit forks before the last prompt"),
        Row("compaction", _compacted(), _compact, "a summary takes the place of what was said"),
        Row("pauses_of_half_an_hour_at_1h", _answers(6), _pauses, write=WRITE_1H),
        Row("late_tool_server", _answers(5), _late_tool_server),
        Row("two_subagents", (), _two_subagents, answers=_of_a_family),
    ]


def _answers(count: int) -> tuple[Reply, ...]:
    return tuple(reply(thinking(f"thought {at}"), f"answer {at} {WORDS}") for at in range(count))


def _reads(steps: int, *, calls: int = 1) -> tuple[Reply, ...]:
    """Steps that read files, each one another."""
    return tuple(
        reply(
            thinking(f"step {step}"),
            text(f"Reading, step {step}."),
            *(_read(step * calls + at) for at in range(calls)),
        )
        for step in range(steps)
    )


def _read(number: int) -> Block:
    return tool_use("read_file", {"path": f"f{number % FILES}.txt"})


def _stands(gate: str) -> Reply:
    """An answer that stands still in the middle of its text, after a whole piece of thinking."""
    return reply(thinking("hm"), text(WORDS)).gate_after(8, gate)


def _sleeps() -> Reply:
    return reply(thinking("wait"), tool_use("shell", {"command": "sleep 30"}))


def _turns(count: int) -> Callable[[Work], Awaitable[None]]:
    async def act(work: Work) -> None:
        for at in range(count):
            await work.turn(f"question {at} {WORDS}")

    return act


def _interrupted(count: int) -> Iterator[Reply]:
    for at in range(count):
        yield reply(thinking(f"look {at}"), _read(at))
        yield _stands(f"gate{at}")
    yield from _answers(1)


def _interrupt_each(count: int) -> Callable[[Work], Awaitable[None]]:
    async def act(work: Work) -> None:
        for at in range(count):
            await work.send(f"question {at}")
            await work.stop_at(f"gate{at}")
        await work.turn("and now to the end")

    return act


async def _stop_and_go_on(work: Work) -> None:
    called: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    unsubscribe = work.runtime.hub.subscribe(_Called(called))
    await work.send("wait a little")
    await called
    unsubscribe()
    await work.runtime.commands.stop(work.tab_id)
    await work.turn("go on")
    await work.turn("and on")


async def _kill_and_resume(work: Work) -> None:
    """The process is killed in the middle of an answer, and another one goes on."""
    await work.end()
    home = work.home
    arguments = ["run", "--workspace", str(home.workspace), "--permission", "auto", "read on"]
    process = home.start(*arguments)
    await asyncio.to_thread(work.server.wait_at_gate, "kill")
    kill(process)
    tab_id = home.rows("select distinct tab_id from chunks")[0]["tab_id"]
    resumed = home.start("run", "--tab", tab_id, "go on")
    assert (await asyncio.to_thread(ended, resumed)).code == 0


async def _another_day(work: Work) -> None:
    await work.turn("yesterday")
    await work.turn("and again")
    await work.end()
    os.environ["TZ"] = LATER
    time.tzset()
    for command in (["init", "-q"], ["add", "."], ["checkout", "-q", "-b", "other"]):
        git = await asyncio.create_subprocess_exec("git", *command, cwd=work.home.workspace)
        assert await git.wait() == 0
    await work.begin()
    await work.turn("today")
    await work.turn("still today")


async def _fork(work: Work) -> None:
    await _turns(6)(work)
    ends = [row.seq for row in await work.rows() if getattr(row.data, "kind", "") == "turn_end"]
    work.branch(await work.runtime.commands.fork(work.tab_id, at_seq=ends[2]))
    await _turns(2)(work)


async def _edit(work: Work) -> None:
    await _turns(4)(work)
    last = [row for row in await work.rows() if row.role == "user"][-1]
    work.branch(work.tab_id)
    work.tab_id = await work.runtime.commands.edit(work.tab_id, last.id, "asked otherwise")
    await work.runtime.until_idle()
    await work.turn("and on")


async def _late_tool_server(work: Work) -> None:
    """It connects after the first turn; the conversation goes on without it."""
    await work.turn("before")
    entry = {"command": sys.executable, "args": [str(PLAIN_SERVER), "ok"]}
    file = work.home.data / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"late": entry}}), "utf-8")
    await work.runtime.connect_tools()
    async with asyncio.timeout(60):
        while work.runtime.commands.status(work.tab_id).new_tools is None:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    for at in range(4):
        await work.turn(f"behind it, {at}")
    assert all(
        len(one.json["tools"]) == len(work.server.requests[0].json["tools"])
        for one in work.server.requests
    )


READS = 8
TASKS = ("Read the even ones.", "Read the odd ones.")


def _of_a_family(request: Received) -> Reply:
    """A parent that gives two tasks away in one step; each subagent reads eight files."""
    messages = request.json["messages"]
    first, steps = messages[0]["content"][-1]["text"], len(messages) // 2
    task = next((at for at, task in enumerate(TASKS) if first.endswith(task)), None)
    if task is not None:
        return (
            _reads(READS)[steps] if steps < READS else reply(thinking("all read"), f"done {WORDS}")
        )
    if steps == 0:
        return reply(thinking("two tasks"), *(tool_use("agent", {"task": one}) for one in TASKS))
    return _answers(3)[steps]


async def _two_subagents(work: Work) -> None:
    await work.turn(f"look at everything {WORDS}")
    await work.turn("and on")
    # Any of them may go on from any other: only what they share lies in the cache.
    work.branches.update(range(1, len(work.server.requests)))


def _compacted() -> tuple[Reply, ...]:
    """Answers, the summary that is asked for with all of them, and answers behind it."""
    return (*_answers(5), reply(text(f"Summary of the conversation so far: {WORDS}")), *_answers(3))


async def _compact(work: Work) -> None:
    await _turns(5)(work)
    await work.runtime.commands.compact(work.tab_id)
    await work.runtime.until_idle()
    work.branch(work.tab_id)
    await _turns(3)(work)


async def _pauses(work: Work) -> None:
    """The person chose to keep the cache for an hour, and comes back every half an hour."""
    await work.runtime.catalogue.save_setting(CACHE_TTL.key, "1h")
    work.runtime.prefer(read(await work.runtime.catalogue.settings()))
    for at in range(6):
        await work.turn(f"question {at} {WORDS}")
        work.server.advance_clock(1_800)


class _Called:
    """A listener that settles a future when a call is in the log."""

    def __init__(self, called: "asyncio.Future[None]") -> None:
        self._called = called

    def receipt(self, receipt: Receipt) -> None:
        if any(row.type == "tool_call" for row in receipt.chunks) and not self._called.done():
            self._called.set_result(None)

    def live(self, tab_id: str, op: BlockOp) -> None: ...

    def status(self, status: TabStatus) -> None: ...
