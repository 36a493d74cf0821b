"""How a call of a plugin fails, in JSON-RPC's numbers and the feed's words."""

from collections.abc import Mapping
from typing import Any

from desktop.feed.faults import FeedError

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
UNKNOWN_METHOD = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
REFUSED = -32000

# One may ask again: at once with the newer revision, without the cursor, or later.
_RETRYABLE = frozenset(
    {"reconciliation_required", "cursor_expired", "upstream_failure", "too_many"}
)


class CallFault(Exception):
    """What the caller is told. `code` is the word that a program tells faults apart by."""

    def __init__(self, number: int, code: str, message: str, **more: object) -> None:
        super().__init__(message)
        self.number = number
        self.code = code
        self.more = more

    def as_json(self) -> Mapping[str, Any]:
        data = {"code": self.code, "retryable": self.code in _RETRYABLE, **self.more}
        return {"code": self.number, "message": str(self), "data": data}


def of_feed(error: FeedError) -> CallFault:
    """Neither the detail nor the cause leaves the program, but for what was asked wrongly."""
    is_question = error.code == "invalid_query"
    words = f"{error} ({error.detail})" if is_question and error.detail else str(error)
    return CallFault(INVALID_PARAMS if is_question else REFUSED, error.code, words)


def wrong(detail: str) -> CallFault:
    """The parameters are not what the method takes."""
    return CallFault(INVALID_PARAMS, "invalid_query", detail)
