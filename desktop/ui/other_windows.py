"""What one window has to know of the others: a conversation is in view in one of them at a time.

Two pages of one conversation would write two drafts and keep two places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from desktop.ui.conversation_page import ConversationPage


class OtherWindows(Protocol):
    """The windows beside one, which `is_front` when it was active last; `number` is its own, from
    0."""

    @property
    def number(self) -> int: ...

    @property
    def is_front(self) -> bool: ...

    def showing(self, tab_id: str) -> ConversationPage | None:
        """The page of this conversation that is in view in one of them."""
        ...

    def go_to(self, page: ConversationPage) -> None:
        """Brings its window to the front."""
        ...

    def let_go(self, tab_id: str) -> None:
        """None of them keeps a page of this conversation, which is in view in none of them."""
        ...


class NoOthers:
    """There is one window."""

    number = 0
    is_front = True

    def showing(self, tab_id: str) -> None:
        del tab_id

    def go_to(self, page: ConversationPage) -> None:
        """There is nowhere to go."""

    def let_go(self, tab_id: str) -> None:
        """Nobody has a page."""
