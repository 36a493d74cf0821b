"""Streams that a real provider sent: read, reduced to rows, sent back block by block (F-W02)."""

import json
from pathlib import Path
from typing import Any

import pytest

from desktop.core.events import ResponseFinished
from desktop.wire.stream import Reader
from tests.unit.wire.rows_of import ROOT, Log, reloaded, said

STREAMS = ROOT.parent / "shared" / "data" / "streams"
FILES = sorted([*STREAMS.glob("recorded/*.chunks.txt"), *STREAMS.glob("sdk/*.txt")])


def messages(path: Path) -> list[bytes]:
    """The streams in a file, each as it came over the wire; some hold one JSON event a line."""
    text = path.read_text("utf-8")
    if not path.name.endswith(".chunks.txt"):
        return [text.encode()]
    found: list[str] = []
    for line in filter(None, text.splitlines()):
        kind = json.loads(line)["type"]
        if kind == "message_start":
            found.append("")
        found[-1] += f"event: {kind}\ndata: {line}\n\n"
    return [one.encode() for one in found]


def received(data: bytes) -> list[dict[str, Any]]:
    """The blocks of the message, put together in the simplest way there is."""
    blocks: dict[int, dict[str, Any]] = {}
    parts: dict[int, str] = {}
    for line in data.decode().split("\n"):
        if not line.startswith("data:"):
            continue
        event = json.loads(line[5:])
        at = event.get("index", 0)
        if event["type"] == "message_start":
            blocks.update(enumerate(event["message"]["content"]))
        elif event["type"] == "content_block_start":
            blocks[at] = event["content_block"]
        elif event["type"] == "content_block_delta":
            delta = event["delta"]
            match delta["type"]:
                case "text_delta":
                    blocks[at]["text"] += delta["text"]
                case "thinking_delta":
                    blocks[at]["thinking"] += delta["thinking"]
                case "signature_delta":
                    blocks[at]["signature"] = delta["signature"]
                case "input_json_delta":
                    parts[at] = parts.get(at, "") + delta["partial_json"]
                case "citations_delta":
                    blocks[at].setdefault("citations", []).append(delta["citation"])
                case "compaction_delta":
                    blocks[at].update({k: v for k, v in delta.items() if k != "type"})
                case other:
                    raise AssertionError(f"{other} is not known here")
    for at, text in parts.items():
        blocks[at]["input"] = json.loads(text or "{}")
    return list(blocks.values())


def is_sent(block: dict[str, Any]) -> bool:
    if block["type"] == "text":
        return bool(block["text"].strip())
    return block["type"] != "thinking" or bool(block["signature"])


def heard(data: bytes, size: int) -> tuple[Log, Any]:
    reader = Reader()
    events = [
        event for at in range(0, len(data), size) for event in reader.feed(data[at : at + size])
    ]
    events += reader.end()
    log = Log()
    log.user("Go")
    log.heard(events)
    return log, events[-1]


@pytest.mark.skipif(not FILES, reason="the recorded streams are not beside this checkout")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
@pytest.mark.parametrize("size", [7, 4096])
def test_f_w02_a_recorded_message_goes_back_as_it_came(path: Path, size: int):
    for data in messages(path):
        log, last = heard(data, size)
        assert isinstance(last, ResponseFinished)
        blocks = [block for block in received(data) if is_sent(block)]
        for block in blocks:
            if block["type"] == "tool_use":
                log.result(block["id"])
        if blocks[0]["type"].endswith("_tool_result"):
            continue  # the other half of a message that was cut in two; said below
        log.rows = reloaded(log.rows)
        resumed = any(block["type"].endswith("_tool_use") for block in blocks)
        assert _sent(log, resumed=resumed) == [list(block.items()) for block in blocks]


def _sent(log: Log, *, resumed: bool) -> list[Any]:
    """Blocks of the assistant's message as pairs, so that the order of keys counts."""
    messages = said(log.body(resumed=resumed))
    content = next(content for role, content in messages if role == "assistant")
    return [list(block.items()) for block in content]
