"""The Markdown of a part of an answer that was marked where it is drawn. Pure.

What is drawn holds the words of its source in their order, so the words of the part are looked up
one after the other; then marks that would be torn apart are taken in whole.
"""

import re
from collections.abc import Iterator

_WORD = re.compile(r"\w+")
_FENCE = re.compile(r"^ {0,3}(?:```|~~~).*$", re.MULTILINE)
# What is not drawn, but for its marks: the address of a link.
_ADDRESS = re.compile(r"(?<=\])\([^)\n]*\)")
_PAIRS = "*_`~"
# A word stands not much further on in the source than the one before it: marks lie between.
_REACH = 4_096


def markdown_part(source: str, before: str, text: str, after: str) -> str:
    """The part of `source` that is drawn as `text`, between `before` and `after`."""
    span = _span(source, before, text)
    if span is None:
        return text
    start, end = _with_pairs(source, *span)
    if not before or before.endswith("\n"):
        start = _line_start(source, start)
    if not after or after.startswith("\n"):
        end = _line_end(source, end)
    start, end = _balanced(source, start, end)
    start, end = _with_fences(source, start, end)
    return source[start:end]


def _span(source: str, before: str, text: str) -> tuple[int, int] | None:
    """From the first word of the part to its last, and what stands right beside them."""
    first = last = None
    shift = len(before)
    for start, end, at in _aligned(source, before + text):
        if end <= shift:
            continue
        cut = max(0, shift - start)
        if first is None:
            first = (start + cut - shift, at + cut)
        last = (end - shift, at + end - start)
    if first is None or last is None:
        return None
    lead, rest = text[: first[0]].lstrip(), text[last[0] :].rstrip()
    begin = first[1] - len(lead) if source[: first[1]].endswith(lead) else first[1]
    return begin, last[1] + (len(rest) if source.startswith(rest, last[1]) else 0)


def _aligned(source: str, drawn: str) -> Iterator[tuple[int, int, int]]:
    """The words that are drawn: from, to, and where they stand in the source."""
    source = _FENCE.sub(_blank, _ADDRESS.sub(_blank, source))
    place = 0
    for word in _WORD.finditer(drawn):
        at = source.find(word[0], place, place + len(word[0]) + _REACH)
        while at > 0 and source[at - 1].isalnum() and source[at].isalnum():
            at = source.find(word[0], at + 1, place + len(word[0]) + _REACH)
        if at >= 0:
            yield word.start(), word.end(), at
            place = at + len(word[0])


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _with_pairs(source: str, start: int, end: int) -> tuple[int, int]:
    """With the marks that stand alike on both sides, and the address of a link."""
    while start and source[start - 1] in _PAIRS and source[end : end + 1] == source[start - 1]:
        start, end = start - 1, end + 1
    if start and source[start - 1] == "[" and source.startswith("](", end):
        close = source.find(")", end)
        if close >= 0:
            return start - 1, close + 1
    return start, end


def _balanced(source: str, start: int, end: int) -> tuple[int, int]:
    """With the marks beside it that it needs; where that does not do, whole lines."""
    before = len(source[:start].rstrip(_PAIRS))
    after = len(source) - len(source[end:].lstrip(_PAIRS))
    for one in ((start, end), (start, after), (before, end), (before, after)):
        if _is_balanced(source[slice(*one)]):
            return one
    return _line_start(source, start), _line_end(source, end)


def _is_balanced(part: str) -> bool:
    pairs = all(part.count(mark) % 2 == 0 for mark in ("**", "`", "~~"))
    return pairs and part.count("[") == part.count("]")


def _with_fences(source: str, start: int, end: int) -> tuple[int, int]:
    """A part that crosses the edge of a block of code takes in all of the block."""
    fences = list(_FENCE.finditer(source))
    inside = [fence for fence in fences if start <= fence.start() < end]
    before = [fence for fence in fences if fence.start() < start]
    after = [fence for fence in fences if fence.start() >= end]
    if not inside:
        return start, end
    if len(before) % 2:
        start, inside = before[-1].start(), [before[-1], *inside]
    if len(inside) % 2:
        end = after[0].end() if after else len(source)
    return start, end


def _line_start(source: str, place: int) -> int:
    return source.rfind("\n", 0, place) + 1


def _line_end(source: str, place: int) -> int:
    end = source.find("\n", place)
    return len(source) if end < 0 else end
