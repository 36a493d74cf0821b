"""Where the prompt cache is marked: what is fixed, the ends of the last request and of this one,
and where the person began to speak.

The end of the previous request lies just before the last assistant message and is always in the
cache, however many blocks a step added (DESIGN §6; API §2.1 C4, C5). Before the person's last words
forks begin and edits happen, and only what ended at a mark can be read there. A marker changes no
hash and costs nothing.
"""

from collections.abc import Sequence
from typing import Any

from desktop.core.caching import Ttl

MARKABLE = frozenset({"text", "tool_use", "tool_result", "image", "document", "search_result"})
_FIVE_MINUTES = {"type": "ephemeral"}
_ONE_HOUR = {"type": "ephemeral", "ttl": "1h"}


MOST = 4


def place(body: dict[str, Any], ttl: Ttl = "5m", *, most: int = MOST) -> None:
    """Marks at most four blocks of a body, each at most once; never thinking, never an empty text.

    With fewer than four at `most`, the place where the person began to speak goes without.

    Where the wanted block can't carry a mark, the nearest one before it does (SPEC C16). All are
    kept equally long: a longer one must not stand behind a shorter (API C11, C40). A prefix below
    the model's smallest is marked too, which costs nothing (API C7).
    """
    mark = _ONE_HOUR if ttl == "1h" else _FIVE_MINUTES
    fixed: list[Any] = body.get("system") or body.get("tools") or []
    if fixed:
        fixed[-1]["cache_control"] = dict(mark)
    messages: list[dict[str, Any]] = body["messages"]
    previous = _last_markable(messages[: _end_of_previous(messages)])
    spoken = _before_the_last_words(messages) if most >= MOST else None
    for block in (previous, spoken, _last_markable(messages)):
        if block is not None:
            block["cache_control"] = dict(mark)


def continued(message: dict[str, Any]) -> dict[str, Any]:
    """A message that goes out alone after what a server holds, marked at its first block and its
    last: from the first, the end of the request before it is within reach. Its marks say how long.
    """
    marks = [block["cache_control"] for block in message["content"] if "cache_control" in block]
    content = [
        {key: value for key, value in block.items() if key != "cache_control"}
        for block in message["content"]
    ]
    places = [at for at, block in enumerate(content) if _is_markable(block)]
    for at in {*places[:1], *places[-1:]}:
        content[at]["cache_control"] = dict(marks[-1] if marks else _FIVE_MINUTES)
    return {**message, "content": content}


def first_markable(message: dict[str, Any]) -> int | None:
    """The place of the first block of a message that can carry a mark."""
    places = (at for at, block in enumerate(message["content"]) if _is_markable(block))
    return next(places, None)


def has_previous_end(messages: Sequence[dict[str, Any]]) -> bool:
    """Whether the last request's end, as it would be marked, lies in these messages."""
    return _last_markable(messages[: _end_of_previous(messages)]) is not None


def _before_the_last_words(messages: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The block after which the person, or the program for them, said what stands last.

    In a first message it is what they are told of their surroundings: subagents that are begun
    together share it.
    """
    last = messages[-1]
    if last["role"] != "user":
        return None
    if len(messages) == 1:
        return _last_markable([{**last, "content": last["content"][:-1]}])
    results = [block for block in last["content"] if block.get("type") == "tool_result"]
    return results[-1] if results else _last_markable(messages[:-1])


def _end_of_previous(messages: Sequence[dict[str, Any]]) -> int:
    for at in range(len(messages) - 1, -1, -1):
        if messages[at]["role"] == "assistant":
            return at
    return 0


def _last_markable(messages: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    for message in reversed(messages):
        for block in reversed(message["content"]):
            if _is_markable(block):
                return block
    return None


def _is_markable(block: dict[str, Any]) -> bool:
    return block.get("type") in MARKABLE and block.get("text") != ""
