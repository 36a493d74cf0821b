"""Where a request leaves the last one sent, by block, cache markers apart (API S19, C45)."""

from collections.abc import Sequence
from typing import Any

import pytest

from desktop.core.chunks import LogChunk, System
from desktop.core.model import RequestOptions
from desktop.wire.growing import GrowingRequest
from tests.unit.wire.rows_of import ME, MODELS, OPUS, TOOLS, Log


class Sent:
    """The requests of one conversation, one after the other."""

    def __init__(self) -> None:
        self.growing = GrowingRequest(MODELS)

    def position(self, rows: Sequence[LogChunk], **options: Any) -> str | None:
        model = options.pop("model", OPUS)
        self.growing.next(rows, RequestOptions(model, **options), ME)
        return self.growing.position


def conversation(turns: int) -> Log:
    log = Log()
    log.prompt()
    for turn in range(turns):
        log.turn = f"t{turn}"
        log.user(f"question {turn}")
        log.calls(f"c{turn}", path="a")
        log.result(f"c{turn}", f"result {turn}")
        log.step = 1
        log.says(f"answer {turn}")
        log.step = 0
    log.turn = "now"
    log.user("and now")
    return log


def test_the_first_request_of_a_conversation_has_nothing_to_be_compared_with():
    assert Sent().position(conversation(1).rows) is None


@pytest.mark.parametrize("turns", [0, 1, 2, 9])
def test_c45_steps_and_turns_extend_what_was_sent(turns: int):
    log, sent = conversation(turns), Sent()
    sent.position(log.rows)
    for step in range(6):
        log.step = step
        log.thinks("hm")
        log.calls(f"n{step}", path="b")
        log.result(f"n{step}", "more")
        assert sent.position(log.rows) == ""
    log.says("done")
    log.turn = "next"
    log.user("Thanks")
    assert sent.position(log.rows) == ""


def test_more_said_behind_an_unanswered_text_extends_its_message():
    log, sent = conversation(3), Sent()
    sent.position(log.rows)
    log.user("One more thing")
    assert sent.position(log.rows) == ""


def test_c45_a_row_that_is_taken_back_is_the_first_difference():
    log, sent = conversation(8), Sent()
    sent.position(log.rows)
    log.retract(log.rows[-1])
    log.user("and instead")
    assert sent.position(log.rows) == "messages[32].content[0]"


def test_a_row_far_back_that_is_taken_back_is_found_among_the_settled_ones():
    log, sent = conversation(8), Sent()
    sent.position(log.rows)
    said = next(row for row in log.rows if row.type == "text" and row.seq > 12)
    log.retract(said)
    assert str(sent.position(log.rows)).startswith("messages[")


def test_a_new_tool_set_another_model_and_effort_are_named():
    log, sent = conversation(2), Sent()
    sent.position(log.rows)
    assert sent.position(log.rows, effort="high") == "output_config"
    log.add("system", System("tools", fields={"tools": [TOOLS[0]]}))
    assert sent.position(log.rows, effort="high") == "tools[1]"
    assert sent.position(log.rows, model="claude-sonnet-5-5") == "model"


def test_another_time_to_live_and_the_question_why_are_no_difference():
    log, sent = conversation(2), Sent()
    sent.position(log.rows)
    assert sent.position(log.rows, ttl="1h", asks_why=True, previous_message_id="msg_1") == ""


def test_a_compaction_begins_at_the_first_message():
    log, sent = conversation(5), Sent()
    sent.position(log.rows)
    log.add("system", System("compaction", "All of it, shorter."))
    log.user("go on")
    assert sent.position(log.rows) == "messages[0].content[0]"
