"""An output that grows: told in pieces by who prints it, kept as its two ends by who shows it.

`Telling` is the writing half, `Growing` the reading half; whatever way an output was cut, what the
pieces make is what `core.terminal.printed` gives for all of it. Neither keeps what it has told: a
piece costs what came, however much came before. Pure.
"""

import codecs
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from desktop.core.printed import Growth, Line, Printed, Span
from desktop.core.terminal import Terminal

# Characters, at which a longer line goes on in the next one: the line that is written is told anew.
WIDTH = 2_000
# Lines that are kept at each end.
HEAD = 20
TAIL = 20


class Telling:
    """Bytes go in at `feed`; `take` says what they changed since it was called last."""

    def __init__(self) -> None:
        self._begin()
        self._told = Line("")
        self._text: list[str] = []
        self._spans: list[Span] = []
        self._length = 0
        self._back = 0
        self._lost = 0

    def _begin(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._terminal = Terminal(width=WIDTH)

    def feed(self, data: bytes, *, final: bool = False) -> None:
        """Prints more; half a character or half a sequence waits for its rest, until `final`."""
        for line in self._terminal.feed(self._decoder.decode(data, final)):
            self._tell(line, "\n")
            self._told = Line("")

    def skip(self, lines: int) -> None:
        """So many lines are left out here, and with them whatever they had begun."""
        self._begin()
        ending = "\n" if self._told.text else ""
        self._told = Line("")
        self._put(f"{ending}[…]\n")
        self._lost += lines

    def take(self) -> Growth | None:
        """What is new, None where nothing is."""
        line = self._terminal.line
        self._tell(line, "")
        self._told = line
        growth = Growth("".join(self._text), tuple(self._spans), self._back, self._lost)
        self._text, self._spans = [], []
        self._length = self._back = self._lost = 0
        return growth if growth != Growth("") else None

    def _tell(self, line: Line, end: str) -> None:
        """A line, from where it is another than it was told."""
        kept = _alike(self._told, line)
        if not self._length:
            self._back = len(self._told.text) - kept
        rest = Printed(line.text, line.spans).part(kept, len(line.text))
        self._spans.extend(
            Span(self._length + one.start, one.length, one.style) for one in rest.spans
        )
        self._put(rest.text + end)

    def _put(self, text: str) -> None:
        if text:
            self._text.append(text)
            self._length += len(text)


@dataclass(slots=True)
class Growing:
    """The first and the last lines of an output that grows, and how many lie between."""

    _head: Printed = Printed("")
    _head_lines: int = 0
    _tail: deque[Line] = field(default_factory=lambda: deque[Line](maxlen=TAIL))
    _last: Line = Line("")
    between: int = 0

    def add(self, growth: Growth) -> None:
        """Takes a piece. What it takes back lies in the line that is not finished."""
        kept = Printed(self._last.text, self._last.spans)
        kept = kept.head(max(0, len(kept.text) - growth.back))
        whole = _seamless(kept, growth)
        start, lines = 0, whole.text.count("\n")
        if growth.lost:
            self.between += growth.lost
            self._head_lines = HEAD
        if lines and self._head_lines < HEAD:
            taken = min(lines, HEAD - self._head_lines)
            start = _after_lines(whole.text, taken)
            first = whole.head(start)
            self._head = Printed(
                self._head.text + first.text, self._head.spans + first.after(self._head.text)
            )
            self._head_lines += taken
            lines -= taken
        self._add_lines(whole, start, lines)

    def _add_lines(self, whole: Printed, start: int, lines: int) -> None:
        """So many finished lines from there on, and the one that is not."""
        if lines > TAIL:
            gone = lines - TAIL
            start = _before_lines(whole.text, TAIL)
            self.between += gone + len(self._tail)
            self._tail.clear()
            lines = TAIL
        for _ in range(lines):
            end = whole.text.index("\n", start)
            self.between += len(self._tail) == TAIL
            self._tail.append(_line(whole, start, end))
            start = end + 1
        # What never ends its line is cut where `Telling` would have cut it.
        self._last = _line(whole, max(start, len(whole.text) - WIDTH), len(whole.text))

    @property
    def head(self) -> Printed:
        """Its first lines, with their ends."""
        return self._head

    @property
    def tail(self) -> Printed:
        """The lines after the head and what is left out, the last one as far as it came."""
        return _joined([*self._tail, self._last])

    def newest(self, lines: int, *, width: int) -> Printed:
        """The beginnings of its last lines, wherever they stand; no empty one at the end."""
        last = [self._last] if self._last.text else []
        found = [*self._tail, *last][-lines:]
        if len(found) < lines and not self.between:
            start = _before_lines(self._head.text, lines - len(found))
            found = [*_lines(self._head.part(start, len(self._head.text))), *found]
        return _joined([_line(Printed(one.text, one.spans), 0, width) for one in found])

    @property
    def text(self) -> str:
        """Both ends, with a mark between them where something is left out."""
        mark = "[…]\n" if self.between else ""
        return f"{self._head.text}{mark}{self.tail.text}"

    def copy(self) -> "Growing":
        tail = deque(self._tail, maxlen=TAIL)
        return Growing(self._head, self._head_lines, tail, self._last, self.between)


def _alike(told: Line, line: Line) -> int:
    """How many first characters of two lines are the same and look the same."""
    most = min(len(told.text), len(line.text))
    if told.text[:most] == line.text[:most]:
        kept = most
    else:
        pairs = zip(told.text, line.text, strict=False)
        kept = next((at for at, (one, other) in enumerate(pairs) if one != other), most)
    for one, other in zip(told.spans, line.spans, strict=False):
        if one != other:
            same = (one.start, one.style) == (other.start, other.style)
            ends = one.start + min(one.length, other.length)
            return min(kept, ends if same else min(one.start, other.start))
    count = min(len(told.spans), len(line.spans))
    more = told.spans[count:] or line.spans[count:]
    return min(kept, more[0].start) if more else kept


def _lines(whole: Printed) -> Iterator[Line]:
    """The finished lines of a text."""
    start = 0
    while (end := whole.text.find("\n", start)) >= 0:
        yield _line(whole, start, end)
        start = end + 1


def _line(whole: Printed, start: int, end: int) -> Line:
    part = whole.part(start, end)
    return Line(part.text, part.spans)


def _joined(lines: Sequence[Line]) -> Printed:
    spans: list[Span] = []
    at = 0
    for line in lines:
        spans.extend(Span(at + one.start, one.length, one.style) for one in line.spans)
        at += len(line.text) + 1
    return Printed("\n".join(line.text for line in lines), tuple(spans))


def _seamless(kept: Printed, growth: Growth) -> Printed:
    """A piece behind what stands; a stretch that it goes on with stays one."""
    spans = Printed(growth.text, growth.spans).after(kept.text)
    last = kept.spans[-1] if kept.spans else None
    first = spans[0] if spans else None
    if last and first and (last.start + last.length, last.style) == (first.start, first.style):
        one = Span(last.start, last.length + first.length, last.style)
        return Printed(kept.text + growth.text, (*kept.spans[:-1], one, *spans[1:]))
    return Printed(kept.text + growth.text, kept.spans + spans)


def _after_lines(text: str, lines: int) -> int:
    """Where the line after so many begins."""
    at = 0
    for _ in range(lines):
        at = text.index("\n", at) + 1
    return at


def _before_lines(text: str, lines: int) -> int:
    """Where the last so many finished lines begin."""
    at = text.rfind("\n")
    for _ in range(lines):
        if at < 0:
            return 0
        at = text.rfind("\n", 0, at)
    return at + 1
