"""What the last conversation looks like, read before the log is open and anything slow is loaded.

It is a look and no more: whoever sees anything odd (another schema, rows kept elsewhere, a damaged
file, a folder that can't be written) sees nothing, and leaves it to the log to say what it is.
"""

import logging
import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, fields
from pathlib import Path

from desktop.core.errors import NacreError
from desktop.core.records import Page, Tab, ViewState
from desktop.store import pages, places
from desktop.store.home_notes import home_of
from desktop.store.plain import SCHEMA, connect

_LOG = logging.getLogger(__name__)
BUSY_MS = 100
_COLUMNS = tuple(one.name for one in fields(Tab))
_IS_OPEN = _COLUMNS.index("is_open")
_OPEN_TABS = (
    f"SELECT {', '.join(_COLUMNS)} FROM tabs"
    " WHERE is_open AND trashed_at IS NULL AND purged_at IS NULL ORDER BY position, id"
)
_HOME = "SELECT persistence_json FROM agent_snapshots WHERE agent_id = ?"
_SETTINGS = "SELECT key, value FROM settings"


@dataclass(frozen=True, slots=True)
class Glimpse:
    """One conversation and what is shown around it; `page` holds the rows at `place`."""

    tab_id: str
    open_tabs: tuple[Tab, ...]
    settings: Mapping[str, str]
    place: ViewState
    page: Page


def read(database: Path, tab_id: str, *, limit: int) -> Glimpse | None:
    """At most `limit` rows; None where there is nothing to be seen. Blocks; never raises."""
    if not tab_id or not database.is_file() or not os.access(database.parent, os.W_OK):
        return None
    try:
        with closing(connect(database, "read", busy_ms=BUSY_MS)) as connection:
            return _read(connection, tab_id, limit)
    except (sqlite3.Error, NacreError, ValueError, TypeError) as error:
        _LOG.info("The last conversation is shown once the log is open: %s", type(error).__name__)
        return None


def _read(connection: sqlite3.Connection, tab_id: str, limit: int) -> Glimpse | None:
    connection.execute("BEGIN")  # all of it from one moment
    (schema,) = connection.execute("PRAGMA user_version").fetchone()
    if schema != SCHEMA:
        return None
    tabs = tuple(map(_tab_of, connection.execute(_OPEN_TABS)))
    home = connection.execute(_HOME, (tab_id,)).fetchone()
    if all(tab.id != tab_id for tab in tabs) or (home and home_of(home[0]).folder is not None):
        return None
    found = connection.execute(places.GET, (tab_id,)).fetchone()
    place = places.of_text(found[0]) if found else ViewState()
    rows = connection.execute(_SETTINGS)
    return Glimpse(
        tab_id,
        tabs,
        {k: value for k, value in rows if isinstance(k, str) and isinstance(value, str)},
        place,
        pages.read_page(
            connection, tab_id, limit=limit, around=None if place.following else place.seq
        ),
    )


def _tab_of(row: tuple[object, ...]) -> Tab:
    values: list[object] = list(row)
    values[_IS_OPEN] = bool(values[_IS_OPEN])
    return Tab(*values)  # pyright: ignore[reportArgumentType]
