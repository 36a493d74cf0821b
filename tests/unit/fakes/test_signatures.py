"""Thinking is signed for one model, one exact prefix and one text (API S20, V32 to V37)."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest

from tests.fakes.messages_api import (
    MessagesServer,
    from_events,
    redacted_thinking,
    reply,
    text,
    thinking,
    tool_use,
)
from tests.unit.fakes.asking import (
    TOOL,
    Answered,
    Json,
    ask,
    assistant,
    echoed,
    result,
    send,
    user,
)

pytestmark = pytest.mark.talks_to_the_stand_in("its requests are made up, one by one")

SHOWN = {"type": "adaptive", "display": "summarized"}
THOUGHT = reply(
    thinking("First I look."), text("Looking."), tool_use("read_file", {"path": "a"}, id="t1")
)
SECOND = reply(thinking("Now I know."), redacted_thinking(), text("Done."))
BOUND = "The block is bound to a different conversation."


def asking(*messages: Json, **more: object) -> Json:
    body: Json = ask(*messages, stream=True, tools=[TOOL], system="Be kind.", thinking=SHOWN)
    return body | more


def conversation(server: MessagesServer, **more: object) -> Json:
    """A request with two signed turns in it, answered twice by the server."""
    messages = [user("What is in a?")]
    messages.append(echoed(send(server, asking(*messages, **more))))
    messages.append(user(result("t1", "a secret")))
    messages.append(echoed(send(server, asking(*messages, **more))))
    messages.append(user("Thanks. And b?"))
    return asking(*messages, **more)


def refused(change: Callable[[Json], object], **more: object) -> Answered:
    """The answer to the conversation after a change."""
    with MessagesServer([THOUGHT, SECOND]) as server:
        body = conversation(server, **more)
        changed = copy.deepcopy(body)
        change(changed)
        assert send(server, body).status == 200
        return send(server, changed)


def test_an_exact_echo_is_accepted_turn_after_turn() -> None:
    with MessagesServer([THOUGHT, SECOND]) as server:
        body = conversation(server)
        assert send(server, body).status == 200
    kinds = [block["type"] for block in body["messages"][3]["content"]]
    assert kinds == ["thinking", "redacted_thinking", "text"]
    assert server.rejected == []


def test_another_server_knows_the_signatures() -> None:
    with MessagesServer([THOUGHT, SECOND]) as server:
        body = conversation(server)
    with MessagesServer() as after_restart:
        assert send(after_restart, body).status == 200


def mark(body: Json) -> None:
    body["messages"][0]["content"][0]["cache_control"] = {"type": "ephemeral"}
    body["tools"] = [TOOL | {"cache_control": {"type": "ephemeral"}}]


def empty_the_thinking(body: Json) -> None:
    body["messages"][1]["content"][0]["thinking"] = ""


def reorder_keys(body: Json) -> None:
    block = body["messages"][1]["content"][2]
    body["messages"][1]["content"][2] = dict(reversed(block.items()))


def change_what_follows(body: Json) -> None:
    body["messages"][4]["content"][0]["text"] = "Something else."


def drop_all_thinking(body: Json) -> None:
    for message in body["messages"]:
        message["content"] = [b for b in message["content"] if "thinking" not in b["type"]]


@pytest.mark.parametrize(
    "change", [mark, empty_the_thinking, reorder_keys, change_what_follows, drop_all_thinking]
)
def test_changes_that_the_prefix_does_not_feel(change: Callable[[Json], None]) -> None:
    assert refused(change).status == 200


def change_the_first_text(body: Json) -> None:
    body["messages"][0]["content"][0]["text"] = "What is in b?"


def change_the_result(body: Json) -> None:
    body["messages"][2]["content"][0]["content"] = "(cleared)"


def change_the_system(body: Json) -> None:
    body["system"] = "Be kind. It is Monday."


def add_a_tool(body: Json) -> None:
    body["tools"] = [TOOL, TOOL | {"name": "late"}]


def remove_earlier_thinking(body: Json) -> None:
    body["messages"][1]["content"].pop(0)


def insert_a_text(body: Json) -> None:
    body["messages"][2]["content"].append({"type": "text", "text": "a reminder"})


def change_an_earlier_block_of_the_answer(body: Json) -> None:
    body["messages"][1]["content"][1]["text"] = "Looking!"


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (change_the_first_text, "messages.1.content.0"),
        (change_the_system, "messages.1.content.0"),
        (add_a_tool, "messages.1.content.0"),
        (change_the_result, "messages.3.content.0"),
        (insert_a_text, "messages.3.content.0"),
        (remove_earlier_thinking, "messages.3.content.0"),
        (change_an_earlier_block_of_the_answer, "messages.3.content.0"),
    ],
)
def test_thinking_after_a_changed_prefix_is_refused(
    change: Callable[[Json], None], path: str
) -> None:
    answer = refused(change)
    assert answer.status == 400
    assert answer.message.startswith(f"{path}: Invalid `signature` in `thinking` block.")
    assert BOUND in answer.message


def test_thinking_of_the_latest_turn_cannot_be_modified() -> None:
    def change(body: Json) -> None:
        body["messages"][3]["content"][0]["thinking"] = "Now I guess."

    assert "cannot be modified" in refused(change).message


@pytest.mark.parametrize("signature", ["", "bm90IG91cnM=", "%%%"])
def test_a_signature_that_is_none_is_refused(signature: str) -> None:
    def change(body: Json) -> None:
        body["messages"][1]["content"][0]["signature"] = signature

    assert (
        refused(change).message == "messages.1.content.0: Invalid `signature` in `thinking` block"
    )


def test_redacted_thinking_is_bound_too() -> None:
    def change(body: Json) -> None:
        body["messages"][3]["content"].pop(0)

    answer = refused(change)
    assert answer.message.startswith("messages.3.content.0")
    assert BOUND in answer.message


@pytest.mark.parametrize(("last", "status"), [("thinking", 400), ("text", 200)])
def test_an_assistant_message_may_not_end_in_thinking(last: str, status: int) -> None:
    with MessagesServer([reply(thinking("hm"), text("ok"))]) as server:
        first = echoed(send(server, asking(user("hi"))))
        if last == "thinking":
            first["content"].pop()
        answer = send(server, asking(user("hi"), first, user("go on")))
    assert answer.status == status
    if status == 400:
        assert "The final block in an assistant message cannot be `thinking`." in answer.message


def test_a_dropping_server_ignores_the_block_and_takes_note() -> None:
    with MessagesServer([THOUGHT, SECOND], binding="drop") as server:
        body = conversation(server)
        change_the_result(body)
        assert send(server, body).status == 200
        dropped = server.requests[-1].dropped
    assert [(one.path, one.reason) for one in dropped] == [
        ("messages.3.content.0", "prefix"),
        ("messages.3.content.1", "prefix"),
    ]


def test_a_request_may_ask_for_dropping_and_is_told() -> None:
    setting = SHOWN | {"block_binding": {"prefix_mismatch_behavior": "drop_block"}}
    headers = {
        "x-api-key": "k",
        "anthropic-version": "2026-10-21",
        "anthropic-beta": "thinking-binding-controls-2026-08-01",
    }
    with MessagesServer([THOUGHT, SECOND]) as server:
        body = conversation(server)
        change_the_result(body)
        answer = send(server, body | {"thinking": setting}, headers=headers)
    told = answer.events[0]["message"]["input_transformations"]
    assert [one["reason"] for one in told] == ["prefix", "prefix"]


def test_a_server_with_binding_off_takes_any_signature() -> None:
    thought: Json = {"type": "thinking", "thinking": "hm", "signature": "from elsewhere"}
    body = asking(user("hi"), assistant(thought, "ok"), user("go on"))
    with MessagesServer(binding="off") as server:
        assert send(server, body).status == 200
    with MessagesServer() as server:
        assert send(server, body).status == 400


def test_thinking_of_another_model_is_ignored_where_it_cannot_be_read() -> None:
    with MessagesServer([THOUGHT, SECOND]) as server:
        body = conversation(server)
        assert send(server, body | {"model": "claude-haiku-5-5"}).status == 200
        unread = {one.reason for one in server.requests[-1].dropped}
        assert send(server, body | {"model": "claude-fable-5-1"}).status == 200
        read = server.requests[-1].dropped
    assert (unread, read) == ({"model"}, [])


def test_a_recorded_signature_is_valid_where_the_server_played_it() -> None:
    recorded = from_events(reply(thinking("hm", signature="EqQB"), text("ok")).events)
    with MessagesServer([recorded]) as server:
        first = echoed(send(server, asking(user("hi"))))
        assert first["content"][0]["signature"] == "EqQB"
        assert send(server, asking(user("hi"), first, user("go on"))).status == 200
        assert BOUND in send(server, asking(user("ho"), first, user("go on"))).message
