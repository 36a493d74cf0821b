"""The stand-in speaks the provider's protocol, as the real SDK and a plain client see it."""

from __future__ import annotations

import gzip
import json
from typing import Any

import anthropic
import pytest

from tests.fakes.messages_api import (
    MessagesServer,
    Received,
    Reply,
    ended,
    frame,
    from_events,
    redacted_thinking,
    reply,
    text,
    thinking,
    tool_use,
)
from tests.unit.fakes.asking import TOOL, ask, collect, send, user, with_client

pytestmark = pytest.mark.talks_to_the_stand_in("its requests are made up, one by one")

SHOWN = {"thinking": {"type": "adaptive", "display": "summarized"}}


def test_the_sdk_streams_every_block_type_and_the_usage() -> None:
    answer = reply(
        thinking("I should look."),
        redacted_thinking(),
        text("Let me look."),
        tool_use("read_file", {"path": "a b.txt", "n": [1, 2]}),
    )
    with MessagesServer([answer]) as server:

        async def act(client: anthropic.AsyncAnthropic) -> anthropic.types.Message:
            async with client.messages.stream(**ask(tools=[TOOL], **SHOWN)) as stream:
                return await stream.get_final_message()

        message = with_client(server, act)
    kinds = [block.type for block in message.content]
    assert kinds == ["thinking", "redacted_thinking", "text", "tool_use"]
    assert message.content[0].thinking == "I should look."
    assert message.content[0].signature
    assert message.content[3].input == {"path": "a b.txt", "n": [1, 2]}
    assert (message.stop_reason, message.model) == ("tool_use", "claude-opus-5-5")
    assert message.usage.input_tokens > 0
    assert message.usage.output_tokens > 5


def test_raw_events_come_in_the_documented_order_with_a_ping_after_the_first_start() -> None:
    with MessagesServer([reply(text("abcdef", chunk=3))]) as server:
        answer = send(server, ask(stream=True))
    assert [event["type"] for event in answer.events] == [
        "message_start",
        "content_block_start",
        "ping",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["transfer-encoding"] == "chunked"
    first = answer.body.split(b"\n\n")[0].split(b"\n")
    assert first[0] == b"event: message_start"
    assert first[1].startswith(b'data: {"type":"message_start","message":{"id":"msg_')


def test_ready_events_are_sent_word_for_word() -> None:
    usage = {"input_tokens": 3, "cache_creation": None, "extra": [1.5, "ü", None]}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"id": "msg_x", "model": "m", "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "new", "a": 1}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "newer", "z": 1, "a": 2}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "rest"}, "usage": {"output_tokens": 2}},
        {"type": "brand_new"},
    ]
    with MessagesServer([from_events(events)]) as server:
        answer = send(server, ask(stream=True))
    assert answer.body == b"".join(frame(event) for event in events)


def test_the_sdks_raw_stream_ends_after_message_stop() -> None:
    with MessagesServer([reply("Hello")]) as server:
        events = collect(server)
    assert events[-1].type == "message_stop"
    said = [event.delta.text for event in events if event.type == "content_block_delta"]
    assert "".join(said) == "Hello"


def test_with_streaming_response_gives_headers_before_the_events() -> None:
    with MessagesServer([reply("Hello")]) as server:

        async def act(client: anthropic.AsyncAnthropic) -> tuple[str, int]:
            create = client.messages.with_streaming_response.create
            async with create(**ask(), stream=True) as response:
                stream = await response.parse()
                count = len([event async for event in stream])
                return response.headers["request-id"], count

        request_id, count = with_client(server, act)
    assert request_id == server.requests[0].request_id
    assert count == 6


def test_without_stream_the_same_reply_is_one_message() -> None:
    with MessagesServer([reply(text("Hello"), tool_use("read_file", {"path": "a"}))]) as server:

        async def act(client: anthropic.AsyncAnthropic) -> anthropic.types.Message:
            return await client.messages.create(**ask(tools=[TOOL]))

        message = with_client(server, act)
    assert [block.type for block in message.content] == ["text", "tool_use"]
    assert message.content[1].input == {"path": "a"}
    assert message.stop_reason == "tool_use"


def test_thinking_is_signed_but_empty_when_the_display_is_omitted() -> None:
    with MessagesServer([reply(thinking("secret"), text("ok"))]) as server:
        answer = send(server, ask(stream=True))
    deltas = [e["delta"]["type"] for e in answer.events if e["type"] == "content_block_delta"]
    assert deltas == ["signature_delta", "text_delta"]
    assert b"secret" not in answer.body


def test_counting_agrees_with_the_usage_and_needs_no_max_tokens() -> None:
    body = ask(user("some words to count"), system="You are helpful.", tools=[TOOL])
    with MessagesServer([reply("ok")]) as server:
        usage = send(server, body).json["usage"]
        body.pop("max_tokens")
        counted = send(server, body, "/v1/messages/count_tokens").json
    assert counted == {"input_tokens": usage["input_tokens"]}


def test_the_sdk_reads_models_and_their_capabilities_over_pages() -> None:
    with MessagesServer() as server:

        async def act(client: anthropic.AsyncAnthropic) -> Any:
            one = await client.models.retrieve("claude-opus-5-5")
            listed = [model.id async for model in client.models.list(limit=5)]
            return one, listed

        model, listed = with_client(server, act)
    assert (model.max_input_tokens, model.max_tokens) == (1_000_000, 128_000)
    assert model.capabilities.thinking.types.adaptive.supported
    assert not model.capabilities.thinking.types.disabled.supported
    assert model.capabilities.effort.xhigh.supported
    assert len(listed) == len(set(listed)) == 18
    assert listed[0] == "claude-fable-5-2"


def test_an_unknown_model_is_not_found() -> None:
    with MessagesServer() as server:
        assert send(server, None, "/v1/models/claude-9", method="GET").status == 404
        answer = send(server, ask(model="claude-9"))
    assert (answer.status, answer.message) == (404, "model: claude-9")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"authorization": "Bearer good"}, 200),
        ({"x-api-key": "good"}, 200),
        ({}, 401),
        ({"x-api-key": ""}, 401),
        ({"authorization": "Bearer "}, 401),
        ({"x-api-key": "an-invalid-one"}, 401),
        ({"x-api-key": "revoked"}, 401),
    ],
)
def test_a_key_is_needed_in_either_header(headers: dict[str, str], status: int) -> None:
    with MessagesServer(invalid_keys=["revoked"]) as server:
        answer = send(server, ask(), headers=headers | {"anthropic-version": "2026-10-21"})
    assert answer.status == status
    assert answer.headers["request-id"].startswith("req_")
    assert "anthropic-ratelimit-requests-remaining" in answer.headers


def test_the_sdk_raises_its_own_class_for_a_bad_key() -> None:
    with MessagesServer() as server, pytest.raises(anthropic.AuthenticationError) as caught:
        collect(server, key="invalid")
    assert caught.value.request_id == server.requests[0].request_id
    assert server.rejected == []


def test_the_scripts_numbers_count_accepted_requests_only() -> None:
    with MessagesServer([reply("first"), reply("second")]) as server:
        send(server, ask(model="claude-9"))
        send(server, ask(max_tokens=0))
        said = [send(server, ask()).json["content"][0]["text"] for _ in range(3)]
        numbers = [one.number for one in server.requests]
    assert said == ["first", "second", "You said: hi"]
    assert numbers == [0, 0, 1, 2, 3]


def test_an_exhausted_script_can_be_an_error() -> None:
    with MessagesServer([reply("only")], otherwise=ended) as server:
        assert send(server, ask()).status == 200
        assert send(server, ask()).status == 500


def test_a_function_answers_by_what_was_asked_and_its_failure_is_kept() -> None:
    def respond(received: Received) -> Reply:
        return reply(f"{int(received.last_text) * 2}")

    with MessagesServer(respond) as server:
        assert send(server, ask(user("21"))).json["content"][0]["text"] == "42"
        assert send(server, ask(user("x"))).status == 500
    assert [type(error) for error in server.errors] == [ValueError]


def test_a_prewarming_request_gets_an_empty_message() -> None:
    with MessagesServer() as server:
        answer = send(server, ask(max_tokens=0)).json
    assert (answer["content"], answer["stop_reason"]) == ([], "max_tokens")
    assert answer["usage"]["output_tokens"] == 0


def test_one_connection_serves_many_requests_and_a_compressed_body() -> None:
    body = gzip.compress(json.dumps(ask()).encode())
    headers = {"x-api-key": "k", "anthropic-version": "2026-10-21", "content-encoding": "gzip"}
    with MessagesServer() as server:
        assert send(server, body, headers=headers).status == 200
        assert send(server, body[:20], headers=headers).status == 400
        assert send(server, body, headers=headers | {"content-encoding": "br"}).status == 400

        async def act(client: anthropic.AsyncAnthropic) -> list[str]:
            answers = [await client.messages.create(**ask()) for _ in range(3)]
            return [answer.stop_reason or "" for answer in answers]

        assert with_client(server, act) == ["end_turn"] * 3


def test_the_log_holds_the_request_without_its_key() -> None:
    with MessagesServer() as server:
        send(server, ask(), headers={"x-api-key": "tell-nobody", "anthropic-version": "2026-10-21"})
        answer = send(server, None, "/__sim/log", method="GET")
    (entry,) = answer.json["requests"]
    assert json.loads(entry["body"])["messages"][0]["role"] == "user"
    assert entry["cache"]["usage"]["input_tokens"] > 0
    assert b"tell-nobody" not in answer.body


def test_a_body_over_the_limit_is_refused_before_it_is_read() -> None:
    with MessagesServer() as server:
        headers = {"x-api-key": "k", "content-length": str(33 * 1024 * 1024)}
        answer = send(server, b"", headers=headers)
    assert (answer.status, answer.json["error"]["type"]) == (413, "request_too_large")
