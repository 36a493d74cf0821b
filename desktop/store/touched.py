"""What of the catalogue a write touched, whoever of its many writers it was, cascades included.

Temporary triggers on the writer's own connection note which rows the write changed; they go with
the connection, and the notes with the transaction. Each notes when, and only when, the trigger of
the file counts, so a revision that moved further than what is noted is found out (SPEC R04).
"""

from collections.abc import Callable
from typing import Any

from sqlalchemy import Column, Connection, Select, select

from desktop.core.records import CatalogueReceipt
from desktop.store import triggers
from desktop.store.connection import driver
from desktop.store.projects import project_of
from desktop.store.readable import readable
from desktop.store.tables import PROJECTS, TABS, WORKSPACES
from desktop.store.tabs import tab_of
from desktop.store.workspaces import workspace_of

_IS_THERE = "SELECT 1 FROM sqlite_temp_master WHERE type = 'table' AND name = 'touched'"
# A write that touches more is told as partial: who follows reads the catalogue once.
MOST_NOTES = 1_000
_OF: dict[str, tuple[Select[Any], Column[Any], Callable[[Any], Any]]] = {
    "projects": (select(PROJECTS), PROJECTS.c.id, project_of),
    "workspaces": (select(WORKSPACES), WORKSPACES.c.id, workspace_of),
    "tabs": (select(TABS).where(TABS.c.purged_at.is_(None)), TABS.c.id, tab_of),
}


def revision(connection: Connection) -> int:
    return driver(connection).execute("SELECT revision FROM catalogue_revision").fetchone()[0]


def begin(connection: Connection) -> int:
    """The catalogue's revision before a write, which is noted from here on."""
    raw = driver(connection)
    # Looked at each time: a write that fails takes along what it made.
    if raw.execute(_IS_THERE).fetchone() is None:
        for statement in triggers.temporary():
            raw.execute(statement)
    return revision(connection)


def end(connection: Connection, base: int) -> CatalogueReceipt | None:
    """What the write changed; None where it changed nothing."""
    now = revision(connection)
    if now == base:
        return None
    notes = driver(connection).execute("SELECT kind, id FROM temp.touched").fetchall()
    driver(connection).execute("DELETE FROM temp.touched")
    if now - base != len(notes) or len(notes) > MOST_NOTES:
        return CatalogueReceipt(base, now, is_partial=True)
    found: dict[str, tuple[Any, ...]] = {}
    gone: list[tuple[str, str]] = []
    for kind, (query, key, value_of) in _OF.items():
        ids = {id_ for noted, id_ in notes if noted == kind}
        found[kind] = readable(connection, query.where(key.in_(ids)), value_of) if ids else ()
        gone += [(kind, str(id_)) for id_ in ids - {one.id for one in found[kind]}]
    return CatalogueReceipt(
        base,
        now,
        projects=found["projects"],
        workspaces=found["workspaces"],
        tabs=found["tabs"],
        gone=tuple(sorted(gone)),
    )
