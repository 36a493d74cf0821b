"""Cache markers: how many, in which order, and where not (C13, V28 to V30)."""

from __future__ import annotations

from tests.fakes.sim.prefix import Position
from tests.fakes.sim.problems import Json, Refusal

LIMIT = 4
UNMARKABLE = ("thinking", "redacted_thinking")


def breakpoints(body: Json, places: list[Position]) -> list[tuple[int, str]]:
    """The positions that end a cached prefix, with their time to live, the automatic one included.

    Positions count from 0. Raises `Refusal` when there are too many or their order is wrong.
    """
    found = [(at, place.marker) for at, place in enumerate(places) if place.marker]
    automatic = _automatic(body, places)
    if automatic is not None and automatic not in found:
        at, ttl = automatic
        if any(marked == at for marked, _ in found):
            raise Refusal(
                "cache_control: the last cacheable block already has a cache_control with a "
                f"different ttl than '{ttl}'"
            )
        found = sorted([*found, automatic])
    if len(found) > LIMIT:
        raise Refusal(
            f"A maximum of 4 blocks with cache_control may be provided. Found {len(found)}."
        )
    _check_order(found, places)
    return found


def _automatic(body: Json, places: list[Position]) -> tuple[int, str] | None:
    """The breakpoint of a top-level `cache_control`: the last block that can carry one."""
    control = body.get("cache_control")
    if not control:
        return None
    for at in range(len(places) - 1, -1, -1):
        block = places[at].block
        kind = block.get("type") if isinstance(block, dict) else "text"
        if kind not in UNMARKABLE:
            return at, str(control.get("ttl") or "5m")
    return None


def _check_order(found: list[tuple[int, str]], places: list[Position]) -> None:
    short = False
    for at, ttl in found:
        if ttl == "1h" and short:
            raise Refusal(
                f"{places[at].path}.cache_control.ttl: a ttl='1h' cache_control block must not "
                "come after a ttl='5m' cache_control block. Note that blocks are processed in the "
                "following order: `tools`, `system`, `messages`."
            )
        short = short or ttl == "5m"
