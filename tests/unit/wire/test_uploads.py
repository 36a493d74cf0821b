"""Compressed requests: who is sent them, and what becomes of a server that refuses (C5).

Saved bytes are never worth a failed request: whoever refuses gets the same body plain at once.
"""

import asyncio
import gzip
from collections.abc import Sequence

import pytest

from desktop.core.caching import Upload
from desktop.core.chunks import LogChunk
from desktop.core.events import ModelEvent, ResponseStarted
from desktop.wire.uploads import LEAST, Uploads
from tests.fakes.messages_api import Encodings, MessagesServer, Received, Reply, fails, reply
from tests.unit.wire.asking import asking, failure_of, finished, retries
from tests.unit.wire.rows_of import Log

LONG = "a pearl is laid down layer on layer, " * 400


def conversation() -> Sequence[LogChunk]:
    log = Log()
    log.prompt()
    log.user(LONG)
    return log.rows


class Learned(list[str]):
    def __call__(self, manner: str) -> None:
        self.append(manner)


def had(
    encodings: Encodings,
    *,
    compresses: bool = True,
    known: str = "",
    replies: Sequence[Reply] = (reply("a"), reply("b")),
    times: int = 2,
) -> tuple[list[Received], Learned, list[list[ModelEvent]]]:
    """Asks the same so often; what the server got, what was learned, and what was answered."""
    learned = Learned()
    uploads = Uploads(compresses=compresses, known=known, learned=learned)
    with (
        MessagesServer(list(replies), encodings=encodings) as server,
        asking(server.base_url, uploads=uploads) as one,
    ):
        answers = [one.ask(conversation()) for _ in range(times)]
    return server.requests, learned, answers


def encodings_of(requests: Sequence[Received]) -> list[str]:
    return [one.headers.get("content-encoding", "plain") for one in requests]


def test_c5_the_provider_gets_the_same_bytes_in_a_third_of_them():
    (first, second), learned, answers = had("taken")
    plain, _, _ = had("taken", compresses=False)
    assert encodings_of([first, second]) == ["gzip", "gzip"]
    assert first.body == plain[0].body
    assert first.sent_bytes < len(first.body) / 3
    assert learned == ["gzip"]
    assert [finished(one).stop_reason for one in answers] == ["end_turn"] * 2


def test_c5_what_a_request_took_is_told_with_its_answer():
    (first, _), _, (events, _) = had("taken")
    started = next(one for one in events if isinstance(one, ResponseStarted))
    assert started.diagnosis.upload == Upload(len(first.body), first.sent_bytes)


def test_a_small_body_goes_out_as_it_is():
    log = Log()
    log.user("Hello")
    with (
        MessagesServer([reply("a")]) as server,
        asking(server.base_url, uploads=Uploads(compresses=True)) as one,
    ):
        one.ask(log.rows)
    assert len(server.requests[0].body) < LEAST
    assert encodings_of(server.requests) == ["plain"]


@pytest.mark.parametrize("encodings", ["refused", "unsupported", "unread"])
def test_c5_a_server_that_refuses_gets_the_body_plain_at_once_and_ever_after(
    encodings: Encodings,
):
    """Unnoticed: no failure and no waiting is told."""
    requests, learned, answers = had(encodings)
    assert encodings_of(requests) == ["gzip", "plain", "plain"]
    assert [one.status for one in requests[1:]] == [200, 200]
    assert learned == ["plain"]
    for events in answers:
        assert finished(events).stop_reason == "end_turn"
        assert not retries(events)


def test_c5_a_server_that_breaks_over_one_is_spared_for_this_run_only():
    """It may have broken by itself in that moment."""
    requests, learned, answers = had("broken")
    assert encodings_of(requests) == ["gzip", "plain", "plain"]
    assert learned == []
    assert not retries(answers[0])


def test_c5_what_was_learned_in_an_earlier_run_holds_at_once():
    assert encodings_of(had("refused", known="plain")[0]) == ["plain", "plain"]
    assert encodings_of(had("taken", compresses=False, known="gzip")[0]) == ["gzip", "gzip"]


def test_c5_another_server_is_sent_plain_bodies_until_it_says_that_it_takes_them():
    """RFC 9110: `Accept-Encoding` in an answer names what may be sent."""
    silent, learned, _ = had("taken", compresses=False)
    assert encodings_of(silent) == ["plain", "plain"]
    assert learned == []
    speaking, learned, _ = had("announced", compresses=False)
    assert encodings_of(speaking) == ["plain", "gzip"]
    assert learned == ["gzip"]


@pytest.mark.parametrize(
    ("accepted", "compresses"),
    [("gzip", True), ("br, GZIP;q=0.5", True), ("gzip;q=0", False), ("identity", False)],
)
def test_what_a_server_says_is_read_as_http_has_it(accepted: str, compresses: bool):
    uploads = Uploads(compresses=False)
    uploads.heard(accepted)
    parcel = asyncio.run(uploads.packed(b"x" * LEAST))
    assert parcel.is_compressed is compresses


def test_c5_a_fault_that_has_nothing_to_do_with_it_is_told_and_nothing_is_learned():
    """The plain body fails alike, so the next request is compressed again."""
    bad = fails(400, message="messages: no")
    requests, learned, (events, second) = had("taken", replies=[bad, bad, reply("b")])
    assert encodings_of(requests) == ["gzip", "plain", "gzip"]
    assert "messages: no" in failure_of(events).detail
    assert finished(second).stop_reason == "end_turn"
    assert learned == ["gzip"]


def test_c5_a_server_that_took_one_is_not_doubted_for_a_bad_request():
    bad = fails(400, message="messages: no")
    requests, learned, _ = had("taken", replies=[reply("a"), bad])
    assert encodings_of(requests) == ["gzip", "gzip"]
    assert learned == ["gzip"]


def test_c5_an_overloaded_server_is_asked_again_with_the_compressed_body():
    requests, learned, (events,) = had("taken", replies=[fails(529), reply("a")], times=1)
    assert encodings_of(requests) == ["gzip", "gzip"]
    assert len(retries(events)) == 1
    assert learned == ["gzip"]


def test_a_body_of_many_pieces_arrives_whole():
    body = bytes(range(256)) * 5_000
    parcel = asyncio.run(Uploads(compresses=True).packed(body))
    assert gzip.decompress(parcel.data) == body
    assert parcel.upload == Upload(len(body), len(parcel.data))
