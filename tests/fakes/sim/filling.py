"""`auto` replaced by what the provider would say to this request, event by event (API S2, S4, S5).

It follows the message as it is sent, so that a signature binds exactly what the client has seen,
and keeps the finished blocks.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tests.fakes.sim.models import Model
from tests.fakes.sim.prefix import BYTES_A_TOKEN
from tests.fakes.sim.problems import Json
from tests.fakes.sim.replies import AUTO
from tests.fakes.sim.signatures import Digest, Signer


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of the request an answer is for."""

    model: Model
    model_name: str
    request_id: str
    message_id: str
    usage: Json
    extras: Json
    shows_thinking: bool


class Filling:
    """Fills the events of one reply, in order."""

    def __init__(self, facts: Facts, before: Digest, signer: Signer, number: int) -> None:
        self._facts = facts
        self._before = before
        self._signer = signer
        self._number = number
        self._open: dict[int, Json] = {}
        self._hidden: set[int] = set()
        self._output_bytes = 0
        self._calls = 0
        self.message: Json = {}

    def expect(self, events: Iterable[Json]) -> None:
        """Look ahead: thinking that the server signs keeps its text to itself when the request
        wants it omitted. A recorded signature is sent as it was recorded."""
        for event in events:
            delta = event.get("delta") or {}
            if delta.get("signature") == AUTO and not self._facts.shows_thinking:
                self._hidden.add(event["index"])

    def fill(self, event: Json) -> Json | None:
        """The event as it is sent, None when it is left out."""
        match event.get("type"):
            case "message_start":
                return self._start(event)
            case "content_block_start":
                return self._block_start(event)
            case "content_block_delta":
                return self._delta(event)
            case "content_block_stop":
                self._block_stop(event)
                return event
            case "message_delta":
                return self._end(event)
            case "error" if event.get("request_id") == AUTO:
                return event | {"request_id": self._facts.request_id}
            case _:
                return event

    def _start(self, event: Json) -> Json:
        message: Json = dict(event["message"])
        facts = self._facts
        if message.get("id") == AUTO:
            message["id"] = facts.message_id
        if message.get("model") == AUTO:
            message["model"] = facts.model_name
        if message.get("usage") == AUTO:
            message["usage"] = facts.usage | {"output_tokens": 1, "service_tier": "standard"}
            message |= facts.extras
        self.message = message | {"content": list(message.get("content", []))}
        return event | {"message": message}

    def _block_start(self, event: Json) -> Json:
        block: Json = dict(event["content_block"])
        if block.get("id") == AUTO:
            self._calls += 1
            block["id"] = f"toolu_{self._number:04d}{self._calls:04d}"
        if block.get("type") == "redacted_thinking":
            block["data"] = self._signed(block["data"], "")
        self._open[event["index"]] = block | {"json": ""}
        return event | {"content_block": block}

    def _delta(self, event: Json) -> Json | None:
        index, delta = event.get("index", -1), event["delta"]
        block = self._open.setdefault(index, {"json": ""})
        for name in ("text", "thinking", "partial_json"):
            self._output_bytes += len(str(delta.get(name, "")).encode("utf-8", "surrogatepass"))
        match delta.get("type"):
            case "text_delta":
                block["text"] = block.get("text", "") + delta["text"]
            case "input_json_delta":
                block["json"] += delta["partial_json"]
            case "thinking_delta":
                block["thinking"] = block.get("thinking", "") + delta["thinking"]
                if index in self._hidden:
                    return None
            case "signature_delta":
                block["signature"] = self._signed(delta["signature"], block.get("thinking", ""))
                return event | {"delta": delta | {"signature": block["signature"]}}
            case _:
                pass
        return event

    def _block_stop(self, event: Json) -> None:
        block = self._open.pop(event.get("index", -1), {"json": ""})
        source = block.pop("json")
        if block.get("type") in ("tool_use", "server_tool_use") and source:
            block["input"] = _parsed(source)
        self._before.add("messages", "assistant", block)
        if event.get("index") in self._hidden:
            block = block | {"thinking": ""}
        self.message.setdefault("content", []).append(block)

    def _end(self, event: Json) -> Json:
        usage = event.get("usage")
        if usage == AUTO:
            usage = {"output_tokens": max(1, math.ceil(self._output_bytes / BYTES_A_TOKEN))}
        self.message |= event.get("delta") or {}
        self.message["usage"] = (self.message.get("usage") or {}) | (usage or {})
        return event | {"usage": usage} if usage is not None else event

    def _signed(self, value: str, said: str) -> str:
        if value == AUTO:
            return self._signer.sign(self._facts.model, self._before, said)
        self._signer.remember(value, self._facts.model, self._before, said)
        return value


def _parsed(source: str) -> Any:
    try:
        return json.loads(source)
    except ValueError:
        return source
