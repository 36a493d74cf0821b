"""Text with its colours: values that a terminal makes, a row keeps and a view draws. Pure."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from desktop.core.colouring import PLAIN, Style, styled

MOST_SPANS = 2_000


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a text that is not plain; both numbers are in characters."""

    start: int
    length: int
    style: Style


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its end; what lies between the spans is plain."""

    text: str
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Printed:
    """A text of several lines, and what of it is not plain."""

    text: str
    spans: tuple[Span, ...] = ()

    def head(self, length: int) -> "Printed":
        """Its first characters."""
        return Printed(self.text[:length], tuple(_moved(self.spans, 0, length)))

    def tail(self, length: int) -> "Printed":
        """Its last characters."""
        first = len(self.text) - length
        return Printed(self.text[first:], tuple(_moved(self.spans, first, len(self.text))))

    def runs(self, start: int, end: int) -> Iterator[tuple[str, Style]]:
        """What lies between two places, in pieces of one look each."""
        at = start
        first = bisect_right(self.spans, start, key=_end_of)
        for one in self.spans[first:]:
            if one.start >= end:
                break
            stop = min(_end_of(one), end)
            if one.start > at:
                yield self.text[at : one.start], PLAIN
            yield self.text[max(at, one.start) : stop], one.style
            at = stop
        if at < end:
            yield self.text[at:end], PLAIN

    def after(self, text: str) -> tuple[Span, ...]:
        """Its spans where it stands behind a text."""
        return tuple(Span(one.start + len(text), one.length, one.style) for one in self.spans)

    def part(self, first: int, end: int) -> "Printed":
        """What lies between two places."""
        at = bisect_right(self.spans, first, key=_end_of)
        return Printed(self.text[first:end], tuple(_moved(self.spans[at:], first, end)))


@dataclass(frozen=True, slots=True)
class Growth:
    """What came of an output: the last `back` characters of what stood are gone, then `text` stands
    there, its `spans` counted from its own start. `lost` lines came before it and were not told."""

    text: str
    spans: tuple[Span, ...] = ()
    back: int = 0
    lost: int = 0


def as_json(spans: Sequence[Span]) -> list[list[object]]:
    """`[start, length, style]` each, as a row keeps them; of too many the first ones."""
    return [[one.start, one.length, one.style.code] for one in spans[:MOST_SPANS]]


def spans_in(kept: object, length: int) -> tuple[Span, ...]:
    """The spans that a row keeps of a text of this length; what is none is left out."""
    found: list[Span] = []
    end = 0
    for one in cast("Sequence[object]", kept)[:MOST_SPANS] if isinstance(kept, list) else ():
        match one:
            case [int(start), int(count), str(code)] if end <= start < start + count <= length:
                found.append(Span(start, count, styled(PLAIN, code)))
                end = start + count
            case _:
                pass
    return tuple(found)


def _end_of(span: Span) -> int:
    return span.start + span.length


def _moved(spans: Iterable[Span], first: int, end: int) -> Iterator[Span]:
    """The parts of spans between two places, counted from the first."""
    for one in spans:
        if one.start >= end:
            return
        start, stop = max(one.start, first), min(one.start + one.length, end)
        if start < stop:
            yield Span(start - first, stop - start, one.style)
