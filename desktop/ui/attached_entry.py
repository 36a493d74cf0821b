"""The text of an entry that goes with a message: whether it can be opened, another in its place.

Apart from the box that opens it (`attached_text`), which the window's first picture does not need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from desktop.core.chunks import Json

# Letters of a line that can be laid out without a pause that is felt.
LONGEST_LINE = 100_000


def can_be_opened(attachment: Json) -> bool:
    """Whether it is a text, and no line of it is too long for a field."""
    text = attachment.get("text")
    return isinstance(text, str) and not _has_long_line(text)


def _has_long_line(text: str) -> bool:
    """A line that is too long lies over one of these places, so that few are looked at."""
    for at in range(0, len(text), LONGEST_LINE):
        end = text.find("\n", at)
        begin = text.rfind("\n", 0, at) + 1
        if (end if end >= 0 else len(text)) - begin > LONGEST_LINE:
            return True
    return False


def with_text(attachment: Json, text: str) -> dict[str, Any]:
    """The attachment with another text, whose line ends are as they were throughout."""
    before = str(attachment.get("text"))
    ends = before.count("\n")
    if ends and before.count("\r\n") == ends:
        text = text.replace("\n", "\r\n")
    return {**attachment, "text": text, "size": size_of(text)}


def size_of(text: str) -> int:
    """Its bytes, without making them where each letter is one."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
