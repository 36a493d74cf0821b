"""Payloads and their JSON: exact keys, unknown keys kept, damaged ones named."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.core.chunks import (
    ErrorNote,
    Opaque,
    Payload,
    System,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    payload_from_json,
    payload_to_json,
    type_of,
)
from desktop.core.errors import PayloadError

scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
flat = st.lists(scalars, max_size=2) | st.dictionaries(st.text(max_size=3), scalars, max_size=2)
values = scalars | flat
objects = st.dictionaries(st.text(max_size=5), values, max_size=3)
texts = st.text(max_size=20)

KNOWN = {
    "text", "attachments", "interrupted", "block", "metadata", "callId", "name", "arguments",
    "result", "isError", "shellOutput", "message", "statusCode", "kind",
}  # fmt: skip
extras = st.dictionaries(
    st.text(max_size=5).filter(lambda key: key not in KNOWN), values, max_size=2
)

payloads: st.SearchStrategy[Payload] = st.one_of(
    st.builds(
        Text,
        texts,
        attachments=st.lists(objects, max_size=2).map(tuple),
        interrupted=st.booleans(),
        block=st.none() | objects,
        extra=extras,
    ),
    st.builds(Thinking, texts, metadata=st.none() | objects, extra=extras),
    st.builds(ToolCall, texts, texts, objects, block=st.none() | objects, extra=extras),
    st.builds(ToolResult, texts, texts, texts, st.booleans(), st.none() | objects, extra=extras),
    st.builds(ErrorNote, texts, st.none() | st.integers(), extra=extras),
    st.builds(System, texts, texts, fields=extras),
    st.builds(Opaque, objects, extra=extras),
)


@given(payloads)
def test_a_payload_survives_its_json(payload: Payload) -> None:
    data = json.loads(json.dumps(payload_to_json(payload)))
    again = payload_from_json(type_of(payload), data)
    assert again == payload
    assert json.dumps(payload_to_json(again)) == json.dumps(payload_to_json(payload))


@pytest.mark.parametrize(
    ("payload", "keys"),
    [
        (Text("a"), ["text"]),
        (
            Text("a", ({"name": "n"},), interrupted=True, block={}),
            ["text", "attachments", "interrupted", "block"],
        ),
        (Thinking("a", {}), ["text", "metadata"]),
        (ToolCall("c", "n", {}), ["callId", "name", "arguments"]),
        (
            ToolResult("c", "n", "r", shell_output={}),
            ["callId", "name", "result", "isError", "shellOutput"],
        ),
        (ErrorNote("m", 529), ["message", "statusCode"]),
        (ErrorNote("m"), ["message"]),
        (System("turn_end", fields={"outcome": "done"}), ["kind", "text", "outcome"]),
        (Opaque({}), ["block"]),
    ],
)
def test_the_keys_are_those_of_the_log(payload: Payload, keys: list[str]) -> None:
    assert list(payload_to_json(payload)) == keys


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("text", {}),
        ("text", {"text": 1}),
        ("text", {"text": "a", "attachments": "x"}),
        ("text", {"text": "a", "attachments": [1]}),
        ("text", {"text": "a", "attachments": {}}),
        ("text", {"text": "a", "block": 1}),
        ("text", {"text": "a", "interrupted": "yes"}),
        ("text", []),
        ("text", None),
        ("thinking", {"text": "a", "metadata": []}),
        ("tool_call", {"callId": "c", "name": "n", "arguments": "{}"}),
        ("tool_result", {"callId": "c", "name": "n"}),
        ("error", {}),
        ("system", {"text": "a"}),
        ("opaque", {"block": "x"}),
        ("unheard", {}),
    ],
)
def test_C12_a_payload_of_another_shape_is_refused_with_a_reason(kind: str, data: Any) -> None:
    with pytest.raises(PayloadError):
        payload_from_json(kind, data)


@given(st.sampled_from(("text", "thinking", "tool_call", "tool_result", "error", "system",
                        "opaque", "other")), values)  # fmt: skip
def test_C12_whatever_a_row_holds_it_is_a_payload_or_a_payload_error(kind: str, data: Any) -> None:
    try:
        payload = payload_from_json(kind, data)
    except PayloadError:
        return
    assert type_of(payload) == kind


def test_reading_a_payload_leaves_the_json_as_it_was() -> None:
    data = {"text": "a", "later": 1}
    payload_from_json("text", data)
    assert data == {"text": "a", "later": 1}
