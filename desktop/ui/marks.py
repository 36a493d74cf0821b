"""A conversation's status as a mark: a shape and a word, never a colour alone (LOOK.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from desktop.core.status import TabStatus

Mark = Literal["", "running", "needs-you", "failed", "unseen"]
MARKS: dict[Mark, str] = {"": "", "running": "●", "needs-you": "!", "failed": "✕", "unseen": "○"}
MARK_WORDS: dict[Mark, str] = {
    "": "",
    "running": "running",
    "needs-you": "needs you",
    "failed": "failed",
    "unseen": "not seen yet",
}


def mark_of(status: TabStatus | None, *, unseen: bool) -> Mark:
    """The mark of a conversation, strongest first."""
    if status is not None and (status.questions or status.asking):
        return "needs-you"
    if status is not None and status.phase != "idle":
        return "running"
    if status is not None and status.last_outcome == "failed":
        return "failed"
    return "unseen" if unseen else ""
