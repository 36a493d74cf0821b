"""Editing, regenerating and forking: every text stays reachable, nothing that runs is stopped."""

import itertools
from pathlib import Path

import pytest

from desktop.agent import branching
from desktop.agent.branching import Resend
from desktop.core.chunks import ErrorNote, LogChunk, NewChunk, Payload, Role, System, Text
from desktop.core.errors import NacreError, StoreFull
from desktop.core.records import Branch
from tests.fakes.models import (
    Gate,
    Response,
    ScriptedModel,
    call,
    calls,
    fails,
    says,
)
from tests.fakes.stores import MemoryLog
from tests.fakes.tools import ScriptedTool
from tests.unit.agent.stage import Stage, played, results, story
from tests.unit.agent.test_restart import unanswered


async def conversation(tmp_path: Path, *answers: Response) -> Stage:
    """A conversation of two answered messages; `answers` come after them."""
    stage = Stage(tmp_path, ScriptedModel([says("One."), says("Two."), *answers]))
    await stage.tab()
    await stage.run("First")
    await stage.run("Second")
    return stage


def said(stage: Stage, text: str, tab_id: str = "") -> str:
    """The id of the last user row with this text."""
    rows = stage.log.chunks(tab_id or stage.tab_id)
    return next(
        row.id for row in reversed(rows) if isinstance(row.data, Text) and row.data.text == text
    )


def story_of(stage: Stage, tab_id: str) -> list[str]:
    return story(stage.log.chunks(tab_id))


@played
async def test_S13_U19_an_edited_answered_message_is_sent_in_a_fork(tmp_path: Path) -> None:
    stage = await conversation(tmp_path, says("Three."))
    before = stage.rows
    made = await stage.supervisor.edit(stage.tab_id, said(stage, "Second"), "Another")
    await stage.idle(made)
    assert made != stage.tab_id
    assert stage.rows == before
    assert story_of(stage, made) == [
        *("user: First", "assistant: One.", "end done"),
        *("user: Another", "assistant: Three.", "end done"),
    ]
    seq = next(row.seq for row in before if row.id == said(stage, "Second"))
    expected = (Branch(seq, (stage.tab_id, made)),)
    assert await stage.log.catalogue.branches(made) == expected
    assert await stage.log.catalogue.branches(stage.tab_id) == expected


@played
async def test_U19_regenerating_says_the_same_in_a_fork(tmp_path: Path) -> None:
    stage = await conversation(tmp_path, says("Three."), says("Four."))
    chunk_id = said(stage, "Second")
    one = await stage.supervisor.regenerate(stage.tab_id, chunk_id)
    await stage.idle(one)
    answer = stage.log.chunks(one)[-2]
    two = await stage.supervisor.regenerate(one, answer.id)
    await stage.idle(two)
    assert story_of(stage, one)[3:] == ["user: Second", "assistant: Three.", "end done"]
    assert story_of(stage, two)[3:] == ["user: Second", "assistant: Four.", "end done"]
    assert [one.tab_ids for one in await stage.log.catalogue.branches(two)] == [
        (stage.tab_id, one, two)
    ]


@played
async def test_the_first_message_can_be_edited_too(tmp_path: Path) -> None:
    stage = await conversation(tmp_path, says("Three."))
    made = await stage.supervisor.edit(stage.tab_id, said(stage, "First"), "Another")
    await stage.idle(made)
    assert story_of(stage, made) == ["user: Another", "assistant: Three.", "end done"]
    shared = stage.log.chunks(made)[:2]
    assert [row.type for row in shared] == ["system", "system"]  # its prompt and facts are shared
    assert [row.id for row in shared] == [row.id for row in stage.rows[:2]]


@played
async def test_C27_a_fork_goes_on_with_the_parents_model_effort_and_mode(tmp_path: Path) -> None:
    stage = await conversation(tmp_path, says("Three."))
    await stage.supervisor.choose(stage.tab_id, model="scripted-2", effort="high", mode="auto")
    made = await stage.supervisor.edit(stage.tab_id, said(stage, "Second"), "Another")
    status = await stage.idle(made)
    assert (status.model, status.effort, status.mode) == ("scripted-2", "high", "auto")
    model = stage.model
    assert isinstance(model, ScriptedModel)
    assert (model.asked[-1].options.model, model.asked[-1].options.effort) == ("scripted-2", "high")


@played
async def test_U19_a_running_turn_of_the_parent_goes_on_untouched(tmp_path: Path) -> None:
    gate = Gate()
    stage = await conversation(tmp_path, [gate, *says("Late.")], says("Fork."))
    await stage.send("Third")
    await gate.reached()
    made = await stage.supervisor.edit(stage.tab_id, said(stage, "Second"), "Another")
    await stage.idle(made)
    assert stage.supervisor.status(stage.tab_id).phase == "running"
    assert story_of(stage, made)[3:] == ["user: Another", "assistant: Fork.", "end done"]
    gate.open()
    await stage.idle()
    assert stage.story[-3:] == ["user: Third", "assistant: Late.", "end done"]


@played
async def test_U19_a_message_that_is_being_answered_is_edited_in_a_fork(tmp_path: Path) -> None:
    gate = Gate()
    stage = await conversation(tmp_path, [gate, *says("Late.")], says("Fork."))
    await stage.send("Third")
    await gate.reached()
    made = await stage.supervisor.edit(stage.tab_id, said(stage, "Third"), "Better")
    await stage.idle(made)
    assert made != stage.tab_id
    assert story_of(stage, made)[6:] == ["user: Better", "assistant: Fork.", "end done"]
    gate.open()
    await stage.idle()
    assert "retracted 1" not in stage.story


@played
async def test_S13_an_unanswered_text_is_taken_back_in_place(tmp_path: Path) -> None:
    stage = await unanswered(tmp_path, "Please")
    later = stage.again(ScriptedModel([says("Yes.")]))
    tab = await later.supervisor.edit(later.tab_id, said(later, "Please"), "Pretty please")
    await later.idle()
    assert tab == later.tab_id
    assert later.story[3:] == [
        *("user: Please", "retracted 1", "end interrupted"),
        *("user: Pretty please", "assistant: Yes.", "end done"),
    ]


@played
async def test_S13_the_same_holds_for_a_text_that_just_failed(tmp_path: Path) -> None:
    """In a running program it is not offered as unanswered, but it is."""
    stage = await conversation(tmp_path, fails(), says("Yes."))
    await stage.run("Third")
    tab = await stage.supervisor.edit(stage.tab_id, said(stage, "Third"), "Better")
    await stage.idle()
    assert tab == stage.tab_id
    assert stage.story[6:] == [
        *("user: Third", "error", "end failed", "retracted 1"),
        *("user: Better", "assistant: Yes.", "end done"),
    ]


@played
async def test_S03_an_unanswered_text_edited_into_itself_is_the_same_row(tmp_path: Path) -> None:
    stage = await unanswered(tmp_path, "Please")
    later = stage.again(ScriptedModel([says("Yes.")]))
    await later.supervisor.edit(later.tab_id, said(later, "Please"), "Please")
    await later.idle()
    assert later.story[3:] == ["user: Please", "assistant: Yes.", "end done"]


@played
async def test_one_of_several_unanswered_texts_is_replaced_and_the_others_are_said_again(
    tmp_path: Path,
) -> None:
    stage = Stage(tmp_path, ScriptedModel([says("One."), fails(), fails()]))
    await stage.tab()
    for text in ("First", "Second", "Third"):
        await stage.run(text)
    later = stage.again(ScriptedModel([says("Yes.")]))
    tab = await later.supervisor.edit(later.tab_id, said(later, "Second"), "Better")
    await later.idle()
    assert tab == later.tab_id
    assert later.story[-5:] == [
        *("retracted 2", "user: Better", "user: Third", "assistant: Yes.", "end done"),
    ]


@played
async def test_queued_messages_that_went_out_together_are_said_again_together(
    tmp_path: Path,
) -> None:
    gate = Gate()
    answers = [[gate, *says("One.")], says("Two."), says("Three."), says("Four.")]
    stage = Stage(tmp_path, ScriptedModel(answers))
    await stage.tab()
    await stage.send("First")
    await gate.reached()
    for text in ("A", "B", "C"):
        await stage.send(text)
    gate.open()
    await stage.idle()
    assert stage.story[3:] == ["user: A", "user: B", "user: C", "assistant: Two.", "end done"]
    made = await stage.supervisor.edit(stage.tab_id, said(stage, "B"), "b")
    await stage.idle(made)
    assert story_of(stage, made)[3:] == [
        *("user: A", "user: b", "user: C", "assistant: Three.", "end done")
    ]
    own = [row for row in stage.log.chunks(made) if row.id not in {one.id for one in stage.rows}]
    assert len({row.turn_id for row in own}) == 1
    later = stage.again(ScriptedModel([says("Five.")]))
    assert (await later.supervisor.open(made)).dangling is None


@played
async def test_a_message_that_went_into_a_running_turn_can_be_edited(tmp_path: Path) -> None:
    """The turn that it went into is over in the fork, its calls and results are shared."""
    gate = Gate()
    tool = ScriptedTool("look", gates={"1": gate})
    script = [calls(call("c1", "look", {"at": "1"})), says("Both."), says("Fork.")]
    stage = Stage(tmp_path, ScriptedModel(script), [tool])
    await stage.tab()
    await stage.send("Go")
    await gate.reached()
    await stage.send("And this")
    gate.open()
    await stage.idle()
    made = await stage.supervisor.edit(stage.tab_id, said(stage, "And this"), "And that")
    await stage.idle(made)
    assert story_of(stage, made) == [
        *("user: Go", "call c1", "result c1", "end interrupted"),
        *("user: And that", "assistant: Fork.", "end done"),
    ]
    assert list(results(stage.log.chunks(made))) == ["c1"]


@played
async def test_attachments_go_along_unless_there_are_others(tmp_path: Path) -> None:
    stage = Stage(tmp_path, ScriptedModel([says("One."), says("Two."), says("Three.")]))
    await stage.tab()
    first = {"name": "a.txt", "mediaType": "text/plain", "text": "aaa", "size": 3}
    other = {"name": "b.txt", "mediaType": "text/plain", "text": "bbb", "size": 3}
    await stage.supervisor.send(stage.tab_id, "First", [first])
    await stage.idle()
    chunk_id = said(stage, "First")
    one = await stage.supervisor.edit(stage.tab_id, chunk_id, "Better")
    await stage.idle(one)
    two = await stage.supervisor.edit(stage.tab_id, chunk_id, "Better", [other])
    await stage.idle(two)
    found = [
        row.data.attachments
        for tab in (one, two)
        for row in stage.log.chunks(tab)
        if isinstance(row.data, Text) and row.role == "user"
    ]
    assert found == [(first,), (other,)]


@played
async def test_a_fork_stands_still_until_something_is_sent(tmp_path: Path) -> None:
    stage = await conversation(tmp_path, says("Three."))
    made = await stage.supervisor.fork(stage.tab_id, at_seq=len(stage.rows))
    assert stage.supervisor.status(made).phase == "idle"
    assert story_of(stage, made) == stage.story
    await stage.send("Third", made)
    await stage.idle(made)
    assert story_of(stage, made)[6:] == ["user: Third", "assistant: Three.", "end done"]
    assert len(stage.story) == 6


@played
async def test_C09_a_fork_mends_what_it_shares_in_rows_of_its_own(tmp_path: Path) -> None:
    """A log that was imported without the result of a call, forked behind the call."""
    stage = await conversation(tmp_path, says("Three."))
    await stage.log.session(stage.tab_id).append(
        [
            _new("i1", "t9", Text("Go"), role="user"),
            _new("i2", "t9", call("c1", "look"), role="assistant"),
            _new("i3", "t10", Text("And?"), role="user"),
            _new("i4", "t10", Text("Well."), role="assistant"),
        ]
    )
    made = await stage.supervisor.edit(stage.tab_id, "i3", "And now?")
    await stage.idle(made)
    assert story_of(stage, made)[6:] == [
        *("user: Go", "call c1", "error c1", "end interrupted"),
        *("user: And now?", "assistant: Three.", "end done"),
    ]


@played
async def test_without_a_model_no_fork_is_made(tmp_path: Path) -> None:
    stage = await conversation(tmp_path)
    stage.unreachable = NacreError("No model.")
    with pytest.raises(NacreError, match="No model"):
        await stage.supervisor.edit(stage.tab_id, said(stage, "Second"), "Another")
    assert len(stage.log.conversations) == 1


@played
async def test_a_fork_in_which_nothing_could_be_said_does_not_stand_in_the_way(
    tmp_path: Path,
) -> None:
    ids = itertools.count(1)

    def fill() -> None:
        if len(log.conversations) == 2 and not log.failures:
            log.fail_next(StoreFull("The disk is full."))

    log = MemoryLog(
        now_ms=lambda: next(ids),
        new_id=lambda: f"log{next(ids)}",
        on_catalogue_change=fill,
        scratch=tmp_path,
    )
    stage = Stage(tmp_path, ScriptedModel([says("One.")]), log=log)
    await stage.tab()
    await stage.run("First")
    chunk_id = said(stage, "First")
    with pytest.raises(StoreFull):
        await stage.supervisor.edit(stage.tab_id, chunk_id, "Another")
    made = [one.tab for one in stage.log.conversations.values() if one.tab.id != stage.tab_id]
    assert [one.trashed_at is None for one in made] == [False]
    assert await stage.log.catalogue.branches(stage.tab_id) == ()


@played
async def test_what_can_not_be_said_anew_is_refused_with_a_sentence(tmp_path: Path) -> None:
    stage = await conversation(tmp_path)
    for chunk_id, text in (("nothing", "x"), (stage.rows[0].id, "x"), (said(stage, "Second"), " ")):
        with pytest.raises(NacreError):
            await stage.supervisor.edit(stage.tab_id, chunk_id, text)
    assert len(stage.log.conversations) == 1


# -- the rule, on rows ------------------------------------------------------------------------


def log_of(*lines: str) -> list[LogChunk]:
    """Rows from `id`s that begin with what they are: u(ser), a(nswer), e(rror), x (a turn's end),
    f(act), or `-id` that takes a row back."""
    return [_row(seq, line) for seq, line in enumerate(lines, start=1)]


def _row(seq: int, line: str) -> LogChunk:
    kinds: dict[str, tuple[Role, Payload]] = {
        "u": ("user", Text(line)),
        "a": ("assistant", Text(line)),
        "e": ("assistant", ErrorNote(line)),
        "x": ("system", System("turn_end")),
        "f": ("system", System("fact", line)),
        "-": ("system", System("retracted", fields={"chunkIds": [line[1:]]})),
    }
    role, data = kinds[line[0]]
    return LogChunk(line, "tab", seq, "t", 0, role, data, 0)


@pytest.mark.parametrize(
    ("lines", "edited", "at_seq", "messages"),
    [
        ("f u1 a x u2 a x", "u1", 1, "new"),
        ("f u1 a x f u2 a x", "u2", 5, "new"),
        ("u1 e x u2 a", "u1", 0, "new u2"),
        ("u1 e x f u2 a", "u2", 0, "u1 new"),
        ("u1 a x u2 u3 u4 a u5 a", "u3", 3, "u2 new u4"),
        # Taken back before: what took its place stands for itself.
        ("u1 e x -u1 u2 a", "u2", 4, "new"),
        ("u1 e x -u1 u2 a", "u1", 0, "new"),
        ("u0 e u1 e -u1 u2 a", "u1", 0, "u0 new"),
        # An answer that was taken back (a refusal, an empty one) is none.
        ("u1 a1 -a1 x u2 a", "u2", 0, "u1 new"),
    ],
)
def test_messages_without_an_answer_between_them_go_together(
    lines: str, edited: str, at_seq: int, messages: str
) -> None:
    rows = [
        row if row.id != "a" else _row(row.seq, f"a.{row.seq}") for row in log_of(*lines.split())
    ]
    found = branching.edited(rows, edited, "new", ())
    assert found == Resend(at_seq, tuple(Text(one) for one in messages.split()))


def test_unanswered_texts_are_replaced_together() -> None:
    rows = log_of("u1", "a1", "x1", "u2", "e1", "u3", "e2")
    assert branching.edited(rows, "u3", "new", ()).instead_of == {"u2", "u3"}
    assert branching.edited(rows, "u1", "new", ()).instead_of == frozenset()
    assert branching.regenerated(rows, "u3").instead_of == frozenset()


def _new(id_: str, turn_id: str, data: Payload, *, role: Role) -> NewChunk:
    return NewChunk(id=id_, turn_id=turn_id, role=role, data=data)
