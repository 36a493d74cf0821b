"""How these tests talk to the stand-in: the real SDK, plain HTTP, and small request bodies."""

from __future__ import annotations

import asyncio
import http.client
import json
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import anthropic

from tests.fakes.messages_api import MessagesServer

Json = dict[str, Any]
MODEL = "claude-opus-5-5"
TOOL: Json = {
    "name": "read_file",
    "description": "Read a file.",
    "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}},
}


@dataclass(frozen=True, slots=True)
class Answered:
    """A plain HTTP answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Json:
        return json.loads(self.body)

    @property
    def message(self) -> str:
        return self.json["error"]["message"]

    @property
    def events(self) -> list[Json]:
        lines = self.body.decode().splitlines()
        return [json.loads(line[6:]) for line in lines if line.startswith("data: ")]


def ask(*messages: Json, **more: Any) -> Json:
    """A request body; one user text when no messages are given."""
    said = list(messages) or [user("hi")]
    return {"model": MODEL, "max_tokens": 1000, "messages": said} | more


def user(*content: Any) -> Json:
    return {"role": "user", "content": _blocks(content)}


def assistant(*content: Any) -> Json:
    return {"role": "assistant", "content": _blocks(content)}


def call(id: str, name: str = "read_file", **arguments: Any) -> Json:
    return {"type": "tool_use", "id": id, "name": name, "input": arguments}


def result(id: str, content: Any = "ok") -> Json:
    return {"type": "tool_result", "tool_use_id": id, "content": content}


def _blocks(content: tuple[Any, ...]) -> list[Json]:
    return [{"type": "text", "text": c} if isinstance(c, str) else c for c in content]


def send(
    server: MessagesServer,
    body: Json | bytes | None,
    path: str = "/v1/messages",
    *,
    method: str = "POST",
    headers: dict[str, str] | None = None,
) -> Answered:
    """One plain request, with the headers a client needs unless others are given."""
    usual = {"x-api-key": "key", "anthropic-version": "2026-10-21"}
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    payload = json.dumps(body).encode() if isinstance(body, dict) else body
    try:
        connection.request(method, path, payload, usual if headers is None else headers)
        response = connection.getresponse()
        found = {name.lower(): value for name, value in response.getheaders()}
        return Answered(response.status, found, response.read())
    finally:
        connection.close()


def with_client(
    server: MessagesServer,
    act: Callable[[anthropic.AsyncAnthropic], Coroutine[Any, Any, Any]],
    *,
    key: str = "key",
    timeout: float = 10,
) -> Any:
    """Run `act` with the real SDK, without its own retries."""

    async def run() -> Any:
        client = anthropic.AsyncAnthropic(
            api_key=key, base_url=server.base_url, max_retries=0, timeout=timeout
        )
        async with client:
            return await act(client)

    return asyncio.run(run())


def collect(server: MessagesServer, body: Json | None = None, **more: Any) -> list[Any]:
    """All events of a raw stream of the SDK."""

    async def act(client: anthropic.AsyncAnthropic) -> list[Any]:
        stream = await client.messages.create(**(body or ask()), stream=True)
        return [event async for event in stream]

    return with_client(server, act, **more)


def echoed(answer: Answered) -> Json:
    """The assistant message a careful client sends back after a stream."""
    content: list[Json] = []
    for event in answer.events:
        if event["type"] == "content_block_start":
            content.append(dict(event["content_block"]))
        if event["type"] == "content_block_delta":
            _apply(content[-1], event["delta"])
    for block in content:
        if isinstance(block.get("input"), str):
            block["input"] = json.loads(block["input"])
    return {"role": "assistant", "content": content}


def _apply(block: Json, delta: Json) -> None:
    match delta["type"]:
        case "text_delta":
            block["text"] += delta["text"]
        case "thinking_delta":
            block["thinking"] += delta["thinking"]
        case "signature_delta":
            block["signature"] = delta["signature"]
        case "input_json_delta":
            block["input"] = (block["input"] or "") + delta["partial_json"]
        case _:
            pass
