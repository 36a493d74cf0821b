"""What is being written. The window's first picture needs it, so it needs no row (SPEC U10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from desktop.core.chunks import Json

BEGINNING = ""
"""In place of a conversation's id: the page where one begins has a draft too."""


def beginning(window: int) -> str:
    """That page in one of several windows, from 0."""
    return f".{window}" if window else BEGINNING


def is_beginning(tab_id: str) -> bool:
    """Ids of conversations are never empty and begin with no point."""
    return not tab_id or tab_id.startswith(".")


def units(text: str) -> int:
    """How long a text is to a field, and to all of Qt, which counts UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


@dataclass(frozen=True, slots=True)
class Draft:
    """What is being written in a conversation. `caret` counts as the field does (UTF-16); the
    attachments have their texts and bytes."""

    text: str = ""
    caret: int = 0
    attachments: tuple[Json, ...] = ()
