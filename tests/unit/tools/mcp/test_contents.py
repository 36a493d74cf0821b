"""Answers of tools as text, whatever a server sends."""

from typing import Any

import pytest

from desktop.tools.mcp.contents import NO_WORDS, NOTHING, reply_of
from desktop.tools.mcp.taming import SCHEMA, tame

CASES: list[tuple[str, dict[str, Any], str]] = [
    (
        "texts",
        {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        "a\n\nb",
    ),
    (
        "a picture of 12 MB",
        {"content": [{"type": "image", "data": "A" * 16_000_000, "mimeType": "image/png"}]},
        "[A picture (image/png, 12.0 MB) is left out.]",
    ),
    (
        "a file",
        {"content": [{"type": "resource", "resource": {"uri": "f:/a", "blob": "AAAA"}}]},
        "[The file f:/a (of an unknown kind, 3 bytes) is left out.]",
    ),
    (
        "a text file",
        {"content": [{"type": "resource", "resource": {"uri": "f:/a", "text": "words"}}]},
        "[f:/a]\nwords",
    ),
    (
        "something new",
        {"content": [{"type": "hologram"}]},
        "[Something of the kind hologram, which Nacre does not know, is left out.]",
    ),
    ("structure alone", {"content": [], "structuredContent": {"a": 1}}, '{\n "a": 1\n}'),
    (
        "structure beside a text",
        {"content": [{"type": "text", "text": "a"}], "structuredContent": 1},
        "a",
    ),
    ("nothing", {"content": []}, NOTHING),
    ("no content", {}, NOTHING),
    ("an error without words", {"content": [], "isError": True}, NO_WORDS),
    ("half a character", {"content": [{"type": "text", "text": "\ud800"}]}, "\ufffd"),
    ("nonsense", {"content": [None, 3, {"type": "resource", "resource": 1}]}, NOTHING),
]


@pytest.mark.parametrize(("what", "result", "text"), CASES, ids=[case[0] for case in CASES])
def test_an_answer_becomes_text(what: str, result: dict[str, Any], text: str) -> None:
    """FIELD F-W12: pictures and the like are named, not carried along."""
    reply = reply_of(result)
    assert (reply.text, reply.is_error) == (text, result.get("isError", False))


def test_other_results_are_left_as_they_are() -> None:
    for result in ({"protocolVersion": "1"}, {"content": [], "resultType": "inputRequired"}):
        assert tame(result) == result


def test_a_tool_keeps_its_own_schema_beside_one_that_the_library_takes() -> None:
    odd = {"anyOf": [{}]}
    tools = tame({"tools": [{"name": "a", "inputSchema": odd}], "nextCursor": 5})
    assert tools == {
        "tools": [
            {
                "name": "a",
                "description": "",
                "inputSchema": {"type": "object"},
                "_meta": {SCHEMA: odd},
            }
        ]
    }
