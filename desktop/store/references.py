"""Which rows name which blobs: read from the rows themselves, a slice of the log at a time.

There is no table of references that could disagree with the rows. Each slice is a read transaction
of its own, so that the write-ahead log is never held up by a long look.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from sqlalchemy import Connection

from desktop.store.drafts import BEGINNING_KEY, ENDS

# So many rows of 1 KiB are looked through in some 20 ms.
SLICE = 20_000
_NAMED = re.compile(rb'"sha256"\s*:\s*"([0-9a-f]{64})"')
_ROWS = (
    "SELECT tab_id, CAST(data_json AS BLOB) FROM chunks"
    " WHERE ordinal > ? AND ordinal <= ? AND instr(data_json, '\"sha256\"')"
)
_WAITING = (
    "SELECT tab_id, CAST(data_json AS BLOB) FROM queued_messages"
    " WHERE instr(data_json, '\"sha256\"')"
    " UNION ALL SELECT tab_id, CAST(attachments_json AS BLOB) FROM drafts"
    " WHERE instr(attachments_json, '\"sha256\"')"
    # What is written before there is a conversation: of no tab.
    " UNION ALL SELECT '', CAST(value AS BLOB) FROM settings"
    f" WHERE key LIKE '{BEGINNING_KEY}%{ENDS['attachments_json']}' AND instr(value, '\"sha256\"')"
)


@dataclass(slots=True)
class References:
    """The tabs by the blob that their rows name, for all rows up to and with `ordinal`."""

    ordinal: int = 0
    tabs: dict[str, set[str]] = field(default_factory=dict[str, set[str]])

    def add(self, tab_id: str, data: bytes) -> None:
        for sha256 in named(data):
            self.tabs.setdefault(sha256, set()).add(tab_id)


def named(data: bytes) -> Iterable[str]:
    """The blobs that a row's JSON names."""
    return (found.decode("ascii") for found in _NAMED.findall(data))


def read_slice(connection: Connection, found: References) -> bool:
    """Goes on by one slice; whether there are more. Queue and drafts count every time."""
    last = connection.exec_driver_sql("SELECT coalesce(max(ordinal), 0) FROM chunks").scalar_one()
    # A purge leaves long stretches of the ordinals empty: the next row begins the slice.
    first = connection.exec_driver_sql(
        "SELECT coalesce(min(ordinal), 0) FROM chunks WHERE ordinal > ?", (found.ordinal,)
    ).scalar_one()
    end = min(max(found.ordinal, first) + SLICE, last)
    for tab_id, data in connection.exec_driver_sql(_ROWS, (found.ordinal, end)):
        found.add(tab_id, data)
    for tab_id, data in connection.exec_driver_sql(_WAITING):
        found.add(tab_id, data)
    found.ordinal = max(end, found.ordinal)
    return end < last
