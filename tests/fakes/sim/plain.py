"""What a server on one's own computer answers, with all that it leaves out (API §4.6).

No usage, no ids of the provider's shape, no pings, no thinking; errors have neither the type on top
nor the provider's own types. It takes any request.
"""

from __future__ import annotations

from tests.fakes.sim.prefix import compact
from tests.fakes.sim.problems import Json
from tests.fakes.sim.replies import Reply, from_events, pieces

JSON = (("content-type", "application/json; charset=utf-8"),)


def says(words: str, *, stop_reason: str = "end_turn") -> Reply:
    """An answer of one text."""
    message: Json = {
        "id": "chatcmpl-0",
        "type": "message",
        "role": "assistant",
        "model": "local",
        "content": [],
        "stop_reason": None,
    }
    deltas = [{"type": "text_delta", "text": piece} for piece in pieces(words, 7)]
    return from_events(
        [
            {"type": "message_start", "message": message},
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "text", "text": ""},
            },
            *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop_reason}},
            {"type": "message_stop"},
        ]
    )


def loading() -> Reply:
    """The model is still being read."""
    return _error(503, "Loading model", "unavailable_error")


def too_long() -> Reply:
    """The conversation does not fit into what the model was started with."""
    words = "the request exceeds the available context size, try increasing it"
    return _error(400, words, "exceed_context_size_error", n_prompt_tokens=9_000, n_ctx=8_192)


def _error(status: int, message: str, kind: str, **more: int) -> Reply:
    error: Json = {"code": status, "message": message, "type": kind, **more}
    return Reply(status=status, headers=JSON, body=compact({"error": error}))
