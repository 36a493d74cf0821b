"""How far a reader of a conversation has come, and how much is read at once."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a reader of one conversation has come: with row `seq`, whose id is `row_id`.

    A row is never rewritten and its id is nobody else's, so a log that has this row at this place
    is the one that was read; in a backup that was brought back and went on, another row stands
    there. Seq 0 is before the first row. Without a `row_id` only the place is looked at.
    """

    seq: int = 0
    row_id: str = ""

    def __str__(self) -> str:
        return f"{self.seq}:{self.row_id}" if self.row_id else str(self.seq)

    @classmethod
    def parse(cls, text: str) -> "Cursor":
        """Of `SEQ` or `SEQ:ROW`; raises ValueError."""
        number, _, row_id = text.partition(":")
        if not (number.isascii() and number.isdigit() and len(number) < 19):
            raise ValueError("it must be a row's number, or SEQ:ID")
        return cls(int(number), row_id if int(number) else "")


MOST_ROWS = 500
"""What one page of a timeline holds at most, whatever was asked for (SPEC P07)."""
