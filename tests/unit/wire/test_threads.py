"""Message threads: a step sends what is new, nothing costs more, and any fault goes unnoticed (C5).

What the server holds is compared with what it would have been sent whole: by its own rules, its
signatures and its cache.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from desktop.core.chunks import ToolCall
from desktop.core.events import ModelEvent, ResponseStarted
from desktop.wire.uploads import Uploads
from tests.bench._account import paid_to_least
from tests.fakes.messages_api import (
    MessagesServer,
    Received,
    Reply,
    Threads,
    fails,
    redacted_thinking,
    reply,
    text,
    thinking,
    tool_use,
)
from tests.unit.wire.asking import Asking, asking, finished, retries
from tests.unit.wire.rows_of import OPUS, Log

LONG = "a pearl is laid down layer on layer, " * 60
SEVEN = 7


def step(number: int, *, calls: int = 1) -> Reply:
    return reply(
        thinking(f"step {number}"),
        text(f"Reading, step {number}."),
        *(tool_use("read_file", {"path": f"f{number}-{at}"}) for at in range(calls)),
    )


@dataclass
class Work:
    """A conversation, step by step: `answers` are what came for each."""

    one: Asking
    server: MessagesServer
    log: Log = field(default_factory=Log)
    answers: list[list[ModelEvent]] = field(default_factory=list[list[ModelEvent]])

    def begin(self) -> None:
        self.log.stamp = self.one.model.stamp(OPUS)
        self.log.prompt(LONG)
        self.log.user("read on: " + 5 * LONG)

    def ask(self) -> None:
        """One request; its calls get their results."""
        before = len(self.log.rows)
        self.answers.append(self.one.ask(self.log.rows))
        self.log.heard(self.answers[-1])
        for row in self.log.rows[before:]:
            if isinstance(row.data, ToolCall):
                self.log.result(row.data.call_id, LONG)
        self.log.step += 1

    def say(self, words: str) -> None:
        self.log.turn, self.log.step = f"{self.log.turn}+", 0
        self.log.user(words)


def nothing(work: Work) -> None:
    del work


def had(
    replies: Sequence[Reply],
    *,
    threads: bool = True,
    manner: Threads = "held",
    between: Callable[[Work], None] = nothing,
    uploads: Uploads | None = None,
) -> tuple[list[Received], Work]:
    """Asks for every reply; `between` happens before each request but the first."""
    now = [1_800_000_000.0]
    with (
        MessagesServer(list(replies), threads=manner) as server,
        asking(server.base_url, threads=threads, uploads=uploads, now=lambda: now[0]) as one,
    ):
        work = Work(one, server)
        work.begin()
        for at in range(len(replies)):
            if at:
                between(work)
            work.ask()
    for events in work.answers:
        finished(events)
        assert not retries(events)
    return server.requests, work


def kinds(requests: Sequence[Received]) -> list[str]:
    return [(one.json.get("thread") or {}).get("type", "whole") for one in requests]


STEPS = [step(at) for at in range(SEVEN)] + [reply(thinking("so"), "All read.")]


def test_c5_the_first_request_is_whole_and_each_step_brings_only_what_is_new():
    requests, work = had(STEPS)
    assert kinds(requests) == ["create"] + ["continue"] * SEVEN
    assert not work.server.rejected
    for one in requests[1:]:
        assert len(one.messages) == 1
        assert not {"system", "tools"} & one.json.keys()
        assert len(one.body) < 4_000


def test_c5_the_server_reads_exactly_what_it_would_have_been_sent_whole():
    """The same prompt hashes, position by position, whole or in a thread."""
    threaded, _ = had(STEPS)
    whole, _ = had(STEPS, threads=False)
    for one, other in zip(threaded, whole, strict=True):
        assert one.account is not None and other.account is not None
        assert one.account.total == other.account.total


@pytest.mark.parametrize("calls", [1, 5, 30])
def test_c5_a_thread_costs_no_more_than_the_whole_requests(calls: int):
    """With many calls the end of the last request is out of a mark's reach: it goes out whole."""
    replies = [step(at, calls=calls) for at in range(4)] + [reply("All read.")]
    threaded, _ = had(replies)
    whole, _ = had(replies, threads=False)
    assert paid_to_least(threaded) <= paid_to_least(whole) + 0.005
    assert ("continue" in kinds(threaded)) == (calls < 30)


def test_a_text_of_the_person_is_a_continuation_like_any_other():
    requests, _ = had([reply("a"), reply("b")], between=lambda work: work.say("and then?"))
    assert kinds(requests) == ["create", "continue"]
    assert requests[1].last_text == "and then?"


def test_what_was_saved_is_told():
    requests, work = had([step(0), reply("b")], uploads=Uploads(compresses=True))
    started = next(one for one in work.answers[1] if isinstance(one, ResponseStarted))
    upload = started.diagnosis.upload
    assert upload is not None
    assert upload.sent == requests[1].sent_bytes
    assert upload.body > len(requests[0].body) > upload.sent


def test_thinking_that_is_kept_secret_is_held_as_it_came():
    replies = [reply(redacted_thinking(), thinking(""), tool_use("read_file", {})), reply("b")]
    requests, _ = had(replies)
    assert kinds(requests) == ["create", "continue"]


def retract(work: Work) -> None:
    work.log.retract(work.log.rows[-1])
    work.say("asked otherwise")


def take_back(work: Work) -> None:
    """What the server said and holds."""
    work.log.retract(next(row for row in work.log.rows if row.role == "assistant"))
    work.say("say it again")


def wait(work: Work) -> None:
    """Longer than the server holds a thread."""
    work.server.advance_clock(290)
    work.one.model._now = lambda: 1_800_000_290.0  # pyright: ignore[reportPrivateUsage]
    work.say("are you there?")


@pytest.mark.parametrize("between", [retract, take_back, wait], ids=lambda one: one.__name__)
def test_c5_where_the_server_holds_something_else_the_whole_request_begins_anew(
    between: Callable[[Work], None],
):
    requests, work = had([reply("a"), reply("b")], between=between)
    assert kinds(requests) == ["create", "create"]
    assert not work.server.rejected


def test_another_effort_begins_anew():
    """A thread's settings can't be changed; the server would refuse it."""
    with (
        MessagesServer([reply("a"), reply("b")]) as server,
        asking(server.base_url, threads=True) as one,
    ):
        work = Work(one, server)
        work.begin()
        work.ask()
        work.say("and you?")
        finished(one.ask(work.log.rows, effort="high"))
    assert kinds(server.requests) == ["create", "create"]
    assert not server.rejected


@pytest.mark.parametrize(
    "manner", ["lost", "continued", "in_flight", "mismatch", "refused", "unknown"]
)
def test_c5_every_refusal_of_the_feature_falls_back_unnoticed_and_is_not_tried_again(
    manner: Threads,
):
    requests, work = had(STEPS, manner=manner)
    refused = [one for one in requests if one.status != 200]
    assert len(refused) == 1
    after = requests[requests.index(refused[0]) + 1 :]
    assert set(kinds(after)) == {"whole"}
    assert all(one.status == 200 for one in after)
    whole, _ = had(STEPS, threads=False)
    answered = [one for one in requests if one.status == 200]
    assert len(answered) == len(whole)
    assert paid_to_least(answered) <= paid_to_least(whole) + 0.005, "a refusal cost nothing"
    assert len(work.answers) == len(STEPS)


@pytest.mark.parametrize("status", [400, 404, 500, 403])
def test_c5_an_unknown_fault_of_a_continuation_falls_back_as_well(status: int):
    replies = [step(0), fails(status, message="what is a thread?"), reply("b")]
    with MessagesServer(replies) as server, asking(server.base_url, threads=True) as one:
        work = Work(one, server)
        work.begin()
        work.ask()
        work.ask()
    finished(work.answers[1])
    assert not retries(work.answers[1])
    assert kinds(server.requests) == ["create", "continue", "whole"]


def test_a_fault_that_has_nothing_to_do_with_threads_is_waited_for_and_begins_anew():
    replies = [step(0), fails(529), step(1), reply("b")]
    with MessagesServer(replies) as server, asking(server.base_url, threads=True) as one:
        work = Work(one, server)
        work.begin()
        for _ in range(3):
            work.ask()
    assert len(retries(work.answers[1])) == 1
    assert kinds(server.requests) == ["create", "continue", "create", "continue"]


def test_c5_a_server_that_answers_the_new_part_alone_is_noticed_before_anything_is_shown():
    """It ignores the field that it does not know: its prompt is shorter than the one before."""
    with (
        MessagesServer([step(0), reply("Who are you?"), reply("b")], strict=False) as server,
        asking(server.base_url, threads=True) as one,
    ):
        work = Work(one, server)
        work.begin()
        work.ask()
        work.ask()
    assert kinds(server.requests) == ["create", "continue", "whole"]
    said = [row.data.text for row in work.log.rows if row.type == "text" and row.role != "user"]  # type: ignore[union-attr]
    assert "Who are you?" not in said
    assert "b" in said


def test_an_answer_that_was_stopped_is_not_continued():
    """A stream that ended early: nobody knows what the server holds."""
    replies = [step(0), reply(text("half an answer", chunk=1)).cut_after(5), reply("b")]
    with MessagesServer(replies) as server, asking(server.base_url, threads=True) as one:
        work = Work(one, server)
        work.begin()
        work.ask()
        work.ask()
        work.say("go on")
        work.ask()
    assert kinds(server.requests) == ["create", "continue", "create"]
    assert not server.rejected


def test_c2_a_refresh_in_a_thread_reads_what_the_thread_left_in_the_cache():
    """The beta is a part of the cache's key."""
    with (
        MessagesServer([reply("a"), reply("b")]) as server,
        asking(server.base_url, threads=True) as one,
    ):
        work = Work(one, server)
        work.begin()
        sent = list(work.log.rows)
        work.ask()
        finished(one.ask(sent, only_keeps_cache=True))
        work.say("and then?")
        work.ask()
    assert kinds(server.requests) == ["create", "whole", "continue"]
    first, refresh, _ = server.requests
    assert first.account is not None and refresh.account is not None
    assert refresh.account.read == first.account.write_5m > 0
