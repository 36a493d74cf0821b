"""The rule that a request extends the one before it, block by block and byte by byte (API C45)."""

from __future__ import annotations

from tests.fakes.sim import prefix
from tests.fakes.sim.problems import Json

SHOWN = ("image", "document")
THINKING = ("thinking", "redacted_thinking")


def assert_extends(previous: Json, current: Json, *, rewritten: bool = False) -> None:
    """Check that `current` says everything `previous` said, at the same places and in the same
    bytes, cache markers apart, and that tools and system are equal. AssertionError names the path.

    `rewritten`: between the two, words may have taken the place of pictures, and thinking may have
    been left out; all else must be the same.
    """
    if rewritten:
        previous, current = _as_rewritten(previous, current)
    for part in ("tools", "system"):
        before, after = _places(previous, part), _places(current, part)
        _compare(before, after)
        assert len(before) == len(after), f"{part}: {len(after)} blocks, {len(before)} before"
    before, after = _places(previous, "messages"), _places(current, "messages")
    _compare(before, after)
    assert len(after) >= len(before), (
        f"messages: {len(after)} blocks are fewer than the {len(before)} before"
    )


def _as_rewritten(previous: Json, current: Json) -> tuple[Json, Json]:
    """Both without thinking, and the first with words wherever the second has them instead of a
    picture."""
    before, after = _without_thinking(previous), _without_thinking(current)
    for old, new in zip(before["messages"], after["messages"], strict=False):
        old["content"] = _with_words(old["content"], new["content"])
    return before, after


def _without_thinking(body: Json) -> Json:
    messages = [
        message | {"content": [one for one in _listed(message) if one.get("type") not in THINKING]}
        for message in body["messages"]
    ]
    return body | {"messages": [message for message in messages if message["content"]]}


def _with_words(before: list[Json], after: list[Json]) -> list[Json]:
    found: list[Json] = []
    for at, old in enumerate(before):
        new = after[at] if at < len(after) else old
        if old["type"] in SHOWN and new["type"] == "text":
            found.append(new)
        elif old["type"] == new["type"] == "tool_result":
            content = _with_words(_listed(old), _listed(new))
            found.append(old | ({"content": content} if "content" in old else {}))
        else:
            found.append(old)
    return found


def _listed(block: Json) -> list[Json]:
    content = block.get("content") or []
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _places(body: Json, part: str) -> list[prefix.Position]:
    return [place for place in prefix.positions(body) if place.part == part]


def _compare(before: list[prefix.Position], after: list[prefix.Position]) -> None:
    for one, other in zip(before, after, strict=False):
        assert one.raw == other.raw, (
            f"{one.path} changed:\n  was {one.raw.decode(errors='replace')}\n"
            f"  is  {other.raw.decode(errors='replace')} (at {other.path})"
        )
