"""A turn as one value: from when to when, how long, how it ended. Derived from its rows alone.

A turn that ended and was sent again is open again (DESIGN.md §1): what speaks first behind an end,
beside the program itself, decides. Pure.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from desktop.core.chunks import DamagedRow, Json, LogChunk, System


@dataclass(frozen=True, slots=True)
class Turn:
    """`seq` is its first row's. An open turn has no `outcome`; `duration_ms` is the time worked in
    all its runs that ended. Times ms UTC."""

    id: str
    tab_id: str
    seq: int
    started_at: int
    ended_at: int | None = None
    outcome: str = ""
    duration_ms: int = 0

    def ended(self, row: LogChunk) -> "Turn":
        """The turn after one more of its `turn_end` rows."""
        took = _fields(row).get("durationMs")
        return replace(
            self,
            ended_at=row.created_at,
            outcome=outcome_of(row) or "done",
            duration_ms=self.duration_ms + (took if isinstance(took, int) else 0),
        )

    def reopened(self) -> "Turn":
        return replace(self, ended_at=None, outcome="")


def outcome_of(row: LogChunk) -> str:
    """How a `turn_end` row says that its turn ended; "" where it does not."""
    return str(_fields(row).get("outcome", ""))


def _fields(row: LogChunk) -> Json:
    return row.data.fields if isinstance(row.data, System) else {}


def is_turn_end(row: LogChunk) -> bool:
    return isinstance(row.data, System) and row.data.kind == "turn_end"


def speaks(row: LogChunk) -> bool:
    """Whether it is the person, the model or a tool that says something."""
    return row.type not in ("system", "error")


def opens_turn(row: LogChunk) -> bool:
    """Whether a turn can begin with it: what a person or the program says."""
    return row.role in ("user", "system")


def turns_of(rows: Sequence[LogChunk | DamagedRow]) -> tuple[Turn, ...]:
    """The turns of a whole log, by their first rows. A damaged row belongs to none."""
    found: dict[str, Turn] = {}
    for row in rows:
        if not isinstance(row, LogChunk) or not opens_turn(row):
            continue
        turn = found.setdefault(row.turn_id, Turn(row.turn_id, row.tab_id, row.seq, row.created_at))
        if is_turn_end(row):
            found[row.turn_id] = turn.ended(row)
    for turn_id in _continued(rows):
        if turn_id in found:
            found[turn_id] = found[turn_id].reopened()
    return tuple(sorted(found.values(), key=lambda turn: turn.seq))


def _continued(rows: Iterable[LogChunk | DamagedRow]) -> set[str]:
    """Turns whose last end is followed by words of the same turn."""
    found: set[str] = set()
    ended = set[str]()
    for row in rows:
        if not isinstance(row, LogChunk):
            continue
        if is_turn_end(row):
            ended.add(row.turn_id)
            found.discard(row.turn_id)
        elif speaks(row):
            found.update({row.turn_id} & ended)
            ended.clear()
    return found
