"""The list of conversations, page by page: the one used last first, of one workspace or of all.

A cursor holds the time and a number made of the id, so equal times neither skip nor repeat.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from desktop.core.records import Tab
from desktop.core.sources import EVERYTHING
from desktop.feed.cursors import Cursors, Listing, Reader
from desktop.feed.faults import NotFound
from desktop.plugins.panel import LONGEST_TITLE

KIND = "session"
_BITS = 64


@dataclass(frozen=True, slots=True)
class Asked:
    """`beside` is a conversation of the workspace that is wanted; "": of all."""

    beside: str
    size: int
    cursor: str


def page_of(
    tabs: Sequence[Tab], asked: Asked, *, reader: Reader, cursors: Cursors
) -> Mapping[str, Any]:
    """Of conversations that are in use and no subagent's. Raises a FeedError."""
    listing = Listing(reader, asked.beside, KIND, EVERYTHING, "descending", asked.size)
    after = cursors.open(asked.cursor, listing) if asked.cursor else None
    found = [tab for tab in tabs if tab.parent_tab_id is None and not tab.shelf]
    if asked.beside:
        workspace = _workspace_of(tabs, asked.beside)
        found = [tab for tab in found if tab.workspace_id == workspace]
    placed = sorted(((_place(tab), tab) for tab in found), key=_first, reverse=True)
    rest = [one for one in placed if after is None or one[0] < after]
    page, has_more = rest[: asked.size], len(rest) > asked.size
    return {
        "sessions": [_seen(tab) for _, tab in page],
        "cursor": cursors.sign(listing, page[-1][0]) if has_more else "",
        "hasMore": has_more,
    }


def _workspace_of(tabs: Sequence[Tab], id_: str) -> int:
    for tab in tabs:
        if tab.id == id_ and tab.trashed_at is None:
            return tab.workspace_id
    raise NotFound


def _place(tab: Tab) -> int:
    number = int.from_bytes(hashlib.sha256(tab.id.encode()).digest()[: _BITS // 8], "big")
    return ((tab.last_message_at or tab.created_at) << _BITS) | number


def _first(placed: tuple[int, Tab]) -> int:
    return placed[0]


def _seen(tab: Tab) -> Mapping[str, Any]:
    title, used = tab.title[:LONGEST_TITLE], tab.last_message_at
    return {"id": tab.id, "title": title, "lastMessageAt": used}
