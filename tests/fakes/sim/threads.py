"""Message threads as the SDK's types and helper have them: a conversation that the server holds.

`create` keeps a whole request and its answer under the answer's id; `continue` brings what is new,
once for each answer, with the same settings and without system and tools. What is held has no cache
markers: each request's own count, three at most. Held for five minutes after the last request.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.fakes.sim.prefix import unmarked
from tests.fakes.sim.problems import Json, Refusal

Threads = Literal["held", "lost", "continued", "in_flight", "mismatch", "refused", "unknown"]
"""What becomes of threads: held, or every continuation fails in that way; `refused` refuses all of
them, `unknown` knows no such beta."""

BETA = "message-threads-2026-08-12"
HELD_FOR = 300.0
MARKS = 3
FINGERPRINT = ("model", "max_tokens", "thinking", "output_config", "tool_choice")
EXCLUDED = ("context_management", "fallbacks")


@dataclass(slots=True)
class _Held:
    body: Json
    until: float
    is_continued: bool = False
    is_busy: bool = False


@dataclass(slots=True)
class Held:
    """All threads of one server, by the id of the answer to continue from."""

    now: Callable[[], float]
    manner: Threads = "held"
    _threads: dict[tuple[str, str], _Held] = field(default_factory=dict[tuple[str, str], _Held])

    def whole(self, body: Json, *, account: str) -> Json:
        """The request as if it had been sent whole. Raises `Refusal`."""
        thread: Any = body.get("thread")
        if thread is None:
            return body
        _check(body, self.manner)
        bare = {key: value for key, value in body.items() if key != "thread"}
        if thread.get("type") == "create":
            return bare
        held = self._found(body, account)
        return {
            **{key: held.body[key] for key in ("tools", "system") if key in held.body},
            **bare,
            "messages": [*held.body["messages"], *bare["messages"]],
        }

    def begin(self, sent: Json, *, account: str) -> None:
        """The request was accepted and is being answered."""
        held = self._before(sent, account)
        if held is not None:
            held.is_busy = True

    def keep(self, sent: Json, whole: Json, message: Json, *, account: str) -> None:
        """The answer is out; `message` is whole, or empty where it was broken off."""
        if sent.get("thread") is None:
            return
        before = self._before(sent, account)
        if before is not None:
            before.is_busy = False
        if not message.get("stop_reason") or message["stop_reason"] == "refusal":
            return
        if before is not None:
            before.is_continued = True
        answer = {"role": "assistant", "content": message["content"]}
        body = {**_bare(whole), "messages": [*_bare(whole)["messages"], answer]}
        self._threads[account, message["id"]] = _Held(body, self.now() + HELD_FOR)

    def _before(self, sent: Json, account: str) -> _Held | None:
        thread: Any = sent.get("thread") or {}
        return self._threads.get((account, str(thread.get("previous_message_id"))))

    def _found(self, body: Json, account: str) -> _Held:
        held = self._before(body, account)
        if held is None or held.until < self.now() or self.manner == "lost":
            raise Refusal("No thread state was found", "not_found_error", code="thread_not_found")
        if held.is_busy or self.manner == "in_flight":
            raise Refusal("still being continued", code="thread_continue_in_flight")
        if held.is_continued or self.manner == "continued":
            raise Refusal("has already been continued", code="thread_already_continued")
        changed = [name for name in FINGERPRINT if body.get(name) != held.body.get(name)]
        if changed or self.manner == "mismatch":
            raise Refusal(
                f"differing field(s): {', '.join(changed)}", code="thread_fingerprint_mismatch"
            )
        for name in ("system", "tools"):
            if name in body:
                raise Refusal(f"{name}: not allowed when a thread is continued")
        return held


def _check(body: Json, manner: Threads) -> None:
    marks = sum(_count(body.get(part)) for part in ("tools", "system", "messages"))
    excluded = [name for name in EXCLUDED if body.get(name)]
    if marks > MARKS:
        raise Refusal(
            "thread: a maximum of 3 blocks with cache_control may be provided",
            code="thread_unsupported_request",
        )
    if excluded or manner == "refused":
        raise Refusal("thread: not supported", code="thread_unsupported_request")


def _count(value: Any) -> int:
    """Marked blocks, wherever they stand."""
    if isinstance(value, list):
        return sum(_count(one) for one in value)
    if not isinstance(value, dict):
        return 0
    return ("cache_control" in value) + _count(value.get("content"))


def _bare(body: Json) -> Json:
    """The request without its markers."""
    found = dict(body)
    for part in ("tools", "system"):
        if isinstance(found.get(part), list):
            found[part] = [unmarked(one) for one in found[part]]
    found["messages"] = [unmarked(message) for message in body["messages"]]
    return found
