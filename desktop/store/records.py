"""Takes legacy records into the catalogue: projects, workspaces, then agents as conversations.

One transaction a kind; what is there already (by folder, or by the conversation's id) is left as it
is, so that a second run imports nothing (SPEC P03). Before the first write the database is copied
beside itself. Nothing of a legacy agent ever runs: a running one is closed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from sqlalchemy import Column, Connection, Table, func, insert, select, update

from desktop.store import copies
from desktop.store.codec import to_json
from desktop.store.lanes import Lanes
from desktop.store.legacy import (
    WORKSPACES_FILE,
    LegacyAgent,
    LegacyFiles,
    LegacyProject,
    LegacyWorkspace,
    Place,
    RecordKind,
    Remark,
    Times,
    read_files,
)
from desktop.store.tables import CATALOGUE_REVISION, PROJECTS, SNAPSHOTS, TABS, WORKSPACES, Row


@dataclass(frozen=True, slots=True)
class Taken:
    """How many entries of a kind went in, and how many were there already."""

    imported: int
    already_there: int


@dataclass(frozen=True, slots=True)
class ImportReport:
    """`skips` did not go in; `notes` did, but not quite as they stood. `copy`: of the database."""

    projects: Taken
    workspaces: Taken
    agents: Taken
    skips: tuple[Remark, ...]
    notes: tuple[Remark, ...]
    copy: Path | None

    def taken(self) -> Mapping[RecordKind, Taken]:
        return {
            "projects": self.projects,
            "workspaces": self.workspaces,
            "agents": self.agents,
        }


class LegacyRecords:
    """The way of legacy records into one database."""

    def __init__(
        self, lanes: Lanes, database: Path, *, now_ms: Callable[[], int], busy_ms: int
    ) -> None:
        self._lanes = lanes
        self._database = database
        self._now_ms = now_ms
        self._busy_ms = busy_ms

    async def take_over(self, folder: Path, *, model: str) -> ImportReport:
        """Imports what `folder` holds; `model` is for agents that name none.

        Raises UnknownFolder where there are no records and StoreError where the database fails:
        the kind that was being written is then rolled back, the ones before it stay.
        """
        files = await self._lanes.file(partial(read_files, folder))
        copy = None
        if await self._lanes.read(partial(_needs_copy, files=files)):
            copy = await self._lanes.file(
                partial(_copy, self._database, now=self._now_ms(), busy_ms=self._busy_ms)
            )
        projects = await self._lanes.write(partial(_take_projects, records=files.projects))
        workspaces, notes = await self._lanes.write(partial(_take_workspaces, files=files))
        agents = await self._lanes.write(partial(_take_agents, records=files.agents, model=model))
        return ImportReport(
            projects=projects,
            workspaces=workspaces,
            agents=agents,
            skips=files.skips,
            notes=notes,
            copy=copy,
        )


def _needs_copy(connection: Connection, *, files: LegacyFiles) -> bool:
    """Whether something will be written to a database that holds something."""
    projects, workspaces = _ids(connection, PROJECTS), _ids(connection, WORKSPACES)
    tabs = _tab_ids(connection)
    has_news = (
        any(one.place.directory not in projects for one in files.projects)
        or any(one.place.directory not in workspaces for one in files.workspaces)
        or any(one.tab_id not in tabs for one in files.agents)
    )
    return has_news and _holds_anything(connection)


def _holds_anything(connection: Connection) -> bool:
    tables = (one for one in Row.metadata.sorted_tables if one is not CATALOGUE_REVISION)
    return any(connection.execute(select(1).select_from(one).limit(1)).first() for one in tables)


def _copy(database: Path, *, now: int, busy_ms: int) -> Path:
    """The database as it is, beside it; its path."""
    moment = datetime.fromtimestamp(now / 1000, UTC).strftime("%Y%m%d-%H%M%S")
    return copies.make(database, f"import-{moment}-{now % 1000:03}", busy_ms=busy_ms)


def _take_projects(connection: Connection, *, records: tuple[LegacyProject, ...]) -> Taken:
    known = _ids(connection, PROJECTS)
    imported = 0
    for one in sorted(records, key=_active_first):
        if one.place.directory not in known:
            known[one.place.directory] = _add_project(
                connection, one.place, kind=one.kind, name=one.display_name, times=one.times
            )
            imported += 1
    return Taken(imported, len(records) - imported)


def _take_workspaces(
    connection: Connection, *, files: LegacyFiles
) -> tuple[Taken, tuple[Remark, ...]]:
    """A workspace whose project did not come along gets one for its own folder, and a note."""
    projects, known = _ids(connection, PROJECTS), _ids(connection, WORKSPACES)
    folders = {one.id: one.place.directory for one in reversed(files.projects)}
    notes: list[Remark] = []
    imported = 0
    for one in sorted(files.workspaces, key=_active_first):
        if one.place.directory in known:
            continue
        project_id = projects.get(folders.get(one.project_id, ""))
        if project_id is None:
            reason = f"its project {one.project_id} was not found; it has one of its own folder now"
            notes.append(Remark("workspaces", WORKSPACES_FILE, one.id, reason))
            project_id = _project_for(connection, one.place, one.times, projects)
        known[one.place.directory] = _add_workspace(
            connection,
            one.place,
            project_id=project_id,
            kind=one.kind,
            name=one.display_name,
            times=one.times,
        )
        imported += 1
    _archive_with(connection, WORKSPACES, WORKSPACES.c.project_id, PROJECTS)
    return Taken(imported, len(files.workspaces) - imported), tuple(notes)


def _take_agents(connection: Connection, *, records: tuple[LegacyAgent, ...], model: str) -> Taken:
    """An agent in a folder without a workspace brings one along, as opening the folder would."""
    tabs, projects = _tab_ids(connection), _ids(connection, PROJECTS)
    workspaces = _ids(connection, WORKSPACES)
    new = sorted(
        (one for one in records if one.tab_id not in tabs),
        key=lambda one: (one.times.created_at, one.tab_id),
    )
    if not new:
        return Taken(0, len(records))
    for one in new:
        if one.place.directory not in workspaces:
            times = Times(one.times.created_at, one.times.updated_at, None)
            workspaces[one.place.directory] = _add_workspace(
                connection,
                one.place,
                project_id=_project_for(connection, one.place, times, projects),
                kind="checkout",
                name=one.place.name,
                times=times,
            )
    last = connection.execute(select(func.max(TABS.c.position))).scalar_one()
    first = 0 if last is None else last + 1
    connection.execute(
        insert(TABS),
        [
            _tab_row(one, workspaces[one.place.directory], position=position)
            for position, one in enumerate(new, start=first)
        ],
    )
    _archive_with(connection, TABS, TABS.c.workspace_id, WORKSPACES)
    connection.execute(
        insert(SNAPSHOTS),
        [_snapshot_row(one, workspaces[one.place.directory], model=model) for one in new],
    )
    return Taken(len(new), len(records) - len(new))


def _archive_with(
    connection: Connection, table: Table, folder_id: "Column[int]", folders: Table
) -> None:
    """What stands in an archived folder would be in no list, so it is archived with the folder."""
    time = select(folders.c.archived_at).where(folders.c.id == folder_id).scalar_subquery()
    connection.execute(
        update(table)
        .where(table.c.archived_at.is_(None), time.isnot(None))
        .values(archived_at=time)
    )


def _tab_row(agent: LegacyAgent, workspace_id: int, *, position: int) -> dict[str, object]:
    """Closed in the strip: thousands may come at once."""
    return {
        "id": agent.tab_id,
        "workspace_id": workspace_id,
        "title": agent.title,
        "position": position,
        "is_open": 0,
        "created_at": agent.times.created_at,
        "archived_at": agent.times.archived_at,
    }


def _snapshot_row(agent: LegacyAgent, workspace_id: int, *, model: str) -> dict[str, object]:
    """The consent to run things is not taken over: the mode is `ask`."""
    return {
        "agent_id": agent.tab_id,
        "workspace_id": workspace_id,
        "lifecycle": "idle" if agent.status == "idle" else "closed",
        "provider": agent.provider,
        "model": agent.model or model,
        "effort": "",
        "permission_mode": "ask",
        "persistence_json": to_json({"legacyId": agent.id, "legacyStatus": agent.status}),
        "attention_kind": agent.attention,
        "attention_at": None if agent.attention is None else agent.times.updated_at,
        "created_at": agent.times.created_at,
        "updated_at": agent.times.updated_at,
    }


def _active_first(record: LegacyProject | LegacyWorkspace) -> bool:
    """Of two entries for one folder the one in use counts."""
    return record.times.archived_at is not None


def _ids(connection: Connection, table: Table) -> dict[str, int]:
    """The ids of projects or workspaces by directory."""
    return {row.directory: row.id for row in connection.execute(select(table))}


def _tab_ids(connection: Connection) -> set[str]:
    return set(connection.execute(select(TABS.c.id)).scalars())


def _project_for(
    connection: Connection, place: Place, times: Times, projects: dict[str, int]
) -> int:
    """The project of exactly this folder, made where there is none."""
    if place.directory not in projects:
        projects[place.directory] = _add_project(
            connection, place, kind=place.holds, name=place.name, times=times
        )
    return projects[place.directory]


def _add_project(
    connection: Connection, place: Place, *, kind: str, name: str, times: Times
) -> int:
    return connection.execute(
        insert(PROJECTS).values(kind=kind, **_named(place, name, times)).returning(PROJECTS.c.id)
    ).scalar_one()


def _add_workspace(
    connection: Connection, place: Place, *, project_id: int, kind: str, name: str, times: Times
) -> int:
    return connection.execute(
        insert(WORKSPACES)
        .values(project_id=project_id, kind=kind, **_named(place, name, times))
        .returning(WORKSPACES.c.id)
    ).scalar_one()


def _named(place: Place, name: str, times: Times) -> dict[str, object]:
    return {
        "directory": place.directory,
        "display_name": name,
        "created_at": times.created_at,
        "updated_at": times.updated_at,
        "archived_at": times.archived_at,
    }
