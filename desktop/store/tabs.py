"""Conversations as they are listed: their metadata, the archive and the bin.

Nothing here reads a chunk. One that was purged is unknown, whatever of its rows a fork still needs.
"""

from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import partial
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from desktop.core.errors import UnknownConversation
from desktop.core.records import Tab
from desktop.store import archiving, workspaces
from desktop.store.codec import clean
from desktop.store.lanes import Lanes
from desktop.store.leases import Leases
from desktop.store.tables import TABS


class TabRegistry:
    """The conversations of a database."""

    def __init__(
        self,
        lanes: Lanes,
        leases: Leases,
        *,
        new_id: Callable[[], str],
        now_ms: Callable[[], int],
    ) -> None:
        self._lanes = lanes
        self._leases = leases
        self._new_id = new_id
        self._now_ms = now_ms

    async def create(self, workspace_id: int, *, title: str = "", parent: str | None = None) -> Tab:
        return await self._lanes.write(
            partial(
                create_row,
                tab_id=self._new_id(),
                workspace_id=workspace_id,
                title=clean(title),
                now=self._now_ms(),
                parent=parent,
            )
        )

    async def get(self, tab_id: str) -> Tab:
        return await self._lanes.read(partial(find, tab_id=tab_id))

    async def rename(self, tab_id: str, title: str) -> Tab:
        return await self._lanes.write(partial(_change, tab_id=tab_id, title=clean(title)))

    async def name(self, tab_id: str, title: str) -> Tab:
        return await self._lanes.write(partial(_name, tab_id=tab_id, title=clean(title)))

    async def set_open(self, tab_id: str, *, is_open: bool) -> Tab:
        return await self._lanes.write(partial(_change, tab_id=tab_id, is_open=int(is_open)))

    async def move(self, tab_ids: Sequence[str]) -> None:
        await self._lanes.write(partial(_move, tab_ids=tuple(tab_ids)))

    async def refuse_elsewhere(self, tab_ids: Sequence[str]) -> None:
        wanted = tuple(tab_ids)
        await self._lanes.write(
            lambda connection: self._leases.refuse_elsewhere(connection, wanted)
        )

    async def archive(self, tab_id: str) -> Tab:
        def job(connection: Connection) -> Tab:
            find(connection, tab_id)
            reach = archiving.of_tab(tab_id)
            archiving.archive(connection, reach, now=self._now_ms(), leases=self._leases)
            return find(connection, tab_id)

        return await self._lanes.write(job)

    async def unarchive(self, tab_id: str) -> Tab:
        def job(connection: Connection) -> Tab:
            moment = find(connection, tab_id).archived_at
            if moment is not None:
                archiving.unarchive_tab(connection, tab_id, moment=moment)
            return find(connection, tab_id)

        return await self._lanes.write(job)

    async def trash(self, tab_id: str) -> Tab:
        def job(connection: Connection) -> Tab:
            find(connection, tab_id)
            archiving.trash(connection, tab_id, now=self._now_ms(), leases=self._leases)
            return find(connection, tab_id)

        return await self._lanes.write(job)

    async def restore(self, tab_id: str) -> Tab:
        def job(connection: Connection) -> Tab:
            moment = find(connection, tab_id).trashed_at
            if moment is not None:
                archiving.restore(connection, tab_id, moment=moment)
            return find(connection, tab_id)

        return await self._lanes.write(job)

    async def trashed(self) -> tuple[Tab, ...]:
        return await self._lanes.read(_trashed)


def find(connection: Connection, tab_id: str) -> Tab:
    query = select(TABS).where(TABS.c.id == tab_id, TABS.c.purged_at.is_(None))
    found = connection.execute(query).first()
    if found is None:
        raise UnknownConversation("No conversation has this id.", detail=tab_id)
    return tab_of(found)


# Thousands are read at every start: by their places, for a name costs as much as all else.
_PLACES = itemgetter(*(list(TABS.c.keys()).index(one.name) for one in fields(Tab)))
_IS_OPEN = [one.name for one in fields(Tab)].index("is_open")


def tab_of(row: Row[Any]) -> Tab:
    """Of a row with all columns, in their order."""
    values = list(_PLACES(row))
    values[_IS_OPEN] = bool(values[_IS_OPEN])
    return Tab(*values)


def create_row(
    connection: Connection,
    *,
    tab_id: str,
    workspace_id: int,
    title: str,
    now: int,
    parent: str | None = None,
) -> Tab:
    """In exactly this workspace (SPEC P14), which is in use again if it was archived.

    What a subagent works in (`parent` began it) is not in the strip until somebody opens it.
    """
    workspaces.find(connection, workspace_id)
    archiving.bring_back_workspace(connection, workspace_id)
    last = connection.execute(select(func.max(TABS.c.position))).scalar_one()
    made = connection.execute(
        insert(TABS)
        .values(
            id=tab_id,
            workspace_id=workspace_id,
            title=title,
            position=0 if last is None else last + 1,
            is_open=int(parent is None),
            created_at=now,
            parent_tab_id=parent,
        )
        .returning(TABS)
    ).one()
    return tab_of(made)


def _change(connection: Connection, *, tab_id: str, **values: object) -> Tab:
    connection.execute(update(TABS).where(TABS.c.id == tab_id).values(values))
    return find(connection, tab_id)


def _name(connection: Connection, *, tab_id: str, title: str) -> Tab:
    connection.execute(
        update(TABS).where(TABS.c.id == tab_id, TABS.c.title == "").values(title=title)
    )
    return find(connection, tab_id)


def _move(connection: Connection, *, tab_ids: Sequence[str]) -> None:
    """These first, in this order; the others after them, in theirs."""
    for tab_id in tab_ids:
        find(connection, tab_id)
    rows = connection.execute(
        select(TABS.c.id, TABS.c.position).order_by(TABS.c.position, TABS.c.id)
    )
    places: dict[str, int] = {row.id: row.position for row in rows}
    order = list(dict.fromkeys([*tab_ids, *places]))
    for position, tab_id in enumerate(order):
        if places[tab_id] != position:
            _change(connection, tab_id=tab_id, position=position)


def _trashed(connection: Connection) -> tuple[Tab, ...]:
    query = (
        select(TABS)
        .where(TABS.c.trashed_at.isnot(None), TABS.c.purged_at.is_(None))
        .order_by(TABS.c.trashed_at.desc(), TABS.c.position, TABS.c.id)
    )
    return tuple(tab_of(row) for row in connection.execute(query))
