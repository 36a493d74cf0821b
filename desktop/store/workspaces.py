"""Workspaces: the folders in which conversations work, each in one project."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Connection, Row, insert, select

from desktop.core.errors import UnknownFolder
from desktop.core.records import Workspace
from desktop.store import archiving, projects
from desktop.store.folders import display_name, folder_kind, folder_name
from desktop.store.lanes import Lanes
from desktop.store.leases import Leases
from desktop.store.tables import WORKSPACES


class WorkspaceRegistry:
    """The workspaces of a database. `scratch` is where conversations without a folder live."""

    def __init__(
        self, lanes: Lanes, leases: Leases, *, scratch: Path, now_ms: Callable[[], int]
    ) -> None:
        self._lanes = lanes
        self._leases = leases
        self._scratch = scratch
        self._now_ms = now_ms

    async def open(self, directory: Path) -> Workspace:
        def look() -> tuple[str, str]:
            real = folder_name(directory)
            return str(real), folder_kind(real)

        name, kind = await self._lanes.file(look)
        return await self._lanes.write(
            partial(_open, directory=name, kind=kind, now=self._now_ms())
        )

    async def scratch(self) -> Workspace:
        def make() -> None:
            self._scratch.mkdir(mode=0o700, parents=True, exist_ok=True)

        await self._lanes.file(make)
        return await self.open(self._scratch)

    async def get(self, workspace_id: int) -> Workspace:
        return await self._lanes.read(partial(find, workspace_id=workspace_id))

    async def create(
        self, project_id: int, directory: Path, *, kind: Literal["checkout", "worktree"]
    ) -> Workspace:
        real = await self._lanes.file(partial(folder_name, directory))
        return await self._lanes.write(
            partial(
                _create, project_id=project_id, directory=str(real), kind=kind, now=self._now_ms()
            )
        )

    async def archive(self, workspace_id: int) -> Workspace:
        def job(connection: Connection) -> Workspace:
            find(connection, workspace_id)
            reach = archiving.of_workspace(workspace_id)
            archiving.archive(connection, reach, now=self._now_ms(), leases=self._leases)
            return find(connection, workspace_id)

        return await self._lanes.write(job)

    async def unarchive(self, workspace_id: int) -> Workspace:
        def job(connection: Connection) -> Workspace:
            moment = find(connection, workspace_id).archived_at
            if moment is not None:
                reach = archiving.of_workspace(workspace_id)
                archiving.unarchive(connection, reach, moment=moment)
            return find(connection, workspace_id)

        return await self._lanes.write(job)


def find(connection: Connection, workspace_id: int) -> Workspace:
    found = connection.execute(select(WORKSPACES).where(WORKSPACES.c.id == workspace_id)).first()
    if found is None:
        raise UnknownFolder("No workspace has this number.", detail=str(workspace_id))
    return workspace_of(found)


def workspace_of(row: Row[Any]) -> Workspace:
    return Workspace(
        id=row.id,
        project_id=row.project_id,
        directory=row.directory,
        display_name=row.display_name,
        kind=row.kind,
        archived_at=row.archived_at,
    )


def _open(connection: Connection, *, directory: str, kind: str, now: int) -> Workspace:
    found = _in_folder(connection, directory)
    if found is not None:
        return _in_use(connection, found)
    project = projects.ensure(connection, directory=directory, kind=kind, now=now)
    return _add(connection, project.id, directory=directory, kind="checkout", now=now)


def _create(
    connection: Connection, *, project_id: int, directory: str, kind: str, now: int
) -> Workspace:
    project = projects.find(connection, project_id)
    found = _in_folder(connection, directory)
    if found is None:
        archiving.bring_back_project(connection, project_id)
        return _add(connection, project_id, directory=directory, kind=kind, now=now)
    if found.project_id != project_id:
        other = projects.find(connection, found.project_id)
        raise UnknownFolder(
            f"{directory} is a workspace of the project {other.display_name} already, so it can't"
            f" be one of {project.display_name}.",
            way_out="Choose another folder, or use it in its own project.",
        )
    return _in_use(connection, found)


def _in_folder(connection: Connection, directory: str) -> Workspace | None:
    query = select(WORKSPACES).where(WORKSPACES.c.directory == directory)
    found = connection.execute(query).first()
    return None if found is None else workspace_of(found)


def _in_use(connection: Connection, workspace: Workspace) -> Workspace:
    """Who asks for a folder wants to see it: one that was archived comes back."""
    archiving.bring_back_workspace(connection, workspace.id)
    return find(connection, workspace.id)


def _add(
    connection: Connection, project_id: int, *, directory: str, kind: str, now: int
) -> Workspace:
    made = connection.execute(
        insert(WORKSPACES)
        .values(
            project_id=project_id,
            directory=directory,
            display_name=display_name(directory),
            kind=kind,
            created_at=now,
            updated_at=now,
        )
        .returning(WORKSPACES)
    ).one()
    return workspace_of(made)
