"""Where the prompt cache is marked: what is fixed, the end of the last request and of this one.

The end of the previous request lies just before the last assistant message and is always in the
cache, however many blocks a step added (DESIGN §6; API §2.1 C4, C5). A marker changes no hash.
"""

from collections.abc import Sequence
from typing import Any

from desktop.core.caching import Ttl

MARKABLE = frozenset({"text", "tool_use", "tool_result", "image", "document", "search_result"})
_FIVE_MINUTES = {"type": "ephemeral"}
_ONE_HOUR = {"type": "ephemeral", "ttl": "1h"}


def place(body: dict[str, Any], ttl: Ttl = "5m") -> None:
    """Marks at most three blocks of a body, each at most once; never thinking, never an empty text.

    Where the wanted block can't carry a mark, the nearest one before it does (SPEC C16). All are
    kept equally long: a longer one must not stand behind a shorter (API C11, C40). A prefix below
    the model's smallest is marked too, which costs nothing (API C7).
    """
    mark = _ONE_HOUR if ttl == "1h" else _FIVE_MINUTES
    fixed: list[Any] = body.get("system") or body.get("tools") or []
    if fixed:
        fixed[-1]["cache_control"] = dict(mark)
    messages: list[dict[str, Any]] = body["messages"]
    for end in (_end_of_previous(messages), len(messages)):
        block = _last_markable(messages[:end])
        if block is not None:
            block["cache_control"] = dict(mark)


def has_previous_end(messages: Sequence[dict[str, Any]]) -> bool:
    """Whether the last request's end, as it would be marked, lies in these messages."""
    return _last_markable(messages[: _end_of_previous(messages)]) is not None


def _end_of_previous(messages: Sequence[dict[str, Any]]) -> int:
    for at in range(len(messages) - 1, -1, -1):
        if messages[at]["role"] == "assistant":
            return at
    return 0


def _last_markable(messages: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    for message in reversed(messages):
        for block in reversed(message["content"]):
            if block.get("type") in MARKABLE and block.get("text") != "":
                return block
    return None
