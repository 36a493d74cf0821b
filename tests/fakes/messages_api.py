"""A stand-in for the provider's Messages API: a real HTTP server on loopback that streams bit for
bit, refuses what the provider refuses, keeps a prompt cache, signs thinking, and breaks on demand.

In a test:

    with MessagesServer([reply(thinking("hm"), text("Hello"))]) as server:
        ...  # a client talks to server.base_url

As a program: `python -m tests.fakes.messages_api --port 8750 [--script FILE]`.
It knows nothing of Nacre; the format of a script file is told in `tests.fakes.sim.script`.
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from pathlib import Path

from tests.fakes.sim.answers import frame
from tests.fakes.sim.demo import demo, echo, ended
from tests.fakes.sim.extends import assert_extends
from tests.fakes.sim.provider import Encodings
from tests.fakes.sim.received import Received
from tests.fakes.sim.replies import (
    AUTO,
    PING,
    Block,
    Cut,
    Gate,
    Pause,
    Raw,
    Reply,
    Script,
    Send,
    empty_body,
    fails,
    from_events,
    in_order,
    pings_only,
    redacted_thinking,
    reply,
    text,
    thinking,
    tool_use,
)
from tests.fakes.sim.script import ScriptError, load, parse
from tests.fakes.sim.server import MessagesServer
from tests.fakes.sim.threads import Threads

__all__ = [
    "AUTO",
    "PING",
    "Block",
    "Cut",
    "Encodings",
    "Gate",
    "MessagesServer",
    "Pause",
    "Raw",
    "Received",
    "Reply",
    "Script",
    "ScriptError",
    "Send",
    "Threads",
    "assert_extends",
    "demo",
    "echo",
    "empty_body",
    "ended",
    "fails",
    "frame",
    "from_events",
    "in_order",
    "load",
    "main",
    "parse",
    "pings_only",
    "redacted_thinking",
    "reply",
    "text",
    "thinking",
    "tool_use",
]


def main(arguments: list[str] | None = None) -> int:
    """Serve until Ctrl+C. The base URL is the first line on standard output."""
    options = _parser().parse_args(arguments)
    try:
        script = load(options.script) if options.script else None
    except (OSError, ScriptError) as error:
        print(f"the script can't be read: {error}", file=sys.stderr)
        return 2
    server = MessagesServer(
        script,
        strict=not options.loose,
        port=options.port,
        invalid_keys=options.invalid_key,
        binding=options.binding,
        otherwise=echo if options.script else demo,
        pace=options.pace,
        log=options.log,
    )
    try:
        server.start()
    except OSError as error:
        print(f"port {options.port} can't be used: {error.strerror}", file=sys.stderr)
        return 2
    # A shell starts what runs in the background with interrupts ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print(server.base_url, flush=True)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        pass
    finally:
        server.close()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="messages_api", description="A stand-in for the provider."
    )
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--script", type=Path, help="JSON lines with the replies")
    parser.add_argument("--invalid-key", action="append", default=[], help="a key to refuse")
    parser.add_argument("--loose", action="store_true", help="check next to nothing")
    parser.add_argument("--binding", choices=("enforce", "drop", "off"), default="enforce")
    parser.add_argument("--pace", type=float, default=1.0, help="scales the script's pauses")
    parser.add_argument("--log", type=Path, help="append every request as a JSON line")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
