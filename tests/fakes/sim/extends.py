"""The rule that a request extends the one before it, block by block and byte by byte (API C45)."""

from __future__ import annotations

from tests.fakes.sim import prefix
from tests.fakes.sim.problems import Json


def assert_extends(previous: Json, current: Json) -> None:
    """Check that `current` says everything `previous` said, at the same places and in the same
    bytes, cache markers apart, and that tools and system are equal. AssertionError names the path.
    """
    for part in ("tools", "system"):
        before, after = _places(previous, part), _places(current, part)
        _compare(before, after)
        assert len(before) == len(after), f"{part}: {len(after)} blocks, {len(before)} before"
    before, after = _places(previous, "messages"), _places(current, "messages")
    _compare(before, after)
    assert len(after) >= len(before), (
        f"messages: {len(after)} blocks are fewer than the {len(before)} before"
    )


def _places(body: Json, part: str) -> list[prefix.Position]:
    return [place for place in prefix.positions(body) if place.part == part]


def _compare(before: list[prefix.Position], after: list[prefix.Position]) -> None:
    for one, other in zip(before, after, strict=False):
        assert one.raw == other.raw, (
            f"{one.path} changed:\n  was {one.raw.decode(errors='replace')}\n"
            f"  is  {other.raw.decode(errors='replace')} (at {other.path})"
        )
