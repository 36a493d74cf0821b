"""The fields of a legacy record, each read as what it should be or refused with a reason.

Pure. What raises raises `Refused`: its reason is for the person and follows the record's name.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from desktop.store.codec import clean

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_MS = 253_402_300_799_999  # the end of the year 9999
# Fewer is a count of seconds: as milliseconds it would be before 1973.
_FIRST_MS = 100_000_000_000
_DIGITS = re.compile(r"[0-9]{9,18}")


@dataclass(frozen=True, slots=True)
class Times:
    """ms UTC."""

    created_at: int
    updated_at: int
    archived_at: int | None


class Refused(Exception):
    """This file or entry can't be taken; the text says why."""


def time_of(value: object) -> int:
    """ms UTC of an ISO 8601 text (without a zone: UTC) or a count of ms or s since 1970.

    Raises ValueError with words for the person.
    """
    if isinstance(value, str) and _DIGITS.fullmatch(value.strip()):
        value = int(value)
    if isinstance(value, str):
        found = _of_iso(value)
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        found = int(value if abs(value) >= _FIRST_MS else value * 1000)
    else:
        raise ValueError("is no time")
    if not 0 <= found <= _LAST_MS:
        raise ValueError("is a time that can't be: before 1970 or after 9999")
    return found


def fields_of(entry: object) -> Mapping[str, Any]:
    """What an entry says, field by field."""
    if not isinstance(entry, dict):
        raise Refused("is not an object with fields")
    return cast("Mapping[str, Any]", entry)


def entry_name(entry: object, id_field: str, number: int) -> str:
    """How the person finds the entry: its id, else its place in the list (from 1)."""
    found = cast("dict[str, object]", entry).get(id_field) if isinstance(entry, dict) else None
    if isinstance(found, str) and found:
        return found[:200]
    return f"entry {number}" if number else ""


def text(entry: Mapping[str, Any], field: str) -> str:
    """A text that must be there; it may be empty."""
    if entry.get(field) is None:
        raise Refused(f"{field} is missing")
    return optional_text(entry, field)


def optional_text(entry: Mapping[str, Any], field: str) -> str:
    """A text; '' where there is none."""
    found = entry.get(field)
    if found is None:
        return ""
    if not isinstance(found, str):
        raise Refused(f"{field} is not a text")
    return clean(found)


def identifier(entry: Mapping[str, Any], field: str) -> str:
    """A text that says something, unmended: another id or path would be another thing's."""
    if not text(entry, field).strip():
        raise Refused(f"{field} is empty")
    return str(entry[field])


def flag(entry: Mapping[str, Any], field: str) -> bool:
    """Whether it is set; not where there is nothing."""
    found = entry.get(field)
    if found is not None and not isinstance(found, bool):
        raise Refused(f"{field} is neither true nor false")
    return bool(found)


def one_of(entry: Mapping[str, Any], field: str, meanings: Mapping[str, str]) -> str:
    """What a word means here."""
    found = text(entry, field)
    if found not in meanings:
        raise Refused(f"{field} is {found[:80]!r}, which has no meaning here")
    return meanings[found]


def times(entry: Mapping[str, Any]) -> Times:
    """When it was made, changed and, perhaps, archived."""
    return Times(
        created_at=_time(entry, "createdAt"),
        updated_at=_time(entry, "updatedAt"),
        archived_at=None if entry.get("archivedAt") is None else _time(entry, "archivedAt"),
    )


def _time(entry: Mapping[str, Any], field: str) -> int:
    if entry.get(field) is None:
        raise Refused(f"{field} is missing")
    try:
        return time_of(entry[field])
    except ValueError as error:
        raise Refused(f"{field} {error}") from error


def _of_iso(text: str) -> int:
    try:
        found = datetime.fromisoformat(text.strip())
        moment = found if found.tzinfo else found.replace(tzinfo=UTC)
        return (moment - _EPOCH) // timedelta(milliseconds=1)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"is {text[:80]!r}, which is no time") from error
