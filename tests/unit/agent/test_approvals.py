"""Asking: modes and rules answer for the person, "always" is kept, nobody there means no."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from desktop.agent.approvals import Approvals, Asker, Rules
from desktop.core.errors import StoreError, StoreFull
from desktop.core.permissions import Act, Answer, PermissionMode, Question, Rule
from desktop.tools.commands import coverable_by, offer
from tests.fakes.models import ScriptedModel, call, calls, says
from tests.fakes.tools import ScriptedTool
from tests.unit.agent.stage import Stage, played, results


class KeptRules:
    """Rules in a set; `broken` refuses."""

    def __init__(self, *kept: Rule) -> None:
        self.kept = set(kept)
        self.broken = False

    async def rules(self, workspace_id: int) -> frozenset[Rule]:
        if self.broken:
            raise StoreFull("The disk is full.")
        return frozenset(one for one in self.kept if one.workspace_id == workspace_id)

    async def add_rule(self, rule: Rule) -> None:
        if self.broken:
            raise StoreFull("The disk is full.")
        self.kept.add(rule)


def act(kind: str = "execute", *, covers: tuple[str, ...] = (), outside: bool = False) -> Act:
    return Act(
        tool="shell",
        kind=kind,  # type: ignore[arg-type]
        sentence="Run it",
        detail="ls",
        outside=outside,
        coverable_by=covers,
        offer=covers[-1] if covers else "",
    )


class Desk:
    """Approvals with a set of rules, and conversations that ask."""

    def __init__(self, *rules: Rule, has_person: bool = True) -> None:
        self.rules = KeptRules(*rules)
        self.cautioned: list[Act] = []
        numbers = iter(range(1, 1000))
        self.approvals = Approvals(
            cast("Rules", self.rules),
            has_person=has_person,
            new_id=lambda: f"q{next(numbers)}",
            now_ms=lambda: 7,
            caution=self.cautioned.append,
        )
        self.modes: dict[str, PermissionMode] = {}
        self.changed: list[str] = []

    def ask(self, wanted: Act, *, tab: str = "t", workspace: int = 1) -> "asyncio.Task[str | None]":
        asker = Asker(
            tab,
            workspace,
            mode=lambda: self.modes.get(tab, "ask"),
            changed=lambda: self.changed.append(tab),
        )
        return asyncio.create_task(self.approvals.refusal(wanted, call_id="c", asker=asker))

    async def questions(self, tab: str = "t") -> tuple[Question, ...]:
        for _ in range(5):
            await asyncio.sleep(0)
        return self.approvals.questions(tab)


@played
async def test_reading_inside_is_never_asked() -> None:
    desk = Desk(has_person=False)
    assert await desk.ask(act("read")) is None


@played
async def test_U30_an_answer_of_once_allows_this_one_only() -> None:
    desk = Desk()
    first, second = desk.ask(act(covers=("ls",))), desk.ask(act(covers=("ls",)))
    one, two = await desk.questions()
    assert (one.asked_at, one.tab_id, one.call_id) == (7, "t", "c")
    await desk.approvals.answer(one.id, Answer("once"))
    assert await first is None
    assert await desk.questions() == (two,)
    assert desk.rules.kept == set()
    await desk.approvals.answer(two.id, Answer("deny"))
    assert (await second or "").startswith("Denied")


@played
async def test_U30_always_is_kept_and_answers_what_waits_in_the_workspace() -> None:
    desk = Desk()
    same = [desk.ask(act(covers=("ls",))), desk.ask(act(covers=("ls",)), tab="other")]
    different = desk.ask(act(covers=("rm",)))
    elsewhere = desk.ask(act(covers=("ls",)), tab="third", workspace=2)
    question = (await desk.questions())[0]
    await desk.approvals.answer(question.id, Answer("always"))
    assert [await one for one in same] == [None, None]
    assert desk.rules.kept == {Rule(1, "shell", "ls")}
    assert len(await desk.questions()) == 1
    assert len(await desk.questions("third")) == 1
    assert await desk.ask(act(covers=("ls",))) is None
    different.cancel()
    elsewhere.cancel()
    await asyncio.wait({different, elsewhere})


@played
async def test_always_where_nothing_is_offered_is_once() -> None:
    desk = Desk()
    asked = desk.ask(act(covers=("ls",), outside=True))
    question = (await desk.questions())[0]
    await desk.approvals.answer(question.id, Answer("always"))
    assert await asked is None
    assert desk.rules.kept == set()


@played
async def test_an_always_that_can_not_be_kept_allows_once_and_says_so() -> None:
    desk = Desk()
    asked = desk.ask(act(covers=("ls",)))
    question = (await desk.questions())[0]
    desk.rules.broken = True
    with pytest.raises(StoreError):
        await desk.approvals.answer(question.id, Answer("always"))
    assert await asked is None


@played
async def test_rules_that_can_not_be_read_cover_nothing() -> None:
    desk = Desk(Rule(1, "shell", "ls"))
    desk.rules.broken = True
    asked = desk.ask(act(covers=("ls",)))
    assert len(await desk.questions()) == 1
    asked.cancel()
    await asyncio.wait({asked})


@played
async def test_without_a_person_asking_is_refusing() -> None:
    desk = Desk(has_person=False)
    refusal = await desk.ask(act())
    assert refusal is not None
    assert "nobody is there" in refusal
    assert await desk.questions() == ()


@played
async def test_read_only_refuses_what_is_not_reading() -> None:
    desk = Desk()
    desk.modes["t"] = "read-only"
    assert "read-only" in (await desk.ask(act("write")) or "")
    assert "read-only" in (await desk.ask(act("read", outside=True)) or "")


@played
async def test_a_changed_mode_answers_the_open_questions() -> None:
    desk = Desk()
    inside, outside = desk.ask(act()), desk.ask(act(outside=True))
    await desk.questions()
    desk.modes["t"] = "auto"
    await desk.approvals.judge_again(1)
    assert await inside is None
    assert len(await desk.questions()) == 1
    desk.modes["t"] = "read-only"
    await desk.approvals.judge_again(1)
    assert "read-only" in (await outside or "")


@played
async def test_a_wait_that_is_cancelled_takes_its_question_back() -> None:
    desk = Desk()
    asked = desk.ask(act())
    question = (await desk.questions())[0]
    asked.cancel()
    await asyncio.wait({asked})
    assert await desk.questions() == ()
    assert desk.changed == ["t", "t"]
    await desk.approvals.answer(question.id, Answer("once"))


@played
async def test_a_second_answer_changes_nothing() -> None:
    desk = Desk()
    asked = desk.ask(act())
    question = (await desk.questions())[0]
    await desk.approvals.answer(question.id, Answer("deny", why="no"))
    await desk.approvals.answer(question.id, Answer("once"))
    assert "They say: no" in (await asked or "")


@played
async def test_U30_parallel_calls_of_one_kind_are_answered_together(tmp_path: Path) -> None:
    tool = ScriptedTool("shell", kind="execute", coverable_by=("shell ls",))
    wanted = [call(f"c{n}", "shell", {"n": n}) for n in range(3)]
    later = calls(call("c9", "shell", {"n": 9}))
    stage = Stage(tmp_path, ScriptedModel([calls(*wanted), later, says("K")]), [tool])
    await stage.tab()
    await stage.send("Go")
    status = stage.supervisor.status
    await stage.published.until(lambda: len(status(stage.tab_id).questions) == 3)
    question = status(stage.tab_id).questions[1]
    await stage.supervisor.answer(question.id, Answer("always"))
    await stage.idle()
    assert len(tool.ran) == 4
    assert len([one for one in stage.published.statuses() if one.questions]) <= 6


@played
async def test_U30_two_hundred_commands_of_four_kinds_ask_four_times() -> None:
    desk, asked = Desk(), list[str]()
    kinds = ("git log -n {0}", "ls -la part-{0}", "npm test part-{0}", "cargo test part_{0}")
    for number in range(200):
        command = kinds[number % len(kinds)].format(number)
        covers = coverable_by(command)
        wanted = replace(act(), detail=command, coverable_by=covers, offer=offer(command))
        refused = desk.ask(wanted)
        for question in await desk.questions():
            asked.append(command)
            await desk.approvals.answer(question.id, Answer("always"))
        assert await refused is None
    assert asked == [kind.format(number) for number, kind in enumerate(kinds)]


@played
async def test_a_turn_without_a_person_is_refused_what_asks_and_goes_on(tmp_path: Path) -> None:
    tool = ScriptedTool("shell", kind="execute")
    model = ScriptedModel([calls(call("c1", "shell")), says("K")])
    stage = Stage(tmp_path, model, [tool], has_person=False)
    await stage.tab()
    await stage.run("Go")
    assert tool.ran == []
    assert results(stage.rows)["c1"].is_error
    assert stage.story[-1] == "end done"


@played
async def test_auto_runs_inside_without_asking_and_never_outside(tmp_path: Path) -> None:
    inside = ScriptedTool("shell", kind="execute")
    outside = ScriptedTool("write", kind="write", outside=True)
    model = ScriptedModel([calls(call("c1", "shell"), call("c2", "write")), says("K")])
    stage = Stage(tmp_path, model, [inside, outside], mode="auto", has_person=False)
    await stage.tab()
    await stage.run("Go")
    assert (inside.ran, outside.ran) == ([{}], [])
    assert [results(stage.rows)[id_].is_error for id_ in ("c1", "c2")] == [False, True]


@played
async def test_what_is_to_be_said_of_an_act_is_said_when_nobody_is_asked() -> None:
    """DESIGN.md §8: `auto` without a sandbox."""
    desk = Desk()
    open_act = replace(act(), caution="There is no sandbox.")
    asked = desk.ask(open_act)
    (question,) = await desk.questions()
    await desk.approvals.answer(question.id, Answer("once"))
    assert await asked is None
    assert desk.cautioned == []
    desk.modes["t"] = "auto"
    assert await desk.ask(act()) is None
    assert await desk.ask(open_act) is None
    assert desk.cautioned == [open_act]
