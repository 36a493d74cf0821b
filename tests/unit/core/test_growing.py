"""An output that grows is what it would be at once, however it came (LOOK.md "Tool card", U06)."""

import sys
import tracemalloc
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.core.colouring import Style
from desktop.core.growing import HEAD, TAIL, WIDTH, Growing, Telling
from desktop.core.printed import Growth, Printed, Span
from desktop.core.terminal import decoded, lines_of, printed

SHARED = Path(__file__).parents[4] / "shared" / "data" / "terminal"
RECORDED = sorted(SHARED.glob("*.input"))
PARTS = (
    *(b"\x1b", b"[", b"]", b"m", b"K", b"0", b"2", b"8", b";", b"38", b"5", b"31", b"1", b"?1049"),
    *(b"h", b"l", b"\r", b"\n", b"\b", b"\0", b"\x07", b"\x9b", b"a", b"bc", "Ä".encode(), b"\xff"),
    *(
        "😀".encode(),
        b"\xf0\x9f",
        b"\x1b[1;31m",
        b"\x1b[0m",
        b"\x1b[2K",
        b"\x1b]8;;u\x07",
        b"\x1b[",
    ),
)
printing = st.lists(st.sampled_from(PARTS), max_size=80).map(b"".join)


def pieces(data: bytes, cuts: Iterable[int]) -> Iterator[Growth]:
    """What is told of an output that comes in these cuts."""
    telling = Telling()
    at = 0
    for end in [*cuts, len(data)]:
        telling.feed(data[at:end])
        at = end
        growth = telling.take()
        if growth is not None:
            yield growth
    telling.feed(b"", final=True)
    last = telling.take()
    if last is not None:
        yield last


def put_together(told: Iterable[Growth]) -> list[tuple[str, Style]]:
    """All letters with their looks, kept by a reader that forgets nothing."""
    letters: list[tuple[str, Style]] = []
    for one in told:
        assert one.back <= len(letters)
        assert "\n" not in {letter for letter, _ in letters[len(letters) - one.back :]}
        del letters[len(letters) - one.back :]
        letters.extend(letters_of(Printed(one.text, one.spans)))
    return letters


def letters_of(whole: Printed) -> Iterator[tuple[str, Style]]:
    for text, style in whole.runs(0, len(whole.text)):
        yield from ((letter, style) for letter in text)


@given(printing, st.data())
def test_u06_an_output_told_in_pieces_is_the_output_told_at_once(
    data: bytes, drawn: st.DataObject
) -> None:
    cuts = drawn.draw(st.lists(st.integers(0, len(data)), max_size=8).map(sorted))
    assert put_together(pieces(data, cuts)) == list(letters_of(printed(data)))


@pytest.mark.skipif(not RECORDED, reason="the recorded outputs of terminals are not here")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("recorded", RECORDED, ids=lambda one: one.stem)
def test_u06_so_is_any_recorded_one(recorded: Path, seed: int) -> None:
    """But for the lines that are longer than one is told."""
    data = recorded.read_bytes()
    cuts = sorted(Random(seed).choices(range(len(data)), k=40 if seed else 0))
    told = put_together(pieces(data, cuts))
    lines = lines_of(decoded(data), width=WIDTH)
    assert "".join(letter for letter, _ in told) == "\n".join(line.text for line in lines)
    if all(len(line.text) < WIDTH for line in lines):
        assert told == list(letters_of(printed(data)))


def kept(told: Iterable[Growth]) -> Growing:
    growing = Growing()
    for one in told:
        growing.add(one)
    return growing


@given(
    st.lists(
        st.sampled_from((b"\x1b[32mone\x1b[0m\n", b"\n", b"two", b"\rx", b"\x1b[2K")), max_size=150
    ),
    st.data(),
)
def test_both_ends_are_kept_and_what_lies_between_is_counted(
    parts: list[bytes], drawn: st.DataObject
) -> None:
    data = b"".join(parts)
    cuts = drawn.draw(st.lists(st.integers(0, len(data)), max_size=8).map(sorted))
    growing, whole = kept(pieces(data, cuts)), printed(data)
    lines = whole.text.split("\n")
    finished = len(lines) - 1
    assert growing.head.text == "".join(f"{line}\n" for line in lines[:-1][:HEAD])
    assert growing.between == max(0, finished - HEAD - TAIL)
    tail = [*lines[:-1][max(HEAD, finished - TAIL) :], lines[-1]]
    assert growing.tail.text == "\n".join(tail)
    length = len(growing.tail.text)
    assert list(letters_of(growing.tail)) == list(letters_of(whole))[len(whole.text) - length :]
    shown = [*lines[:-1], lines[-1]] if lines[-1] else lines[:-1]
    assert growing.newest(3, width=2).text == "\n".join(line[:2] for line in shown[-3:])


def test_a_stretch_of_one_colour_stays_one_however_it_comes() -> None:
    growing = kept(pieces(b"\x1b[31mred and red\x1b[0m", range(1, 12)))
    assert growing.tail == Printed("red and red", (Span(0, 11, Style(fore=1)),))


@pytest.mark.parametrize(
    "data", [b"abc\r\x1b[31mabc", b"\x1b[31mabc\rabc\x1b[0m\ra", b"a\x1b[31mbc\r\x1b[32ma\x1b[31mb"]
)
def test_letters_that_only_change_their_colour_are_told_anew(data: bytes) -> None:
    assert put_together(pieces(data, range(1, len(data)))) == list(letters_of(printed(data)))


def test_a_bar_of_progress_takes_back_only_what_changes() -> None:
    bar = [b"\r%3d%% of it" % number for number in range(100)]
    told = list(pieces(b"".join(bar), [9 * one + 1 for one in range(1, 100)]))
    assert all(len(one.text) <= 10 and one.back <= 10 for one in told)
    assert kept(told).text == " 99% of it"


def test_who_comes_later_sees_what_the_others_see() -> None:
    told = list(pieces(b"one\ntwo\x1b[31m red" * 60, range(0, 900, 7)))
    early = kept(told[:30])
    late = early.copy()
    for one in told[30:]:
        early.add(one)
        late.add(one)
    assert (late.text, late.tail, late.between) == (early.text, early.tail, early.between)


def test_what_was_left_out_is_counted_and_marked() -> None:
    telling, growing = Telling(), Growing()
    telling.feed(b"begun \x1b[31m\xf0\x9f")
    growing.add(telling.take() or Growth(""))
    telling.skip(5_000)
    telling.feed(b"plain\n")
    growing.add(telling.take() or Growth(""))
    assert growing.between == 5_000
    assert growing.tail == Printed("begun \n[…]\nplain\n")


@pytest.mark.parametrize(
    "line", [b"x" * 100, b"\x1b[31mx\x1b[0m" * 20 + b"\n", b"\rx" * 50, b"\x1b]8;;u\x07l" * 20]
)
def test_u06_a_piece_costs_what_came_and_not_what_was_before(line: bytes) -> None:
    """Counted in lines of this program that run, whatever the machine does."""

    def steps(before: int) -> int:
        telling, growing, count = Telling(), Growing(), 0

        def count_one(*_: object) -> Any:
            nonlocal count
            count += 1
            return count_one

        for _ in range(before):
            telling.feed(line)
            growing.add(telling.take() or Growth(""))
        outside = sys.gettrace()
        sys.settrace(count_one)
        try:
            for _ in range(30):
                telling.feed(line)
                growing.add(telling.take() or Growth(""))
        finally:
            sys.settrace(outside)
        return count

    assert steps(3_000) <= 1.5 * steps(300)


@pytest.mark.parametrize("text", ["line\n", "no end "])
def test_u06_memory_stays_constant(text: str) -> None:
    growing = Growing()
    growing.add(Growth(text * 5_000))
    tracemalloc.start()
    try:
        for _ in range(200):
            growing.add(Growth(text * 500))
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert held < 200_000
    assert len(growing.text) <= (HEAD + TAIL + 2) * (WIDTH + 1)


def test_hostile_orders_are_dropped() -> None:
    hostile: Sequence[bytes] = (
        b"\x1b]0;title\x07",
        b"\x1b]52;c;c2VjcmV0\x07",
        b"\x1b]8;;file:///etc/passwd\x1b\\here\x1b]8;;\x1b\\",
        b"\x1b[5;10H",
        b"\x1b[2J\x1b[999A",
        b"\x1bP+q544e\x1b\\",
        b"\x1b[6n",
    )
    for one in hostile:
        letters = put_together(pieces(b"a" + one + b"b", range(1, len(one) + 1)))
        text = "".join(letter for letter, _ in letters)
        assert text in ("ab", "a\nb", "ahere (file:///etc/passwd)b")
