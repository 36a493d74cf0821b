"""What is seen of a command while it runs: as it comes, and of a flood no more than can be read."""

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from desktop.core.colouring import Style
from desktop.core.growing import Growing
from desktop.core.printed import Growth, Span
from desktop.tools.live import BURST, NEWEST, RATE, Live


def test_what_is_printed_is_told_as_it_comes() -> None:
    live = Live()
    live.feed(b"one\ntw")
    assert live.take(0.0) == Growth("one\ntw")
    live.feed(b"o\r\n\x1b[3")
    assert live.take(0.1) == Growth("o\n")
    live.feed("1mröd".encode()[:-2])
    red = (Span(0, 1, Style(fore=1)),)
    assert live.take(0.2) == Growth("r", red)
    assert live.take(0.3) is None
    live.feed("öd".encode()[1:])
    assert live.take(0.4, final=True) == Growth("öd", (Span(0, 2, Style(fore=1)),))


def test_a_carriage_return_writes_over_the_line_at_once() -> None:
    live = Live()
    live.feed(b" 10 % of it")
    assert live.take(0.0) == Growth(" 10 % of it")
    live.feed(b"\r 20 %")
    assert live.take(0.05) == Growth("20 % of it", back=10)
    live.feed(b"\r\x1b[Kdone")
    assert live.take(0.1) == Growth("done", back=11)


def test_half_a_character_is_seen_when_it_is_sure_that_no_more_comes() -> None:
    live = Live()
    live.feed("ä".encode()[:1])
    assert live.take(0.0) is None
    assert live.take(9.0, final=True) == Growth("\ufffd")


def test_u06_of_a_flood_the_newest_lines_are_told_once_a_second_and_the_others_counted() -> None:
    live, growing, told = Live(), Growing(), 0
    chunk = b"".join(b"%06d\n" % number for number in range(5_000))
    for number in range(200):
        live.feed(chunk)
        growth = live.take(number * 0.05)
        if growth is not None:
            growing.add(growth)
            told += len(growth.text)
    last = live.take(10.0, final=True)
    growing.add(last or Growth(""))
    assert told <= BURST + 10 * (RATE + NEWEST)
    assert growing.head.text.startswith("000000\n")
    assert growing.tail.text.endswith("\n004999\n")
    seen = growing.head.text + growing.tail.text
    marks = 15  # one a second at most, each a line of its own
    assert 0 <= growing.between + seen.count("\n") - 200 * 5_000 <= marks


def test_what_is_printed_fast_for_a_moment_is_told_whole() -> None:
    live, growing = Live(), Growing()
    chunk = b"a line of a build\n" * 200
    for number in range(BURST // len(chunk) + 8):
        live.feed(chunk)
        growing.add(live.take(number * 0.2) or Growth(""))
    growing.add(live.take(99.0, final=True) or Growth(""))
    assert "[…]" not in growing.text.replace("[…]\n", "", 1)
    assert growing.between == 200 * (BURST // len(chunk) + 8) - 40


def test_u06_memory_of_a_flood_stays_constant() -> None:
    live = Live()
    chunk = b"\x1b[31my\x1b[0m\n" * 6_000
    for _ in range(3):
        live.feed(chunk)
    tracemalloc.start()
    try:
        for number in range(300):
            live.feed(chunk)
            live.take(number * 0.05)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2_000_000


@given(st.lists(st.binary(max_size=20), max_size=20))
def test_never_half_a_sequence(chunks: list[bytes]) -> None:
    live = Live()
    text = ""
    for number, chunk in enumerate(chunks):
        live.feed(chunk)
        text += (live.take(number * 0.6) or Growth("")).text
    text += (live.take(99.0, final=True) or Growth("")).text
    assert not {"\x1b", "\r", "\b", "\0"} & set(text)
