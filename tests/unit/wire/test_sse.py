"""Server-sent events, however the network cut them."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.wire.sse import EventDecoder, ServerEvent

STREAM = (
    b"\xef\xbb\xbf: hello\n\nevent: a\ndata: one\xe2\x80\xa8two\n\n"
    b"data:first\r\ndata: second\r\n\r\nid: 7\revent: c\rdata: \xf0\x9f\x8c\x8a\r\r"
    b"retry: 3\nunknown\ndata: last\n\n"
)
EVENTS = [
    ServerEvent("a", "one\u2028two"),
    ServerEvent("", "first\nsecond"),
    ServerEvent("c", "🌊"),
    ServerEvent("", "last"),
]


def decoded(pieces: list[bytes]) -> list[ServerEvent]:
    decoder = EventDecoder()
    events = [event for piece in pieces for event in decoder.feed(piece)]
    return events + decoder.finish()


def test_lines_end_at_lf_crlf_and_cr_and_at_no_other_separator():
    assert decoded([STREAM]) == EVENTS


@given(st.lists(st.integers(0, len(STREAM))))
def test_any_cut_of_the_bytes_gives_the_same_events(cuts: list[int]):
    places = [0, *sorted(cuts), len(STREAM)]
    pieces = [STREAM[a:b] for a, b in itertools.pairwise(places)]
    assert decoded(pieces) == EVENTS


def test_every_byte_alone_gives_the_same_events():
    assert decoded([STREAM[at : at + 1] for at in range(len(STREAM))]) == EVENTS


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_the_last_event_counts_without_the_empty_line_after_it(end: bytes):
    assert decoded([b"data: x\n\ndata: y" + end]) == [ServerEvent("", "x"), ServerEvent("", "y")]


def test_bytes_that_are_no_utf8_are_replaced():
    assert decoded([b"data: a\xffb\n\n"]) == [ServerEvent("", "a\ufffdb")]
