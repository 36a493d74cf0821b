"""Reading for scopes: pages of messages and turns, and revisions without a row (DESIGN.md §7).

Keyset only. Each function is one read transaction; the revision that a reader expects is compared
in it, before a row is read. What persons and the program say has indexes of its own, so that a
page of prompts or turns costs what it holds and not what stands between.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import Connection

from desktop.core.chunks import LogChunk
from desktop.core.conversation import retracted_ids
from desktop.core.errors import UnknownConversation
from desktop.core.sources import Message, Messages, Question, RevisionMoved, Selection, Turns
from desktop.core.turns import Turn, is_turn_end
from desktop.store import codec, reads
from desktop.store.connection import driver
from desktop.store.lanes import Lanes
from desktop.store.pages import NO_END, ROW_COLUMNS, Stretch
from desktop.store.tables import RETRACTS, SAID

T = TypeVar("T")

MOST_AT_ONCE = 100

_ROWS = f"SELECT {ROW_COLUMNS} FROM chunks WHERE tab_id = ? AND seq BETWEEN ? AND ?"
_BY_ID = f"{_ROWS} AND id = ?"
_RETRACTIONS = f"{_ROWS} AND {RETRACTS}"
_ENDS = f"{_ROWS} AND role = 'system' AND turn_id = ? AND instr(data_json, '\"turn_end\"')"
_SAID = f"SELECT seq, turn_id FROM chunks WHERE tab_id = ? AND seq BETWEEN ? AND ? AND ({SAID})"
_FIRST = (
    "SELECT min(seq) FROM chunks WHERE tab_id = ? AND seq BETWEEN ? AND ?"
    f" AND turn_id = ? AND ({SAID})"
)
_BEGAN = "SELECT created_at FROM chunks WHERE tab_id = ? AND seq BETWEEN ? AND ? AND seq = ?"
_SPEAKER = (
    "SELECT turn_id FROM chunks WHERE tab_id = ? AND seq BETWEEN ? AND ?"
    " AND type NOT IN ('system', 'error') ORDER BY seq LIMIT 1"
)
_REVISIONS = (
    "SELECT t.id, coalesce(r.revision, 0) FROM tabs t LEFT JOIN conversation_session_revisions r"
    " ON r.session_id = t.id WHERE t.purged_at IS NULL AND t.id IN ({})"
)
_IN_USE = " AND t.trashed_at IS NULL"


class LogSources:
    """The SourceReader of a database. Without the bin, what lies in it is not there at all."""

    def __init__(self, lanes: Lanes, *, with_bin: bool = True) -> None:
        self._lanes = lanes
        self._with_bin = with_bin

    async def messages(self, tab_id: str, selection: Selection, question: Question) -> Messages:
        return await self._read(
            partial(read_messages, tab_id=tab_id, selection=selection, question=question), tab_id
        )

    async def turns(self, tab_id: str, question: Question) -> Turns:
        return await self._read(partial(read_turns, tab_id=tab_id, question=question), tab_id)

    async def revisions(self, tab_ids: Sequence[str]) -> Mapping[str, int]:
        names, with_bin = tuple(tab_ids), self._with_bin
        return await self._lanes.read(partial(read_revisions, tab_ids=names, with_bin=with_bin))

    async def _read(self, job: Callable[[Connection], T], tab_id: str) -> T:
        """In one transaction with the look whether the conversation is in use."""

        def looked(connection: Connection) -> T:
            found = read_revisions(connection, tab_ids=(tab_id,), with_bin=False)
            if tab_id not in found:
                raise UnknownConversation("No conversation has this id.", detail=tab_id)
            return job(connection)

        return await self._lanes.read(job if self._with_bin else looked)


def read_messages(
    connection: Connection, *, tab_id: str, selection: Selection, question: Question
) -> Messages:
    line = reads.lineage(connection, tab_id)
    revision = _expected(connection, tab_id, question)
    down = " DESC" if question.order == "descending" else ""
    sql = f"{_ROWS} {_selected(selection)} ORDER BY seq{down} LIMIT {question.bounded + 1}"
    rows: list[Sequence[Any]] = []
    for piece in _pieces(line, question):
        rows += driver(connection).execute(sql, piece)
        if len(rows) > question.bounded:
            break
    page = rows[: question.bounded]
    gone = _retracted(connection, line, min((row[1] for row in page), default=NO_END))
    return Messages(
        tuple(_message(tab_id, row, is_retracted=row[0] in gone) for row in page),
        has_more=len(rows) > len(page) or _goes_on(connection, line, question, selection),
        revision=revision,
    )


def read_turns(connection: Connection, *, tab_id: str, question: Question) -> Turns:
    line = reads.lineage(connection, tab_id)
    revision = _expected(connection, tab_id, question)
    found: list[Turn] = []
    for seq, turn_id in _starts(connection, line, question):
        if len(found) == question.bounded:
            return Turns(tuple(found), has_more=True, revision=revision)
        found.append(_turn(connection, line, tab_id, turn_id, seq))
    beyond = _beyond(question)
    has_more = beyond is not None and any(_starts(connection, line, beyond))
    return Turns(tuple(found), has_more=has_more, revision=revision)


def read_turn(connection: Connection, tab_id: str, turn_id: str) -> Turn | None:
    """A turn as its rows say it now; None where nobody said anything in it."""
    line = reads.lineage(connection, tab_id)
    seq = _first(connection, line, turn_id)
    return None if seq is None else _turn(connection, line, tab_id, turn_id, seq)


def read_by_id(connection: Connection, tab_id: str, ids: Sequence[str]) -> tuple[Message, ...]:
    """Those of the rows that are in the conversation's log, as rows that were taken back."""
    line = reads.lineage(connection, tab_id)
    found = [row for id_ in ids if (row := _one(connection, _BY_ID, line, id_)) is not None]
    return tuple(_message(tab_id, row, is_retracted=True) for row in found)


def read_revisions(
    connection: Connection, *, tab_ids: Sequence[str], with_bin: bool = True
) -> dict[str, int]:
    found: dict[str, int] = {}
    for at in range(0, len(tab_ids), MOST_AT_ONCE):
        some = tuple(tab_ids[at : at + MOST_AT_ONCE])
        sql = _REVISIONS.format(", ".join("?" * len(some))) + ("" if with_bin else _IN_USE)
        found |= dict(driver(connection).execute(sql, some).fetchall())
    return found


def _expected(connection: Connection, tab_id: str, question: Question) -> int:
    revision = reads.read_revision(connection, tab_id)
    if question.expected not in (None, revision):
        raise RevisionMoved(revision)
    return revision


def _selected(selection: Selection) -> str:
    """Names of a closed set, never what somebody typed; as words, so that an index can be used."""
    clauses: list[str] = []
    if selection.roles is not None:
        if selection.roles <= {"user", "system"}:
            clauses.append(f"AND ({SAID})")
        clauses.append(f"AND role IN ({_words(selection.roles)})")
    if selection.types is not None:
        clauses.append(f"AND type IN ({_words(selection.types)})")
    return " ".join(clauses)


def _words(names: frozenset[Any]) -> str:
    return ", ".join(f"'{name}'" for name in sorted(names) if str(name).replace("_", "").isalpha())


def _pieces(line: Sequence[Stretch], question: Question) -> Iterator[tuple[str, int, int]]:
    """Whose rows, from which to which seq, in the order of the question."""
    descending = question.order == "descending"
    ends = (question.through, question.after) if descending else (question.after, question.through)
    lower, upper = ends
    if descending:
        low, high = lower or 1, NO_END if upper is None else upper - 1
    else:
        low, high = (lower or 0) + 1, NO_END if upper is None else upper
    for stretch in reversed(line) if descending else line:
        first, last = max(low, stretch.after + 1), min(high, stretch.end)
        if first <= last:
            yield stretch.tab_id, first, last


def _everywhere(line: Sequence[Stretch], low: int = 1) -> Iterator[tuple[str, int, int]]:
    return _pieces(line, Question(after=low - 1))


def _goes_on(
    connection: Connection, line: Sequence[Stretch], question: Question, selection: Selection
) -> bool:
    """Whether the selection has a row beyond the place that the question ends at."""
    beyond = _beyond(question)
    if beyond is None:
        return False
    sql = f"{_ROWS} {_selected(selection)} LIMIT 1"
    raw = driver(connection)
    return any(raw.execute(sql, piece).fetchone() for piece in _pieces(line, beyond))


def _beyond(question: Question) -> Question | None:
    if question.through is None:
        return None
    return replace(question, after=question.through, through=None)


def _retracted(connection: Connection, line: Sequence[Stretch], low: int) -> frozenset[str]:
    """Ids of rows that a row behind the place `low` takes back."""
    rows = [
        codec.chunk_of("", row)
        for piece in _everywhere(line, low)
        for row in driver(connection).execute(_RETRACTIONS, piece)
    ]
    return retracted_ids(row for row in rows if isinstance(row, LogChunk))


def _starts(
    connection: Connection, line: Sequence[Stretch], question: Question
) -> Iterator[tuple[int, str]]:
    """The first rows of turns, in the order of the question."""
    down = " DESC" if question.order == "descending" else ""
    firsts: dict[str, int | None] = {}
    for piece in _pieces(line, question):
        for seq, turn_id in driver(connection).execute(f"{_SAID} ORDER BY seq{down}", piece):
            if turn_id not in firsts:
                firsts[turn_id] = _first(connection, line, turn_id)
            if firsts[turn_id] == seq:
                yield seq, turn_id


def _first(connection: Connection, line: Sequence[Stretch], turn_id: str) -> int | None:
    for piece in _everywhere(line):
        (seq,) = driver(connection).execute(_FIRST, (*piece, turn_id)).fetchone()
        if seq is not None:
            return seq
    return None


def _turn(
    connection: Connection, line: Sequence[Stretch], tab_id: str, turn_id: str, seq: int
) -> Turn:
    began = _one(connection, _BEGAN, line, seq)
    turn = Turn(turn_id, tab_id, seq, began[0] if began else 0)
    last = 0
    for piece in _everywhere(line, seq):
        for row in driver(connection).execute(f"{_ENDS} ORDER BY seq", (*piece, turn_id)):
            end = codec.chunk_of(tab_id, row)
            if isinstance(end, LogChunk) and is_turn_end(end):
                turn, last = turn.ended(end), end.seq
    if last and _speaker(connection, line, last) == turn_id:
        return turn.reopened()
    return turn


def _speaker(connection: Connection, line: Sequence[Stretch], after: int) -> str | None:
    """The turn of the first row behind a place in which somebody speaks."""
    for piece in _everywhere(line, after + 1):
        row = driver(connection).execute(_SPEAKER, piece).fetchone()
        if row is not None:
            return row[0]
    return None


def _one(connection: Connection, sql: str, line: Sequence[Stretch], key: str | int) -> Any:
    for piece in _everywhere(line):
        row = driver(connection).execute(sql, (*piece, key)).fetchone()
        if row is not None:
            return row
    return None


def _message(tab_id: str, row: Sequence[Any], *, is_retracted: bool) -> Message:
    return Message(codec.chunk_of(tab_id, row), row[4], row[5], is_retracted)
