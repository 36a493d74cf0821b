"""The headers that every answer of the provider carries (API V42)."""

from __future__ import annotations

from datetime import UTC, datetime

ORGANIZATION = "b1a7f3c2-0000-4000-8000-000000000001"
LIMITS = {
    "requests": 4_000,
    "tokens": 2_400_000,
    "input-tokens": 2_000_000,
    "output-tokens": 400_000,
}


def response_headers(request_id: str, now: float) -> list[tuple[str, str]]:
    """Request id, organisation and rate limits; `now` is in seconds since 1970."""
    reset = datetime.fromtimestamp(now + 60, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    headers = [("request-id", request_id), ("anthropic-organization-id", ORGANIZATION)]
    for name, limit in LIMITS.items():
        start = f"anthropic-ratelimit-{name}"
        headers += [
            (f"{start}-limit", str(limit)),
            (f"{start}-remaining", str(limit - 1)),
            (f"{start}-reset", reset),
        ]
    return headers
