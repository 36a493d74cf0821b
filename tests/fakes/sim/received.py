"""What the stand-in keeps of every request, for tests and for the log."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.sim.cache import Account
from tests.fakes.sim.problems import Json
from tests.fakes.sim.signatures import Dropped

SECRET_HEADERS = ("authorization", "x-api-key")


@dataclass(slots=True, eq=False)
class Received:
    """One request and what became of it. It fills up while the request is answered; `done` is set
    when the last byte is out or the connection is over."""

    method: str
    path: str
    headers: dict[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    request_id: str = ""
    sent_bytes: int = 0
    """The body's length as it came over the network; `body` is without its encoding."""
    number: int = 0
    """The place among the accepted requests, from 1; 0 when it was refused."""
    json: Json = field(default_factory=dict, repr=False)
    status: int | None = None
    error: str | None = None
    refused: bool = False
    """Whether a rule refused it, as opposed to a scripted error."""
    account: Account | None = field(default=None, repr=False)
    dropped: list[Dropped] = field(default_factory=list)
    message: Json = field(default_factory=dict, repr=False)
    """The message as it was sent, as far as it was sent."""
    disconnected: bool = False
    """Whether the client went before the answer was complete."""
    done: threading.Event = field(default_factory=threading.Event, repr=False)

    @property
    def messages(self) -> list[Json]:
        """The conversation in the request."""
        return self.json.get("messages", [])

    @property
    def tool_names(self) -> list[str]:
        """The names of the offered tools."""
        return [str(tool.get("name")) for tool in self.json.get("tools") or []]

    @property
    def last_text(self) -> str:
        """The last text the user said, empty when there is none in the last user message."""
        parts = [
            str(block.get("text", "")) for block in self.last_blocks if block.get("type") == "text"
        ]
        return parts[-1] if parts else ""

    @property
    def tool_results(self) -> list[Json]:
        """The tool results of the last message."""
        return [block for block in self.last_blocks if block.get("type") == "tool_result"]

    @property
    def last_blocks(self) -> list[Json]:
        """The blocks of the last user message."""
        users = [message for message in self.messages if message.get("role") == "user"]
        content: Any = users[-1].get("content") if users else []
        return [{"type": "text", "text": content}] if isinstance(content, str) else content

    def summary(self) -> Json:
        """The request as a log line: all of it but the credential."""
        shown = {
            name: "(hidden)" if name in SECRET_HEADERS else value
            for name, value in self.headers.items()
        }
        return {
            "request_id": self.request_id,
            "number": self.number,
            "method": self.method,
            "path": self.path,
            "headers": shown,
            "body": self.body.decode("utf-8", "replace"),
            "status": self.status,
            "error": self.error,
            "disconnected": self.disconnected,
            "cache": _cache(self.account),
        }


def _cache(account: Account | None) -> Json | None:
    if account is None:
        return None
    return {
        "usage": account.usage(),
        "positions": len(account.keys),
        "breakpoints": [list(point) for point in account.breakpoints],
        "hit": account.hit,
        "first_difference": account.first_difference,
    }
