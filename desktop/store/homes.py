"""Where each conversation keeps its rows: in the database, or in a file of some folder.

Noted beside the agent's choice when a conversation is made (`agent_snapshots.persistence_json`), so
that whoever opens it later finds its rows without being told where they are.
"""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from sqlalchemy import ColumnElement, Connection, select, update

from desktop.core.errors import StoreError, UnknownConversation
from desktop.core.records import Snapshot, Tab
from desktop.store import failures, schema, snapshots, tabs
from desktop.store.codec import clean, to_json
from desktop.store.connection import engine
from desktop.store.home_notes import JSONL, SQL, Home, home_of, read_note
from desktop.store.lanes import Lanes
from desktop.store.plain import SCHEMA
from desktop.store.tables import SNAPSHOTS, TABS

BUSY_MS = 5_000


class Homes:
    """The homes of all conversations of a database."""

    def __init__(self, lanes: Lanes) -> None:
        self._lanes = lanes

    async def of(self, tab_id: str) -> Home:
        """Raises UnknownConversation, and StoreError where the note says nothing we know."""
        return await self._lanes.read(partial(kept, tab_id=tab_id))

    async def elsewhere(self) -> Mapping[str, Home]:
        """The conversations that are not kept in the database, by id."""
        return await self._lanes.read(kept_elsewhere)

    async def begin(
        self,
        snapshot: Snapshot,
        home: Home,
        *,
        now: int,
        title: str = "",
        parent: str | None = None,
    ) -> Tab:
        """Makes a conversation, what it is set to, and the note of its home, in one transaction."""
        job = partial(_begin, snapshot=snapshot, home=home, now=now, title=title, parent=parent)
        return await self._lanes.write(job)

    async def note(self, tab_id: str, home: Home) -> None:
        """The conversation, which has a snapshot, is kept there from now on."""
        await self._lanes.write(partial(_note, tab_id=tab_id, home=home))

    async def said(self, tab_id: str, at: int) -> None:
        """A message of this time stands in the conversation's file: the list shows it (S12)."""
        # Most of the time the list knows it already; then no lock is waited for.
        if await self._lanes.read(partial(_is_behind, tab_id=tab_id, at=at)):
            await self._lanes.write(partial(_said, tab_id=tab_id, at=at))


def kept_elsewhere(connection: Connection) -> Mapping[str, Home]:
    """As `Homes.elsewhere`; a note that can't be read is left to `Homes.of`, which names it."""
    rows = connection.execute(
        select(SNAPSHOTS.c.agent_id, SNAPSHOTS.c.persistence_json)
        .join(TABS, TABS.c.id == SNAPSHOTS.c.agent_id)
        .where(SNAPSHOTS.c.persistence_json.like('%"store"%'), TABS.c.purged_at.is_(None))
        .order_by(SNAPSHOTS.c.agent_id)
    )
    found: dict[str, Home] = {}
    for tab_id, note in rows:
        try:
            home = home_of(note)
        except StoreError:
            continue
        if home.folder is not None:
            found[tab_id] = home
    return found


def read_elsewhere(database: Path, *, busy_ms: int = BUSY_MS) -> Mapping[str, Home]:
    """As `Homes.elsewhere`, of a database that is not open here. Blocks; raises StoreError."""
    if schema.stored_version(database, busy_ms=busy_ms) != SCHEMA:
        return {}  # a legacy database: there were no such conversations then
    mode = schema.readable_mode(database, busy_ms=busy_ms)
    reading = engine(database, mode, busy_ms=busy_ms)
    with failures.told(database), reading.connect() as connection:
        return kept_elsewhere(connection)


def kept(connection: Connection, *, tab_id: str) -> Home:
    """As `Homes.of`."""
    row = connection.execute(
        select(TABS.c.id, SNAPSHOTS.c.persistence_json)
        .outerjoin(SNAPSHOTS, SNAPSHOTS.c.agent_id == TABS.c.id)
        .where(TABS.c.id == tab_id)
    ).first()
    if row is None:
        raise UnknownConversation("No conversation has this id.", detail=tab_id)
    return home_of(row.persistence_json or "{}")


def _begin(
    connection: Connection,
    *,
    snapshot: Snapshot,
    home: Home,
    now: int,
    title: str,
    parent: str | None,
) -> Tab:
    tab = tabs.create_row(
        connection,
        tab_id=snapshot.tab_id,
        workspace_id=snapshot.workspace_id,
        title=clean(title),
        now=now,
        parent=parent,
    )
    snapshots.save_row(connection, snapshot=snapshot, now=now)
    _note(connection, tab_id=tab.id, home=home)
    return tab


def _note(connection: Connection, *, tab_id: str, home: Home) -> None:
    note = connection.execute(
        select(SNAPSHOTS.c.persistence_json).where(SNAPSHOTS.c.agent_id == tab_id)
    ).scalar_one_or_none()
    if note is None:
        raise UnknownConversation("No conversation has this id.", detail=tab_id)
    said = {"store": SQL} if home.folder is None else {"store": JSONL, "folder": str(home.folder)}
    connection.execute(
        update(SNAPSHOTS)
        .where(SNAPSHOTS.c.agent_id == tab_id)
        .values(persistence_json=to_json({**read_note(note), **said}))
    )


def _is_behind(connection: Connection, *, tab_id: str, at: int) -> bool:
    query = select(TABS.c.id).where(_behind(tab_id, at))
    return connection.execute(query).first() is not None


def _said(connection: Connection, *, tab_id: str, at: int) -> None:
    connection.execute(update(TABS).where(_behind(tab_id, at)).values(last_message_at=at))


def _behind(tab_id: str, at: int) -> ColumnElement[bool]:
    known = TABS.c.last_message_at
    return (TABS.c.id == tab_id) & (known.is_(None) | (known < at))
