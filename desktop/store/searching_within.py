"""Finding a text in one conversation: letter by letter, from its end back, a piece at a time.

Not by the index, which knows words only: what is typed into a conversation's own field is found as
it stands, in the middle of a word too, and marked where it is seen.
"""

from dataclasses import dataclass

from sqlalchemy import Connection

from desktop.core.records import FoundRows
from desktop.store.connection import driver
from desktop.store.reads import lineage

# Rows that one look reads at most; so many of 1 KiB take some 50 ms.
SLICE = 16_000
LONGEST = 1_000  # letters; a longer text is found by its beginning

_HIGHEST = "SELECT max(seq) FROM chunks WHERE tab_id = ? AND seq > ? AND seq <= ?"
# A damaged text comes as bytes: it would otherwise fail the whole look.
_HOLDING = (
    "SELECT seq, CAST(search_text AS BLOB) FROM chunks"
    " WHERE tab_id = ? AND seq > ? AND seq <= ? AND search_text LIKE ? ESCAPE '\\'"
    " ORDER BY seq DESC"
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A text to look for, in any case of its letters."""

    text: str

    @classmethod
    def of(cls, typed: str) -> "Wanted | None":
        """None where nothing is left to look for."""
        text = typed[:LONGEST].lower()
        return cls(text) if text.strip() else None

    @property
    def pattern(self) -> str:
        """For SQL, which knows the case of ASCII letters only: others are left open there."""
        return f"%{''.join(map(_like, self.text))}%"

    def stands_in(self, text: str) -> bool:
        return self.text in text.lower()


def look(connection: Connection, *, tab_id: str, wanted: Wanted, end: int) -> FoundRows:
    """The newest piece up to and with the seq `end`. Raises UnknownConversation."""
    for stretch in reversed(lineage(connection, tab_id)):
        within = (stretch.tab_id, stretch.after, min(stretch.end, end))
        (highest,) = driver(connection).execute(_HIGHEST, within).fetchone()
        if highest is None:
            continue
        lower = max(highest - SLICE, stretch.after)
        rows = driver(connection).execute(
            _HOLDING, (stretch.tab_id, lower, highest, wanted.pattern)
        )
        found = tuple(
            seq for seq, text in rows if wanted.stands_in(text.decode("utf-8", "replace"))
        )
        return FoundRows(found, lower or None)
    return FoundRows()


def _like(letter: str) -> str:
    if letter in "%_\\":
        return f"\\{letter}"
    return letter if letter.isascii() or letter.lower() == letter.upper() else "%"
