"""Any life of a conversation gives requests that the provider takes, each extending the last.

The agents are the real ones; behind the model stands the whole stand-in with all its rules and
signatures (`strict_model`). Answers have any shape and break anywhere; the person sends, stops,
denies, queues, edits, forks, compacts, switches models and retries at any moment; processes die and
others go on; the log may begin with what a damaged import brought (SPEC C02-C11, C16, A02-A07, A11,
U21, U22, U24, U25; F-W01, F-W02, F-W04, F-W07, F-W10, F-W14).
"""

import asyncio
import contextlib
import logging
import tempfile
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from desktop.agent.surroundings import Chosen
from desktop.core.chunks import LogChunk, NewChunk, Stamp, System, ToolCall, ToolResult
from desktop.core.errors import NacreError, StoreFull
from desktop.core.model import RequestOptions
from desktop.core.permissions import Answer as Permission
from desktop.wire.request import build, serialise
from tests.effort import examples
from tests.fakes.strict_model import StrictModel
from tests.fakes.tools import ScriptedTool
from tests.unit.agent.answering import ANSWERS, Answer, answering
from tests.unit.agent.stage import Stage, play
from tests.unit.agent.test_interleavings import Pause, PausingTool
from tests.unit.wire.rows_of import MODELS, OPUS, reloaded
from tests.unit.wire.test_any_log import ROWS

OTHER = "claude-haiku-4-5"
DEEDS = (
    *("send", "send", "stop", "answer", "deny", "cancel", "release", "retry", "full", "open"),
    *("compact", "edit", "regenerate", "fork", "model", "mode", "crash", "wait"),
)
Deeds = list[tuple[int, str]]


def tools() -> list[ScriptedTool]:
    return [
        PausingTool("look"),
        PausingTool("write", kind="write"),
        ScriptedTool("boom", answer=lambda _: RuntimeError("")),
    ]


class Life:
    """A person, their conversations, and the processes that they live in, one after the other."""

    def __init__(self, folder: Path, model: StrictModel, *, compact_at: int) -> None:
        self.model = model
        self.stage = Stage(folder, model, tools(), compact_at=compact_at)
        self.stage.chosen = Chosen(OPUS)
        self.tab_ids: list[str] = []
        self._said = 0

    async def begin(self, imported: Sequence[NewChunk]) -> None:
        self.tab_ids.append(await self.stage.tab())
        if imported:
            await self.stage.log.session(self.tab_ids[0]).append(imported)

    @property
    def tab(self) -> str:
        return self.tab_ids[-1]

    def words(self) -> str:
        self._said += 1
        return f"message {self._said}"

    async def do(self, deed: str) -> None:
        stage, commands = self.stage, self.stage.supervisor
        status = commands.status(self.tab)
        match deed:
            case "send":
                await commands.send(self.tab, self.words())
            case "stop":
                await commands.stop(self.tab)
            case "answer" | "deny":
                for question in status.questions[:1]:
                    choice = "once" if deed == "answer" else "deny"
                    await commands.answer(question.id, Permission(choice))
            case "cancel":
                for message in status.queue[:1]:
                    await commands.cancel_queued(self.tab, message.id)
            case "release":
                await commands.release_queue(self.tab)
            case "retry":
                await commands.retry(self.tab)
            case "full":
                stage.log.fail_next(StoreFull("The disk is full."))
            case "open":
                await commands.open(self.tab)
            case "compact":
                await commands.compact(self.tab)
            case "edit" | "regenerate":
                await self._say_anew(deed)
            case "fork":
                await self._fork()
            case "model":
                await commands.choose(self.tab, model=OTHER if status.model == OPUS else OPUS)
            case "mode":
                await commands.choose(self.tab, mode="auto")
            case "crash":
                await self.crash()
            case _:
                pass

    async def crash(self) -> None:
        """The process dies: nothing more is written, and the next one opens what there is."""
        old = self.stage

        def dead(name: str, args: tuple[object, ...]) -> Exception:
            del name, args
            return StoreFull("The process is dead.")

        for session in old.stores.values():
            session.trouble = dead
        await old.supervisor.shutdown()
        old.log.failures.clear()
        self.stage = old.again(self.model, tools())
        self.stage.chosen = Chosen(OPUS)
        await self.stage.supervisor.open(self.tab)

    async def end(self) -> None:
        """Everything comes to rest, and in each conversation a last message is answered."""
        self.stage.log.failures.clear()
        for tab_id in self.tab_ids:
            await self.stage.supervisor.stop(tab_id)
            await self.stage.supervisor.open(tab_id)
            await self.stage.supervisor.choose(tab_id, mode="auto")
            await self.stage.supervisor.send(tab_id, self.words())
            await self.stage.idle(tab_id)
        await self.stage.supervisor.shutdown()

    async def _say_anew(self, deed: str) -> None:
        rows = self.stage.log.chunks(self.tab)
        texts = [row for row in rows if row.role == "user"]
        if not texts:
            return
        row = texts[self._said % len(texts)]
        commands = self.stage.supervisor
        if deed == "edit":
            made = await commands.edit(self.tab, row.id, self.words())
        else:
            made = await commands.regenerate(self.tab, row.id)
        if made not in self.tab_ids:
            self.tab_ids.append(made)

    async def _fork(self) -> None:
        rows = self.stage.log.chunks(self.tab)
        ends = [row.seq for row in rows if _is_end(row)]
        if ends:
            at = ends[self._said % len(ends)]
            self.tab_ids.append(await self.stage.supervisor.fork(self.tab, at_seq=at))


def _is_end(row: LogChunk) -> bool:
    return isinstance(row.data, System) and row.data.kind == "turn_end"


async def live(
    answers: list[Answer], deeds: Deeds, imported: Sequence[NewChunk], *, compact_at: int
) -> Life:
    model = StrictModel(MODELS, answering(answers), turns=2)
    with tempfile.TemporaryDirectory() as folder:
        life = Life(Path(folder), model, compact_at=compact_at)
        await life.begin(imported)
        doing: list[asyncio.Task[None]] = []
        for turns, deed in [(0, "send"), *deeds]:
            await Pause(turns).wait()
            if deed == "crash":
                await settled(doing)
                doing.clear()
                await life.crash()
            else:
                doing.append(asyncio.create_task(life.do(deed)))
        await settled(doing)
        await life.end()
    return life


async def settled(doing: Sequence[asyncio.Task[None]]) -> None:
    for one in doing:
        with contextlib.suppress(NacreError):
            await one


def check(life: Life) -> None:
    assert life.model.complaints == []
    for tab_id in life.tab_ids:
        rows = life.stage.log.chunks(tab_id)
        assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
        stamp = life.model.stamp(OPUS)
        built, again = (
            serialise(build(found, RequestOptions(OPUS), models=MODELS, stamp=stamp))
            for found in (rows, reloaded(rows))
        )
        assert built == again


def check_pairs(rows: Sequence[LogChunk]) -> None:
    """In a log of our own every call has exactly one result, and no failure is without a word."""
    wanted = Counter(row.data.call_id for row in rows if isinstance(row.data, ToolCall))
    given_ = Counter(row.data.call_id for row in rows if isinstance(row.data, ToolResult))
    assert wanted == given_
    assert set(wanted.values()) <= {1}
    for row in rows:
        if isinstance(row.data, ToolResult):
            assert row.data.result.strip() or not row.data.is_error


@st.composite
def imports(draw: st.DrawFn) -> list[NewChunk]:
    """What a log of somebody else may hold: anything, in any order."""
    found: list[NewChunk] = []
    for number, (role, data) in enumerate(draw(st.lists(ROWS, min_size=1, max_size=14))):
        turn = draw(st.sampled_from(["old-1", "old-2"]))
        found.append(
            NewChunk(
                id=f"old-{number}",
                turn_id=turn,
                role=role,  # pyright: ignore[reportArgumentType]
                data=data,
                step=draw(st.integers(0, 2)),
                stamp=Stamp("elsewhere", "gpt"),
            )
        )
    return found


@contextmanager
def quiet() -> Generator[None]:
    """What is meant to go wrong leaves no traceback."""
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


DEED_LISTS = st.lists(st.tuples(st.integers(0, 40), st.sampled_from(DEEDS)), max_size=12)
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]


@settings(max_examples=examples(60), suppress_health_check=SLOW, report_multiple_bugs=False)
@given(st.lists(ANSWERS, max_size=10), DEED_LISTS, st.sampled_from([0, 0, 50]))
@example([Answer(("boom",), "", "", 0)], [(1, "send"), (40, "send")], 0)  # Stop as a call seals
@example(  # a message behind a call of the provider's own that was stopped
    [
        Answer(("blank",) * 7),
        Answer(("blank", "malformed"), "pause_turn"),
        Answer(()),
        Answer((), fault="overloaded"),
        *[Answer(())] * 6,
    ],
    [(15, "send"), *[(0, "send")] * 4, (0, "edit")],
    0,
)
@example([Answer(("boom", "redacted")), Answer((), "pause_turn")], [], 0)  # nothing said, go on
@example([Answer(()), Answer(("search", "redacted", "boom"))], [(11, "edit")], 0)  # thought behind
def test_u21_u22_any_life_gives_requests_that_are_taken_and_extend_each_other(
    answers: list[Answer], deeds: Deeds, compact_at: int
) -> None:
    async def scenario() -> None:
        life = await live(answers, deeds, (), compact_at=compact_at)
        check(life)
        for tab_id in life.tab_ids:
            check_pairs(life.stage.log.chunks(tab_id))

    with quiet():
        play(scenario)


@settings(max_examples=examples(40), suppress_health_check=SLOW, report_multiple_bugs=False)
@given(imports(), st.lists(ANSWERS, max_size=6), DEED_LISTS)
def test_c09_u21_an_imported_log_however_damaged_goes_on(
    imported: list[NewChunk], answers: list[Answer], deeds: Deeds
) -> None:
    async def scenario() -> None:
        check(await live(answers, deeds, imported, compact_at=0))

    with quiet():
        play(scenario)
