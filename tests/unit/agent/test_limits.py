"""However agents begin subagents, no family is deeper, larger or busier than it may be (U28)."""

import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from desktop.agent import budget
from desktop.agent.limits import Caps, Family, refusal
from desktop.agent.spending import Tariff
from desktop.core.records import RequestRecord, Tab
from tests.fakes.families import FamilyModel, asks
from tests.fakes.models import Response, calls, says
from tests.unit.agent.stage import Stage, play, played, read_usage, results, story, tokens_price


@dataclass(frozen=True)
class Node:
    """A task: in each step it gives so many others away, side by side."""

    steps: tuple[tuple["Node", ...], ...] = ()


def nodes(depth: int) -> st.SearchStrategy[Node]:
    if not depth:
        return st.just(Node())
    step = st.lists(nodes(depth - 1), min_size=1, max_size=4).map(tuple)
    return st.lists(step, max_size=2).map(tuple).map(Node)


def scripts(node: Node, name: str) -> Iterator[tuple[str, list[Response]]]:
    """What the model says in every conversation of the tree, by task."""
    answers: list[Response] = []
    for at, step in enumerate(node.steps):
        names = [f"{name}.{at}.{place}" for place in range(len(step))]
        answers.append(calls(*map(asks, names)))
        for child, its in zip(step, names, strict=True):
            yield from scripts(child, its)
    yield name, [*answers, says("done")]


def depth_of(stage: Stage, tab: Tab) -> int:
    parent = tab.parent_tab_id
    return 0 if parent is None else 1 + depth_of(stage, stage.log.find(parent).tab)


@settings(max_examples=40, deadline=None)
@given(
    tree=nodes(3),
    caps=st.builds(
        Caps,
        depth=st.integers(0, 3),
        at_once=st.integers(1, 4),
        per_turn=st.integers(1, 24),
    ),
    seed=st.integers(0, 1_000),
    others=nodes(2),
)
def test_U28_no_tree_of_calls_exceeds_the_caps_and_every_one_ends(
    tree: Node, caps: Caps, seed: int, others: Node
) -> None:
    """Side by side, one after the other, below each other, and after a second message too."""
    pace = random.Random(seed)

    async def scenario() -> None:
        answers = dict(scripts(tree, "t"))
        more = dict(scripts(others, "m"))
        answers["t"] += more.pop("m")
        model = FamilyModel(answers | more, pace=lambda: pace.randrange(30))
        with tempfile.TemporaryDirectory() as folder:
            stage = Stage(Path(folder), model, caps=caps)
            await stage.tab()
            for message in ("t", "m"):
                before = len(stage.log.conversations)
                await stage.run(message)
                begun = len(stage.log.conversations) - before
                assert begun <= caps.per_turn
                assert stage.supervisor.running == ()
        assert model.most <= caps.at_once
        for conversation in stage.log.conversations.values():
            assert depth_of(stage, conversation.tab) <= caps.depth
            assert story(conversation.rows)[-1] == "end done"

    play(scenario)


@given(
    at_once=st.integers(1, 5),
    acts=st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=60),
)
def test_U28_places_are_never_more_than_there_are_and_a_parents_own_is_always_free(
    at_once: int, acts: list[tuple[int, bool]]
) -> None:
    """Pure: children take places as `has_place` allows, and leaves end in any order."""
    family = Family(Caps(at_once=at_once))
    parents: dict[int, int | None] = {}
    for child, (pick, ends) in enumerate(acts):
        leaves = [one for one in parents if one not in parents.values()]
        if ends and leaves:
            gone = leaves[pick % len(leaves)]
            family.end(gone)
            del parents[gone]
            continue
        parent = [None, *parents][pick % (len(parents) + 1)]
        if parent is not None and parent in leaves:
            assert family.has_place(parent)
        if family.has_place(parent):
            family.begin(child, parent=parent)
            parents[child] = parent
        assert family.at_work <= at_once


def test_U28_the_defaults_are_two_deep_four_at_once_and_twenty_four_a_turn() -> None:
    assert Caps() == Caps(depth=2, at_once=4, per_turn=24)
    assert refusal(Caps(), depth=2, begun=23) == ""
    assert refusal(Caps(), depth=3, begun=0)
    assert refusal(Caps(), depth=1, begun=24)


@played
async def test_U28_a_subagent_that_the_person_goes_on_with_is_as_deep_as_it_was(
    tmp_path: Path,
) -> None:
    model = FamilyModel(
        {
            "Go": [calls(asks("A")), says("Done.")],
            "A": [calls(asks("B")), says("a"), calls(asks("C")), says("a again")],
            "B": [says("b"), calls(asks("D")), says("b again")],
            "C": [says("c")],
        }
    )
    stage = Stage(tmp_path, model, caps=Caps())
    await stage.tab()
    await stage.run("Go")
    ids = {one.tab.title: one.tab.id for one in stage.log.conversations.values()}
    for title in ("A", "B"):
        await stage.send("And now?", ids[title])
        await stage.idle(ids[title])
    assert not results(stage.log.chunks(ids["A"]))["call C"].is_error
    assert "2 deep at most" in results(stage.log.chunks(ids["B"]))["call D"].result


@played
async def test_places_are_given_in_the_order_they_were_asked_for(tmp_path: Path) -> None:
    model = FamilyModel(
        {
            "Go": [calls(*map(asks, "ABCDEF")), says("Done.")],
            **{one: [says(one)] for one in "ABCDEF"},
        }
    )
    stage = Stage(tmp_path, model, caps=Caps(at_once=2))
    await stage.tab()
    await stage.run("Go")
    assert model.order == ["Go", *"ABCDEF", "Go"]


def record(model: str, prompt: int) -> RequestRecord:
    return RequestRecord(
        id="r",
        tab_id="t",
        turn_id="1",
        step=0,
        provider="p",
        model=model,
        started_at=0,
        usage={"input_tokens": prompt, "cache_read_input_tokens": 50},
    )


TARIFF = Tariff(
    usage=read_usage,
    dollars=lambda one: None if one.model == "unknown" else read_usage(one.usage or {}).input / 100,
    tokens=tokens_price,
)


@pytest.mark.parametrize(
    ("requests", "dollars", "used_up"),
    [
        ([], 1.0, False),
        ([("known", 99)], 1.0, False),
        ([("known", 60), ("known", 40)], 1.0, True),
        ([("known", 10_000)], 0.0, False),
        ([("unknown", budget.TOKENS - 1)], 1.0, False),
        ([("unknown", budget.TOKENS)], 1.0, True),
        ([("unknown", budget.TOKENS // 2), ("known", 50)], 1.0, True),
    ],
)
def test_U28_without_a_price_tokens_count_for_their_part_of_the_budget(
    requests: list[tuple[str, int]], dollars: float, used_up: bool
) -> None:
    records = [record(*one) for one in requests]
    assert budget.is_used_up(records, tariff=TARIFF, dollars=dollars) is used_up
