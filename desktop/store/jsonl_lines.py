"""The lines of a conversation kept as a file: what each says, and what they say together.

A line is one JSON object in ASCII, so that the byte `\\n` stands between lines and nowhere else,
and any text (lone surrogates, NUL, U+2028) comes back as it was. The first line is the header; the
others have a `kind`: `row`, `request` and `queued` (the last one of an id counts, in the place of
the first), `cancelled`, `taken`.

Lines that were written together count together or not at all (SPEC S04): all but the last say in
`more` how many of theirs are still to come. Nothing here touches a file.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, assert_never, get_args

from desktop.core.chunks import (
    LogChunk,
    NewChunk,
    Role,
    Stamp,
    Text,
    payload_from_json,
    payload_to_json,
)
from desktop.core.errors import PayloadError
from desktop.core.records import RequestRecord
from desktop.core.status import QueuedMessage
from desktop.store.codec import to_json

FORMAT = "nacre-session"
VERSION = 1
# Every header begins so: a file cut off within its first line is known as one of ours by it.
HEADER_START = b'{"format":"nacre-session"'
_ROW_BEGINS = re.compile(rb'\{"kind":"row","id":"([^"\\]{1,200})","seq":(\d{1,18}),"turn":')
_ROW_ENDS = re.compile(rb'"model":"[^"\\]*"(?:,"more":(\d{1,9}))?\}\Z')
_LONGEST_END = 512
_ROLES: tuple[str, ...] = get_args(Role)


@dataclass(frozen=True, slots=True)
class Header:
    """The first line: which version wrote the file, and for which conversation."""

    version: int
    session_id: str


@dataclass(frozen=True, slots=True)
class Cancelled:
    """A waiting message was taken back."""

    message_id: str


@dataclass(frozen=True, slots=True)
class Taken:
    """Waiting messages became rows (those rows say it too: they have the messages' ids)."""

    message_ids: tuple[str, ...]


Record = LogChunk | RequestRecord | QueuedMessage | Cancelled | Taken


@dataclass(frozen=True, slots=True)
class RowHead:
    """What a row's line says before its payload: enough to know its place."""

    id: str
    seq: int


Seen = Callable[[int, int, LogChunk | RowHead | str], None]
"""Hears of each row: its seq, where its line begins, and the row (or its head, where no more was
wanted) or why it can't be read."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line as read: `found` is what it says, or why it can't be read (SPEC C12).

    `more` lines of the same batch come after it; `at` is the byte it begins at. With a `head` it is
    a row's, whatever became of the payload.
    """

    number: int
    at: int
    found: Record | RowHead | PayloadError
    more: int = 0
    head: RowHead | None = None

    @property
    def is_known(self) -> bool:
        """Whether it can be told what kind of line it is."""
        return self.head is not None or not isinstance(self.found, PayloadError)


def header_line(session_id: str, *, created: int) -> bytes:
    """The header; `created` in ms UTC."""
    head = {"format": FORMAT, "version": VERSION, "session": session_id, "created": created}
    return _line(head)


def lines_of(records: Sequence[Record]) -> bytes:
    """The lines of what is written together, each with its `\\n`."""
    last = len(records) - 1
    return b"".join(
        _line({**_object_of(record), "more": last - place} if place < last else _object_of(record))
        for place, record in enumerate(records)
    )


def _object_of(record: Record) -> dict[str, Any]:
    match record:
        case LogChunk():
            return {
                "kind": "row",
                "id": record.id,
                "seq": record.seq,
                "turn": record.turn_id,
                "step": record.step,
                "role": record.role,
                "type": record.type,
                "data": payload_to_json(record.data),
                "at": record.created_at,
                "provider": record.stamp.provider,
                "model": record.stamp.model,
            }
        case RequestRecord():
            return {
                "kind": "request",
                "id": record.id,
                "turn": record.turn_id,
                "step": record.step,
                "provider": record.provider,
                "model": record.model,
                "started": record.started_at,
                "message": record.message_id,
                "stop": record.stop_reason,
                "usage": record.usage,
                "error": record.error,
                "ended": record.ended_at,
                "cache": record.cache,
            }
        case QueuedMessage():
            return {
                "kind": "queued",
                "id": record.id,
                "text": record.text,
                "at": record.created_at,
                "attachments": [dict(one) for one in record.attachments],
            }
        case Cancelled():
            return {"kind": "cancelled", "id": record.message_id}
        case Taken():
            return {"kind": "taken", "ids": list(record.message_ids)}
        case _:
            assert_never(record)


def header_of(line: bytes) -> Header | None:
    """The header that a line is; None where it is something else."""
    try:
        found = _object(line)
        if found.get("format") != FORMAT:
            return None
        return Header(_taken(found, "version", int), _taken(found, "session", str))
    except PayloadError:
        return None


def read_line(text: bytes, tab_id: str, *, number: int = 0, at: int = 0) -> Line:
    """What a line says; what can't be read is no error here."""
    try:
        found = _object(text)
        more = found.get("more")
        return Line(number, at, _record_of(found, tab_id), more if type(more) is int else 0)
    except PayloadError as error:
        head = skim_line(text, number=number, at=at)
        return Line(number, at, error, head.more, head.head) if head else Line(number, at, error)


def skim_line(text: bytes, *, number: int = 0, at: int = 0) -> Line | None:
    """The place of a row whose line is as we write it, its payload unread; None for another line.

    Three times as fast as reading the line, and more where it is long.
    """
    begins, ends = _ROW_BEGINS.match(text), _ROW_ENDS.search(text, max(len(text) - _LONGEST_END, 0))
    if begins is None or ends is None:
        return None
    head = RowHead(begins[1].decode("ascii", "replace"), int(begins[2]))
    return Line(number, at, head, int(ends[1] or 0), head)


def _record_of(found: dict[str, Any], tab_id: str) -> Record:
    match found.get("kind"):
        case "row":
            return _row_of(found, tab_id)
        case "request":
            return RequestRecord(
                id=_taken(found, "id", str),
                tab_id=tab_id,
                turn_id=_taken(found, "turn", str),
                step=_taken(found, "step", int),
                provider=_taken(found, "provider", str),
                model=_taken(found, "model", str),
                started_at=_taken(found, "started", int),
                message_id=_optional(found, "message", str),
                stop_reason=_optional(found, "stop", str),
                usage=_optional(found, "usage", dict),
                error=_optional(found, "error", dict),
                ended_at=_optional(found, "ended", int),
                cache=_optional(found, "cache", dict),
            )
        case "queued":
            data = {"text": found.get("text"), "attachments": found.get("attachments") or []}
            text = payload_from_json("text", data)
            assert isinstance(text, Text)
            return QueuedMessage(
                id=_taken(found, "id", str),
                tab_id=tab_id,
                text=text.text,
                created_at=_taken(found, "at", int),
                attachments=text.attachments,
            )
        case "cancelled":
            return Cancelled(_taken(found, "id", str))
        case "taken":
            ids = _taken(found, "ids", list)
            return Taken(tuple(one for one in ids if isinstance(one, str)))
        case kind:
            raise PayloadError(f"unknown kind {kind!r}")


@dataclass(slots=True)
class Contents:
    """What the lines read so far say together, without the rows themselves.

    `head` is the last seq, `revision` counts rows and changed requests, `damaged` holds the
    reasons by line number, `lost` how many damaged lines (rows, it may be) follow the last row.
    """

    ids: set[str] = field(default_factory=set[str])
    head: int = 0
    lost: int = 0
    revision: int = 0
    stamp: Stamp | None = None
    requests: dict[str, RequestRecord] = field(default_factory=dict[str, RequestRecord])
    queue: dict[str, QueuedMessage] = field(default_factory=dict[str, QueuedMessage])
    damaged: dict[int, str] = field(default_factory=dict[int, str])

    def placed(self, new: Iterable[NewChunk], tab_id: str, now: int) -> tuple[LogChunk, ...]:
        """New rows with the places after the head; those of lost rows stay free."""
        return tuple(
            LogChunk(
                id=one.id,
                tab_id=tab_id,
                seq=self.head + self.lost + place,
                turn_id=one.turn_id,
                step=one.step,
                role=one.role,
                data=one.data,
                created_at=now,
                stamp=one.stamp,
            )
            for place, one in enumerate(new, start=1)
        )

    def take(self, line: Line, seen: Seen) -> None:
        """Takes a line in. What can't be read is noted and left out; its place stays free."""
        found, head = line.found, line.head
        if isinstance(found, LogChunk | RowHead) and found.id in self.ids:
            found, head = PayloadError("a row with this id stands before it"), None
        if isinstance(found, PayloadError):
            self.damaged[line.number] = str(found)
            if head is None:
                self.lost += 1
                seen(self.head + self.lost, line.at, str(found))
            else:
                seen(self._claim(head), line.at, str(found))
        elif isinstance(found, LogChunk):
            row = self.add_row(found)
            seen(row.seq, line.at, row)
        elif isinstance(found, RowHead):
            seen(self._claim(found), line.at, found)
        else:
            self.add(found)

    def add_row(self, row: LogChunk) -> LogChunk:
        """Takes a row in; the row as it stands."""
        seq = self._claim(row)
        if row.stamp != Stamp():
            self.stamp = row.stamp
        return row if seq == row.seq else replace(row, seq=seq)

    def _claim(self, row: LogChunk | RowHead) -> int:
        """The place that a row has, be it damaged: it counts as it does in the database."""
        # Only a file that somebody edited has a place twice; a row is shown all the same.
        seq = max(row.seq, self.head + 1)
        self.ids.add(row.id)
        self.queue.pop(row.id, None)
        self.head, self.lost = seq, 0
        self.revision += 1
        return seq

    def add(self, record: RequestRecord | QueuedMessage | Cancelled | Taken) -> None:
        """Takes in what is no row."""
        match record:
            case RequestRecord():
                self.requests[record.id] = record
                self.revision += 1
            case QueuedMessage():
                if record.id not in self.ids:
                    self.queue[record.id] = record
            case Cancelled():
                self.queue.pop(record.message_id, None)
            case Taken():
                for message_id in record.message_ids:
                    self.queue.pop(message_id, None)
            case _:
                assert_never(record)


def _row_of(found: dict[str, Any], tab_id: str) -> LogChunk:
    role = found.get("role")
    if role not in _ROLES:
        raise PayloadError(f"unknown role {role!r}")
    return LogChunk(
        id=_taken(found, "id", str),
        tab_id=tab_id,
        seq=_taken(found, "seq", int),
        turn_id=_taken(found, "turn", str),
        step=_taken(found, "step", int),
        role=role,
        data=payload_from_json(_taken(found, "type", str), found.get("data")),
        created_at=_taken(found, "at", int),
        stamp=Stamp(_taken(found, "provider", str), _taken(found, "model", str)),
    )


def _line(value: Mapping[str, Any]) -> bytes:
    return to_json(value).encode("ascii") + b"\n"


def _object(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line.decode())
    except (ValueError, RecursionError) as error:
        raise PayloadError(f"not JSON ({type(error).__name__})") from error
    if not isinstance(found, dict):
        raise PayloadError("not a JSON object")
    return found


def _taken(found: Mapping[str, Any], key: str, kind: type) -> Any:
    value = found.get(key)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise PayloadError(f"{key} is not a {kind.__name__}")
    return value


def _optional(found: Mapping[str, Any], key: str, kind: type) -> Any:
    return None if found.get(key) is None else _taken(found, key, kind)
