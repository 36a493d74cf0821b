"""Every family of the provider's rules, green where it is kept and red where not (API §3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.fakes.messages_api import MessagesServer
from tests.unit.fakes.asking import TOOL, Json, ask, assistant, call, result, send, user

pytestmark = pytest.mark.talks_to_the_stand_in("its requests are made up, one by one")

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGOoBwAAgQCA05RTSgAAAABJRU5ErkJggg=="
HOUR = {"type": "ephemeral", "ttl": "1h"}
FIVE = {"type": "ephemeral"}
OLD = "claude-opus-4-5"
SYSTEM: Json = {"role": "system", "content": [{"type": "text", "text": "Note."}]}


@pytest.fixture(scope="module")
def server() -> Iterator[MessagesServer]:
    with MessagesServer() as running:
        yield running


def marked(text: str, control: Json = FIVE) -> Json:
    return {"type": "text", "text": text, "cache_control": control}


def image(media_type: str, data: str = PNG) -> Json:
    source = {"type": "base64", "media_type": media_type, "data": data}
    return {"type": "image", "source": source}


def tool(**more: Any) -> Json:
    return TOOL | more


def asked_twice(*results: Json | str) -> list[Json]:
    return [user("hi"), assistant(call("a"), call("b")), user(*results)]


GREEN: dict[str, Json] = {
    "a plain question": ask(),
    "string content": ask({"role": "user", "content": "hi"}),
    "neighbours of one role": ask(user("a"), user("b")),
    "system blocks": ask(system=[{"type": "text", "text": "Be kind."}]),
    "all results first, then text": ask(*asked_twice(result("b"), result("a"), "and?")),
    "results split over two messages": ask(*asked_twice(result("a")), user(result("b"))),
    "an error result without content": ask(
        user("hi"),
        assistant(call("a")),
        user({"type": "tool_result", "tool_use_id": "a", "is_error": True}),
    ),
    "an image that is one": ask(user(image("image/png"), "what is it?")),
    "a result with an image": ask(
        user("hi"), assistant(call("a")), user(result("a", [image("image/png")]))
    ),
    "four markers": ask(user(marked("a"), marked("b"), marked("c")), system=[marked("s", HOUR)]),
    "three markers and the automatic one": ask(
        user(marked("a"), marked("b"), "c"), system=[marked("s")], cache_control=FIVE
    ),
    "an hour before five minutes": ask(user(marked("a")), system=[marked("s", HOUR)]),
    "a marker on a tool": ask(tools=[tool(cache_control=FIVE)]),
    "adaptive thinking": ask(thinking={"type": "adaptive", "display": "summarized"}),
    "effort": ask(output_config={"effort": "max"}),
    "a role system note after the user": ask(user("hi"), SYSTEM),
    "a forced tool on an older model": ask(
        model="claude-opus-4-8", tools=[TOOL], tool_choice={"type": "any"}
    ),
    "prefill on an old model": ask(user("hi"), assistant("Well,"), model=OLD),
    "a budget on an old model": ask(
        model=OLD, max_tokens=3000, thinking={"type": "enabled", "budget_tokens": 2000}
    ),
    "thinking between tools": ask(model="claude-sonnet-5-5", thinking={"type": "between_tools"}),
    "a dated model id": ask(model="claude-sonnet-4-5-20250929"),
    "metadata and stop sequences": ask(metadata={"user_id": "u"}, stop_sequences=["END"]),
    "a tool with a nested schema": ask(
        tools=[
            tool(
                input_schema={
                    "type": "object",
                    "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
                    "required": ["a"],
                }
            )
        ]
    ),
}

RED: dict[str, tuple[Json, str]] = {
    # V2 to V8: the envelope
    "an unknown field": (ask(colour="red"), "colour: Extra inputs are not permitted"),
    "no max_tokens": (
        {"model": "claude-opus-5-5", "messages": [user("hi")]},
        "max_tokens: Field required",
    ),
    "max_tokens as text": (ask(max_tokens="9"), "max_tokens: Input should be a valid integer"),
    "too many max_tokens": (ask(max_tokens=128_001), "max_tokens: 128001 > 128000, which is"),
    "temperature": (ask(temperature=1.0), "temperature: Extra inputs are not permitted"),
    "no messages": (ask() | {"messages": []}, "messages: at least one message is required"),
    "a blank stop sequence": (ask(stop_sequences=[" "]), "stop_sequences: "),
    "prewarming with a stream": (ask(max_tokens=0, stream=True), "max_tokens: 0 is only"),
    "an unknown block field": (
        ask(user({"type": "text", "text": "a", "id": 1})),
        "messages.0.content.0.text.id: Extra inputs are not permitted",
    ),
    "a block without its text": (
        ask(user({"type": "text"})),
        "messages.0.content.0.text.text: Field required",
    ),
    "an unknown block type": (
        ask(user({"type": "poem"})),
        "messages.0.content.0: Input tag 'poem' found using 'type'",
    ),
    # V8 to V12: roles
    "assistant first": (ask(assistant("a"), user("b")), 'first message must use the "user" role'),
    "an unknown role": (ask({"role": "tool", "content": "a"}), "messages.0.role: Input should be"),
    "prefill": (ask(user("hi"), assistant("So")), "does not support assistant message prefill"),
    "prefill with a space at its end": (
        ask(user("hi"), assistant("So "), model=OLD),
        "final assistant content cannot end with trailing whitespace",
    ),
    "a system role on a model without it": (
        ask(user("hi"), SYSTEM, model="claude-sonnet-5"),
        "role 'system' is not supported on this model",
    ),
    "a system role after the assistant": (
        ask(user("hi"), assistant("a"), SYSTEM, user("b")),
        "role 'system' must follow",
    ),
    "a system role before the user": (
        ask(user("hi"), SYSTEM, user("b")),
        "role 'system' must be the last message or be followed",
    ),
    "system first": (ask(SYSTEM, user("b")), 'first message must use the "user" role'),
    # V13 to V16: content
    "an empty text": (ask(user("")), "messages: text content blocks must be non-empty"),
    "a blank text": (ask(user(" \n")), "text content blocks must contain non-whitespace text"),
    "an empty system text": (
        ask(system=[{"type": "text", "text": ""}]),
        "system: text content blocks must be non-empty",
    ),
    "an empty text in a result": (
        ask(user("hi"), assistant(call("a")), user(result("a", [{"type": "text", "text": ""}]))),
        "text content blocks must be non-empty",
    ),
    "empty content": (ask(user()), "all messages must have non-empty content"),
    "an empty string": (ask({"role": "user", "content": ""}), "must have non-empty content"),
    "a call by the user": (
        ask(user(call("a"))),
        "`tool_use` blocks can only be in `assistant` messages",
    ),
    "a result by the assistant": (
        ask(user("hi"), assistant(result("a")), user("b")),
        "`tool_result` blocks can only be in `user` messages",
    ),
    "an image of another kind": (
        ask(user(image("image/gif"))),
        "does not match the provided media",
    ),
    "an image that is cut off": (
        ask(user(image("image/png", PNG[:52]))),
        "messages.0.content.0.image.source.base64: Could not process image",
    ),
    "more images than are taken": (
        ask(user(*[image("image/png")] * 601)),
        "too many images in the request: 601 > 600",
    ),
    "an image that is not base64": (ask(user(image("image/png", "%%"))), "invalid base64"),
    # V18 to V21: calls and results
    "an id with a dot": (
        ask(user("hi"), assistant(call("a.b")), user(result("a.b"))),
        "messages.1.content.0.tool_use.id: String should match pattern",
    ),
    "the same id twice": (
        ask(*asked_twice(result("a"), result("b")), assistant(call("a")), user(result("a"))),
        "`tool_use` ids must be unique",
    ),
    "a call without a result": (
        ask(*asked_twice(result("a"))),
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: b.",
    ),
    "a call at the very end": (
        ask(user("hi"), assistant(call("a"))),
        "`tool_use` ids were found without `tool_result` blocks immediately after: a",
    ),
    "text before the results": (
        ask(*asked_twice("so", result("a"), result("b"))),
        "without `tool_result` blocks immediately after: a, b",
    ),
    "a result to nothing": (ask(user(result("a"))), "unexpected `tool_use_id` found"),
    "a result to an earlier turn": (
        ask(*asked_twice(result("a"), result("b")), assistant("ok"), user(result("a"))),
        "messages.4.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a.",
    ),
    "two results to one call": (
        ask(*asked_twice(result("a"), result("b"), result("a"))),
        "each tool_use must have a single result",
    ),
    # V23 to V26: tools
    "a tool name with a dot": (
        ask(tools=[tool(name="a.b")]),
        "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'",
    ),
    "two tools of one name": (ask(tools=[TOOL, TOOL]), "tools: Tool names must be unique."),
    "a tool without a schema": (
        ask(tools=[{"name": "a"}]),
        "tools.0.custom.input_schema: Field required",
    ),
    "a schema that is no object": (
        ask(tools=[tool(input_schema={"type": "string"})]),
        "tools.0.custom.input_schema.type: Input should be 'object'",
    ),
    "a schema that is a choice": (
        ask(tools=[tool(input_schema={"type": "object", "anyOf": []})]),
        "does not support oneOf, allOf, or anyOf at the top level",
    ),
    "a schema with an unknown type": (
        ask(tools=[tool(input_schema={"type": "object", "properties": {"a": {"type": "text"}}})]),
        "JSON schema is invalid",
    ),
    "a strict tool that is open": (ask(tools=[tool(strict=True)]), "'additionalProperties' must"),
    "an unknown tool field": (
        ask(tools=[tool(colour=1)]),
        "tools.0.custom.colour: Extra inputs are not permitted",
    ),
    "a choice without tools": (ask(tool_choice={"type": "auto"}), "while providing `tools`"),
    "a choice of an unknown tool": (
        ask(model="claude-opus-5", tools=[TOOL], tool_choice={"type": "tool", "name": "x"}),
        "Tool 'x' not found",
    ),
    "a forced tool on a new model": (
        ask(tools=[TOOL], tool_choice={"type": "any"}),
        'tool_choice: type "tool" and "any" are not supported for this model.',
    ),
    "a forced tool with a thinking budget": (
        ask(
            model=OLD,
            max_tokens=3000,
            tools=[TOOL],
            tool_choice={"type": "any"},
            thinking={"type": "enabled", "budget_tokens": 2000},
        ),
        "Thinking may not be enabled when tool_choice forces tool use.",
    ),
    # V28 to V30: markers
    "five markers": (
        ask(user(*[marked(str(n)) for n in range(5)])),
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    ),
    "four markers and the automatic one": (
        ask(user(*[marked(str(n)) for n in range(4)], "last"), cache_control=FIVE),
        "Found 5.",
    ),
    "an hour after five minutes": (
        ask(user(marked("a", HOUR)), system=[marked("s")]),
        "messages.0.content.0.cache_control.ttl: a ttl='1h' cache_control block must not come",
    ),
    "an unknown ttl": (
        ask(user(marked("a", {"type": "ephemeral", "ttl": "2h"}))),
        "messages.0.content.0.text.cache_control.ttl: Input should be '5m' or '1h'",
    ),
    "an unknown marker": (
        ask(user(marked("a", {"type": "eternal"}))),
        "cache_control.type: Input should be 'ephemeral'",
    ),
    "a marker on an empty text": (
        ask(user(marked(""))),
        "cache_control cannot be set for empty text blocks",
    ),
    "a marker on thinking": (
        ask(
            user("hi"),
            assistant(
                {"type": "thinking", "thinking": "", "signature": "s", "cache_control": FIVE}, "a"
            ),
            user("b"),
        ),
        "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted",
    ),
    # V31, V39 to V41: thinking and effort
    "a budget on a new model": (
        ask(thinking={"type": "enabled", "budget_tokens": 1024}),
        '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive"',
    ),
    "thinking off where it is always on": (
        ask(thinking={"type": "disabled"}),
        '"thinking.type.disabled" is not supported for this model.',
    ),
    "thinking off where only between_tools is": (
        ask(model="claude-sonnet-5-5", thinking={"type": "disabled"}),
        "thinking.type.between_tools",
    ),
    "adaptive on an old model": (
        ask(model=OLD, thinking={"type": "adaptive"}),
        "adaptive thinking is not supported on this model",
    ),
    "a display without thinking": (
        ask(model="claude-opus-5", thinking={"type": "disabled", "display": "omitted"}),
        "thinking.disabled.display: Extra inputs are not permitted",
    ),
    "high effort with thinking off": (
        ask(
            model="claude-opus-5",
            thinking={"type": "disabled"},
            output_config={"effort": "max"},
        ),
        "'max' is not supported with thinking.type 'disabled'",
    ),
    "effort on a model without it": (
        ask(model="claude-haiku-4-5", output_config={"effort": "low"}),
        "does not support the effort parameter",
    ),
    "an effort the model lacks": (
        ask(model="claude-opus-4-6", output_config={"effort": "xhigh"}),
        "output_config.effort: 'xhigh' is not supported",
    ),
    "a tiny budget": (
        ask(model=OLD, thinking={"type": "enabled", "budget_tokens": 1000}),
        "greater than or equal to 1024",
    ),
    "a budget over the limit": (
        ask(model=OLD, max_tokens=1500, thinking={"type": "enabled", "budget_tokens": 1500}),
        "`max_tokens` must be greater than `thinking.budget_tokens`",
    ),
    "a tool loop without its thinking": (
        ask(
            user("hi"),
            assistant(call("a")),
            user(result("a")),
            model=OLD,
            max_tokens=3000,
            thinking={"type": "enabled", "budget_tokens": 2000},
        ),
        "Expected `thinking` or `redacted_thinking`, but found `tool_use`",
    ),
    "a setting of a beta that is not on": (
        ask(
            thinking={
                "type": "adaptive",
                "block_binding": {"prefix_mismatch_behavior": "drop_block"},
            }
        ),
        "thinking.adaptive.block_binding: Extra inputs are not permitted",
    ),
}


@pytest.mark.parametrize("name", GREEN)
def test_what_the_provider_takes_is_taken(server: MessagesServer, name: str) -> None:
    answer = send(server, GREEN[name])
    assert answer.status == 200, answer.message


@pytest.mark.parametrize("name", RED)
def test_what_the_provider_refuses_is_refused(server: MessagesServer, name: str) -> None:
    body, wording = RED[name]
    answer = send(server, body)
    assert answer.status == 400
    assert wording in answer.message
    assert answer.json["error"]["type"] == "invalid_request_error"
    assert server.rejected[-1].error == answer.message


@pytest.mark.parametrize("name", ["a forced tool on a new model", "temperature", "an empty text"])
def test_counting_refuses_what_creating_refuses(server: MessagesServer, name: str) -> None:
    body, wording = RED[name]
    counted = {key: value for key, value in body.items() if key != "max_tokens"}
    answer = send(server, counted, "/v1/messages/count_tokens")
    assert (answer.status, wording in answer.message) == (400, True)


@pytest.mark.parametrize(
    ("headers", "wording"),
    [
        ({}, "anthropic-version: header is required"),
        ({"anthropic-version": "2031-01-01"}, "is not a valid version"),
        (
            {"anthropic-version": "2026-10-21", "anthropic-beta": "mind-reading-2030-01-01"},
            "Unexpected value(s) `mind-reading-2030-01-01` for the `anthropic-beta` header",
        ),
    ],
)
def test_the_version_is_needed_and_betas_are_known(
    server: MessagesServer, headers: dict[str, str], wording: str
) -> None:
    answer = send(server, ask(), headers=headers | {"x-api-key": "key"})
    assert (answer.status, wording in answer.message) == (400, True)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'"text"',
        b"\xff\xfe",
        b'{"messages": NaN}',
        b'{"model":"claude-opus-5-5","max_tokens":9,"messages":[{"role":"user","content":"\\ud800"}]}',
        b'{"model":"claude-opus-5-5","max_tokens":9,"messages":[{"role":"user","content":"\xe9"}]}',
    ],
)
def test_bytes_that_are_no_proper_json_are_refused(server: MessagesServer, body: bytes) -> None:
    assert send(server, body).status == 400


def test_an_old_version_takes_sampling_on_an_old_model_only(server: MessagesServer) -> None:
    headers = {"x-api-key": "k", "anthropic-version": "2023-06-01"}
    assert send(server, ask(model=OLD, temperature=1), headers=headers).status == 200
    assert send(server, ask(temperature=1), headers=headers).status == 400


def test_a_prompt_over_the_window_is_refused(server: MessagesServer) -> None:
    answer = send(server, ask(user("x" * 800_000), model=OLD))
    assert answer.message.startswith("prompt is too long: 222")
    assert answer.message.endswith("tokens > 200000 maximum")


def test_a_loose_server_takes_nearly_everything() -> None:
    with MessagesServer(strict=False) as server:
        for body, _ in RED.values():
            assert send(server, body, headers={"x-api-key": "k"}).status == 200
        assert send(server, b"{").status == 400
