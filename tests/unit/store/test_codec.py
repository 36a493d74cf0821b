"""Payloads to columns and back: whatever text comes in is read back as it was."""

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
    payload_to_json,
    type_of,
)
from desktop.core.errors import PayloadError
from desktop.store import codec

# A high and a low surrogate that stand alone next to each other are one character in JSON.
_TEXT = st.text(
    alphabet=st.one_of(
        st.characters(exclude_categories=["Cs"]), st.sampled_from("\x00\u2028\x85\ud800")
    )
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=8,
)
_OBJECT = st.dictionaries(_TEXT, _JSON, max_size=3)
_EXTRA = st.dictionaries(st.just("later"), _JSON)
_ATTACHMENT = st.fixed_dictionaries(
    {"name": _TEXT, "mediaType": st.just("text/plain"), "text": _TEXT, "size": st.integers(0)}
)
_PAYLOAD: st.SearchStrategy[Payload] = st.one_of(
    st.builds(
        Text,
        _TEXT,
        attachments=st.lists(_ATTACHMENT, max_size=2).map(tuple),
        interrupted=st.booleans(),
        block=st.none() | _OBJECT,
        extra=_EXTRA,
    ),
    st.builds(Thinking, _TEXT, metadata=st.none() | _OBJECT, extra=_EXTRA),
    st.builds(ToolCall, _TEXT, _TEXT, _OBJECT, block=st.none() | _OBJECT, extra=_EXTRA),
    st.builds(
        ToolResult,
        _TEXT,
        _TEXT,
        _TEXT,
        is_error=st.booleans(),
        shell_output=st.none() | _OBJECT,
        extra=_EXTRA,
    ),
    st.builds(ErrorNote, _TEXT, status_code=st.none() | st.integers(100, 599), extra=_EXTRA),
    st.builds(System, st.sampled_from(["notice", "fact", "unknown"]), _TEXT, fields=_EXTRA),
    st.builds(Opaque, _OBJECT, extra=_EXTRA),
)


@given(_PAYLOAD)
def test_a_payload_comes_back_as_it_went_in(payload: Payload) -> None:
    """S09, FIELD F-S07."""
    encoded = codec.encode(payload)
    kept = {one.sha256: one.content.decode("utf-8", "surrogatepass") for one in encoded.texts}
    assert codec.decode(type_of(payload), encoded.data_json.encode(), kept.get) == payload
    assert encoded.data_json.isascii()
    (encoded.search_text or "").encode()
    assert "\0" not in (encoded.search_text or "")


@given(_PAYLOAD)
def test_the_order_of_keys_survives(payload: Payload) -> None:
    encoded = codec.encode(payload)
    kept = {one.sha256: one.content.decode("utf-8", "surrogatepass") for one in encoded.texts}
    back = codec.decode(type_of(payload), encoded.data_json, kept.get)
    assert json.dumps(payload_to_json(back)) == json.dumps(payload_to_json(payload))


def test_an_attached_text_is_kept_apart_from_the_row() -> None:
    attached = {"name": "a.txt", "mediaType": "text/plain", "text": "long", "size": 4}
    encoded = codec.encode(Text("see", attachments=(attached,)))
    stored: dict[str, Any] = json.loads(encoded.data_json)["attachments"][0]
    assert stored == {
        "name": "a.txt",
        "mediaType": "text/plain",
        "sha256": encoded.texts[0].sha256,
        "stored": "text",
        "size": 4,
    }
    assert encoded.texts[0].content == b"long"
    assert encoded.search_text == "see\na.txt"


def test_a_picture_is_left_as_it_is() -> None:
    picture = {"name": "a.png", "mediaType": "image/png", "sha256": "0" * 64, "size": 3}
    encoded = codec.encode(Text("see", attachments=(picture,)))
    assert encoded.texts == ()
    assert codec.decode("text", encoded.data_json, lambda _: "x") == Text(
        "see", attachments=(picture,)
    )


def test_a_text_whose_blob_is_gone_stays_as_stored() -> None:
    attached = {"name": "a.txt", "mediaType": "text/plain", "text": "long", "size": 4}
    encoded = codec.encode(Text("see", attachments=(attached,)))
    back = codec.decode("text", encoded.data_json, lambda _: None)
    assert isinstance(back, Text)
    assert back.attachments[0]["sha256"] == encoded.texts[0].sha256


@pytest.mark.parametrize(
    "stored", [b'{"text": "hal', b"\xff\xfe", b"[1]", b"null", b"", b"[" * 100_000, b'{"text": 3}']
)
def test_a_damaged_payload_is_a_payload_error(stored: bytes) -> None:
    """C12."""
    with pytest.raises(PayloadError):
        codec.decode("text", stored)


def test_what_is_searched_is_capped_and_clean() -> None:
    call = ToolCall("1", "shell", {"command": "ls \0 -l", "more": [{"deep": "x" * 200_000}]})
    found = codec.search_text(call)
    assert found is not None
    assert found.startswith("shell\nls   -l\nxxx")
    assert len(found) == codec.SEARCH_CAP
    assert codec.search_text(System("prompt", "be kind")) is None
    assert codec.search_text(Text(" \n")) is None


def test_column_texts_carry_visible_marks() -> None:
    assert codec.clean("a\0b\ud800c") == "a�b�c"
