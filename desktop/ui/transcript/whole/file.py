"""A file of any length as lines, of which only those that are asked for are read.

There is no index: a place is a byte of the file, and from any place the lines around it are found
by reading a few KB. A line longer than STRIDE goes on in the next, at a multiple of STRIDE, so that
the same place always lies in the same line. Blocking; off the GUI thread.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

from desktop.core.printed import Line, Printed, Span
from desktop.core.terminal import decoded, lines_of

STRIDE = 2_048
MOST_LINES = 500
# Further than a few screens nobody goes line by line.
MOST_STEPS = 1_000

_SLAB = 262_144
_BLOCK = 1_048_576
_LONGEST_LETTER = 4
_LONGEST_SEQUENCE = 32
_FINAL = re.compile(rb"[@-~]")


@dataclass(frozen=True, slots=True)
class Window:
    """Lines from byte `start` up to byte `end` of a file of `size` bytes."""

    start: int
    end: int
    size: int
    lines: tuple[Line, ...]


def read(path: Path, place: int, *, steps: int = 0, count: int = MOST_LINES) -> Window:
    """`count` lines from the one that holds the byte `place`, moved down by `steps` lines.

    At the end of the file the last `count` lines. Raises OSError.
    """
    with path.open("rb") as file:
        return Lines(file).window(place, steps, min(count, MOST_LINES))


def find(
    path: Path,
    text: str,
    place: int,
    *,
    backwards: bool = False,
    on: Callable[[int], bool] = lambda _: True,
) -> int | None:
    """The byte where a text is next found from a place on, or before it; None where it is not.

    Letters of English are found in any case. `on` is told the place that was reached, now and then,
    and says whether to go on. Raises OSError.
    """
    needle = text.encode("utf-8", "replace").lower()
    with path.open("rb") as file:
        if not needle:
            return None
        return _before(file, needle, place, on) if backwards else _after(file, needle, place, on)


def _after(file: BinaryIO, needle: bytes, place: int, on: Callable[[int], bool]) -> int | None:
    while on(place):
        file.seek(place)
        block = file.read(_BLOCK + len(needle))
        at = block.lower().find(needle)
        if at >= 0:
            return place + at
        if len(block) <= _BLOCK:
            return None
        place += _BLOCK
    return None


def _before(file: BinaryIO, needle: bytes, place: int, on: Callable[[int], bool]) -> int | None:
    while place > 0 and on(place):
        start = max(0, place - _BLOCK)
        file.seek(start)
        # What begins before the place may end behind it.
        block = file.read(place - start + len(needle) - 1)
        at = block.lower().rfind(needle)
        if at >= 0:
            return start + at
        place = start
    return None


class Lines:
    """Where lines begin in an open file. Keeps one slab of it in memory."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size = file.seek(0, 2)
        self._slab_at = 0
        self._slab = b""

    def window(self, place: int, steps: int, count: int) -> Window:
        start = self.start_of(min(max(place, 0), max(0, self.size - 1)))
        start = self._moved(start, min(max(steps, -MOST_STEPS), MOST_STEPS))
        starts = self._starts(start, count)
        if starts[-1] >= self.size:
            # The end is seen: what is left of the room shows what is before.
            lacking = count - (len(starts) - 1)
            start = self._moved(start, -lacking)
            starts = self._starts(start, count)
        lines = tuple(self._line(one, after) for one, after in pairwise(starts))
        return Window(start, starts[-1], self.size, lines)

    def _starts(self, start: int, count: int) -> list[int]:
        starts = [start]
        while len(starts) <= count and starts[-1] < self.size:
            starts.append(self.next(starts[-1]))
        return starts

    def _moved(self, start: int, steps: int) -> int:
        for _ in range(abs(steps)):
            there = self.next(start) if steps > 0 else self.start_of(max(0, start - 1))
            if there >= self.size:
                break
            start = there
        return start

    def next(self, start: int) -> int:
        """Where the line after the one that begins here begins."""
        cut = (start // STRIDE + 1) * STRIDE
        at = self._bytes(start, cut).find(b"\n")
        if at >= 0:
            return start + at + 1
        if b"\n" not in self._bytes(cut - STRIDE, start):
            return min(cut, self.size)
        at = self._bytes(cut, cut + STRIDE).find(b"\n")
        return cut + at + 1 if at >= 0 else min(cut + STRIDE, self.size)

    def start_of(self, place: int) -> int:
        """Where the line that holds this byte begins."""
        cut = place // STRIDE * STRIDE
        at = self._bytes(cut, place).rfind(b"\n")
        if at >= 0 or not cut:
            return cut + at + 1
        before = self._bytes(cut - STRIDE, cut).rfind(b"\n")
        return cut - STRIDE + before + 1 if before >= 0 else cut

    def _bytes(self, start: int, end: int) -> bytes:
        end = min(end, self.size)
        if start >= end:
            return b""
        if start < self._slab_at or end > self._slab_at + len(self._slab):
            self._slab_at = max(0, start - _SLAB // 2)
            self._file.seek(self._slab_at)
            self._slab = self._file.read(_SLAB)
        return self._slab[start - self._slab_at : end - self._slab_at]

    def _line(self, start: int, end: int) -> Line:
        """A line as it stands on a terminal; a letter that a cut halves belongs to the first."""
        data = self._bytes(start, end)
        if start and self._bytes(start - 1, start) != b"\n":
            data = data[_rest_of_letter(data) :]
            data = data[
                _rest_of_sequence(self._bytes(max(0, start - _LONGEST_SEQUENCE), start), data) :
            ]
        if not data.endswith(b"\n"):
            more = self._bytes(end, end + _LONGEST_LETTER - 1)
            data += more[: _rest_of_letter(more)]
        return _joined(lines_of(decoded(data.removesuffix(b"\n"))))


def _rest_of_letter(data: bytes) -> int:
    """How many bytes at the start go on with a letter."""
    count = 0
    while count < min(len(data), _LONGEST_LETTER - 1) and 0x80 <= data[count] < 0xC0:
        count += 1
    return count


def _rest_of_sequence(before: bytes, data: bytes) -> int:
    """How many bytes at the start go on with a sequence that begins before the cut."""
    escape = before.rfind(b"\x1b")
    if escape < 0 or _FINAL.search(before, escape + 2):
        return 0
    end = _FINAL.search(data, 0, _LONGEST_SEQUENCE)
    return end.end() if end is not None else 0


def _joined(lines: list[Line]) -> Line:
    """What was printed to several lines of a screen stands in one."""
    if len(lines) == 1:
        return lines[0]
    whole, spans = Printed(""), list[Span]()
    for line in lines:
        text = f"{whole.text} " if whole.text else ""
        spans.extend(Printed(line.text, line.spans).after(text))
        whole = Printed(text + line.text)
    return Line(whole.text, tuple(spans))
