"""Answers of tools as text, whatever a server sends."""

import asyncio
import base64
from pathlib import Path
from typing import Any

import pytest

from desktop.core.media import media_of
from desktop.core.tools import ToolOutcome, ToolSpec
from desktop.tools.attachments.images import LARGEST
from desktop.tools.mcp.contents import MOST_SHOWN, NO_WORDS, NOTHING, Reply, Sent, reply_of
from desktop.tools.mcp.taming import SCHEMA, tame
from desktop.tools.mcp.tool import ServerTool
from tests.fakes.tools import scene
from tests.unit.tools.pictures import noise

CASES: list[tuple[str, dict[str, Any], str]] = [
    (
        "texts",
        {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        "a\n\nb",
    ),
    (
        "a picture without bytes",
        {"content": [{"type": "image", "data": 7, "mimeType": "image/png"}]},
        "[A picture (image/png) is left out.]",
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
    """FIELD F-W12: sounds and the like are named, not carried along."""
    reply = reply_of(result)
    assert (reply.text, reply.is_error) == (text, result.get("isError", False))


def test_pictures_and_documents_are_handed_on_to_be_checked() -> None:
    paper = {"uri": "f:/a.pdf", "mimeType": "application/pdf", "blob": "BBBB"}
    result = {
        "content": [
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            {"type": "text", "text": "between"},
            {"type": "resource", "resource": paper},
        ]
    }
    reply = reply_of(result)
    assert reply.text == "between"
    assert [(one.data, one.kind) for one in reply.shown] == [
        ("AAAA", "image/png"),
        ("BBBB", "application/pdf"),
    ]
    assert [block["type"] for block in tame(result)["content"]] == ["text", "image", "image"]


def test_of_very_many_pictures_some_are_left_out() -> None:
    picture = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    reply = reply_of({"content": [picture] * (MOST_SHOWN + 2)})
    assert len(reply.shown) == MOST_SHOWN
    assert reply.text.count("is left out") == 2


def test_f_w12_a_picture_of_a_server_is_checked_and_a_bad_one_is_named(tmp_path: Path) -> None:
    """12 MB of base64 that is a picture, and as much that is none."""
    content = noise(1900)
    assert len(content) > 10_000_000
    big = base64.b64encode(content).decode()
    sent = (Sent(big, "image/png"), Sent("A" * 16_000_000, "image/png"), Sent("*", "image/png"))

    async def call(*_: Any) -> Reply:
        return Reply("Here:", False, sent)

    tool = ServerTool("fake", "draw", ToolSpec("draw", "", {}), call)
    place = scene(tmp_path)

    async def use() -> ToolOutcome:
        return await tool.run(await tool.prepare({}, place), place, lambda _: None)

    outcome = asyncio.run(use())
    assert [media_of(one) is not None for one in outcome.images] == [True]
    assert outcome.images[0]["size"] <= LARGEST
    assert outcome.text.startswith("Here:\n[picture 1: a picture, 1900 × 1900 pixels")
    assert "[A picture (image/png, 12.0 MB) is left out: picture 2 is" in outcome.text
    assert outcome.text.count("is left out") == 2


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
