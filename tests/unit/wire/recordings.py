"""Every answer that a real provider gave to others, from the files beside this checkout.

There are streams, whole messages, and exchanges over HTTP; each becomes the bytes of a stream, so
that all of them go the same way in.
"""

import functools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.unit.wire.rows_of import ROOT

DATA = ROOT.parent / "shared" / "data"
STREAMS = DATA / "streams"
CASSETTES = DATA / "cassettes"
FILES = sorted(
    [
        *STREAMS.glob("recorded/*.txt"),
        *STREAMS.glob("recorded/*.json"),
        *STREAMS.glob("sdk/*.txt"),
        *STREAMS.glob("sdk/*.json"),
        *CASSETTES.glob("*.yaml"),
    ]
)
_GROWS = {"text": ("text_delta", "text"), "thinking": ("thinking_delta", "thinking")}
_PIECE = 13
# The one in C is ten times as fast, where it is built.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Recorded:
    """One answer: where it is from, and its bytes as a stream."""

    name: str
    data: bytes


@functools.cache
def answers(path: Path) -> list[Recorded]:
    """The answers in a file, in order; none in one that only holds other traffic."""
    if path.suffix == ".yaml":
        found = _exchanged(yaml.load(path.read_text("utf-8"), Loader=_LOADER)["interactions"])
    elif path.name.endswith(".chunks.txt"):
        found = _of_lines(path.read_text("utf-8"))
    elif path.suffix == ".txt":
        found = iter([path.read_text("utf-8")])
    else:
        found = _of_json(json.loads(path.read_text("utf-8")))
    return [Recorded(f"{path.name}#{at}", one.encode()) for at, one in enumerate(found)]


def streamed(message: dict[str, Any]) -> str:
    """A whole message as the stream that it might have been, block by block."""
    events: list[dict[str, Any]] = [
        {
            "type": "message_start",
            "message": {**message, "content": [], "stop_reason": None},
        }
    ]
    for index, block in enumerate(message["content"]):
        events.extend({**event, "index": index} for event in _block(block))
    delta = {"stop_reason": message.get("stop_reason"), "stop_sequence": None}
    events.append({"type": "message_delta", "delta": delta, "usage": message.get("usage") or {}})
    events.append({"type": "message_stop"})
    return "".join(map(_event, events))


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
            _grow(blocks, parts, at, event["delta"])
    for at, text in parts.items():
        blocks[at]["input"] = json.loads(text or "{}")
    return list(blocks.values())


def is_sent(block: dict[str, Any]) -> bool:
    """Whether a received block can be sent back at all."""
    if block["type"] == "text":
        return bool(block["text"].strip())
    return block["type"] != "thinking" or bool(block["signature"])


def _exchanged(exchanges: list[dict[str, Any]]) -> Iterator[str]:
    """The answers of the Messages API among recorded exchanges."""
    for exchange in exchanges:
        response, uri = exchange["response"], exchange["request"]["uri"]
        if "/v1/messages" not in uri:
            continue
        if "body" in response:
            yield response["body"]["string"]
        else:
            yield from _of_json(response["parsed_body"])


def _of_json(value: Any) -> Iterator[str]:
    match value:
        case {"type": "message"}:
            yield streamed(value)
        case str():
            yield value
        case list():
            for exchange in value:
                yield from _of_json(exchange["response"]["body"])
        case _:
            return


def _of_lines(text: str) -> Iterator[str]:
    """One JSON event a line; some files hold several messages."""
    found = ""
    for line in filter(None, text.splitlines()):
        event = json.loads(line)
        if event["type"] == "message_start" and found:
            yield found
            found = ""
        found += f"event: {event['type']}\ndata: {line}\n\n"
    yield found


def _block(block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    kind = block["type"]
    start, deltas = dict(block), list[dict[str, Any]]()
    if kind in _GROWS:
        delta, key = _GROWS[kind]
        deltas += [{"type": delta, key: piece} for piece in _pieces(block[key])]
        start[key] = ""
    if kind == "thinking":
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
        start["signature"] = ""
    if "input" in block:
        written = json.dumps(block["input"])
        deltas += [{"type": "input_json_delta", "partial_json": one} for one in _pieces(written)]
        start["input"] = {}
    if kind == "text" and block.get("citations"):
        deltas += [{"type": "citations_delta", "citation": one} for one in block["citations"]]
        start["citations"] = []
    yield {"type": "content_block_start", "content_block": start}
    for delta in deltas:
        yield {"type": "content_block_delta", "delta": delta}
    yield {"type": "content_block_stop"}


def _pieces(text: str) -> list[str]:
    return [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)]


def _event(event: dict[str, Any]) -> str:
    return f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n"


def _grow(
    blocks: dict[int, dict[str, Any]], parts: dict[int, str], at: int, delta: dict[str, Any]
) -> None:
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
            blocks[at]["citations"] = [*(blocks[at].get("citations") or ()), delta["citation"]]
        case "compaction_delta":
            blocks[at].update({k: v for k, v in delta.items() if k != "type"})
        case other:
            raise AssertionError(f"{other} is not known here")
