"""The tour: a recording that goes the whole real way (DESIGN §8; SPEC A04)."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from desktop.core.chunks import Text, ToolCall
from desktop.core.events import ModelEvent
from desktop.core.model import RequestOptions
from desktop.wire.replay import OVER, BadRecording, ReplayModel, recording, steps_so_far
from tests.fakes import messages_api
from tests.unit.wire.asking import finished
from tests.unit.wire.rows_of import ROOT, Log

TOUR = ROOT / "resources" / "tour"
LINES = (TOUR / "tour.jsonl").read_text("utf-8").splitlines()


async def at_once(seconds: float) -> None:
    """Wait for nothing, whatever was asked."""


def play(log: Log) -> list[ModelEvent]:
    async def run() -> list[ModelEvent]:
        model = ReplayModel(LINES, pause=at_once)
        options = RequestOptions("tour")
        return [event async for batch in model.respond(log.rows, options) for event in batch]

    return asyncio.run(run())


def played() -> Log:
    """The whole tour as rows, with results as the tools would give them."""
    log = Log()
    log.user("Show me around")
    for step in range(len(recording(LINES))):
        log.step = step
        log.heard(play(log))
        for row in list(log.rows):
            if isinstance(row.data, ToolCall) and row.step == step:
                log.result(row.data.call_id)
    return log


def test_the_tour_thinks_speaks_and_calls_two_tools_at_once():
    log = played()
    kinds = [row.type for row in log.rows if row.step == 0 and row.role == "assistant"]
    assert kinds == ["thinking", "text", "tool_call", "tool_call"]
    assert isinstance(log.rows[-1].data, Text)
    assert "```python" in log.rows[-1].data.text


def test_the_tour_looks_only_at_files_that_are_in_its_folder():
    calls = [row.data for row in played().rows if isinstance(row.data, ToolCall)]
    assert {call.name for call in calls} == {"list_dir", "read_file"}
    for call in calls:
        assert (TOUR / "folder" / call.arguments["path"]).exists(), call


def test_what_the_tour_says_of_the_sample_is_true():
    names: dict[str, Any] = {"__name__": "sample"}
    exec((TOUR / "folder" / "tides.py").read_text("utf-8"), names)
    last = datetime(2026, 1, 3, 10, 40)  # noqa: DTZ001
    for hours in (0, 1, 12, 13, 4000):
        now = last + timedelta(hours=hours)
        tides = (now - last) // names["RHYTHM"] + 1
        assert last + tides * names["RHYTHM"] == names["next_high_tide"](last, now)


def test_the_answer_that_is_due_is_counted_from_the_rows_so_a_restart_is_harmless():
    log = Log()
    log.user("Show me around")
    first = play(log)
    assert play(log) == first
    log.heard(first)
    assert steps_so_far(log.rows) == 1
    assert play(log) != first
    log.retract(*[row for row in log.rows if row.role == "assistant"])
    assert play(log)[0] == first[0]


def test_after_the_last_answer_the_recording_says_that_it_is_over():
    log = played()
    log.turn, log.step = "t2", 0
    log.user("And now?")
    events = play(log)
    assert finished(events).stop_reason == "end_turn"
    log.heard(events)
    assert log.rows[-1].data == Text(OVER)


def test_the_tour_can_be_played_by_the_stand_in_as_well():
    assert len(messages_api.parse("\n".join(LINES)).by_number) == len(recording(LINES))


def test_the_pace_is_that_of_reading():
    beats = [beat.seconds for part in recording(LINES) for beat in part]
    assert sum(beats) < 30
    assert max(beats) <= 0.5


def test_the_model_says_that_it_is_a_recording():
    (info,) = asyncio.run(ReplayModel(LINES).models())
    assert info.recorded
    assert ReplayModel(LINES).stamp("tour").provider == "recording"


@pytest.mark.parametrize("lines", [["{"], ['{"event": {}}'], ['{"request": 1}', "[]"]])
def test_a_line_that_is_no_recording_is_named(lines: Sequence[str]):
    with pytest.raises(BadRecording) as caught:
        recording(lines)
    assert f"line {len(lines)}" in caught.value.detail
