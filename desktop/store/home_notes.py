"""The note of where a conversation keeps its rows: in the database, or in a file of some folder.

`homes` keeps it; without anything slow, for `glimpse` reads it too.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from desktop.core.errors import StoreDamaged, StoreError

SQL, JSONL = "sql", "jsonl"


@dataclass(frozen=True, slots=True)
class Home:
    """`folder` holds the conversation's file; without one the rows are in the database."""

    folder: Path | None = None


DATABASE = Home()


def home_of(note: str) -> Home:
    """What a note says. Raises StoreError where that is nothing we know."""
    found = read_note(note)
    store, folder = found.get("store"), found.get("folder")
    if store in (None, SQL):
        return DATABASE
    if store == JSONL and isinstance(folder, str) and folder:
        return Home(Path(folder))
    raise StoreError(
        "This Nacre does not know where the rows of this conversation are kept.",
        way_out="A newer Nacre may have made it: update Nacre.",
        detail=note,
    )


def read_note(note: str) -> dict[str, Any]:
    """Its values. Raises StoreDamaged where it is no JSON."""
    try:
        found = json.loads(note)
    except ValueError as error:
        raise StoreDamaged(
            "The note of where this conversation is kept can't be read.",
            way_out="Bring the last backup back with `nacre restore`.",
            detail=note,
        ) from error
    return found if isinstance(found, dict) else {}
