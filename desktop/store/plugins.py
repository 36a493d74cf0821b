"""What was decided on plugins: which are installed, turned on, and what they may.

The row is what counts: the folder of a plugin whose generation no row names is not installed.
"""

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection, delete, select
from sqlalchemy.dialects.sqlite import insert as upsert

from desktop.core.plugins import PluginNote
from desktop.store.codec import to_json
from desktop.store.lanes import Lanes
from desktop.store.readable import readable
from desktop.store.tables import PLUGINS


class SqlPluginNotes:
    """The PluginNotes of a database."""

    def __init__(self, lanes: Lanes) -> None:
        self._lanes = lanes

    async def all(self) -> Sequence[PluginNote]:
        return await self._lanes.read(_all)

    async def save(self, note: PluginNote) -> None:
        await self._lanes.write(partial(_save, note=note))

    async def remove(self, id_: str) -> None:
        await self._lanes.write(partial(_remove, id_=id_))


def _all(connection: Connection) -> tuple[PluginNote, ...]:
    rows = readable(connection, select(PLUGINS).order_by(PLUGINS.c.id), tuple)
    return tuple(_note(*row) for row in rows)


def _note(id_: str, generation: int, grants: str) -> PluginNote:
    """Of grants that can't be read nothing is granted, and the plugin is off."""
    try:
        found = json.loads(grants)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        return PluginNote(id_, generation, is_on=False)
    return PluginNote(
        id_,
        generation,
        is_on=found.get("on") is True,
        granted=frozenset(_texts(found.get("granted"))),
        command=tuple(_texts(found.get("command"))),
    )


def _texts(found: Any) -> list[str]:
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []


def _save(connection: Connection, *, note: PluginNote) -> None:
    grants = {"on": note.is_on, "granted": sorted(note.granted), "command": list(note.command)}
    statement = upsert(PLUGINS).values(
        id=note.id, generation=note.generation, grants=to_json(grants)
    )
    found = statement.excluded
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=[PLUGINS.c.id],
            set_={"generation": found.generation, "grants": found.grants},
        )
    )


def _remove(connection: Connection, *, id_: str) -> None:
    connection.execute(delete(PLUGINS).where(PLUGINS.c.id == id_))
