"""The lines of a conversation kept as a file: what each says, and what they say together.

A line is one JSON object in ASCII, so that the byte `\\n` stands between lines and nowhere else,
and any text (lone surrogates, NUL, U+2028) comes back as it was. The first line is the header; the
others have a `kind`: `row`, `request` (the last one of an id counts), `queued`, `cancelled`,
`taken`. Nothing here touches a file.
"""

import json
from collections.abc import Callable, Iterable, Mapping
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


def header_line(session_id: str, *, created: int) -> bytes:
    """The header; `created` in ms UTC."""
    head = {"format": FORMAT, "version": VERSION, "session": session_id, "created": created}
    return _line(head)


def line_of(record: Record) -> bytes:
    """The line of a record, its `\\n` included."""
    match record:
        case LogChunk():
            return _line(
                {
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
            )
        case RequestRecord():
            return _line(
                {
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
                }
            )
        case QueuedMessage():
            return _line(
                {
                    "kind": "queued",
                    "id": record.id,
                    "text": record.text,
                    "at": record.created_at,
                    "attachments": [dict(one) for one in record.attachments],
                }
            )
        case Cancelled():
            return _line({"kind": "cancelled", "id": record.message_id})
        case Taken():
            return _line({"kind": "taken", "ids": list(record.message_ids)})
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


def record_of(line: bytes, tab_id: str) -> Record:
    """What a line says; raises PayloadError with the reason where it can't be read (SPEC C12)."""
    found = _object(line)
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

    def read(self, number: int, line: bytes, tab_id: str, row: Callable[[LogChunk], None]) -> None:
        """Takes a line in; `row` gets the row it is. What can't be read is noted and left out."""
        try:
            record = record_of(line, tab_id)
            if isinstance(record, LogChunk) and record.id in self.ids:
                raise PayloadError("a row with this id stands before it")
        except PayloadError as error:
            self.damaged[number] = str(error)
            self.lost += 1
            return
        if isinstance(record, LogChunk):
            row(self.add_row(record))
        else:
            self.add(record)

    def add_row(self, row: LogChunk) -> LogChunk:
        """Takes a row in; the row as it stands (a place that was taken is moved to the next)."""
        if row.seq <= self.head:
            # Only a file that somebody edited gets here; a row is shown all the same.
            row = replace(row, seq=self.head + 1)
        self.ids.add(row.id)
        self.queue.pop(row.id, None)
        self.head, self.lost = row.seq, 0
        self.revision += 1
        if row.stamp != Stamp():
            self.stamp = row.stamp
        return row

    def add(self, record: RequestRecord | QueuedMessage | Cancelled | Taken) -> None:
        """Takes in what is no row."""
        match record:
            case RequestRecord():
                self.requests[record.id] = record
                self.revision += 1
            case QueuedMessage():
                if record.id not in self.ids:
                    self.queue.setdefault(record.id, record)
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
