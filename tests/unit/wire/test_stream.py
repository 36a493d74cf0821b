"""From the provider's events to ours, block by block (API §1.3; SPEC C07, C10, A02, A05)."""

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.core.chunks import Opaque, Text, Thinking, ToolCall
from desktop.core.events import (
    BlockDelta,
    BlockFinished,
    BlockStarted,
    ModelEvent,
    ResponseFailed,
    ResponseFinished,
    ResponseStarted,
    Usage,
)
from desktop.wire.stream import Interpreter, Reader
from tests.unit.wire.rows_of import Log, said

START = {
    "type": "message_start",
    "message": {
        "id": "msg_1",
        "model": "claude-opus-5-5",
        "usage": {
            "input_tokens": 10,
            "cache_read_input_tokens": 80,
            "output_tokens": 1,
            "cache_creation_input_tokens": None,
            "cache_creation": {"ephemeral_5m_input_tokens": 4, "ephemeral_1h_input_tokens": 6},
        },
    },
}
STOP = {"type": "message_stop"}


def block(start: dict[str, Any], *deltas: dict[str, Any], index: int = 0) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def ending(reason: str = "end_turn", **usage: Any) -> list[dict[str, Any]]:
    return [
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage},
        STOP,
    ]


def read(
    *events: dict[str, Any], taken: tuple[str, ...] = (), end: bool = True
) -> list[ModelEvent]:
    interpreter = Interpreter(taken)
    found = [one for event in events for one in interpreter.read(event)]
    return found + (list(interpreter.end()) if end else [])


def payloads(events: list[ModelEvent]) -> list[Any]:
    return [event.payload for event in events if isinstance(event, BlockFinished)]


def tool(*parts: str, id: str = "a", **more: Any) -> list[dict[str, Any]]:
    start = {"type": "tool_use", "id": id, "name": "read_file", "input": {}, **more}
    return block(start, *({"type": "input_json_delta", "partial_json": part} for part in parts))


def test_a_text_opens_grows_and_ends_with_the_usage_put_together():
    events = read(
        START,
        *block(
            {"type": "text", "text": ""},
            {"type": "text_delta", "text": "Hel"},
            {"type": "text_delta", "text": "lo"},
        ),
        *ending(output_tokens=5, input_tokens=None),
    )
    first = events[0]
    assert isinstance(first, ResponseStarted)
    assert (first.message_id, first.model) == ("msg_1", "claude-opus-5-5")
    assert first.usage == Usage(10, 1, 80, 10, 6)
    assert events[1:5] == [
        BlockStarted(0, "text"),
        BlockDelta(0, "Hel"),
        BlockDelta(0, "lo"),
        BlockFinished(0, Text("Hello")),
    ]
    last = events[-1]
    assert isinstance(last, ResponseFinished)
    assert (last.stop_reason, last.usage) == ("end_turn", Usage(10, 5, 80, 10, 6))


def test_thinking_keeps_its_signature_and_the_key_order_it_came_with():
    events = read(
        *block(
            {"type": "thinking", "signature": "", "thinking": ""},
            {"type": "thinking_delta", "thinking": "hm"},
            {"type": "signature_delta", "signature": "s"},
        )
    )
    (payload,) = payloads(events)
    assert payload == Thinking("hm", {"type": "thinking", "signature": "s", "thinking": None})
    assert list(payload.metadata) == ["type", "signature", "thinking"]


def test_c07_thinking_without_a_signature_has_no_metadata():
    events = read(
        *block({"type": "thinking", "thinking": ""}, {"type": "thinking_delta", "thinking": "hm"})
    )
    assert payloads(events) == [Thinking("hm")]


def test_c07_redacted_thinking_is_kept_whole():
    whole = {"type": "redacted_thinking", "data": "x"}
    assert payloads(read(*block(whole))) == [Thinking("", whole)]
    assert read(*block(whole))[0] == BlockStarted(0, "thinking")


@pytest.mark.parametrize(
    ("parts", "arguments"), [((), {}), (("",), {}), (("", '{"b":1,', '"a":2}'), {"b": 1, "a": 2})]
)
def test_arguments_are_the_joined_text_in_the_order_received(
    parts: tuple[str, ...], arguments: dict[str, Any]
):
    events = read(*tool(*parts))
    assert events[0] == BlockStarted(0, "tool_call", name="read_file", call_id="a")
    (call,) = payloads(events)
    assert call == ToolCall("a", "read_file", arguments)
    assert list(call.arguments) == list(arguments)


@pytest.mark.parametrize("text", ['{"a": ', "[1]", "null", '{"a": NaN}', "[" * 100_000])
def test_c10_arguments_that_are_no_object_are_kept_as_their_text(text: str):
    (call,) = payloads(read(*tool(text)))
    assert (call.arguments, call.extra) == ({}, {"malformed": text})


def test_what_a_call_holds_beyond_our_keys_is_kept_in_its_place():
    (call,) = payloads(read(*tool("{}", caller={"type": "direct"})))
    assert list(call.block.items()) == [
        ("type", "tool_use"),
        ("id", None),
        ("name", None),
        ("input", None),
        ("caller", {"type": "direct"}),
    ]


def test_v18_a_call_id_that_was_there_before_is_made_unique():
    events = read(*tool("{}"), *tool("{}", id="b"), *tool("{}", id="b"), taken=("a",))
    assert [call.call_id for call in payloads(events)] == ["a_2", "b", "b_2"]
    starts = [event.call_id for event in events if isinstance(event, BlockStarted)]
    assert starts == ["a_2", "b", "b_2"]


def test_citations_are_kept_beside_the_text():
    cited = {"type": "char_location", "cited_text": "x"}
    events = read(
        *block(
            {"type": "text", "text": "", "citations": []},
            {"type": "text_delta", "text": "so"},
            {"type": "citations_delta", "citation": cited},
        )
    )
    assert payloads(events) == [
        Text("so", block={"type": "text", "text": None, "citations": [cited]})
    ]


def test_server_tools_and_unknown_blocks_stay_as_they_came():
    call = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"url": "u"}]}
    odd = {"type": "hologram", "rays": [1]}
    events = read(
        *block(
            call,
            {"type": "input_json_delta", "partial_json": '{"query":'},
            {"type": "input_json_delta", "partial_json": '"x"}'},
        ),
        *block(found),
        *block(odd, {"type": "ray_delta", "ray": 2}),
    )
    assert payloads(events) == [
        Opaque(call | {"input": {"query": "x"}}),
        Opaque(found),
        Opaque(odd),
    ]
    assert events[0] == BlockStarted(0, "opaque", name="web_search")


def test_unknown_events_and_deltas_and_growth_of_no_block_are_left_out():
    events = read(
        START,
        {"type": "ping"},
        {"type": "news", "x": 1},
        {},
        {"type": "content_block_delta", "index": 9, "delta": {"type": "text_delta", "text": "x"}},
        {"type": "content_block_stop", "index": 9},
        *block({"type": "text", "text": "a"}, {"type": "blink_delta", "text": "x"}, {}),
        *ending(),
    )
    assert payloads(events) == [Text("a")]
    assert isinstance(events[-1], ResponseFinished)


def test_f1_a_stream_that_ends_without_its_end_is_truncated():
    events = read(START, *block({"type": "text", "text": "a"}))
    assert isinstance(events[-1], ResponseFailed)
    assert events[-1].failure.kind == "truncated"


def test_f_w10f_a_stop_reason_with_no_block_open_is_an_end():
    events = read(START, *block({"type": "text", "text": "a"}), ending()[0])
    assert isinstance(events[-1], ResponseFinished)


def test_a_stop_reason_with_a_block_still_open_is_no_end():
    half = block({"type": "text", "text": "a"})[:-1]
    events = read(START, *half, ending()[0])
    assert isinstance(events[-1], ResponseFailed)


def test_f5_an_error_event_says_what_kind_it_is_by_its_type():
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    failed = read(START, error)[-1]
    assert isinstance(failed, ResponseFailed)
    assert (failed.failure.kind, failed.failure.retryable) == ("overloaded", True)
    assert len(read(START, error, *block({"type": "text", "text": "more"}), STOP)) == 2


def test_a05_a_call_that_the_output_limit_cut_leaves_no_row():
    log = Log()
    log.user("Go")
    log.heard(
        read(
            START,
            *block({"type": "text", "text": "I will"}),
            *tool('{"path": "a'),
            *ending("max_tokens"),
        )
    )
    assert [row.type for row in log.rows] == ["text", "text"]
    log.turn = "t2"
    log.user("go on")
    assert [role for role, _ in said(log.body())] == ["user", "assistant", "user"]


def test_a03_a_cut_in_the_middle_of_a_text_sends_the_text_that_was_shown():
    log = Log()
    log.user("Go")
    log.heard(
        read(
            START, *block({"type": "text", "text": ""}, {"type": "text_delta", "text": "Hel"})[:-1]
        )
    )
    assert log.rows[-1].data == Text("Hel", interrupted=True)
    log.user("again")
    assert said(log.body())[1] == ("assistant", [{"type": "text", "text": "Hel"}])


def sse(events: list[dict[str, Any]]) -> bytes:
    return b"".join(
        f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events
    )


@given(st.lists(st.integers(0, 1200)))
def test_any_cut_of_the_bytes_means_the_same(cuts: list[int]):
    data = sse(
        [
            START,
            *block({"type": "text", "text": ""}, {"type": "text_delta", "text": "Ahoi 🌊"}),
            *tool('{"a":1}'),
            *ending("tool_use"),
        ]
    )
    places = [0, *sorted(cuts), len(data)]
    reader = Reader()
    events = [e for a, b in itertools.pairwise(places) for e in reader.feed(data[a:b])]
    assert reader.over
    assert payloads(events) == [Text("Ahoi 🌊"), ToolCall("a", "read_file", {"a": 1})]


def test_fifty_thousand_deltas_arrive_without_loss_and_in_one_batch_as_one():
    deltas = [{"type": "text_delta", "text": f"{at} "} for at in range(50_000)]
    data = sse([START, *block({"type": "text", "text": ""}, *deltas), *ending()])
    reader = Reader()
    events = reader.feed(data) + reader.end()
    (text,) = payloads(events)
    assert text.text.split() == [str(at) for at in range(50_000)]
    assert sum(isinstance(event, BlockDelta) for event in events) == 1


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", "truncated"),
        (b"<html>hello</html>\n\n", "not_a_server"),
        (b'data: {"choices": []}\n\ndata: [DONE]\n\n', "not_a_server"),
        (b"event: error\ndata: oops\n\n", "server"),
        (sse([START])[:-30], "not_a_server"),
    ],
)
def test_a_body_that_is_no_stream_of_the_api_is_said_to_be_none(body: bytes, kind: str):
    reader = Reader()
    (failed,) = reader.feed(body) + reader.end()
    assert isinstance(failed, ResponseFailed)
    assert failed.failure.kind == kind
