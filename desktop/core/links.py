"""What may be opened from outside: a folder, or a conversation by its link, maybe at one row.

Links come from anywhere, also from a web page, so only one exact form is one.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from desktop.core.errors import NacreError

SCHEME = "nacre:"
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_LINK = re.compile(rf"nacre://tab/({_UUID})(?:\?seq=([0-9]{{1,15}}))?")


@dataclass(frozen=True, slots=True)
class Link:
    """A conversation, at the row of `seq` if one is named. Whether it exists is not known."""

    tab_id: str
    seq: int | None = None


Place = Link | Path


def parse_place(text: str) -> Place:
    """The link, or the absolute path of a folder, that a text is. Raises NacreError."""
    if text.startswith(SCHEME):
        found = _LINK.fullmatch(text)
        if found is None:
            raise NacreError("This link is not one that Nacre knows.")
        tab_id, seq = found.groups()
        return Link(tab_id, int(seq) if seq else None)
    folder = Path(text)
    if "\0" in text or not folder.is_absolute():
        raise NacreError("This is not the full path of a folder.")
    return folder


def spelled(place: Place) -> str:
    """The text that `parse_place` reads as this place."""
    if isinstance(place, Path):
        return str(place)
    seq = "" if place.seq is None else f"?seq={place.seq}"
    return f"nacre://tab/{place.tab_id}{seq}"
