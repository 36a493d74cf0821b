"""Faults of the network and of the provider, as the real SDK meets them (API F1 to F7)."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
from typing import Any

import anthropic
import httpx2
import pytest

from tests.fakes.messages_api import (
    PING,
    MessagesServer,
    Reply,
    Send,
    empty_body,
    fails,
    from_events,
    pings_only,
    reply,
    text,
    tool_use,
)
from tests.unit.fakes.asking import ask, collect, send, user, with_client

pytestmark = pytest.mark.talks_to_the_stand_in("its requests are made up, one by one")

HELLO = reply(text("Hello wörld, 世界", chunk=2))

NAMED = from_events(
    [
        HELLO.events[0] | {"message": HELLO.events[0]["message"] | {"id": "msg_1"}},
        *HELLO.events[1:],
    ]
)


def raw_request() -> bytes:
    """A streaming request as bytes."""
    body = json.dumps(ask(user("hi"), stream=True)).encode()
    head = (
        "POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: k\r\n"
        f"anthropic-version: 2026-10-21\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def raw_body(server: MessagesServer) -> tuple[bytes, bool]:
    """The bytes after the head of one streamed answer, and whether the connection was reset."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(raw_request())
        got = b""
        try:
            while part := connection.recv(65536):
                got += part
        except ConnectionResetError:
            return got.partition(b"\r\n\r\n")[2], True
    return got.partition(b"\r\n\r\n")[2], False


def unchunked(body: bytes) -> bytes:
    """The payload of a chunked body, as far as it goes."""
    payload = b""
    while body:
        size, _, rest = body.partition(b"\r\n")
        payload += rest[: int(size, 16)]
        body = rest[int(size, 16) + 2 :]
    return payload


def test_f1_a_stream_without_message_stop_ends_without_an_exception() -> None:
    with MessagesServer([HELLO.unfinished()]) as server:
        events = collect(server)
    assert events[-1].type == "message_delta"


def test_f1_a_stream_can_end_cleanly_after_any_event() -> None:
    with MessagesServer([HELLO.ending_after(4)]) as server:
        assert len(collect(server)) == 3  # the ping is filtered


def test_f2_an_empty_body_gives_no_events_at_all() -> None:
    with MessagesServer([empty_body()]) as server:
        assert collect(server) == []


@pytest.mark.parametrize("reset", [False, True])
@pytest.mark.parametrize("events", [0, 1, 5])
def test_f3_a_cut_in_the_stream_is_a_raw_transport_error(events: int, reset: bool) -> None:
    with (
        MessagesServer([HELLO.cut_after(events, reset=reset)]) as server,
        pytest.raises((httpx2.RemoteProtocolError, httpx2.ReadError)),
    ):
        collect(server)
    assert not server.requests[0].disconnected


def test_f3_a_cut_before_the_head_is_a_connection_error() -> None:
    with (
        MessagesServer([HELLO.cut_before_head()]) as server,
        pytest.raises(anthropic.APIConnectionError),
    ):
        collect(server)


@pytest.mark.parametrize("count", [0, 1, 17, 350, 601])
def test_a_cut_at_a_byte_sends_exactly_the_bytes_before_it(count: int) -> None:
    with MessagesServer([NAMED, NAMED.cut_at_byte(count)]) as server:
        whole = send(server, ask(user("hi"), stream=True)).body
        body, reset = raw_body(server)
    assert unchunked(body) == whole[:count]
    assert not reset


def test_a_reset_is_a_reset_on_the_socket() -> None:
    with MessagesServer([HELLO.cut_at_byte(100, reset=True)]) as server:
        _, reset = raw_body(server)
    assert reset


def test_f4_silence_before_the_head_is_a_timeout_of_the_sdk() -> None:
    with MessagesServer([HELLO.silent()]) as server, pytest.raises(anthropic.APITimeoutError):
        collect(server, timeout=0.2)
    assert server.wait_until_done(1).disconnected


def test_f4_silence_in_the_stream_is_a_raw_timeout() -> None:
    with (
        MessagesServer([HELLO.silent_after(4)]) as server,
        pytest.raises(httpx2.ReadTimeout),
    ):
        collect(server, timeout=0.2)
    assert server.wait_until_done(1).disconnected


def test_f5_an_error_event_carries_its_type_and_status_200() -> None:
    with (
        MessagesServer([HELLO.error_after(4)]) as server,
        pytest.raises(anthropic.APIStatusError) as caught,
    ):
        collect(server)
    assert (caught.value.status_code, caught.value.type) == (200, "overloaded_error")
    assert caught.value.body["request_id"] == server.requests[0].request_id  # type: ignore[index]


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, anthropic.BadRequestError),
        (403, anthropic.PermissionDeniedError),
        (429, anthropic.RateLimitError),
        (500, anthropic.InternalServerError),
        (529, anthropic.OverloadedError),
    ],
)
def test_f6_an_error_status_raises_the_sdks_class(status: int, error: type[Exception]) -> None:
    with (
        MessagesServer([fails(status, retry_after=3600)]) as server,
        pytest.raises(error) as caught,
    ):
        collect(server)
    assert caught.value.response.headers["retry-after"] == "3600"  # type: ignore[attr-defined]
    assert server.rejected == []


def test_f6_a_refused_try_leaves_the_next_reply_to_the_retry() -> None:
    with MessagesServer([fails(529, should_retry=True), HELLO]) as server:
        answer = send(server, ask())
        assert (answer.status, answer.headers["x-should-retry"]) == (529, "true")
        assert send(server, ask()).status == 200


def test_a_gateway_page_is_html() -> None:
    with MessagesServer([fails(502, html="<h1>Bad gateway</h1>")]) as server:
        answer = send(server, ask())
    assert answer.body == b"<h1>Bad gateway</h1>"
    assert answer.headers["content-type"] == "text/html"


def test_f7_a_cancelled_request_is_seen_as_a_disconnect() -> None:
    with MessagesServer([HELLO.gate_after(4, "mid")]) as server:

        async def act(client: anthropic.AsyncAnthropic) -> None:
            stream = await client.messages.create(**ask(), stream=True)
            reading = asyncio.create_task(read(stream))
            await asyncio.to_thread(server.wait_at_gate, "mid")
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
            await stream.close()

        async def read(stream: Any) -> None:
            async for _ in stream:
                pass

        with_client(server, act)
        received = server.wait_until_done(1)
    assert received.disconnected
    assert received.status == 200


def test_pings_alone_keep_the_connection_and_bring_nothing() -> None:
    with MessagesServer([pings_only(5)]) as server, pytest.raises(httpx2.ReadTimeout):
        collect(server, timeout=0.3)


def test_unknown_events_blocks_and_deltas_pass_through_the_sdk() -> None:
    events = list(HELLO.events)
    events[3:3] = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "aura_delta", "x": 1}},
        {"type": "weather", "sky": "clear"},
    ]
    with MessagesServer([from_events(events)]) as server:
        kinds = [event.type for event in collect(server)]
    assert kinds[-1] == "message_stop"


@pytest.mark.parametrize(
    "variant",
    [
        HELLO.crlf(),
        HELLO.with_comments(),
        HELLO.gzipped(),
        HELLO.split_every(1),
        HELLO.split_every(1).crlf().gzipped(),
        HELLO.insert_after(4, Send(PING), Send(PING)),
        HELLO.paced(1),
    ],
)
def test_the_same_text_arrives_however_it_is_sent(variant: Reply) -> None:
    with MessagesServer([variant]) as server:
        events = collect(server)
    parts = [event.delta.text for event in events if event.type == "content_block_delta"]
    assert "".join(parts) == "Hello wörld, 世界"


def test_a_compressed_body_is_marked_and_can_be_unpacked() -> None:
    with MessagesServer([HELLO.gzipped()]) as server:
        answer = send(server, ask(stream=True))
    assert answer.headers["content-encoding"] == "gzip"
    assert b"message_stop" in gzip.decompress(answer.body)


def test_arguments_that_are_not_json_are_sent_as_they_are() -> None:
    cut = reply(tool_use("read_file", '{"path": "a'), stop_reason="max_tokens")
    with MessagesServer([cut]) as server:
        answer = send(server, ask(stream=True))
    deltas = [e["delta"] for e in answer.events if e["type"] == "content_block_delta"]
    assert "".join(delta["partial_json"] for delta in deltas) == '{"path": "a'


def test_a_gate_holds_the_answer_until_it_is_released() -> None:
    with MessagesServer([HELLO.gate_before_head("head").gate_after(4, "mid")]) as server:

        async def act(client: anthropic.AsyncAnthropic) -> tuple[int, int]:
            asking = asyncio.create_task(client.messages.create(**ask(), stream=True))
            await asyncio.to_thread(server.wait_at_gate, "head")
            assert not asking.done()
            server.release("head")
            stream = await asking
            await asyncio.to_thread(server.wait_at_gate, "mid")
            before = len(server.requests[0].message["content"])
            server.release("mid")
            return before, len([event async for event in stream])

        assert with_client(server, act) == (0, len(HELLO.events) - 1)


def test_a_gate_released_early_does_not_hold() -> None:
    with MessagesServer([HELLO.gate_after(1, "open")]) as server:
        server.release("open")
        assert collect(server)[-1].type == "message_stop"


def test_waiting_for_what_does_not_come_is_a_timeout() -> None:
    with MessagesServer() as server:
        with pytest.raises(TimeoutError, match="0 of 1"):
            server.wait_for_requests(1, timeout=0.01)
        with pytest.raises(TimeoutError, match="nowhere"):
            server.wait_at_gate("nowhere", timeout=0.01)


def test_closing_ends_hanging_answers_and_can_be_repeated() -> None:
    server = MessagesServer([HELLO.silent_after(1)]).start()

    async def act(client: anthropic.AsyncAnthropic) -> None:
        stream = await client.messages.create(**ask(), stream=True)
        await asyncio.to_thread(server.close)
        with pytest.raises(httpx2.RemoteProtocolError):
            async for _ in stream:
                pass

    with_client(server, act)
    server.close()


def test_closing_does_not_wait_for_a_client_that_reads_no_more() -> None:
    server = MessagesServer([reply(text("x" * 20_000_000, chunk=0))]).start()
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(raw_request())
        server.wait_for_requests(1)
        server.close()
    assert server.requests[0].done.is_set()


def test_a_taken_port_is_an_error_at_the_start() -> None:
    with MessagesServer() as server, pytest.raises(OSError, match="in use"):
        MessagesServer(port=server.port).start()
