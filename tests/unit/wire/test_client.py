"""The model over real HTTP: answers, faults F1 to F7, tries, cancelling (API §1.3, §1.12)."""

import asyncio
import itertools
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from desktop.core.caching import Diagnosis
from desktop.core.chunks import Text, Thinking, ToolCall
from desktop.core.events import (
    BlockDelta,
    BlockFinished,
    BlockStarted,
    ModelEvent,
    ResponseFailed,
    ResponseStarted,
    RetryScheduled,
)
from desktop.core.model import RequestOptions
from tests.fakes.messages_api import (
    Block,
    MessagesServer,
    Raw,
    Reply,
    assert_extends,
    empty_body,
    fails,
    frame,
    redacted_thinking,
    reply,
    text,
    thinking,
    tool_use,
)
from tests.unit.wire.asking import KEY, Asking, asking, failure_of, finished, retries
from tests.unit.wire.rows_of import OPUS, Log


def hello() -> Log:
    log = Log()
    log.prompt()
    log.user("Hello")
    return log


def texts(events: list[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, BlockDelta))


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    """A server that answers every request with the same short text."""
    with MessagesServer([reply("Ahoi")] * 9) as one:
        yield one


def ask_once(*replies: Reply, read_seconds: float = 5.0) -> list[ModelEvent]:
    with (
        MessagesServer(list(replies)) as server,
        asking(server.base_url, read_seconds=read_seconds) as one,
    ):
        return one.ask(hello().rows)


def test_a_text_arrives_with_its_usage(server: MessagesServer):
    with asking(server.base_url) as one:
        events = one.ask(hello().rows)
    assert isinstance(events[0], ResponseStarted)
    assert texts(events) == "Ahoi"
    assert finished(events).stop_reason == "end_turn"
    assert finished(events).usage.prompt > 0
    (request,) = server.requests
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.json["stream"] is True
    assert request.body.startswith(b'{"model":"claude-opus-5-5","max_tokens":64000,"stream":true')


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/"])
def test_f_c03_the_address_may_have_a_version_and_a_slash(server: MessagesServer, ending: str):
    with asking(server.base_url + ending) as one:
        assert texts(one.ask(hello().rows)) == "Ahoi"


def test_c02_a_whole_tool_turn_is_accepted_with_its_thinking_and_hits_the_cache():
    """The strict server checks pairing, signatures, the bound prefix and the markers."""
    steps = [
        reply(
            thinking("look"),
            text("Looking."),
            tool_use("list_dir", {"path": "."}),
            tool_use("read_file", {"z": 1, "path": "a"}),
        ),
        reply(redacted_thinking(), thinking(""), tool_use("read_file", {"path": "b"})),
        reply(thinking("done"), "All read."),
        reply("You are welcome."),
    ]
    log = hello()
    with MessagesServer(steps) as server, asking(server.base_url) as one:
        log.stamp = one.model.stamp(OPUS)
        for step in range(3):
            log.step = step
            log.heard(one.ask(log.rows))
            for row in [r for r in log.rows if isinstance(r.data, ToolCall)]:
                if row.step == step:
                    log.result(row.data.call_id, f"content {row.seq} " * 200)  # type: ignore[union-attr]
        log.turn, log.step = "t2", 0
        log.user("Thanks")
        finished(one.ask(log.rows))
    requests = server.requests
    assert [request.status for request in requests] == [200] * 4, server.rejected
    for earlier, later in itertools.pairwise(requests):
        assert_extends(earlier.json, later.json)
    assert requests[3].account is not None
    assert requests[3].account.read > 0
    assert any(isinstance(row.data, Thinking) for row in log.rows)


def test_f1_a_stream_that_just_ends_is_truncated_and_keeps_what_came():
    events = ask_once(reply(text("Ahoi", chunk=1)).cut_after(5))
    assert texts(events)
    assert failure_of(events).kind == "truncated"
    assert not retries(events)


def test_f2_an_empty_answer_is_tried_again():
    events = ask_once(empty_body(), reply("Ahoi"))
    assert [event.failure.kind for event in retries(events)] == ["truncated"]
    assert texts(events) == "Ahoi"


def test_f3_a_reset_in_mid_stream_is_truncated_in_plain_words():
    failure = failure_of(ask_once(reply(text("Ahoi", chunk=1)).cut_after(5, reset=True)))
    assert failure.kind == "truncated"
    assert "RemoteProtocolError" not in failure.sentence
    assert failure.detail


def test_f4_a_server_that_stops_sending_is_found_out_by_the_read_timeout():
    events = ask_once(reply(text("Ahoi", chunk=1)).silent_after(5), read_seconds=0.2)
    assert failure_of(events).kind == "timeout"
    assert texts(events)


def test_f_w03a_an_error_event_before_anything_is_shown_is_tried_again():
    broken = reply("x").error_after(1, "overloaded_error", "Overloaded")
    events = ask_once(broken, reply("Ahoi"))
    assert [event.failure.kind for event in retries(events)] == ["overloaded"]
    assert texts(events) == "Ahoi"
    assert finished(events)


def test_f_w03b_an_error_event_in_mid_text_ends_the_answer_and_is_not_tried_again():
    broken = reply(text("Hello", chunk=3)).error_after(5, "overloaded_error", "Overloaded")
    events = ask_once(broken, reply("Ahoi"))
    assert texts(events) in ("Hel", "Hello")
    assert failure_of(events).kind == "overloaded"
    assert not retries(events)


@pytest.mark.parametrize(
    ("reply_", "kind", "way_out"),
    [
        (fails(401), "authentication", "key"),
        (fails(403), "permission", "key"),
        (fails(402), "billing", "billing"),
        (fails(404, message="model: x"), "not_found", "model"),
        (fails(400, message="bad"), "bad_request", "details"),
        (fails(400, message="prompt is too long: 9 tokens > 8 maximum"), "too_large", "ompact"),
        (fails(413), "too_large", "new"),
        (fails(413, html="<html><title>413 Too Large</title><h1>x</h1></html>"), "too_large", ""),
        (fails(404, html="<html><title>Not here</title></html>"), "not_a_server", "address"),
        (fails(429, message="Your spend limit is reached"), "billing", "limit"),
        (fails(500, should_retry=False), "server", "again"),
        (fails(429, retry_after=3600), "rate_limit", "60 minutes"),
    ],
)
def test_what_is_refused_is_said_in_a_sentence_with_a_way_out(
    reply_: Reply, kind: str, way_out: str
):
    events = ask_once(reply_)
    failure = failure_of(events)
    assert failure.kind == kind
    assert failure.sentence.endswith(".")
    assert way_out in failure.way_out
    assert "<" not in failure.sentence + failure.detail
    assert not retries(events)
    assert isinstance(events[0], ResponseFailed), "only the failure is told"


@pytest.mark.parametrize("status", [429, 500, 503, 529, 502])
def test_u29_what_may_pass_is_tried_four_times_with_growing_waits(status: int):
    page = "<html><title>502 Bad Gateway</title></html>" if status == 502 else None
    with MessagesServer([fails(status, html=page)] * 5) as server, asking(server.base_url) as one:
        events = one.ask(hello().rows)
    assert one.waits == [0.5, 1.0, 2.0]
    assert [event.attempt for event in retries(events)] == [1, 2, 3]
    assert failure_of(events).status_code == status
    assert len(server.requests) == 4
    assert len({request.body for request in server.requests}) == 1


@pytest.mark.parametrize(("after", "wait"), [("7", 7.0), ("soon", 0.5), ("-3", 0.5), ("0", 0.5)])
def test_f_x03_the_wait_that_the_server_asks_for_is_kept(after: str, wait: float):
    with (
        MessagesServer([fails(529, retry_after=after), reply("Ahoi")]) as server,
        asking(server.base_url) as one,
    ):
        events = one.ask(hello().rows)
    assert one.waits == [wait]
    assert [event.delay for event in retries(events)] == [wait]
    assert texts(events) == "Ahoi"


def test_a_server_that_is_not_there_is_said_to_be_so():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with asking(f"http://127.0.0.1:{port}") as one:
        failure = failure_of(one.ask(hello().rows))
    assert (failure.kind, failure.sentence) == ("network", f"Nothing listens at 127.0.0.1:{port}.")
    assert len(one.waits) == 3


def test_a_name_that_nobody_knows_is_said_to_be_so():
    with asking("https://nowhere.invalid") as one:
        failure = failure_of(one.ask(hello().rows))
    assert failure.kind == "network"
    assert "nowhere.invalid can't be found" in failure.sentence


@pytest.mark.parametrize("address", ["ftp://host", "nonsense", "http://"])
def test_an_address_that_is_none_is_said_to_be_none(address: str):
    with asking(address) as one:
        assert failure_of(one.ask(hello().rows)).kind == "configuration"


def test_a_key_with_odd_characters_is_refused_without_being_shown():
    with asking("http://127.0.0.1:9", key="sk-ant-schlüssel") as one:
        failure = failure_of(one.ask(hello().rows))
    assert failure.kind == "authentication"
    assert "schl" not in f"{failure}"


def test_a_key_that_the_server_repeats_is_not_shown():
    with (
        MessagesServer([fails(401, message=f"invalid key {KEY}")]) as server,
        asking(server.base_url) as one,
    ):
        failure = failure_of(one.ask(hello().rows))
    assert KEY not in f"{failure}"
    assert "invalid key …" in failure.detail


@pytest.mark.parametrize("closing", ["close", "cancel"])
def test_f7_closing_or_cancelling_ends_the_request_at_once(closing: str):
    slow = reply(text("Ahoi", chunk=1)).gate_after(5, "never")

    async def run(one: Asking) -> None:
        stream = one.model.respond(hello().rows, RequestOptions(OPUS))

        async def read() -> None:
            async for _ in stream:
                pass

        if closing == "close":
            await anext(stream)
            await stream.aclose()  # type: ignore[attr-defined]
            return
        task = asyncio.create_task(read())
        await asyncio.to_thread(server.wait_at_gate, "never")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with MessagesServer([slow]) as server, asking(server.base_url) as one:
        asyncio.run(run(one))
        assert server.wait_until_done(1).disconnected


def test_a_wait_between_tries_can_be_cancelled():
    async def run(one: Asking) -> None:
        stream = one.model.respond(hello().rows, RequestOptions(OPUS))
        (event,) = await anext(stream)
        assert isinstance(event, RetryScheduled)
        assert event.delay == 50
        await stream.aclose()  # type: ignore[attr-defined]

    started = time.monotonic()
    with (
        MessagesServer([fails(529, retry_after=50)]) as server,
        asking(server.base_url, pause=asyncio.sleep) as one,
    ):
        asyncio.run(run(one))
    assert time.monotonic() - started < 10


def test_closing_the_transport_ends_a_running_request_within_a_second():
    slow = reply(text("Ahoi", chunk=1)).gate_after(5, "never")

    async def run(one: Asking) -> list[ModelEvent]:
        task = asyncio.create_task(one.collected(hello().rows))
        await asyncio.to_thread(server.wait_at_gate, "never")
        started = time.monotonic()
        await one.transport.close()
        assert time.monotonic() - started < 10  # and not until the server goes on
        return await task

    with MessagesServer([slow]) as server, asking(server.base_url) as one:
        events = asyncio.run(run(one))
        assert server.wait_until_done(1).disconnected
        assert failure_of(events).kind == "truncated"
        assert failure_of(one.ask(hello().rows)).sentence


def test_fifty_thousand_deltas_arrive_without_loss():
    words = [f"{at} " for at in range(50_000)]
    deltas = tuple({"type": "text_delta", "text": word} for word in words)
    long = reply(Block({"type": "text", "text": ""}, deltas))
    at_once = Reply((Raw(b"".join(frame(event) for event in long.events)),))
    events = ask_once(at_once, read_seconds=60)
    assert texts(events) == "".join(words)
    finals = [event for event in events if isinstance(event, BlockFinished)]
    assert finals == [BlockFinished(0, Text("".join(words)))]


@pytest.mark.parametrize("way", [{"line_end": "\r\n"}, {"gzip": True}, {"split": 1}], ids=str)
def test_the_shape_of_the_transfer_makes_no_difference(way: dict[str, Any]):
    assert texts(ask_once(replace(reply("Ahoi 🌊"), **way))) == "Ahoi 🌊"


def test_several_requests_run_at_once_on_one_transport(server: MessagesServer):
    async def run(one: Asking) -> list[list[ModelEvent]]:
        return await asyncio.gather(*(one.collected(hello().rows) for _ in range(4)))

    with asking(server.base_url) as one:
        assert [texts(events) for events in asyncio.run(run(one))] == ["Ahoi"] * 4


def test_a_page_instead_of_a_stream_names_the_address():
    page = Reply(
        headers=(("content-type", "text/html"),),
        body=b"<html><title>Welcome to nginx</title></html>",
    )
    failure = failure_of(ask_once(page))
    assert failure.kind == "not_a_server"
    assert "Welcome to nginx" in failure.detail


def test_a_block_is_announced_before_it_grows(server: MessagesServer):
    with asking(server.base_url) as one:
        kinds = [type(event) for event in one.ask(hello().rows)]
    assert kinds.index(BlockStarted) < kinds.index(BlockDelta) < kinds.index(BlockFinished)


def test_c30_the_server_is_asked_why_and_its_reason_comes_with_ours():
    """The second conversation of the same tab says something else where the first was cached."""
    log = hello()
    with MessagesServer([reply("Ahoi")] * 3) as server, asking(server.base_url) as one:
        log.stamp = one.model.stamp(OPUS)
        (first, *_) = one.ask(log.rows)
        assert isinstance(first, ResponseStarted)
        assert first.diagnosis == Diagnosis(upload=first.diagnosis.upload)
        log.retract(log.rows[-1])
        log.user("Goodbye")
        (second, *_) = one.ask(log.rows, previous_message_id=first.message_id)
    assert [request.json["diagnostics"] for request in server.requests] == [
        {"previous_message_id": None},
        {"previous_message_id": first.message_id},
    ]
    assert not any("anthropic-beta" in request.headers for request in server.requests)
    assert isinstance(second, ResponseStarted)
    assert second.diagnosis.position == "messages[0].content[0]"
    assert second.diagnosis.reason["type"] == "messages_changed"


def test_c30_a_server_that_refuses_the_question_is_remembered_and_asked_without():
    refused = fails(400, message="diagnostics: Extra inputs are not permitted")
    log = hello()
    with (
        MessagesServer([refused, reply("Ahoi"), reply("Ahoi")]) as server,
        asking(server.base_url) as one,
    ):
        events = one.ask(log.rows)
        one.ask(log.rows)
    assert texts(events) == "Ahoi"
    assert retries(events) == []
    assert one.waits == []
    assert ["diagnostics" in request.json for request in server.requests] == [True, False, False]


def test_c11_every_mark_of_a_request_asks_for_the_same_time_to_live(server: MessagesServer):
    log = hello()
    with asking(server.base_url) as one:
        for turn in range(3):
            log.turn = f"t{turn}"
            log.heard(one.ask(log.rows, ttl="1h" if turn else "5m"))
            log.user("And?")
    assert not server.rejected
    places = [request.account.breakpoints for request in server.requests if request.account]
    assert [{ttl for _, ttl in one} for one in places] == [{"5m"}, {"1h"}, {"1h"}]
    assert all(len(one) <= 4 for one in places)


def test_c16_a_fork_and_an_edit_of_the_last_prompt_read_all_that_they_share():
    """The answer before the person's words was marked by the request that they went out with."""
    log = hello()
    long = "A long answer. " * 200
    with (
        MessagesServer([reply(thinking("hm"), long), reply(long), reply("!")]) as server,
        asking(server.base_url) as one,
    ):
        log.stamp = one.model.stamp(OPUS)
        for turn in range(2):
            log.turn = f"t{turn}"
            log.heard(one.ask(log.rows))
            log.user("And?")
        server.may_rewrite("a fork begins in the middle")
        fork = Log(rows=log.rows[:4], stamp=log.stamp, turn="fork")
        fork.user("Otherwise?")
        one.ask(fork.rows)
    _, parent, forked = (request.account for request in server.requests)
    assert parent is not None
    assert forked is not None
    assert forked.read > 700
    assert forked.total - forked.read < 10
