"""What real providers answered to others: read, reduced to rows, and sent back block by block.

All files of recorded streams and of recorded exchanges take part (F-W02, SPEC A04, C02).
"""

import functools
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from desktop.core.events import ModelEvent, ResponseFinished
from desktop.wire.request import serialise
from desktop.wire.stream import Reader
from tests.effort import examples
from tests.fakes.messages_api import assert_extends
from tests.fakes.sim.strictness import refuse_as_the_provider_does
from tests.unit.wire.recordings import (
    CASSETTES,
    FILES,
    STREAMS,
    Recorded,
    answers,
    is_sent,
    received,
)
from tests.unit.wire.rows_of import Log, reloaded, said

pytestmark = pytest.mark.skipif(not FILES, reason="the recordings are not beside this checkout")
# Exchanges that only count tokens, and those that were refused.
WITHOUT_AN_ANSWER = 6


@functools.cache
def recorded() -> list[Recorded]:
    return [answer for path in FILES for answer in answers(path)]


def read(data: bytes, cuts: Iterable[int]) -> list[ModelEvent]:
    """The events of a stream whose bytes came in pieces."""
    reader = Reader()
    ends = sorted({0, len(data), *(cut for cut in cuts if cut <= len(data))})
    events = [event for a, b in pairwise(ends) for event in reader.feed(data[a:b])]
    return events + reader.end()


def log_of(events: Sequence[ModelEvent], blocks: Sequence[dict[str, Any]]) -> Log:
    """A conversation with one question, this answer, and a result for each of its calls."""
    log = Log()
    log.prompt()
    log.user("Go")
    log.heard(events)
    for block in blocks:
        if block["type"] == "tool_use":
            log.result(block["id"])
    return log


def waits(blocks: Sequence[dict[str, Any]]) -> bool:
    """Whether a call of the provider's own may wait for the answer to go on."""
    return any(block["type"].endswith("_tool_use") for block in blocks)


def test_every_file_of_recordings_takes_part():
    held = {path for folder in (STREAMS, CASSETTES) for path in folder.rglob("*") if path.is_file()}
    assert {path for path in held if path.name != "LICENSE"} == set(FILES)
    silent = [path.name for path in FILES if not answers(path)]
    assert len(silent) <= WITHOUT_AN_ANSWER, silent


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
@pytest.mark.parametrize("size", [7, 4096])
def test_f_w02_a_recorded_message_goes_back_as_it_came(path: Path, size: int):
    for answer in answers(path):
        events = read(answer.data, range(0, len(answer.data), size))
        assert isinstance(events[-1], ResponseFinished), answer.name
        blocks = [block for block in received(answer.data) if is_sent(block)]
        if not blocks or blocks[0]["type"].endswith("_tool_result"):
            continue  # an empty one; the other half of a message that was cut in two
        log = log_of(events, blocks)
        log.rows = reloaded(log.rows)
        assert _sent(log, resumed=waits(blocks)) == [list(block.items()) for block in blocks]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_u21_after_a_recorded_answer_the_next_request_is_taken_and_extends_the_last(path: Path):
    for answer in answers(path):
        blocks = received(answer.data)
        events = read(answer.data, ())
        log = log_of(events, blocks)
        end = events[-1]
        if isinstance(end, ResponseFinished) and end.stop_reason == "pause_turn":
            refuse_as_the_provider_does(log.body(resumed=True))
        before = log.body()
        refuse_as_the_provider_does(before)
        log.turn = "t2"
        log.user("Go on")
        after = log.body()
        refuse_as_the_provider_does(after)
        if not waits(blocks) and log.rows[-2].role != "assistant":
            assert_extends(before, after)  # a text instead of the answer ends what waits for it
        log.rows = reloaded(log.rows)
        assert serialise(log.body()) == serialise(after)


@settings(max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_a_recorded_answer_is_the_same_wherever_its_bytes_are_cut(data: st.DataObject):
    answer = data.draw(st.sampled_from(recorded()))
    cuts = data.draw(st.sets(st.integers(1, len(answer.data)), max_size=12))
    whole, cut = (log_of(read(answer.data, at), ()) for at in ((), cuts))
    assert [row.data for row in cut.rows] == [row.data for row in whole.rows]


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_u21_a_recorded_answer_that_breaks_off_anywhere_leaves_a_request_that_is_taken(
    data: st.DataObject,
):
    """SPEC U21, A02; F-W10: whatever had come, the next message goes out."""
    answer = data.draw(st.sampled_from(recorded()))
    length = data.draw(st.integers(0, len(answer.data)))
    events = read(answer.data[:length], ())
    log = log_of(events, ())
    calls = [row.data for row in log.rows if row.type == "tool_call"]
    assert not calls or isinstance(events[-1], ResponseFinished)
    log.turn = "t2"
    log.user("Go on")
    body = log.body()
    refuse_as_the_provider_does(body)
    log.rows = reloaded(log.rows)
    assert serialise(log.body()) == serialise(body)


def _sent(log: Log, *, resumed: bool) -> list[Any]:
    """Blocks of the assistant's message as pairs, so that the order of keys counts."""
    messages = said(log.body(resumed=resumed))
    content = next(content for role, content in messages if role == "assistant")
    return [list(block.items()) for block in content]
