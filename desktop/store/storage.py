"""What the log takes on disk, conversation by conversation (SPEC U08).

Reads every row's length, so it takes a while where there is much; nobody waits behind it.
"""

import shutil
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from desktop.core.records import Storage, TabStorage
from desktop.store.blobs import Blobs
from desktop.store.lanes import Lanes
from desktop.store.plain import write_ahead_log
from desktop.store.references import References
from desktop.store.sweeping import mark

_TABS = """
    SELECT t.id, t.title, coalesce(c.rows, 0), coalesce(c.bytes, 0) FROM tabs t LEFT JOIN (
        SELECT tab_id, count(*) AS rows,
            sum(length(CAST(data_json AS BLOB)) + length(CAST(coalesce(search_text, '') AS BLOB)))
            AS bytes
        FROM chunks GROUP BY tab_id
    ) c ON c.tab_id = t.id"""


async def measure(lanes: Lanes, database: Path, blobs: Blobs) -> Storage:
    """The report. Raises StoreError."""
    found = await mark(lanes)
    return await lanes.oversee(partial(_report, database=database, blobs=blobs, found=found))


def file_sizes(database: Path) -> tuple[int, int]:
    """Bytes of the database file and of its write-ahead log."""
    return _size(database), _size(write_ahead_log(database))


def _report(connection: Connection, *, database: Path, blobs: Blobs, found: References) -> Storage:
    kept = connection.exec_driver_sql("SELECT sha256, size FROM blobs")
    sizes: dict[str, int] = {row.sha256: row.size for row in kept}
    alone: dict[str, int] = {}
    for sha256, tabs in found.tabs.items():
        if len(tabs) == 1:
            (tab_id,) = tabs
            alone[tab_id] = alone.get(tab_id, 0) + sizes.get(sha256, 0)
    tabs = [_tab_of(row, alone) for row in connection.exec_driver_sql(_TABS)]
    tabs.sort(key=lambda one: (-one.row_bytes - one.blob_bytes, one.tab_id))
    database_bytes, wal_bytes = file_sizes(database)
    return Storage(
        tabs=tuple(tabs),
        database_bytes=database_bytes,
        wal_bytes=wal_bytes,
        blob_bytes=blobs.size(),
        free_bytes=_pragma(connection, "freelist_count") * _pragma(connection, "page_size"),
        disk_free_bytes=shutil.disk_usage(database.parent).free,
    )


def _tab_of(row: Any, alone: dict[str, int]) -> TabStorage:
    tab_id, title, rows, row_bytes = row
    return TabStorage(tab_id, title, rows, row_bytes, alone.get(tab_id, 0))


def _pragma(connection: Connection, name: str) -> int:
    return int(connection.exec_driver_sql(f"PRAGMA {name}").scalar_one())


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
