"""What stands on a terminal after a text: lines and colours, nothing that was ordered (U06)."""

import sys
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from desktop.core.colouring import PLAIN, Style, styled
from desktop.core.printed import Line, Printed, Span
from desktop.core.terminal import Terminal, lines_of, printed

PARTS = (
    *("\x1b", "[", "]", "m", "K", "0", "2", "8", ";", ":", "38", "48", "5", "31", "1", "?1049"),
    *("h", "l", "\r", "\n", "\b", "\0", "\x07", "\x9b", "\x9d", "\x9c", "\\", "\ud83d", "\udc9b"),
    *("a", "bc", "Ä", "😀", "\t", "\x1b[1;31m", "\x1b[0m", "\x1b]8;;u\x07", "\x1b]8;;\x07", "\x18"),
)
printing = st.lists(st.sampled_from(PARTS), max_size=60).map("".join)


def seen(text: str, cuts: list[int], width: int) -> list[Line]:
    terminal = Terminal(width=width)
    lines: list[Line] = []
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        lines.extend(terminal.feed(text[start:end]))
    return [*lines, terminal.line]


@given(printing, st.data(), st.integers(1, 12))
@example("\x1b]8;;u\x07abc\x1b]8;;\x07", None, 2)
def test_u06_it_makes_no_difference_where_the_input_is_cut(
    text: str, data: st.DataObject | None, width: int
) -> None:
    places = st.lists(st.integers(0, len(text)), max_size=5).map(sorted)
    cuts = data.draw(places) if data is not None else list(range(len(text)))
    assert seen(text, cuts, width) == seen(text, [], width)


@given(printing, st.integers(1, 12))
def test_no_line_is_wider_than_the_width_and_spans_lie_within_it(text: str, width: int) -> None:
    for line in lines_of(text, width=width):
        assert len(line.text) <= width
        assert not set("\x1b\r\b\0\x07\x9b\n") & set(line.text)
        line.text.encode("utf-8")
        end = 0
        for span in line.spans:
            assert span.start >= end
            assert span.length > 0
            assert span.style != PLAIN
            end = span.start + span.length
        assert end <= len(line.text)


@given(st.binary(max_size=200))
def test_bytes_give_the_same_text_whether_they_are_usual_or_not(data: bytes) -> None:
    whole = printed(data)
    assert printed(data + b"\x07") == whole
    assert all(0 <= one.start < one.start + one.length <= len(whole.text) for one in whole.spans)


@pytest.mark.parametrize(
    ("told", "style"),
    [
        ("31", Style(fore=1)),
        ("1;92;44", Style(fore=10, back=4, bold=True)),
        ("38;5;208", Style(fore=208)),
        ("38;2;1;2;3", Style(fore=(1, 2, 3))),
        ("38:2::1:2:3", Style(fore=(1, 2, 3))),
        ("38:2:1:2:3", Style(fore=(1, 2, 3))),
        ("48:5:9;3", Style(back=9, italic=True)),
        ("4:3", Style(underline=True)),
        ("4;4:0", PLAIN),
        ("2;22", PLAIN),
        ("1;31;;4", Style(underline=True)),
        ("8", PLAIN),
        ("38;5;999", PLAIN),
        ("38;5", PLAIN),
        ("38", PLAIN),
        ("38:2", PLAIN),
        ("38;2;1", PLAIN),
        ("9" * 99, PLAIN),
        (">4;1", PLAIN),
    ],
)
def test_what_a_sequence_sets(told: str, style: Style) -> None:
    assert styled(PLAIN, told) == style


@given(printing)
def test_a_style_can_be_read_back_from_its_words(text: str) -> None:
    for line in lines_of(text):
        for span in line.spans:
            assert styled(PLAIN, span.style.code) == span.style


def test_colours_go_with_the_letters_that_stay() -> None:
    (line,) = lines_of("\x1b[31mred\x1b[0m plain\r\x1b[32mG")
    assert line == Line("Ged plain", (Span(0, 1, Style(fore=2)), Span(1, 2, Style(fore=1))))


def test_an_unfinished_order_never_swallows_the_next_line() -> None:
    assert [one.text for one in lines_of("\x1b]0;title\nnext\x1b[31\nlast")] == ["", "next", "last"]


def test_a_part_of_a_text_keeps_its_colours() -> None:
    whole = Printed("abcdef", (Span(1, 4, Style(fore=1)),))
    assert whole.head(3) == Printed("abc", (Span(1, 2, Style(fore=1)),))
    assert whole.tail(2) == Printed("ef", (Span(0, 1, Style(fore=1)),))
    assert whole.tail(2).after("xyz") == (Span(3, 1, Style(fore=1)),)


@pytest.mark.parametrize(
    "hostile",
    [
        "\x1b[K",
        "\x1b[2K",
        "\b",
        "x\r",
        "\x1b[1;31mx",
        "\x1b]8;;u\x07l",
        "\x1b[",
        "\x1b]8;",
        "\x1b[999C",
    ],
)
def test_u06_the_work_grows_with_the_input_alone(hostile: str) -> None:
    """Counted in lines of this program that run, whatever the machine does."""
    line = "a" * 2_000

    def steps(times: int) -> int:
        terminal, count = Terminal(), 0

        def count_one(*_: object) -> Any:
            nonlocal count
            count += 1
            return count_one

        terminal.feed(line)
        before = sys.gettrace()
        sys.settrace(count_one)
        try:
            terminal.feed(hostile * times)
        finally:
            sys.settrace(before)
        return count

    assert steps(400) <= 4.5 * steps(100)
