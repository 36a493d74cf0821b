"""The words of what can be chosen beside the message field."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from desktop.core.permissions import PermissionMode

MODES: tuple[PermissionMode, ...] = ("read-only", "ask", "accept-edits", "auto")
EFFORT_WORDS = {
    "": "Usual effort",
    "low": "Low effort",
    "medium": "Medium effort",
    "high": "High effort",
    "xhigh": "Very high effort",
    "max": "Highest effort",
}
MODE_WORDS = {
    "read-only": "Only read",
    "ask": "Ask first",
    "accept-edits": "Accept edits",
    "auto": "Don't ask",
}
