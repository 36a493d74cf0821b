"""Projects: one for each folder that was made one; nothing is made that was not asked for."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, insert, select

from desktop.core.errors import UnknownFolder
from desktop.core.records import Project
from desktop.store import archiving
from desktop.store.folders import display_name, folder_kind, folder_name
from desktop.store.lanes import Lanes
from desktop.store.leases import Leases
from desktop.store.tables import PROJECTS


class ProjectRegistry:
    """The projects of a database."""

    def __init__(self, lanes: Lanes, leases: Leases, *, now_ms: Callable[[], int]) -> None:
        self._lanes = lanes
        self._leases = leases
        self._now_ms = now_ms

    async def create(self, directory: Path) -> Project:
        real, kind = await self._lanes.file(partial(_looked_at, directory))
        return await self._lanes.write(
            partial(ensure, directory=str(real), kind=kind, now=self._now_ms())
        )

    async def archive(self, project_id: int) -> Project:
        def job(connection: Connection) -> Project:
            find(connection, project_id)
            reach = archiving.of_project(project_id)
            archiving.archive(connection, reach, now=self._now_ms(), leases=self._leases)
            return find(connection, project_id)

        return await self._lanes.write(job)

    async def unarchive(self, project_id: int) -> Project:
        def job(connection: Connection) -> Project:
            moment = find(connection, project_id).archived_at
            if moment is not None:
                reach = archiving.of_project(project_id)
                archiving.unarchive(connection, reach, moment=moment)
            return find(connection, project_id)

        return await self._lanes.write(job)


def find(connection: Connection, project_id: int) -> Project:
    found = connection.execute(select(PROJECTS).where(PROJECTS.c.id == project_id)).first()
    if found is None:
        raise UnknownFolder("No project has this number.", detail=str(project_id))
    return project_of(found)


def ensure(connection: Connection, *, directory: str, kind: str, now: int) -> Project:
    """The folder's project: in use again where it was archived, made where there is none (P01)."""
    found = connection.execute(select(PROJECTS).where(PROJECTS.c.directory == directory)).first()
    if found is not None:
        archiving.bring_back_project(connection, found.id)
        return find(connection, found.id)
    made = connection.execute(
        insert(PROJECTS)
        .values(
            directory=directory,
            display_name=display_name(directory),
            kind=kind,
            created_at=now,
            updated_at=now,
        )
        .returning(PROJECTS)
    ).one()
    return project_of(made)


def project_of(row: Row[Any]) -> Project:
    return Project(
        id=row.id,
        directory=row.directory,
        display_name=row.display_name,
        kind=row.kind,
        archived_at=row.archived_at,
    )


def _looked_at(directory: Path) -> tuple[Path, str]:
    real = folder_name(directory)
    return real, folder_kind(real)
