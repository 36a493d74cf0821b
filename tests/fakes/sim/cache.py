"""The provider's prompt cache as an account: what a request reads, writes and pays (API §2, §4.2).

Hashes are of the real bytes; the clock is handed in, so that no test sleeps for a time to live.
`look_up` counts, `begin` makes the writes visible; what never begins leaves nothing (C18).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.sim import prefix
from tests.fakes.sim.models import Model
from tests.fakes.sim.prefix import Position
from tests.fakes.sim.problems import Json
from tests.fakes.sim.rules import markers, thinking
from tests.fakes.sim.rules.envelope import Terms

LOOK_BACK = 20
SECONDS = {"5m": 300, "1h": 3600}
REMEMBERED = 64


@dataclass(frozen=True, slots=True)
class Account:
    """Tokens of one request. `hit` is the position read up to, `first_difference` the path where
    the prompt left the most similar earlier one, None when it extends it or there is none."""

    read: int
    write_5m: int
    write_1h: int
    input: int
    breakpoints: tuple[tuple[int, str], ...]
    hit: int | None
    first_difference: str | None
    keys: tuple[bytes, ...] = field(repr=False)
    refresh: tuple[bytes, ...] = field(default=(), repr=False)
    writes: tuple[tuple[bytes, str], ...] = field(default=(), repr=False)
    started: float = 0.0

    @property
    def total(self) -> int:
        """The whole prompt, however it is paid."""
        return self.read + self.write_5m + self.write_1h + self.input

    def usage(self) -> Json:
        """The usage object of `message_start`, without output."""
        return {
            "input_tokens": self.input,
            "cache_creation_input_tokens": self.write_5m + self.write_1h,
            "cache_read_input_tokens": self.read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": self.write_5m,
                "ephemeral_1h_input_tokens": self.write_1h,
            },
        }


@dataclass(slots=True)
class _Entry:
    ttl: str
    expires: float


@dataclass(frozen=True, slots=True)
class _Seen:
    keys: tuple[bytes, ...]
    paths: tuple[str, ...]
    prints: tuple[bytes, ...]


class PromptCache:
    """All entries of one server, keyed by the hash of the prefix that ends at a breakpoint."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._entries: dict[bytes, _Entry] = {}
        self._seen: list[_Seen] = []

    def look_up(
        self, body: Json, places: list[Position], model: Model, *, terms: Terms, workspace: str
    ) -> Account:
        """The account of a request that starts now. Reads nothing without a marker (C2)."""
        shown = visible(places, model)
        keys = chain(body, shown, model, terms=terms, workspace=workspace)
        sums = cumulative(body, shown, model)
        points = markers.breakpoints(body, shown)
        started = self._now()
        hit = self._hit([at for at, _ in points], keys, started)
        read = sums[hit] if hit is not None else 0
        kept = [(at, ttl) for at, ttl in points if sums[at] >= model.cache_minimum]
        long = max([sums[at] for at, ttl in kept if ttl == "1h" and sums[at] > read], default=read)
        last = max([read, *(sums[at] for at, _ in kept)])
        total = sums[-1] if sums else 0
        alive = [keys[hit]] if hit is not None else []
        account = Account(
            read=read,
            write_5m=last - max(long, read),
            write_1h=max(long, read) - read,
            input=total - last,
            breakpoints=tuple(points),
            hit=hit,
            first_difference=self._difference(keys, shown),
            keys=tuple(keys),
            refresh=tuple(alive),
            writes=tuple((keys[at], ttl) for at, ttl in kept),
            started=started,
        )
        self._remember(
            _Seen(
                account.keys,
                tuple(place.path for place in shown),
                tuple(_print(place) for place in shown),
            )
        )
        return account

    def begin(self, account: Account) -> None:
        """The response has begun: entries are readable from here, their life counts from the start
        of the request (C8, C9)."""
        for key in account.refresh:
            if entry := self._entries.get(key):
                entry.expires = account.started + SECONDS[entry.ttl]
        for key, ttl in account.writes:
            entry = self._entries.get(key)
            expires = account.started + SECONDS[ttl]
            if entry is None or entry.expires < expires:
                self._entries[key] = _Entry(ttl, expires)

    def _hit(self, points: list[int], keys: list[bytes], now: float) -> int | None:
        for point in reversed(points):
            for at in range(point, max(point - LOOK_BACK, -1), -1):
                entry = self._entries.get(keys[at])
                if entry is not None and entry.expires > now:
                    return at
        return None

    def _difference(self, keys: list[bytes], shown: list[Position]) -> str | None:
        """Where the prompt left the earlier request it shares most with."""
        best, length = None, 0
        for seen in reversed(self._seen):
            same = _common(seen.keys, keys)
            if best is None or same > length:
                best, length = seen, same
        if best is None or length == len(best.keys):
            return None
        for at, seen_print in enumerate(best.prints):
            if at >= len(shown) or _print(shown[at]) != seen_print:
                return best.paths[at]
        return "settings"

    def _remember(self, seen: _Seen) -> None:
        self._seen.append(seen)
        del self._seen[:-REMEMBERED]


def visible(places: list[Position], model: Model) -> list[Position]:
    """The positions the model sees: older models lose the thinking of earlier turns (C26, S13)."""
    if model.keeps_thinking:
        return places
    last = max(
        (at for at, place in enumerate(places) if place.role == "user" and not _is_result(place)),
        default=-1,
    )
    return [place for at, place in enumerate(places) if at > last or not _is_thinking(place)]


def chain(
    body: Json, places: list[Position], model: Model, *, terms: Terms, workspace: str
) -> list[bytes]:
    """The hash of every prefix, each mixing in the one before (S12, S14)."""
    seeds = {
        "tools": prefix.compact(["root", model.id, workspace]),
        "system": prefix.compact(["system", *_system_seed(body)]),
        "messages": prefix.compact(["messages", *_message_seed(body, places, model, terms)]),
    }
    current = hashlib.sha256(seeds.pop("tools")).digest()
    keys: list[bytes] = []
    for place in places:
        for part in ("system", "messages"):
            if part in seeds and _reached(place.part, part):
                current = hashlib.sha256(current + seeds.pop(part)).digest()
        current = hashlib.sha256(current + place.raw).digest()
        keys.append(current)
    return keys


def cumulative(body: Json, places: list[Position], model: Model) -> list[int]:
    """Tokens up to and with each position; offering tools costs the provider's tool prompt."""
    total = model.tool_prompt if body.get("tools") else 0
    sums: list[int] = []
    for place in places:
        total += place.tokens
        sums.append(total)
    return sums


def _reached(part: str, seed: str) -> bool:
    order = ("tools", "system", "messages")
    return order.index(part) >= order.index(seed)


def _system_seed(body: Json) -> list[Any]:
    kinds = [str(tool.get("type")) for tool in body.get("tools") or []]
    search = any(kind.startswith("web_search") for kind in kinds)
    fetch = any(kind.startswith("web_fetch") for kind in kinds)
    return [search, fetch, body.get("speed") or "standard"]


def _message_seed(body: Json, places: list[Position], model: Model, terms: Terms) -> list[Any]:
    choice = body.get("tool_choice") or {"type": "auto"}
    setting = body.get("thinking") or {}
    return [
        choice.get("type"),
        choice.get("name"),
        bool(choice.get("disable_parallel_tool_use")),
        any(b'"type":"image"' in place.raw for place in places),
        thinking.kind_of(body, model),
        setting.get("budget_tokens"),
        thinking.effort_of(body, model),
        (body.get("output_config") or {}).get("format"),
        sorted(terms.betas),
        body.get("context_management"),
    ]


def _common(one: tuple[bytes, ...], other: list[bytes]) -> int:
    for at, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return at
    return min(len(one), len(other))


def _print(place: Position) -> bytes:
    return hashlib.blake2b(place.raw, digest_size=8).digest()


def _kind(place: Position) -> str:
    return str(place.block.get("type")) if isinstance(place.block, dict) else "text"


def _is_result(place: Position) -> bool:
    return _kind(place) == "tool_result"


def _is_thinking(place: Position) -> bool:
    return _kind(place) in ("thinking", "redacted_thinking")
