"""Judging an act: mode, rules, inside and outside (DESIGN.md §8)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.core.permissions import Act, ActKind, PermissionMode, Rule, Verdict, judge

MODES: tuple[PermissionMode, ...] = ("read-only", "ask", "accept-edits", "auto")


def act(kind: ActKind, *, outside: bool = False, covers: tuple[str, ...] = ()) -> Act:
    return Act("tool", kind, "Do it", "it", outside=outside, coverable_by=covers)


def judged(one: Act, mode: PermissionMode, *rules: Rule) -> Verdict:
    return judge(one, mode=mode, rules=frozenset(rules), workspace_id=1)


@pytest.mark.parametrize(
    ("kind", "outside", "verdicts"),
    [
        ("read", False, ("allow", "allow", "allow", "allow")),
        ("write", False, ("refuse", "ask", "allow", "allow")),
        ("execute", False, ("refuse", "ask", "ask", "allow")),
        ("read", True, ("refuse", "ask", "ask", "ask")),
        ("write", True, ("refuse", "ask", "ask", "ask")),
        ("execute", True, ("refuse", "ask", "ask", "ask")),
    ],
)
def test_each_mode_has_its_verdict(
    kind: ActKind, outside: bool, verdicts: tuple[Verdict, ...]
) -> None:
    assert tuple(judged(act(kind, outside=outside), mode) for mode in MODES) == verdicts


def test_U30_a_rule_answers_for_the_person() -> None:
    wanted = act("execute", covers=("git status", "git"))
    assert judged(wanted, "ask", Rule(1, "tool", "git")) == "allow"
    assert judged(wanted, "ask", Rule(2, "tool", "git")) == "ask"
    assert judged(wanted, "ask", Rule(1, "other", "git")) == "ask"
    assert judged(wanted, "ask", Rule(1, "tool", "gi")) == "ask"


@given(
    st.sampled_from(("read", "write", "execute")),
    st.sampled_from(MODES),
    st.lists(st.sampled_from(("a", "b")), max_size=2).map(tuple),
    st.booleans(),
)
def test_no_rule_and_no_mode_lets_anything_outside_pass_unasked(
    kind: ActKind, mode: PermissionMode, covers: tuple[str, ...], is_read_only: bool
) -> None:
    rules = [Rule(1, "tool", one) for one in ("a", "b")]
    assert judged(act(kind, outside=True, covers=covers), mode, *rules) != "allow"
    if is_read_only and kind != "read":
        assert judged(act(kind, covers=covers), "read-only", *rules) == "refuse"
