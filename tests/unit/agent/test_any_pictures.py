"""Whatever pictures a conversation is given, a provider as strict as the real one takes it, and
each request extends the one before unless a row says otherwise (SPEC A12, U23; Hypothesis)."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from desktop.core.chunks import Json, LogChunk, Stamp
from desktop.core.events import ModelEvent, ResponseFailed
from desktop.core.model import ModelInfo, RequestOptions
from desktop.core.rewrites import is_rewrite
from desktop.core.tools import ToolOutcome
from desktop.wire import failures
from desktop.wire.failures import Refused
from desktop.wire.growing import GrowingRequest
from desktop.wire.locating import places
from desktop.wire.request import build, serialise
from tests.fakes.messages_api import assert_extends
from tests.fakes.models import call, calls, says
from tests.fakes.sim.problems import Refusal
from tests.fakes.tools import ScriptedTool
from tests.unit.agent.stage import Stage
from tests.unit.wire.rows_of import ME, MODELS, Kept, bytes_of, kept, paper, picture
from tests.unit.wire.test_any_log import refuse_as_the_provider_does

SMALL = Stamp(ME.provider, "claude-haiku-4-5")  # takes no more than a hundred pictures
BROKEN = kept(picture(200).content[:40], "image/png", "broken.png", width=8, height=8)
WIDE = picture(201, side=8001, name="wide.png")
PAPERS = [paper(60), paper(30)]
GOOD = [picture(number) for number in range(120)]
BYTES = bytes_of(*GOOD, *PAPERS, BROKEN, WIDE)


@dataclass(slots=True)
class Strict:
    """Answers what the provider would take, and refuses the rest in its words."""

    calls_tool: bool = False
    sent: list[tuple[tuple[LogChunk, ...], dict[str, Any]]] = field(
        default_factory=list[tuple[tuple[LogChunk, ...], dict[str, Any]]]
    )
    growing: GrowingRequest = field(default_factory=lambda: GrowingRequest(MODELS))

    def stamp(self, model: str) -> Stamp:
        del model
        return SMALL

    async def models(self) -> tuple[ModelInfo, ...]:
        return ()

    async def respond(
        self, chunks: Sequence[LogChunk], options: RequestOptions
    ) -> AsyncIterator[Sequence[ModelEvent]]:
        rows = tuple(chunks)
        asked = RequestOptions(SMALL.model)
        body = build(rows, asked, models=MODELS, stamp=SMALL, pictures=BYTES)
        assert self.growing.next(rows, asked, SMALL, BYTES) == serialise(body)
        try:
            refuse_as_the_provider_does(body)
        except Refusal as refusal:
            assert "too many" not in refusal.message
            assert "PDF pages" not in refusal.message
            told = Refused(
                400, refusal.kind, refusal.message, refusal.code or "", paths=refusal.paths
            )
            failure = failures.of_answer(told)
            found = places(failure.detail, rows, asked, models=MODELS, stamp=SMALL)
            yield [ResponseFailed(replace(failure, places=found))]
            return
        self.sent.append((rows, body))
        is_first = (
            next(row for row in reversed(rows) if row.role in ("user", "tool")).role == "user"
        )
        ask = call(f"c{len(self.sent)}", "draw")
        script = calls(ask) if self.calls_tool and is_first else says("Fine")
        for batch in script:
            assert isinstance(batch, list)
            yield batch


SHOWN = st.lists(
    st.sampled_from(GOOD[:3]) | st.sampled_from([BROKEN, WIDE, *PAPERS]), max_size=3
) | st.integers(30, 60).map(lambda count: GOOD[:count])
STEPS = st.lists(
    st.tuples(st.sampled_from(["say", "tool", "reload"]), SHOWN), min_size=1, max_size=6
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS)
def test_a12_any_pictures_go_out_or_are_replaced_and_no_conversation_is_lost(
    steps: list[tuple[str, list[Kept]]],
):
    with TemporaryDirectory() as folder:
        sent = asyncio.run(asyncio.wait_for(lived(Path(folder), steps), 60))
    for (before, first), (after, second) in itertools.pairwise(sent):
        new = after[len(before) :]
        assert_extends(first, second, rewritten=any(map(is_rewrite, new)))


async def lived(folder: Path, steps: Sequence[tuple[str, list[Kept]]]) -> list[Any]:
    model = Strict()
    drawing: list[Kept] = []

    def drawn(arguments: Json) -> ToolOutcome:
        del arguments
        return ToolOutcome("Drawn", images=[one.entry for one in drawing])

    tool = ScriptedTool("draw", answer=drawn)
    stage = Stage(folder, model, [tool], mode="auto")
    await stage.tab()
    sent: list[Any] = []
    for kind, shown in [*steps, ("say", [])]:
        if kind == "reload":
            sent += model.sent
            model = Strict()
            stage = stage.again(model, [tool], mode="auto")
        model.calls_tool = kind == "tool"
        drawing[:] = shown
        attached: list[Mapping[str, Any]] = [] if kind == "tool" else [one.entry for one in shown]
        await stage.supervisor.send(stage.tab_id, "look", attached)
        status = await stage.idle()
        assert status.last_outcome == "done", stage.story
    await stage.supervisor.shutdown()
    return sent + model.sent
