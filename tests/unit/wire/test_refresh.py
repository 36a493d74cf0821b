"""The request that only keeps what lies in the provider's cache (API C8, C17)."""

import itertools
from collections.abc import Callable

import pytest

from desktop.core.events import ResponseFinished, ResponseStarted
from desktop.wire.uploads import Uploads
from tests.fakes.messages_api import MessagesServer, fails, reply, thinking
from tests.unit.wire.asking import asking, failure_of, finished
from tests.unit.wire.rows_of import OPUS, Log

LONG = "A pearl is laid down layer on layer. " * 100


def conversation() -> Log:
    log = Log()
    log.prompt()
    log.user(LONG)
    return log


def had(act: Callable[[MessagesServer, Log], None], *, effort: str = "") -> MessagesServer:
    """An answered turn, then `act`, a refresh, `act` again, and the next message."""
    log = conversation()
    replies = [reply(thinking("hm"), "Ahoi"), reply("Bye")]
    with MessagesServer(replies) as server, asking(server.base_url) as one:
        log.stamp = one.model.stamp(OPUS)
        sent = list(log.rows)
        log.heard(one.ask(log.rows, effort=effort))
        act(server, log)
        events = one.ask(sent, effort=effort, only_keeps_cache=True)
        assert [type(event) for event in events] == [ResponseStarted, ResponseFinished]
        act(server, log)
        log.turn = "t2"
        log.user("And then?")
        finished(one.ask(log.rows, effort=effort))
    assert not server.rejected, server.rejected[0].error
    return server


@pytest.mark.parametrize("effort", ["", "high"])
def test_c2_it_reads_all_that_lies_there_writes_nothing_and_is_not_answered(effort: str):
    first, again, _ = had(lambda server, log: None, effort=effort).requests
    assert again.json["max_tokens"] == 0
    assert "stream" not in again.json
    assert first.account is not None and again.account is not None
    assert again.account.read == first.account.write_5m > 0
    assert again.account.write_5m == again.account.input == 0
    assert again.message["content"] == []
    same = ("model", "thinking", "output_config", "tools", "system", "messages")
    assert [again.json.get(key) for key in same] == [first.json.get(key) for key in same]


def test_c2_after_four_minutes_and_four_minutes_the_next_message_still_reads():
    """C8: a hit starts the five minutes anew."""

    def wait(server: MessagesServer, log: Log) -> None:
        del log
        server.advance_clock(240)

    *_, last = had(wait).requests
    assert last.account is not None
    assert last.account.read > 0


def test_c2_the_growing_request_is_not_disturbed():
    requests = had(lambda server, log: None).requests
    assert requests[2].json["messages"][:1] != []
    firsts = [one.json["messages"][0]["content"][0]["text"] for one in requests]
    assert all(one == other for one, other in itertools.pairwise(firsts))


def test_a_refresh_that_fails_is_not_tried_again():
    with (
        MessagesServer(lambda _: fails(529), encodings="taken") as server,
        asking(server.base_url, key="invalid") as one,
    ):
        failure = failure_of(one.ask(conversation().rows, only_keeps_cache=True))
    assert failure.kind == "authentication"
    assert len(server.requests) == 1


def test_c5_a_refresh_is_compressed_and_sent_plain_where_that_is_refused():
    with (
        MessagesServer(encodings="refused") as server,
        asking(server.base_url, uploads=Uploads(compresses=True)) as one,
    ):
        events = one.ask(conversation().rows, only_keeps_cache=True)
    assert isinstance(events[-1], ResponseFinished)
    assert [one.status for one in server.requests] == [400, 200]
