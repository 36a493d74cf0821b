"""Tokens as a provider counts them, whatever a server leaves out or sends as null (API §1.5)."""

from collections.abc import Mapping
from typing import Any, cast

from desktop.core.events import Usage


def usage_of(raw: Mapping[str, Any]) -> Usage:
    """The usage of one request. Where only the split of cache writes is given, it is summed; where
    only the sum is given, it counts as kept for five minutes."""
    split: Any = raw.get("cache_creation")
    parts = cast("Mapping[str, Any]", split) if isinstance(split, Mapping) else {}
    hour = _count(parts, "ephemeral_1h_input_tokens")
    short = _count(parts, "ephemeral_5m_input_tokens")
    return Usage(
        input=_count(raw, "input_tokens"),
        output=_count(raw, "output_tokens"),
        cache_read=_count(raw, "cache_read_input_tokens"),
        cache_write=_count(raw, "cache_creation_input_tokens") or hour + short,
        cache_write_1h=hour,
    )


def merged(older: Mapping[str, Any], newer: Mapping[str, Any]) -> dict[str, Any]:
    """The later counts over the earlier ones; a null says nothing (API §1.3)."""
    return dict(older) | {key: value for key, value in newer.items() if value is not None}


def _count(raw: Mapping[str, Any], key: str) -> int:
    value = raw.get(key)
    return value if isinstance(value, int) and value > 0 else 0
