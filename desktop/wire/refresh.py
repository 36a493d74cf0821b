"""The request that only keeps what lies in the cache: the same prompt, and nothing to be answered.

`max_tokens: 0` is taken without a stream and with every kind of thinking that is sent here (API
C17); length, stream and diagnostics are no part of the cache's key.
"""

from collections.abc import Mapping
from typing import Any, cast

from desktop.core.caching import Diagnosis
from desktop.core.events import ModelEvent, ResponseFinished, ResponseStarted
from desktop.wire.usage import usage_of


def refresh_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body that refreshes what the request with this one left in the cache."""
    left_out = ("stream", "diagnostics")
    return {key: value for key, value in body.items() if key not in left_out} | {"max_tokens": 0}


def events_of(answer: Mapping[str, Any], seen: Diagnosis) -> list[ModelEvent]:
    """What a whole answer tells; its content, if there is any, is nobody's."""
    told: Any = answer.get("usage")
    raw = cast("Mapping[str, Any]", told) if isinstance(told, Mapping) else {}
    usage = usage_of(raw)
    return [
        ResponseStarted(
            message_id=str(answer.get("id") or ""),
            model=str(answer.get("model") or ""),
            usage=usage,
            raw_usage=dict(raw),
            diagnosis=seen,
        ),
        ResponseFinished(str(answer.get("stop_reason") or ""), usage, dict(raw)),
    ]
