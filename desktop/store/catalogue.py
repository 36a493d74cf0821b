"""Projects, workspaces, conversations and what stands beside them, from their own small tables.

Listing never reads a chunk. Folders are named by their real path, so that one folder is one
workspace; nothing is made that was not asked for.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast

from sqlalchemy import Connection, Row, delete, func, insert, or_, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from desktop.core.errors import UnknownConversation, UnknownFolder
from desktop.core.permissions import PermissionMode, Rule
from desktop.core.records import Branch, CatalogueView, Project, Snapshot, Tab, Workspace
from desktop.store.branches import Branches
from desktop.store.codec import clean
from desktop.store.lanes import Lanes
from desktop.store.purging import Purging
from desktop.store.tables import (
    CATALOGUE_REVISION,
    DRAFTS,
    PROJECTS,
    RULES,
    SETTINGS,
    SNAPSHOTS,
    TABS,
    WORKSPACES,
)

_SNAPSHOT_COLUMNS = (
    "lifecycle",
    "provider",
    "model",
    "effort",
    "permission_mode",
    "attention_kind",
    "attention_at",
)


class SqlCatalogue:
    """The Catalogue of a database."""

    def __init__(
        self,
        lanes: Lanes,
        *,
        scratch: Path,
        new_id: Callable[[], str],
        now_ms: Callable[[], int],
    ) -> None:
        self._lanes = lanes
        self._scratch = scratch
        self._new_id = new_id
        self._now_ms = now_ms
        self._branches = Branches(lanes, new_id=new_id, now_ms=now_ms)
        self._purging = Purging(lanes)

    async def view(self) -> CatalogueView:
        return await self._lanes.read(_view)

    async def revision(self) -> int:
        return await self._lanes.read(_revision)

    async def open_workspace(self, directory: Path) -> Workspace:
        real, kind = await self._lanes.file(lambda: _real_folder(directory))
        return await self._lanes.write(
            partial(_open_workspace, directory=str(real), kind=kind, now=self._now_ms())
        )

    async def scratch_workspace(self) -> Workspace:
        def make() -> None:
            self._scratch.mkdir(mode=0o700, parents=True, exist_ok=True)

        await self._lanes.file(make)
        return await self.open_workspace(self._scratch)

    async def workspace(self, workspace_id: int) -> Workspace:
        return await self._lanes.read(partial(_workspace, workspace_id=workspace_id))

    async def create_tab(self, workspace_id: int, *, title: str = "") -> Tab:
        return await self._lanes.write(
            partial(
                _create_tab,
                tab_id=self._new_id(),
                workspace_id=workspace_id,
                title=clean(title),
                now=self._now_ms(),
            )
        )

    async def tab(self, tab_id: str) -> Tab:
        return await self._lanes.read(partial(_tab, tab_id=tab_id))

    async def rename_tab(self, tab_id: str, title: str) -> Tab:
        return await self._lanes.write(partial(_change_tab, tab_id=tab_id, title=clean(title)))

    async def set_tab_open(self, tab_id: str, *, is_open: bool) -> Tab:
        return await self._lanes.write(partial(_change_tab, tab_id=tab_id, is_open=int(is_open)))

    async def move_tabs(self, tab_ids: Sequence[str]) -> None:
        await self._lanes.write(partial(_move_tabs, tab_ids=tuple(tab_ids)))

    async def purge_tab(self, tab_id: str) -> None:
        await self._purging.purge(tab_id, now=self._now_ms())

    async def fork_tab(self, tab_id: str, *, at_seq: int) -> Tab:
        return await self.tab(await self._branches.fork(tab_id, at_seq))

    async def branches(self, tab_id: str) -> tuple[Branch, ...]:
        return await self._branches.of(tab_id)

    async def snapshot(self, tab_id: str) -> Snapshot | None:
        return await self._lanes.read(partial(_snapshot, tab_id=tab_id))

    async def save_snapshot(self, snapshot: Snapshot) -> None:
        await self._lanes.write(partial(_save_snapshot, snapshot=snapshot, now=self._now_ms()))

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

    async def draft(self, tab_id: str) -> str:
        return await self._lanes.read(partial(_draft, tab_id=tab_id))

    async def save_draft(self, tab_id: str, text: str) -> None:
        await self._lanes.write(
            partial(_save_draft, tab_id=tab_id, text=clean(text), now=self._now_ms())
        )


def _revision(connection: Connection) -> int:
    return connection.execute(select(CATALOGUE_REVISION.c.revision)).scalar_one()


def _view(connection: Connection) -> CatalogueView:
    shown = TABS.c.trashed_at.is_(None) & TABS.c.purged_at.is_(None)
    tabs = connection.execute(select(TABS).where(shown).order_by(TABS.c.position, TABS.c.id))
    workspaces = connection.execute(select(WORKSPACES).order_by(WORKSPACES.c.id))
    projects = connection.execute(select(PROJECTS).order_by(PROJECTS.c.id))
    return CatalogueView(
        projects=tuple(_project_of(row) for row in projects),
        workspaces=tuple(_workspace_of(row) for row in workspaces),
        tabs=tuple(_tab_of(row) for row in tabs),
        revision=_revision(connection),
    )


def folder_name(directory: Path, *, must_exist: bool = True) -> Path:
    """The one name of a folder: its real path, however it was written; raises UnknownFolder.

    A folder that is gone keeps its name where `must_exist` is False. A name that is no Unicode text
    can't be kept, and a mended one would be another folder's: it is refused on the spot (F-S07).
    """
    try:
        real = directory.resolve(strict=must_exist)
        is_folder = real.is_dir() or not (must_exist or real.exists())
    except (OSError, ValueError, RuntimeError) as error:
        raise UnknownFolder(
            f"There is no folder {clean(str(directory))} that Nacre may look into.",
            way_out="Choose another folder.",
            detail=f"{type(error).__name__}: {clean(str(error))}",
        ) from error
    if not is_folder:
        raise UnknownFolder(f"{clean(str(real))} is not a folder.", way_out="Choose a folder.")
    if clean(str(real)) != str(real):
        raise UnknownFolder(
            f"The name of {clean(str(real))} has characters that Nacre can't keep.",
            way_out="Rename the folder or choose another one.",
        )
    return real


def folder_kind(real: Path) -> Literal["git", "directory"]:
    """A project's kind by what its folder holds; raises UnknownFolder where it can't be seen."""
    try:
        return "git" if (real / ".git").exists() else "directory"
    except OSError as error:
        raise UnknownFolder(
            f"There is no folder {real} that Nacre may look into.",
            way_out="Choose another folder.",
            detail=f"{type(error).__name__}: {clean(str(error))}",
        ) from error


def _real_folder(directory: Path) -> tuple[Path, str]:
    real = folder_name(directory)
    return real, folder_kind(real)


def _open_workspace(connection: Connection, *, directory: str, kind: str, now: int) -> Workspace:
    found = connection.execute(
        select(WORKSPACES).where(WORKSPACES.c.directory == directory)
    ).first()
    if found is not None:
        return _workspace_of(found)
    name = Path(directory).name or directory
    named = {"directory": directory, "display_name": name, "created_at": now, "updated_at": now}
    project_id = connection.execute(
        select(PROJECTS.c.id).where(PROJECTS.c.directory == directory)
    ).scalar_one_or_none()
    if project_id is None:
        project_id = connection.execute(
            insert(PROJECTS).values(kind=kind, **named).returning(PROJECTS.c.id)
        ).scalar_one()
    made = connection.execute(
        insert(WORKSPACES)
        .values(project_id=project_id, kind="checkout", **named)
        .returning(WORKSPACES)
    ).one()
    return _workspace_of(made)


def _workspace(connection: Connection, *, workspace_id: int) -> Workspace:
    found = connection.execute(select(WORKSPACES).where(WORKSPACES.c.id == workspace_id)).first()
    if found is None:
        raise UnknownFolder("No workspace has this number.", detail=str(workspace_id))
    return _workspace_of(found)


def _create_tab(
    connection: Connection, *, tab_id: str, workspace_id: int, title: str, now: int
) -> Tab:
    _workspace(connection, workspace_id=workspace_id)
    last = connection.execute(select(func.max(TABS.c.position))).scalar_one()
    made = connection.execute(
        insert(TABS)
        .values(
            id=tab_id,
            workspace_id=workspace_id,
            title=title,
            position=0 if last is None else last + 1,
            is_open=1,
            created_at=now,
        )
        .returning(TABS)
    ).one()
    return _tab_of(made)


def _tab(connection: Connection, *, tab_id: str) -> Tab:
    found = connection.execute(
        select(TABS).where(TABS.c.id == tab_id, TABS.c.purged_at.is_(None))
    ).first()
    if found is None:
        raise UnknownConversation("No conversation has this id.", detail=tab_id)
    return _tab_of(found)


def _change_tab(connection: Connection, *, tab_id: str, **values: object) -> Tab:
    connection.execute(update(TABS).where(TABS.c.id == tab_id).values(values))
    return _tab(connection, tab_id=tab_id)


def _move_tabs(connection: Connection, *, tab_ids: Sequence[str]) -> None:
    """These first, in this order; the others after them, in theirs."""
    for tab_id in tab_ids:
        _tab(connection, tab_id=tab_id)
    rows = connection.execute(
        select(TABS.c.id, TABS.c.position).order_by(TABS.c.position, TABS.c.id)
    )
    places: dict[str, int] = {row.id: row.position for row in rows}
    order = list(dict.fromkeys([*tab_ids, *places]))
    for position, tab_id in enumerate(order):
        if places[tab_id] != position:
            _change_tab(connection, tab_id=tab_id, position=position)


def _snapshot(connection: Connection, *, tab_id: str) -> Snapshot | None:
    row = connection.execute(select(SNAPSHOTS).where(SNAPSHOTS.c.agent_id == tab_id)).first()
    if row is None:
        _tab(connection, tab_id=tab_id)
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


def _save_snapshot(connection: Connection, *, snapshot: Snapshot, now: int) -> None:
    """One row an agent; saving what is there already changes nothing (SPEC R01)."""
    _tab(connection, tab_id=snapshot.tab_id)
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
    compared = [name for name in _SNAPSHOT_COLUMNS if name != "attention_at"]
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=[SNAPSHOTS.c.agent_id],
            set_={name: new[name] for name in (*_SNAPSHOT_COLUMNS, "updated_at")},
            where=or_(*(SNAPSHOTS.c[name].is_distinct_from(new[name]) for name in compared)),
        )
    )


def _rules(connection: Connection, *, workspace_id: int) -> frozenset[Rule]:
    rows = connection.execute(
        select(RULES.c.tool, RULES.c.match).where(RULES.c.workspace_id == workspace_id)
    )
    return frozenset(Rule(workspace_id, tool, match) for tool, match in rows)


def _add_rule(connection: Connection, *, rule: Rule, now: int) -> None:
    _workspace(connection, workspace_id=rule.workspace_id)
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
    rows = connection.execute(select(SETTINGS.c.key, SETTINGS.c.value))
    return {key: value for key, value in rows if value is not None}


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


def _draft(connection: Connection, *, tab_id: str) -> str:
    found = connection.execute(select(DRAFTS.c.text).where(DRAFTS.c.tab_id == tab_id)).scalar()
    if found is None:
        _tab(connection, tab_id=tab_id)
        return ""
    return str(found)


def _save_draft(connection: Connection, *, tab_id: str, text: str, now: int) -> None:
    _tab(connection, tab_id=tab_id)
    if not text:
        connection.execute(delete(DRAFTS).where(DRAFTS.c.tab_id == tab_id))
        return
    statement = upsert(DRAFTS).values(tab_id=tab_id, text=text, updated_at=now)
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=[DRAFTS.c.tab_id],
            set_={"text": statement.excluded.text, "updated_at": statement.excluded.updated_at},
        )
    )


def _project_of(row: Row[Any]) -> Project:
    return Project(
        id=row.id,
        directory=row.directory,
        display_name=row.display_name,
        kind=row.kind,
        archived_at=row.archived_at,
    )


def _workspace_of(row: Row[Any]) -> Workspace:
    return Workspace(
        id=row.id,
        project_id=row.project_id,
        directory=row.directory,
        display_name=row.display_name,
        kind=row.kind,
        archived_at=row.archived_at,
    )


def _tab_of(row: Row[Any]) -> Tab:
    return Tab(
        id=row.id,
        workspace_id=row.workspace_id,
        title=row.title,
        position=row.position,
        is_open=bool(row.is_open),
        created_at=row.created_at,
        last_message_at=row.last_message_at,
        archived_at=row.archived_at,
        parent_tab_id=row.parent_tab_id,
        forked_from=row.forked_from,
        forked_at_seq=row.forked_at_seq,
        trashed_at=row.trashed_at,
    )
