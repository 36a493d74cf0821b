"""The unified diff that a person judges: exactly the change that will be made, or why not shown."""

import difflib
import re
from collections.abc import Sequence

from desktop.tools.output import readable
from desktop.tools.texts import FileText, decode, lines_of, whole_characters

CONTEXT = 3
_MOST_BYTES = 4_000_000
_MOST_CHANGED_LINES = 4_000
_HUNK = re.compile(r"@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@")


def unified(label: str, before: bytes | None, after: bytes) -> str:
    """The diff of a file; `before` is None where there is none yet.

    Line ends are shown (as ␍ and ␊) where they differ between the two sides.
    """
    header = f"--- {'/dev/null' if before is None else label}\n+++ {label}\n"
    old, new = decode(before or b""), decode(after)
    if old is None or new is None:
        return f"{header}Binary content: {_sizes(before, after)}.\n"
    if len(before or b"") + len(after) > _MOST_BYTES:
        return f"{header}Too large to show line by line: {_sizes(before, after)}.\n"
    note = ""
    if before is not None and (old.encoding, old.mark) != (new.encoding, new.mark):
        note = f"Encoding: {_named(old)} -> {_named(new)}\n"
    body = _hunks(lines_of(old.body), lines_of(new.body))
    return whole_characters(header + note + body)


def too_large(label: str, size: int, after: bytes) -> str:
    """What stands for the diff of a file that is too large to be read for it."""
    return (
        f"--- {label}\n+++ {label}\n"
        f"Too large to compare: {readable(size)} -> {readable(len(after))}.\n"
    )


def _sizes(before: bytes | None, after: bytes) -> str:
    start = "new file" if before is None else readable(len(before))
    return f"{start} -> {readable(len(after))}"


def _named(text: FileText) -> str:
    return f"{text.encoding} with mark" if text.mark else text.encoding


def _hunks(old: Sequence[str], new: Sequence[str]) -> str:
    first = _common(old, new)
    last = _common(old[first:][::-1], new[first:][::-1])
    changed = len(old) + len(new) - 2 * (first + last)
    if not changed:
        return ""
    if changed > _MOST_CHANGED_LINES:
        gone, come = len(old) - first - last, len(new) - first - last
        return f"Too long to show: from line {first + 1} on, -{gone:,} and +{come:,} lines.\n"
    start = max(0, first - CONTEXT)
    old_part = old[start : len(old) - last + min(last, CONTEXT)]
    new_part = new[start : len(new) - last + min(last, CONTEXT)]
    lines = list(difflib.unified_diff(old_part, new_part, n=CONTEXT))[2:]
    ends = {_end(line) for line in lines if line[0] != "@" and _end(line)}
    return "".join(_drawn(line, start, show_ends=len(ends) > 1) for line in lines)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines at the start are the same."""
    for place, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return place
    return min(len(one), len(other))


def _drawn(line: str, start: int, *, show_ends: bool) -> str:
    if line.startswith("@"):
        return _HUNK.sub(lambda hunk: _moved(hunk, start), line)
    end = _end(line)
    text = line[: len(line) - len(end)]
    if not end:
        return f"{text}\n\\ No newline at end of file\n"
    shown = end.replace("\r", "␍").replace("\n", "␊") if show_ends else ""
    return f"{text}{shown}\n"


def _moved(hunk: re.Match[str], start: int) -> str:
    old, old_count, new, new_count = hunk.groups()
    return f"@@ -{int(old) + start}{old_count or ''} +{int(new) + start}{new_count or ''} @@"


def _end(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]
