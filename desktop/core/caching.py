"""What is known of the prompt cache for one request: how it was asked, and why it missed.

These values are kept with the request's record as JSON; a record without them, or with damaged
ones, reads as a request of which nothing is known.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast, get_args

Ttl = Literal["5m", "1h"]
TTL_MS: Mapping[str, int] = {"5m": 300_000, "1h": 3_600_000}

Cause = Literal[
    "model",
    "account",
    "compaction",
    "tools",
    "rewrite",
    "retracted",
    "effort",
    "fork",
    "expired",
    "changed",
    "provider",
]
_TTLS = get_args(Ttl)
_CAUSES = get_args(Cause)


@dataclass(frozen=True, slots=True)
class Upload:
    """Bytes of request bodies: as they would be without any saving, and as they went out."""

    body: int = 0
    sent: int = 0


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the wire saw of one request.

    `position` is where it left the last one sent in the same conversation: '' nowhere, None when
    there is none to compare with. `reason` is the provider's own `cache_miss_reason`.
    """

    position: str | None = None
    reason: Mapping[str, Any] = field(default_factory=dict[str, Any])
    upload: Upload | None = None


@dataclass(frozen=True, slots=True)
class CacheMiss:
    """Tokens that lay in the cache and were sent anew, why, and what that cost more than reading.

    `dollars` is None where a price is unknown; `row_id` is the row that caused it.
    """

    cause: Cause
    tokens: int
    dollars: float | None = None
    row_id: str = ""
    position: str = ""
    reason: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class CacheNote:
    """How a request was sent: for how long it asked to be kept, with which effort, and after which
    row of the log; `is_refresh`: only to keep there what the one before it had left."""

    ttl: Ttl = "5m"
    effort: str = ""
    seq: int = 0
    miss: CacheMiss | None = None
    is_refresh: bool = False


@dataclass(frozen=True, slots=True)
class RequestUsage:
    """One request as a person reads it: its tokens by how they were paid, and what it cost.

    `dollars` is None where a price is unknown; `is_answered` is False where nothing came.
    """

    started_at: int
    model: str
    read: int = 0
    written: int = 0
    uncached: int = 0
    output: int = 0
    dollars: float | None = 0.0
    is_answered: bool = True
    miss: CacheMiss | None = None
    upload: Upload | None = None
    is_refresh: bool = False


@dataclass(frozen=True, slots=True)
class CachePrices:
    """Dollars for 100,000 tokens of one model: read from the cache, or written to it."""

    model: str
    read: float
    write_5m: float
    write_1h: float


def note_to_json(note: CacheNote) -> dict[str, Any]:
    found: dict[str, Any] = {"ttl": note.ttl, "effort": note.effort, "seq": note.seq}
    if note.is_refresh:
        found["refresh"] = True
    if note.miss is not None:
        miss = note.miss
        found["miss"] = {
            "cause": miss.cause,
            "tokens": miss.tokens,
            "dollars": miss.dollars,
            "rowId": miss.row_id,
            "position": miss.position,
            "reason": dict(miss.reason),
        }
    return found


def note_of(data: Mapping[str, Any] | None) -> CacheNote | None:
    """The note that a record holds; None where it holds none that can be read."""
    if data is None or data.get("ttl") not in _TTLS:
        return None
    return CacheNote(
        ttl=data["ttl"],
        effort=str(data.get("effort") or ""),
        seq=_count(data.get("seq")),
        miss=_miss_of(data.get("miss")),
        is_refresh=data.get("refresh") is True,
    )


def with_upload(data: Mapping[str, Any] | None, upload: Upload) -> dict[str, Any]:
    """The record's cache data with what the request's body took."""
    return {**(data or {}), "upload": {"body": upload.body, "sent": upload.sent}}


def upload_of(data: Mapping[str, Any] | None) -> Upload | None:
    """What a record says of its request's body; None where it says nothing that can be read."""
    found = _mapping((data or {}).get("upload"))
    upload = Upload(_count(found.get("body")), _count(found.get("sent")))
    return upload if upload.body and upload.sent else None


def _miss_of(data: object) -> CacheMiss | None:
    found = _mapping(data)
    if found.get("cause") not in _CAUSES:
        return None
    dollars = found.get("dollars")
    return CacheMiss(
        cause=found["cause"],
        tokens=_count(found.get("tokens")),
        dollars=float(dollars) if isinstance(dollars, int | float) else None,
        row_id=str(found.get("rowId") or ""),
        position=str(found.get("position") or ""),
        reason=_mapping(found.get("reason")),
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
