"""What is put out of the way together comes back together.

Everything that one word of the person reaches gets one common time that nothing it reaches has yet;
bringing back takes away exactly that time, so that what was put away alone before stays away. Not a
row of a log and no file is touched. For the writer's thread; call inside a transaction.
"""

from dataclasses import dataclass

from sqlalchemy import Column, ColumnElement, Connection, Select, false, select, update

from desktop.store.leases import Leases
from desktop.store.tables import PROJECTS, SNAPSHOTS, TABS, WORKSPACES

_Condition = ColumnElement[bool]
_IN_USE = TABS.c.trashed_at.is_(None) & TABS.c.purged_at.is_(None)


@dataclass(frozen=True, slots=True)
class Reach:
    """Which rows are meant, as a condition on each table."""

    tabs: _Condition
    workspaces: _Condition = false()
    projects: _Condition = false()


def of_tab(tab_id: str) -> Reach:
    """A conversation and those that its agent began from it."""
    family = select(TABS.c.id).where(TABS.c.id == tab_id).cte("family", recursive=True)
    family = family.union(select(TABS.c.id).join(family, TABS.c.parent_tab_id == family.c.id))
    return Reach(TABS.c.id.in_(select(family.c.id)))


def of_workspace(workspace_id: int) -> Reach:
    return Reach(TABS.c.workspace_id == workspace_id, WORKSPACES.c.id == workspace_id)


def of_project(project_id: int) -> Reach:
    inside = select(WORKSPACES.c.id).where(WORKSPACES.c.project_id == project_id)
    return Reach(
        TABS.c.workspace_id.in_(inside),
        WORKSPACES.c.project_id == project_id,
        PROJECTS.c.id == project_id,
    )


def archive(connection: Connection, reach: Reach, *, now: int, leases: Leases) -> None:
    """Raises LeaseHeld where another living process works in what is reached."""
    tabs = reach.tabs & _IN_USE
    _refuse_elsewhere(connection, tabs & TABS.c.archived_at.is_(None), leases)
    times = (
        (TABS.c.archived_at, tabs),
        (WORKSPACES.c.archived_at, reach.workspaces),
        (PROJECTS.c.archived_at, reach.projects),
    )
    moment = _free_moment(connection, times, now)
    for time, condition in times:
        connection.execute(
            update(time.table).where(condition, time.is_(None)).values({time: moment})
        )
    _close(connection, tabs & (TABS.c.archived_at == moment))


def unarchive(connection: Connection, reach: Reach, *, moment: int) -> None:
    """Brings back what of `reach` went at `moment`, and the folders around it."""
    tabs = reach.tabs & (TABS.c.archived_at == moment)
    around = (
        select(TABS.c.workspace_id)
        .where(tabs, _IN_USE)
        .union(select(WORKSPACES.c.id).where(reach.workspaces, WORKSPACES.c.archived_at == moment))
    )
    ids = list(connection.execute(around).scalars())
    _reopen(connection, tabs & _IN_USE)
    connection.execute(update(TABS).where(tabs).values(archived_at=None))
    connection.execute(
        update(PROJECTS)
        .where(reach.projects, PROJECTS.c.archived_at == moment)
        .values(archived_at=None)
    )
    for workspace_id in ids:
        bring_back_workspace(connection, workspace_id)


def bring_back_workspace(connection: Connection, workspace_id: int) -> None:
    """The folder and its project are in use again; its conversations stay where they are."""
    this = WORKSPACES.c.id == workspace_id
    connection.execute(
        update(WORKSPACES)
        .where(this, WORKSPACES.c.archived_at.isnot(None))
        .values(archived_at=None)
    )
    query = select(WORKSPACES.c.project_id).where(this)
    bring_back_project(connection, connection.execute(query).scalar_one())


def bring_back_project(connection: Connection, project_id: int) -> None:
    """Alone, without its workspaces."""
    connection.execute(
        update(PROJECTS)
        .where(PROJECTS.c.id == project_id, PROJECTS.c.archived_at.isnot(None))
        .values(archived_at=None)
    )


def unarchive_tab(connection: Connection, tab_id: str, *, moment: int) -> None:
    """A conversation, those that went with it, and those that it was begun from."""
    unarchive(connection, of_tab(tab_id), moment=moment)
    for id_, archived_at in connection.execute(_line(tab_id, TABS.c.archived_at)).all():
        if archived_at is not None:
            unarchive(connection, Reach(TABS.c.id == id_), moment=archived_at)


def trash(connection: Connection, tab_id: str, *, now: int, leases: Leases) -> None:
    """Into the bin; raises LeaseHeld where another living process works there."""
    tabs = of_tab(tab_id).tabs & TABS.c.purged_at.is_(None)
    _refuse_elsewhere(connection, tabs & TABS.c.trashed_at.is_(None), leases)
    moment = _free_moment(connection, ((TABS.c.trashed_at, tabs),), now)
    connection.execute(
        update(TABS).where(tabs, TABS.c.trashed_at.is_(None)).values(trashed_at=moment)
    )
    _close(connection, tabs & (TABS.c.trashed_at == moment))


def restore(connection: Connection, tab_id: str, *, moment: int) -> None:
    """Out of the bin, with what went in together and what it was begun from.

    A conversation that is not archived is to be seen, so its folder comes back.
    """
    _restore(connection, of_tab(tab_id).tabs & (TABS.c.trashed_at == moment))
    for id_, trashed_at in connection.execute(_line(tab_id, TABS.c.trashed_at)).all():
        if trashed_at is not None:
            _restore(connection, TABS.c.id == id_)


def _restore(connection: Connection, tabs: _Condition) -> None:
    tabs &= TABS.c.purged_at.is_(None)
    seen = tabs & TABS.c.archived_at.is_(None)
    ids = list(connection.execute(select(TABS.c.workspace_id).where(seen).distinct()).scalars())
    _reopen(connection, seen)
    connection.execute(update(TABS).where(tabs).values(trashed_at=None))
    for workspace_id in ids:
        bring_back_workspace(connection, workspace_id)


def _line(tab_id: str, time: "Column[int | None]") -> Select[str, int | None]:
    """The conversations that this one was begun from, each with its time, the nearest first."""
    parent = TABS.c.parent_tab_id
    line = select(parent.label("id")).where(TABS.c.id == tab_id).cte("line", recursive=True)
    line = line.union(select(parent).join(line, TABS.c.id == line.c.id))
    return select(TABS.c.id, time).join(line, TABS.c.id == line.c.id)


def _refuse_elsewhere(connection: Connection, tabs: _Condition, leases: Leases) -> None:
    leases.refuse_elsewhere(connection, connection.execute(select(TABS.c.id).where(tabs)).scalars())


def _free_moment(
    connection: Connection, times: "tuple[tuple[Column[int | None], _Condition], ...]", now: int
) -> int:
    """`now`, or the next moment that nothing in reach was put away at."""
    taken: set[int | None] = set()
    for time, condition in times:
        taken.update(connection.execute(select(time).where(condition, time >= now)).scalars())
    while now in taken:
        now += 1
    return now


def _close(connection: Connection, tabs: _Condition) -> None:
    """Nothing runs in what is put away, whatever a crash left noted (SPEC P05)."""
    of_these = SNAPSHOTS.c.agent_id.in_(select(TABS.c.id).where(tabs))
    connection.execute(
        update(SNAPSHOTS)
        .where(of_these, SNAPSHOTS.c.lifecycle != "closed")
        .values(lifecycle="closed")
    )


def _reopen(connection: Connection, tabs: _Condition) -> None:
    of_these = SNAPSHOTS.c.agent_id.in_(select(TABS.c.id).where(tabs))
    connection.execute(
        update(SNAPSHOTS)
        .where(of_these, SNAPSHOTS.c.lifecycle == "closed")
        .values(lifecycle="idle")
    )
