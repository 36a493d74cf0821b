"""What the person chose: settings, and the rules for what agents may do in a workspace."""

from collections.abc import Callable, Mapping
from functools import partial

from sqlalchemy import Connection, delete, select
from sqlalchemy.dialects.sqlite import insert as upsert

from desktop.core.permissions import Rule
from desktop.store import workspaces
from desktop.store.codec import clean
from desktop.store.lanes import Lanes
from desktop.store.readable import readable
from desktop.store.tables import RULES, SETTINGS


class Preferences:
    """The settings and rules of a database."""

    def __init__(self, lanes: Lanes, *, now_ms: Callable[[], int]) -> None:
        self._lanes = lanes
        self._now_ms = now_ms

    async def rules(self, workspace_id: int) -> frozenset[Rule]:
        return await self._lanes.read(partial(_rules, workspace_id=workspace_id))

    async def add_rule(self, rule: Rule) -> None:
        await self._lanes.write(partial(_add_rule, rule=rule, now=self._now_ms()))

    async def remove_rule(self, rule: Rule) -> None:
        await self._lanes.write(partial(_remove_rule, rule=rule))

    async def settings(self) -> Mapping[str, str]:
        return await self._lanes.read(_settings)

    async def save_setting(self, key: str, value: str | None) -> None:
        await self._lanes.write(
            partial(_save_setting, key=clean(key), value=None if value is None else clean(value))
        )


def _rules(connection: Connection, *, workspace_id: int) -> frozenset[Rule]:
    rows = connection.execute(
        select(RULES.c.tool, RULES.c.match).where(RULES.c.workspace_id == workspace_id)
    )
    return frozenset(Rule(workspace_id, tool, match) for tool, match in rows)


def _add_rule(connection: Connection, *, rule: Rule, now: int) -> None:
    workspaces.find(connection, rule.workspace_id)
    connection.execute(
        upsert(RULES)
        .values(
            workspace_id=rule.workspace_id,
            tool=clean(rule.tool),
            match=clean(rule.match),
            created_at=now,
        )
        .on_conflict_do_nothing()
    )


def _remove_rule(connection: Connection, *, rule: Rule) -> None:
    connection.execute(
        delete(RULES).where(
            RULES.c.workspace_id == rule.workspace_id,
            RULES.c.tool == clean(rule.tool),
            RULES.c.match == clean(rule.match),
        )
    )


def _settings(connection: Connection) -> Mapping[str, str]:
    """Those that are texts; a legacy table may hold anything beside them, and keeps it."""
    rows = readable(connection, select(SETTINGS), tuple)
    return {k: value for k, value in rows if isinstance(k, str) and isinstance(value, str)}


def _save_setting(connection: Connection, *, key: str, value: str | None) -> None:
    if value is None:
        connection.execute(delete(SETTINGS).where(SETTINGS.c.key == key))
        return
    statement = upsert(SETTINGS).values(key=key, value=value)
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=[SETTINGS.c.key], set_={"value": statement.excluded.value}
        )
    )
