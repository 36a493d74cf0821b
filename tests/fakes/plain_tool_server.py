"""A tool server of the older protocol, by hand, that does one thing wrong: its first argument.

It stands for what the library's own server can't be brought to do (FIELD F-T07).
"""

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

FAULT = sys.argv[1]
WAITING: list[tuple[object, dict[str, Any]]] = []

ECHO = {
    "name": "echo",
    "description": "Gives back what it is given.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
}


def tools() -> list[Any]:
    if FAULT == "odd-tools":
        return [
            {"name": "files.read/all the bytes", "inputSchema": ECHO["inputSchema"]},
            {"name": "files-read-all the bytes", "inputSchema": ECHO["inputSchema"]},
            {"name": "no_type", "inputSchema": {"properties": {"a": {}}}},
            {"name": "no_schema"},
            {"name": "a_list", "inputSchema": []},
            {"name": "bad_key", "inputSchema": {"type": "object", "properties": {"a b": {}}}},
            {"name": "odd_about", "description": 7, "inputSchema": {"type": "object"}},
            {"name": 5},
            "nothing",
            {"name": "twice", "description": "one", "inputSchema": {"type": "object"}},
            {"name": "twice", "description": "two", "inputSchema": {"type": "object"}},
            *({**ECHO, "name": "x" * 70 + str(number)} for number in range(400)),
        ]
    if FAULT == "grows" and Path(sys.argv[2]).exists():
        return [{**ECHO, "name": "added"}, ECHO]
    return [ECHO]


def say(message: dict[str, Any], end: str = "\n") -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + end)
    sys.stdout.flush()


def answer(request: dict[str, Any]) -> None:
    id_, params = request["id"], request.get("params") or {}
    match request["method"]:
        case "initialize":
            about = {"name": "plain", "version": "1"}
            capabilities = {"tools": {"listChanged": True}}
            version = params.get("protocolVersion", "2025-06-18")
            say(
                {
                    "id": id_,
                    "result": {
                        "protocolVersion": version,
                        "capabilities": capabilities,
                        "serverInfo": about,
                    },
                }
            )
        case "tools/list":
            result: dict[str, Any] = {"tools": tools()}
            if FAULT == "loops":
                result["nextCursor"] = "again"
            say({"id": id_, "result": result})
        case "tools/call":
            call(id_, params)
        case _:
            say({"id": id_, "error": {"code": -32601, "message": "Method not found"}})


def call(id_: object, params: dict[str, Any]) -> None:
    text = str((params.get("arguments") or {}).get("text", ""))
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}]}
    match FAULT:
        case "dies":
            print("the last words", file=sys.stderr, flush=True)
            os._exit(7)
        case "mute":
            return
        case "huge":
            result["content"][0]["text"] = "a line of text\n" * 1_400_000
        case "strange":
            result["content"].append({"type": "hologram", "data": 1})
            result["structuredContent"] = {"beside": 1}
            say({"id": 999, "result": result}, end="\r\n")  # an answer that nobody asked for
            say({"id": id_, "result": result}, end="\r\n")
        case "bytes":
            line = json.dumps({"jsonrpc": "2.0", "id": id_, "result": result})
            sys.stdout.buffer.write(line.encode().replace(b"HERE", b"\xff\xfe") + b"\n")
            sys.stdout.flush()
            return
        case "pieces":  # one message in many writes
            line = json.dumps({"jsonrpc": "2.0", "id": id_, "result": result}).encode() + b"\n"
            for at in range(0, len(line), 7):
                os.write(1, line[at : at + 7])
                time.sleep(0.001)
            return
        case "at-once":  # three messages in one write, one of them twice
            line = json.dumps({"jsonrpc": "2.0", "id": id_, "result": result})
            about = {"method": "notifications/message", "params": {"level": "info", "data": "x"}}
            os.write(1, f"{json.dumps({'jsonrpc': '2.0', **about})}\n{line}\n{line}\n".encode())
            return
        case "late":  # the first call is answered with the second
            WAITING.append((id_, result))
            if len(WAITING) > 1:
                for waiting_id, waited in WAITING:
                    say({"id": waiting_id, "result": waited})
            return
        case "grows":
            Path(sys.argv[2]).touch()
            say({"method": "notifications/tools/list_changed"})
        case _:
            pass
    say({"id": id_, "result": result})


def main() -> None:
    if FAULT == "exits":
        print("no license found", file=sys.stderr, flush=True)
        raise SystemExit(1)
    if FAULT == "banner":
        print("Welcome!\n{not json\n[]", flush=True)
    if FAULT == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        Path(sys.argv[2]).write_text(str(os.getpid()), encoding="utf-8")
    if FAULT == "floods":
        for _ in range(30):
            os.write(2, b"noise " * 20_000)
    if FAULT == "silent":
        Path(sys.argv[2]).write_text(str(os.getpid()), encoding="utf-8")
        time.sleep(600)
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request and "method" in request:
            answer(request)
    if FAULT == "stubborn":
        time.sleep(600)


if __name__ == "__main__":
    main()
