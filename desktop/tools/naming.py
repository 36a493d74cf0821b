"""The names of a folder's files, for one who writes and wants to name one.

As the tools of listing see it: without what `.gitignore` says, bounded, links never entered.
"""

from pathlib import Path

from desktop.tools.threads import Stop, read_off_loop
from desktop.tools.walking import Walk


async def file_names(folder: Path) -> tuple[str, ...]:
    """Paths from the folder, with `/`, in a stable order; none where it can't be read."""
    return await read_off_loop(lambda stop: _names(folder, stop))


def _names(folder: Path, stop: Stop) -> tuple[str, ...]:
    walk = Walk(folder, folder, stop)
    return tuple(found.name for found in walk if _is_text(found.name))


def _is_text(name: str) -> bool:
    """A name that is no UTF-8 can't be written in a message."""
    return name.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in name)
