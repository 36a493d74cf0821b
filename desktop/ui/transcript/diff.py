"""What a change of a file looks like, from the arguments of the call alone. Pure."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from desktop.core.chunks import Json

DIFF_LINES = 1_000
AROUND = 3

Sign = Literal["+", "-", " ", "@"]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a diff; `@` stands for lines that are left out."""

    sign: Sign
    text: str


@dataclass(frozen=True, slots=True)
class Diff:
    lines: tuple[Line, ...]
    added: int
    removed: int


def diff_of(tool: str, arguments: Json) -> Diff | None:
    """The diff of an edit or a written file; None when the call changes no text."""
    if tool == "edit_file":
        old, new = arguments.get("old"), arguments.get("new")
        if isinstance(old, str) and isinstance(new, str):
            return changes(old, new)
    if tool == "write_file":
        content = arguments.get("content")
        if isinstance(content, str):
            return changes("", content)
    return None


def changes(old: str, new: str) -> Diff:
    """Both texts line by line; too long ones are shown as one block taken out and one put in."""
    before, after = old.splitlines(), new.splitlines()
    if max(len(before), len(after)) > DIFF_LINES:
        lines = _replaced(before, after)
    else:
        lines = _compared(before, after)
    return Diff(
        tuple(lines),
        sum(line.sign == "+" for line in lines),
        sum(line.sign == "-" for line in lines),
    )


def _replaced(before: Sequence[str], after: Sequence[str]) -> list[Line]:
    return [*(Line("-", line) for line in before), *(Line("+", line) for line in after)]


def _compared(before: Sequence[str], after: Sequence[str]) -> list[Line]:
    lines: list[Line] = []
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for number, group in enumerate(matcher.get_grouped_opcodes(AROUND)):
        if number:
            lines.append(Line("@", ""))
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                lines.extend(Line(" ", line) for line in before[i1:i2])
            else:
                lines.extend(_replaced(before[i1:i2], after[j1:j2]))
    return lines
