"""The cache account: what is read, written and paid, and why a request missed (API §2.1, §4.2)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes.messages_api import MessagesServer, fails, reply
from tests.unit.fakes.asking import TOOL, Json, ask, assistant, send, user
from tests.unit.fakes.background import in_background

pytestmark = pytest.mark.talks_to_the_stand_in("its requests are made up, one by one")

LONG = "word " * 600
FIVE = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}


def marked(text: str, control: Json = FIVE) -> Json:
    return {"type": "text", "text": text, "cache_control": control}


# The key that `paid` asks with: another one has another cache.
HEADERS = {"x-api-key": "k", "anthropic-version": "2026-10-21"}


def paid(server: MessagesServer, body: Json, **headers: str) -> tuple[int, int, int]:
    """Tokens read, written and plain."""
    usage = send(server, body, headers=HEADERS | headers).json["usage"]
    split = usage["cache_creation"]
    written = usage["cache_creation_input_tokens"]
    assert written == split["ephemeral_5m_input_tokens"] + split["ephemeral_1h_input_tokens"]
    return usage["cache_read_input_tokens"], written, usage["input_tokens"]


@pytest.fixture
def server() -> Any:
    with MessagesServer() as running:
        yield running


def test_nothing_is_cached_without_a_marker(server: MessagesServer) -> None:
    assert [paid(server, ask(user(LONG)))[:2] for _ in range(2)] == [(0, 0), (0, 0)]


def test_a_marked_prefix_is_written_once_and_read_again(server: MessagesServer) -> None:
    first = paid(server, ask(user(marked(LONG), "one")))
    second = paid(server, ask(user(marked(LONG), "another")))
    assert first[0] == 0
    assert (second[0], second[1]) == (first[1], 0)
    assert first[1] == 834


def test_a_moved_marker_keeps_the_prefix_and_adds_to_it(server: MessagesServer) -> None:
    _, written, _ = paid(server, ask(user(marked(LONG))))
    grown = ask(user(LONG), assistant("ok"), user(marked("more " * 10)))
    read, added, rest = paid(server, grown)
    assert (read, rest) == (written, 0)
    assert added > 0


def test_a_short_prefix_is_not_cached_at_all(server: MessagesServer) -> None:
    body = ask(user(marked("short")))
    assert [paid(server, body)[:2] for _ in range(2)] == [(0, 0), (0, 0)]


@pytest.mark.parametrize(("between", "hit"), [(19, True), (20, False)])
def test_the_look_back_ends_after_twenty_positions(
    server: MessagesServer, between: int, hit: bool
) -> None:
    """C4, C5: an entry at 16 is found from a breakpoint at 35, one at 15 is not."""
    paid(server, ask(user(marked(LONG))))
    blocks = [f"block {number}" for number in range(between - 1)]
    read, _, _ = paid(server, ask(user(LONG, *blocks, marked("end"))))
    assert (read > 0) is hit


def test_a_second_marker_finds_what_the_look_back_misses(server: MessagesServer) -> None:
    _, written, _ = paid(server, ask(user(marked(LONG))))
    blocks = [f"block {number}" for number in range(40)]
    read, _, _ = paid(server, ask(user(marked(LONG), *blocks, marked("end"))))
    assert read == written


@pytest.mark.parametrize(("control", "life"), [(FIVE, 300), (HOUR, 3600)])
def test_an_entry_lives_as_long_as_it_says_and_a_hit_renews_it(
    server: MessagesServer, control: Json, life: int
) -> None:
    body = ask(user(marked(LONG, control)))
    paid(server, body)
    for seconds, hit in [(life - 5, True), (life - 5, True), (life + 5, False)]:
        server.advance_clock(seconds)
        assert (paid(server, body)[0] > 0) is hit


def test_a_hit_by_look_back_renews_the_entry_too(server: MessagesServer) -> None:
    paid(server, ask(user(marked(LONG))))
    for said in ("one", "two"):
        server.advance_clock(295)
        assert paid(server, ask(user(LONG, marked(said))))[0] == 834


def test_the_clock_can_be_moved_over_http(server: MessagesServer) -> None:
    body = ask(user(marked(LONG)))
    paid(server, body)
    send(server, {"advance": 301}, "/__sim/clock")
    assert paid(server, body)[0] == 0


def test_mixed_lives_are_paid_apart(server: MessagesServer) -> None:
    body = ask(user(marked(LONG)), system=[marked(LONG, HOUR)])
    usage = send(server, body).json["usage"]
    assert usage["cache_creation"] == {
        "ephemeral_5m_input_tokens": 834,
        "ephemeral_1h_input_tokens": 834,
    }
    assert usage["input_tokens"] == 0


@pytest.mark.parametrize(
    "change",
    [
        {"model": "claude-fable-5-1"},
        {"system": "Other."},
        {"tools": [TOOL | {"description": "Reads."}]},
        {"tool_choice": {"type": "none"}},
        {"output_config": {"effort": "high"}},
        {"messages": [{"role": "user", "content": LONG}]},
    ],
)
def test_what_loses_the_messages(server: MessagesServer, change: Json) -> None:
    body = ask(user(LONG), tools=[TOOL], system="Be kind.", cache_control=FIVE)
    paid(server, body)
    assert paid(server, body | change)[0] == 0
    assert paid(server, body)[0] > 0


@pytest.mark.parametrize(
    "change", [{"output_config": {"effort": "medium"}}, {"tool_choice": {"type": "auto"}}]
)
def test_a_default_that_is_said_loses_nothing(server: MessagesServer, change: Json) -> None:
    body = ask(user(LONG), tools=[TOOL], cache_control=FIVE)
    paid(server, body)
    assert paid(server, body | change)[0] > 0


def test_another_key_has_another_cache(server: MessagesServer) -> None:
    body = ask(user(marked(LONG)))
    paid(server, body)
    assert paid(server, body, **{"x-api-key": "other"})[0] == 0


def test_a_failed_request_writes_nothing() -> None:
    body = ask(user(marked(LONG)))
    with MessagesServer([fails(529)]) as server:
        assert send(server, body).status == 529
        assert paid(server, body)[0] == 0


def test_an_entry_is_readable_only_after_the_first_byte() -> None:
    """C9: a request that comes before the first answer began misses."""
    body = ask(user(marked(LONG)), stream=True)
    held = reply("a").gate_before_head("head")
    with MessagesServer([held]) as server:
        with in_background(lambda: send(server, body, headers=HEADERS)):
            server.wait_at_gate("head")
            assert paid(server, ask(user(marked(LONG))))[0] == 0
            server.release("head")
        assert paid(server, ask(user(marked(LONG))))[0] > 0


def test_the_first_difference_names_the_place(server: MessagesServer) -> None:
    paid(server, ask(user("a"), assistant("b"), user("c"), system="s", cache_control=FIVE))
    paid(server, ask(user("a"), assistant("x"), user("c"), system="s", cache_control=FIVE))
    paid(server, ask(user("a"), assistant("x"), user("c", "d"), system="s", cache_control=FIVE))
    found = [one.account.first_difference for one in server.requests if one.account]
    assert found == [None, "messages.1.content.0", None]


def test_diagnostics_say_why_the_cache_missed(server: MessagesServer) -> None:
    body = ask(user(LONG), system="s", cache_control=FIVE)
    before = send(server, body | {"diagnostics": {"previous_message_id": None}}).json
    told = {"diagnostics": {"previous_message_id": before["id"]}}
    same = send(server, body | told).json
    changed = send(server, body | told | {"system": "t"}).json
    unknown = send(server, body | {"diagnostics": {"previous_message_id": "msg_x"}}).json
    assert (before["diagnostics"], same["diagnostics"]) == (None, None)
    assert changed["diagnostics"]["cache_miss_reason"]["type"] == "system_changed"
    assert unknown["diagnostics"]["cache_miss_reason"]["type"] == "previous_message_not_found"


def test_older_models_lose_thinking_of_earlier_turns_from_the_prefix() -> None:
    """C26: a user text strips earlier thinking on last-turn-only models, so the prefix moves."""
    thought: Json = {"type": "thinking", "thinking": "x" * 400, "signature": "s"}
    start = ask(user(LONG * 2), assistant(thought, "ok"), user("go"), model="claude-sonnet-4-5")
    with MessagesServer(binding="off") as server:
        kept = paid(server, start | {"model": "claude-sonnet-4-6"})
        stripped = paid(server, start)
    assert kept[2] - stripped[2] > 100
