"""What each agent was set to and whether it ran: one row an agent (SPEC C27).

A snapshot's title, archive state and folder are its conversation's, so saving one can't undo what
the person did there meanwhile (SPEC P04).
"""

from collections.abc import Callable
from functools import partial
from typing import cast

from sqlalchemy import Connection, or_, select
from sqlalchemy.dialects.sqlite import insert as upsert

from desktop.core.errors import UnknownFolder
from desktop.core.permissions import PermissionMode
from desktop.core.records import Snapshot
from desktop.store import tabs, workspaces
from desktop.store.codec import clean
from desktop.store.lanes import Lanes
from desktop.store.tables import SNAPSHOTS

_COLUMNS = (
    "lifecycle",
    "provider",
    "model",
    "effort",
    "permission_mode",
    "attention_kind",
    "attention_at",
)


class AgentSnapshotStore:
    """The snapshots of a database."""

    def __init__(self, lanes: Lanes, *, now_ms: Callable[[], int]) -> None:
        self._lanes = lanes
        self._now_ms = now_ms

    async def get(self, tab_id: str) -> Snapshot | None:
        return await self._lanes.read(partial(_find, tab_id=tab_id))

    async def save(self, snapshot: Snapshot) -> None:
        await self._lanes.write(partial(save_row, snapshot=snapshot, now=self._now_ms()))


def _find(connection: Connection, *, tab_id: str) -> Snapshot | None:
    row = connection.execute(select(SNAPSHOTS).where(SNAPSHOTS.c.agent_id == tab_id)).first()
    if row is None:
        tabs.find(connection, tab_id)
        return None
    return Snapshot(
        tab_id=row.agent_id,
        workspace_id=row.workspace_id,
        provider=row.provider,
        model=row.model,
        effort=row.effort,
        mode=cast("PermissionMode", row.permission_mode),
        lifecycle=row.lifecycle,
        attention=row.attention_kind,
    )


def save_row(connection: Connection, *, snapshot: Snapshot, now: int) -> None:
    """One row an agent; saving what is there already changes nothing (SPEC R01)."""
    workspaces.find(connection, snapshot.workspace_id)
    if tabs.find(connection, snapshot.tab_id).workspace_id != snapshot.workspace_id:
        raise UnknownFolder("This conversation is in another workspace.", detail=snapshot.tab_id)
    statement = upsert(SNAPSHOTS).values(
        agent_id=snapshot.tab_id,
        workspace_id=snapshot.workspace_id,
        lifecycle=clean(snapshot.lifecycle),
        provider=clean(snapshot.provider),
        model=clean(snapshot.model),
        effort=clean(snapshot.effort),
        permission_mode=snapshot.mode,
        persistence_json="{}",
        attention_kind=snapshot.attention,
        attention_at=None if snapshot.attention is None else now,
        created_at=now,
        updated_at=now,
    )
    new = statement.excluded
    compared = [name for name in _COLUMNS if name != "attention_at"]
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=[SNAPSHOTS.c.agent_id],
            set_={name: new[name] for name in (*_COLUMNS, "updated_at")},
            where=or_(*(SNAPSHOTS.c[name].is_distinct_from(new[name]) for name in compared)),
        )
    )
