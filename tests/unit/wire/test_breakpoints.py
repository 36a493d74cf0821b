"""Where a request is marked for the prompt cache (SPEC C16, API §2)."""

import pytest

from desktop.core.chunks import Text
from desktop.core.model import RequestOptions
from desktop.wire.models import ModelTable
from desktop.wire.request import build
from tests.unit.wire.rows_of import ME, Log, markers, unmarked

OTHER = ModelTable([])


def test_c16_the_fixed_part_the_previous_end_and_the_end_are_marked():
    log = Log()
    log.prompt()
    log.user("first")
    log.calls("a")
    log.result("a")
    body = log.body()
    marked = markers(body)
    assert marked[0] is body["system"][-1]
    assert marked[1] is body["messages"][0]["content"][-1]
    assert marked[2] is body["messages"][-1]["content"][-1]
    assert len(marked) == 3


def test_c16_twenty_five_parallel_results_still_leave_the_previous_end_marked():
    log = Log()
    log.prompt()
    log.user("first")
    for at in range(25):
        log.calls(f"call{at}")
    for at in range(25):
        log.result(f"call{at}")
    body = log.body()
    assert [unmarked(b) for b in markers(body)[1:2]] == [{"type": "text", "text": "first"}]
    assert len(markers(body)) == 3


def test_c16_the_answer_before_the_persons_words_is_marked_for_forks_and_edits():
    log = Log()
    log.prompt()
    log.user("first")
    log.thinks("hm")
    log.says("Hello")
    log.fact("It is another day.")
    log.user("second")
    shown = [unmarked(block).get("text") for block in markers(log.body())]
    assert shown == ["You work in a folder.", "first", "Hello", "second"]


def test_c16_words_behind_results_begin_after_the_last_of_them():
    log = Log()
    log.prompt()
    log.user("first")
    log.calls("a")
    log.calls("b")
    log.result("a")
    log.result("b")
    log.user("second")
    kinds = [block.get("tool_use_id", block.get("text")) for block in markers(log.body())]
    assert kinds == ["You work in a folder.", "first", "b", "second"]


def test_c11_every_mark_has_the_same_time_to_live():
    log = Log()
    log.prompt()
    log.user("first")
    log.says("Hello")
    log.user("second")
    assert {block["cache_control"].get("ttl", "5m") for block in markers(log.body())} == {"5m"}
    hour = markers(log.body(ttl="1h"))
    assert [block["cache_control"] for block in hour] == [{"type": "ephemeral", "ttl": "1h"}] * 4


def test_c16_the_first_request_marks_its_end_once():
    log = Log()
    log.prompt("", tools=[])
    log.user("first")
    assert len(markers(log.body())) == 1


def test_c43_what_a_first_message_says_of_the_surroundings_is_marked_for_subagents():
    log = Log()
    log.prompt()
    log.fact("Today is Monday.")
    log.user("first")
    shown = [unmarked(block).get("text") for block in markers(log.body())]
    assert shown == ["You work in a folder.", "Today is Monday.", "first"]


def test_c16_without_a_system_text_the_last_tool_is_marked():
    log = Log()
    log.prompt("")
    log.user("first")
    body = log.body()
    assert markers(body)[0] is body["tools"][-1]
    assert "cache_control" not in body["tools"][0]


def test_c16_thinking_is_never_marked():
    log = Log()
    log.user("first")
    log.says("Hello")
    log.thinks("and now")
    body = log.body(resumed=True)
    assert body["messages"][-1]["role"] == "assistant"
    assert [block["type"] for block in markers(body)] == ["text", "text"]
    assert markers(body)[-1]["text"] == "Hello"


def test_c16_a_server_that_nothing_is_known_of_gets_no_marks():
    log = Log()
    log.prompt()
    log.user("first")
    body = build(log.rows, RequestOptions("qwen3:8b"), models=OTHER, stamp=ME)
    assert markers(body) == []


def test_c38_the_end_of_every_request_is_marked_in_the_next_one_as_well():
    log = Log()
    log.prompt()
    log.user("first")
    for step in range(6):
        log.step = step
        end = log.body()["messages"][-1]["content"][-1]
        log.thinks(f"{step}")
        log.add("assistant", Text(f"step {step}"))
        for at in range(12):
            log.calls(f"c{step}_{at}")
        for at in range(12):
            log.result(f"c{step}_{at}")
        assert end in markers(log.body())


@pytest.mark.parametrize("turns", [1, 5])
def test_c16_there_are_never_more_than_four(turns: int):
    log = Log()
    log.prompt()
    for turn in range(turns):
        log.turn = f"t{turn}"
        log.user("Go")
        log.says("Gone")
    log.user("last")
    assert len(markers(log.body())) <= 4
