"""Scripts as files: JSON lines, a recording or written by hand.

`{"request": n}` begins the reply to the n-th accepted request, counted from 1. It may also carry
`status`, `error` {type, message}, `headers`, `html`, `cut_at_byte`, `reset`, `crlf`, `gzip` and
`split`. Then one step a line:

    {"after_ms": 12, "event": {...}}     an event of the provider, `auto` left to the server
    {"gate": "name"}                     wait until the test releases the name
    {"silent": 2.5} or {"silent": null}  say nothing for seconds, or for ever
    {"raw": ": note\\n\\n"}              bytes as they are
    {"cut": "fin"} or {"cut": "reset"}   the connection ends
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from tests.fakes.sim.problems import Json
from tests.fakes.sim.replies import (
    Cut,
    Gate,
    Pause,
    Raw,
    Reply,
    Responder,
    Script,
    Send,
    Step,
    fails,
)


class ScriptError(Exception):
    """A line of a script that can't be understood; the text says which and why."""


def load(path: Path, otherwise: Responder | None = None) -> Script:
    """The script in a file."""
    return parse(path.read_text(encoding="utf-8"), otherwise)


def parse(source: str, otherwise: Responder | None = None) -> Script:
    """The script in a text of JSON lines; blank lines and lines that begin with # don't count."""
    replies: dict[int, Reply] = {}
    current: int | None = None
    for number, line in enumerate(source.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        item = _item(line, number)
        if "request" in item:
            current = int(item["request"])
            replies[current] = _opened(item)
            continue
        if current is None:
            raise ScriptError(f'line {number}: a step before the first {{"request": n}}')
        step = _step(item, number)
        replies[current] = replace(replies[current], steps=(*replies[current].steps, step))
    return Script(replies, otherwise)


def _item(line: str, number: int) -> Json:
    try:
        item = json.loads(line)
    except ValueError as error:
        raise ScriptError(f"line {number}: not JSON: {error}") from error
    if not isinstance(item, dict):
        raise ScriptError(f"line {number}: not an object")
    return item


def _opened(item: Json) -> Reply:
    reply = Reply()
    status = int(item.get("status", 200))
    if status != 200 or "html" in item:
        error: Json = item.get("error") or {}
        reply = fails(status, error.get("type"), error.get("message", ""), html=item.get("html"))
    headers = tuple((str(name), str(value)) for name, value in item.get("headers", {}).items())
    reply = replace(
        reply,
        headers=(*reply.headers, *headers),
        gzip=bool(item.get("gzip")),
        split=int(item.get("split", 0)),
        line_end="\r\n" if item.get("crlf") else "\n",
    )
    if "cut_at_byte" in item:
        reply = reply.cut_at_byte(int(item["cut_at_byte"]), reset=bool(item.get("reset")))
    return reply


def _step(item: Json, number: int) -> Step:
    match item:
        case {"event": {"type": str()} as event}:
            return Send(event, float(item.get("after_ms", 0)))
        case {"gate": str(name)}:
            return Gate(name)
        case {"silent": seconds}:
            return Pause(None if seconds is None else float(seconds))
        case {"raw": str(data)}:
            return Raw(data.encode())
        case {"cut": "fin" | "reset" as way}:
            return Cut(reset=way == "reset")
        case _:
            raise ScriptError(f"line {number}: no event, gate, silent, raw or cut")
