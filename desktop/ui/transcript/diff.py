"""What a change of a file looks like: from the diff that was shown and made, else from the call.

Pure, and bounded whatever the texts hold: comparing is cubic at worst, so what would take long is
shown as lines taken out and lines put in.
"""

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from desktop.core.chunks import Json

DIFF_LINES = 1_000
MOST_LINES = 5_000
MOST_LETTERS = 500_000
AROUND = 3
# Pairs of equal lines, and of words of a changed line, that are looked at.
_MOST_PAIRS = 4_000
_MOST_WORD_PAIRS = 20_000
_MOST_WORDS = 60
_LONGEST_MARKED = 500
_LEAST_ALIKE = 0.4

Sign = Literal["+", "-", " ", "@", "!"]

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,\d+)? \+(\d{1,9})(?:,\d+)? @@")
_WORD = re.compile(r"\w+|\s+|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a diff; `@` stands for lines that are left out, `!` for a remark.

    `old` and `new` are its numbers where they are known; `marks` are the stretches that differ from
    the line that it replaces or that replaces it.
    """

    sign: Sign
    text: str
    old: int | None = None
    new: int | None = None
    marks: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Diff:
    """`too_large` is how many letters there are where that is too much to show line by line."""

    lines: tuple[Line, ...]
    added: int
    removed: int
    too_large: int = 0


def diff_of(tool: str, arguments: Json, made: object = None) -> Diff | None:
    """The diff of an edit or a written file; None when the call changes no text.

    `made` is the unified diff that the result brought, if it did.
    """
    if isinstance(made, str) and made:
        return read(made)
    if tool == "edit_file":
        old, new = arguments.get("old"), arguments.get("new")
        if isinstance(old, str) and isinstance(new, str):
            return changes(old, new)
    if tool == "write_file":
        content = arguments.get("content")
        if isinstance(content, str):
            return changes("", content)
    return None


def read(unified: str) -> Diff:
    """A unified diff of one file; what is no part of a hunk is a remark."""
    lines: list[Line] = []
    old = new = 0
    for text in unified.split("\n", MOST_LINES)[:MOST_LINES]:
        hunk = _HUNK.match(text)
        if hunk is not None:
            if old or new:
                lines.append(Line("@", ""))
            # An empty side is counted from the line before it.
            old, new = (max(1, int(one)) for one in hunk.groups())
        elif not (old or new):
            if text and not text.startswith(("--- ", "+++ ")):
                lines.append(Line("!", text))
        elif text.startswith("-"):
            lines.append(Line("-", text[1:], old=old))
            old += 1
        elif text.startswith("+"):
            lines.append(Line("+", text[1:], new=new))
            new += 1
        elif text.startswith(" "):
            lines.append(Line(" ", text[1:], old=old, new=new))
            old, new = old + 1, new + 1
        elif text:
            lines.append(Line("!", text.removeprefix("\\ ")))
    return _counted(lines)


def changes(old: str, new: str) -> Diff:
    """Both texts line by line; what would take long as one block taken out and one put in."""
    gone, come = (text.count("\n") + bool(text and text[-1] != "\n") for text in (old, new))
    if len(old) + len(new) > MOST_LETTERS or gone + come > MOST_LINES:
        return Diff((), come, gone, too_large=len(old) + len(new))
    before, after = _apart(old.splitlines(), new.splitlines())
    if _is_heavy(before, after):
        return _counted(_replaced(before, after))
    return _counted(list(_compared(before, after)))


def _apart(before: list[str], after: list[str]) -> tuple[list[str], list[str]]:
    """Both without what they begin and end with alike, but for the lines around a change."""
    first = _alike(before, after)
    last = _alike(before[first:][::-1], after[first:][::-1])
    start, cut = max(0, first - AROUND), max(0, last - AROUND)
    return before[start : len(before) - cut], after[start : len(after) - cut]


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines at the start are the same."""
    pairs = zip(one, other, strict=False)
    return next(
        (at for at, (left, right) in enumerate(pairs) if left != right), min(len(one), len(other))
    )


def _counted(lines: list[Line]) -> Diff:
    return Diff(
        tuple(_marked(lines)),
        sum(line.sign == "+" for line in lines),
        sum(line.sign == "-" for line in lines),
    )


def _is_heavy(before: Sequence[str], after: Sequence[str]) -> bool:
    if max(len(before), len(after)) > DIFF_LINES:
        return True
    # Each line beside each that is equal to it: what comparing has to look at.
    one, other = Counter(before), Counter(after)
    return sum(count * other[line] for line, count in one.items()) > _MOST_PAIRS


def _replaced(before: Sequence[str], after: Sequence[str]) -> list[Line]:
    return [*(Line("-", line) for line in before), *(Line("+", line) for line in after)]


def _compared(before: Sequence[str], after: Sequence[str]) -> Iterator[Line]:
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for number, group in enumerate(matcher.get_grouped_opcodes(AROUND)):
        if number:
            yield Line("@", "")
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from (Line(" ", line) for line in before[i1:i2])
            else:
                yield from _replaced(before[i1:i2], after[j1:j2])


# Words


def _marked(lines: list[Line]) -> list[Line]:
    """Lines that replace each other, one for one, with what differs in them marked."""
    at, left = 0, _MOST_WORD_PAIRS
    while at < len(lines):
        gone = _run(lines, at, "-")
        come = _run(lines, at + gone, "+")
        if gone and gone == come:
            for place in range(at, at + gone):
                left = _mark(lines, place, place + gone, left)
        at += max(1, gone + come)
    return lines


def _run(lines: Sequence[Line], at: int, sign: Sign) -> int:
    end = at
    while end < len(lines) and lines[end].sign == sign:
        end += 1
    return end - at


def _mark(lines: list[Line], gone: int, come: int, left: int) -> int:
    """Marks a pair of lines; how many pairs of words may still be looked at."""
    if max(len(lines[at].text) for at in (gone, come)) > _LONGEST_MARKED:
        return left
    one, other = (_WORD.findall(lines[at].text) for at in (gone, come))
    if max(len(one), len(other)) > _MOST_WORDS or len(one) * len(other) > left:
        return left
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    blocks = matcher.get_matching_blocks()
    same = sum(len(word) for a, _, size in blocks for word in one[a : a + size])
    if 2 * same >= _LEAST_ALIKE * (len(lines[gone].text) + len(lines[come].text)):
        kept = [(a, size) for a, _, size in blocks], [(b, size) for _, b, size in blocks]
        lines[gone] = replace(lines[gone], marks=_between(one, kept[0]))
        lines[come] = replace(lines[come], marks=_between(other, kept[1]))
    return left - len(one) * len(other)


def _between(words: Sequence[str], kept: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The stretches outside of the kept words, in letters: (start, length)."""
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word))
    marks: list[tuple[int, int]] = []
    at = 0
    for first, size in kept:
        if first > at:
            marks.append((starts[at], starts[first] - starts[at]))
        at = first + size
    return tuple(marks)
