"""What a tool is about to do, put so that a person can judge it, and rules that answer for them.

A tool resolves everything first and then describes its `Act`; judging looks at the act only. A
rule is a text that some acts list among `coverable_by`: the tool that knows how its arguments are
understood decides what a rule plainly covers (FIELD F-T02), and matching is equality.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

PermissionMode = Literal["read-only", "ask", "accept-edits", "auto"]
ActKind = Literal["read", "write", "execute"]
DetailKind = Literal["path", "command", "diff"]
Verdict = Literal["allow", "ask", "refuse"]
Choice = Literal["once", "always", "deny"]


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that a tool will do when it is allowed.

    `sentence` is plain words ("Write notes.txt"); `detail` the exact path, command or unified diff;
    `where` the real folder it runs in or the real path it touches; `writes` the real paths that
    it could write ("" means unknown). `outside`: something real lies outside the workspace.
    `confined`: it runs in a sandbox that keeps it to `writes` and `network`; `caution` is what the
    person should know when it does not though it could.
    `coverable_by`: the rules that would cover it, narrowest first; `offer` is the one to propose
    for "always" (empty: only "once"). `prepared` is the tool's own and nobody else's business.
    """

    tool: str
    kind: ActKind
    sentence: str
    detail: str
    detail_kind: DetailKind = "path"
    where: str = ""
    writes: tuple[str, ...] = ()
    network: bool = False
    outside: bool = False
    confined: bool = False
    caution: str = ""
    coverable_by: tuple[str, ...] = ()
    offer: str = ""
    prepared: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Rule:
    """A kept "always" of one workspace: acts of `tool` that `match` covers run unasked."""

    workspace_id: int
    tool: str
    match: str


@dataclass(frozen=True, slots=True)
class Circle:
    """The agent does the same over and over (SPEC U27): `sentence` says so in plain words, `detail`
    is what it would do once more."""

    sentence: str
    detail: str


@dataclass(frozen=True, slots=True)
class Question:
    """What waits for the person: an act before it is done, or a circle before it goes on.

    `asked_at` is ms UTC.
    """

    id: str
    tab_id: str
    call_id: str
    about: Act | Circle
    asked_at: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What the person chose; `why` goes to the model with a denial.

    A circle goes on with `once`; a denial ends the turn, unless it says what to do instead.
    """

    choice: Choice
    why: str = ""


def judge(act: Act, *, mode: PermissionMode, rules: frozenset[Rule], workspace_id: int) -> Verdict:
    """Whether an act runs, asks, or is refused in this mode (DESIGN.md §8).

    Reading inside the workspace is always allowed; anything outside always asks (or is refused
    where nothing but reading inside is allowed); a rule never covers an act outside.
    """
    if act.kind == "read" and not act.outside:
        return "allow"
    if mode == "read-only":
        return "refuse"
    if act.outside:
        return "ask"
    if any(Rule(workspace_id, act.tool, match) in rules for match in act.coverable_by):
        return "allow"
    if mode == "auto" or (mode == "accept-edits" and act.kind == "write"):
        return "allow"
    return "ask"
