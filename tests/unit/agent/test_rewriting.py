"""A conversation stays sendable: pictures beyond the budget and what is refused go out of it, by
rows (SPEC A12, U22, U23; FIELD F-W12)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from desktop.agent import context
from desktop.agent.rewriting import NO_THINKING, beyond
from desktop.core.chunks import LogChunk, Text, Thinking, ToolResult
from desktop.core.media import BUDGET, MOST_TOKENS, Budget, Media
from desktop.core.rewrites import rewritten, standing
from desktop.core.shown import Place, placed
from tests.fakes.models import (
    ScriptedModel,
    begins,
    block,
    ends,
    fails,
    refuses,
    says,
    system_rows,
    text,
)
from tests.unit.agent.stage import Stage, played


def entry(number: int, *, kind: str = "image", size: int = 1_000, pages: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = {
        "kind": kind,
        "sha256": f"{number:064x}",
        "mediaType": "image/png" if kind == "image" else "application/pdf",
        "name": f"{number}.png",
        "size": size,
    }
    return found | ({"pages": pages} if pages else {})


def still_shown(rows: Sequence[LogChunk]) -> list[str]:
    """The names of the pictures that the next request shows."""
    return [media.name for _, _, media in placed(standing(rows))]


def asked(model: ScriptedModel) -> list[list[str]]:
    return [still_shown(one.rows) for one in model.asked]


async def on_stage(tmp_path: Path, *responses: Any) -> tuple[Stage, ScriptedModel]:
    model = ScriptedModel().then(*responses)
    stage = Stage(tmp_path, model)
    await stage.tab()
    return stage, model


async def show(stage: Stage, words: str, *numbers: int) -> str:
    await stage.supervisor.send(stage.tab_id, words, [entry(number) for number in numbers])
    return (await stage.idle()).last_outcome


# What is refused


@played
async def test_u23_a_picture_that_is_refused_by_name_goes_and_the_turn_goes_on(tmp_path: Path):
    stage, model = await on_stage(tmp_path, says("Fine"))
    assert await show(stage, "one", 1) == "done"
    row = next(row for row in stage.rows if isinstance(row.data, Text) and row.data.attachments)
    model.then(refuses("media", (row.id, 0)), says("Without it"))
    assert await show(stage, "two", 2) == "done"
    assert asked(model) == [["1.png"], ["1.png", "2.png"], ["2.png"]]
    (rewrite,) = system_rows(stage.rows, "rewrite")
    assert rewrite.fields == {"replaced": [{"chunkId": row.id, "index": 0}]}
    assert "1.png" in rewrite.text


@played
async def test_u23_where_none_is_named_those_go_that_no_answer_has_taken(tmp_path: Path):
    stage, model = await on_stage(tmp_path, says("Fine"), refuses("media"), says("Without them"))
    await show(stage, "one", 1)
    assert await show(stage, "two", 2, 3) == "done"
    assert asked(model)[-1] == ["1.png"]


@played
async def test_u23_what_is_refused_again_takes_all_pictures_and_then_the_turn_fails(tmp_path: Path):
    refused = [refuses("media") for _ in range(3)]
    stage, model = await on_stage(tmp_path, says("Fine"), *refused, says("Hello"))
    await show(stage, "one", 1)
    assert await show(stage, "two", 2) == "failed"
    assert asked(model) == [["1.png"], ["1.png", "2.png"], ["1.png"], []]
    assert await show(stage, "hello") == "done"


@played
async def test_f_w12_a_body_that_is_too_large_loses_its_new_pictures_before_it_is_compacted(
    tmp_path: Path,
):
    stage, model = await on_stage(
        tmp_path, says("Fine"), refuses("too_large", status=413), says("Hello")
    )
    await show(stage, "one", 1)
    assert await show(stage, "two", 2) == "done"
    assert asked(model)[-1] == ["1.png"]
    assert not system_rows(stage.rows, "compaction")


@played
async def test_f_w12_a_conversation_goes_on_after_a_reload_without_what_was_refused(tmp_path: Path):
    stage, _ = await on_stage(tmp_path, refuses("media"), fails("server"))
    assert await show(stage, "look", 1) == "failed"
    model = ScriptedModel().then(says("Hello"))
    again = stage.again(model)
    await again.supervisor.open(again.tab_id)
    assert await show(again, "hello") == "done"
    assert asked(model) == [[]]


@played
async def test_without_pictures_nothing_is_tried_again(tmp_path: Path):
    stage, model = await on_stage(tmp_path, refuses("media"))
    assert await show(stage, "hello") == "failed"
    assert len(model.asked) == 1


@played
async def test_u22_thinking_that_is_refused_is_left_out_once_and_stays_out(tmp_path: Path):
    signed = Thinking("hm", {"type": "thinking", "thinking": None, "signature": "s1"})
    thought = [[*begins(), *block(0, signed, "hm"), *text(1, "So")], ends()]
    stage, model = await on_stage(tmp_path, thought, refuses("thinking"), says("Again"))
    await show(stage, "think")
    assert await show(stage, "go on") == "done"
    (rewrite,) = system_rows(stage.rows, "rewrite")
    assert rewrite.text == NO_THINKING
    told = [[r.type for r in standing(one.rows)] for one in model.asked]
    assert [kinds.count("thinking") for kinds in told] == [0, 1, 0]
    assert [row.type for row in stage.rows].count("thinking") == 1
    later = ScriptedModel().then(says("Later"), refuses("thinking"))
    again = stage.again(later)
    assert await show(again, "and after a reload") == "done"
    assert "thinking" not in [row.type for row in standing(later.asked[0].rows)]
    assert await show(again, "nothing is left to leave out") == "failed"


# The budget


@played
async def test_a12_beyond_the_budget_half_of_what_was_seen_goes_before_the_request(tmp_path: Path):
    stage, model = await on_stage(tmp_path, says("Fine"), says("Fine"), says("Fine"))
    await show(stage, "many", *range(1, 90))
    await show(stage, "two more", 90, 91)
    await show(stage, "one more", 92)
    first, second, third = asked(model)
    assert len(first) == 89
    assert second == [f"{number}.png" for number in range(47, 92)]
    assert third == [*second, "92.png"]  # no cache is lost for it
    assert len(system_rows(stage.rows, "rewrite")) == 1


@played
async def test_a12_of_what_was_never_seen_no_more_goes_than_must(tmp_path: Path):
    stage, model = await on_stage(tmp_path, says("Fine"))
    await show(stage, "too many at once", *range(1, 96))
    assert asked(model) == [[f"{number}.png" for number in range(6, 96)]]


def media(size: int, pages: int = 0) -> Media:
    kind = "document" if pages else "image"
    return Media(kind, "0" * 64, "image/png", size=size, pages=pages)


def rows_of(found: Sequence[Media]) -> dict[Place, tuple[LogChunk, Media]]:
    def row(seq: int) -> LogChunk:
        return LogChunk(f"r{seq}", "tab", seq, "t", 0, "user", Text(""), 0)

    return {(f"r{seq}", 0): (row(seq), one) for seq, one in enumerate(found, 1)}


@given(
    st.lists(st.builds(media, st.integers(0, 3_500_000), st.integers(0, 40)), max_size=150),
    st.integers(0, 150),
)
def test_a12_what_is_left_is_always_within_the_budget_and_the_newest(
    found: list[Media], taken: int
):
    shown = rows_of(found)
    gone = beyond(shown, taken, BUDGET)
    assert gone == tuple(shown)[: len(gone)]
    left = {place: one for place, one in shown.items() if place not in gone}
    assert BUDGET.holds([one for _, one in left.values()])
    assert not beyond(left, taken, BUDGET)
    assert bool(gone) == (not BUDGET.holds(found))


def test_a12_the_budget_counts_bytes_and_pages_too():
    budget = Budget(count=10, size=8_000, pages=20)
    assert beyond(rows_of([media(3_000)] * 3), 0, budget) == (("r1", 0),)
    assert beyond(rows_of([media(10, pages=8)] * 3), 3, budget) == (("r1", 0), ("r2", 0))


def test_the_estimate_counts_pictures_until_they_are_replaced():
    """API V16; the ring and the compaction go by it."""
    shown = Text("", attachments=(entry(1), {"kind": "image", "replaced": True}))
    assert context.weight(shown) >= MOST_TOKENS * context.BYTES_A_TOKEN
    result = ToolResult("c", "look", "fine", extra={"images": [entry(2)]})
    assert context.weight(result) >= MOST_TOKENS * context.BYTES_A_TOKEN
    paper = Text("", attachments=(entry(3, kind="document", pages=4),))
    assert context.weight(paper) >= 4 * 3_000 * context.BYTES_A_TOKEN
    assert rewritten([]) == []
