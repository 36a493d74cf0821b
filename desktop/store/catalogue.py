"""Projects, workspaces, conversations and what stands beside them, joined to one `Catalogue`.

Each has a registry of its own over its own small table; listing all of them is one read
transaction and never reads a chunk.
"""

from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Connection, select

from desktop.core.records import CatalogueView, Tab
from desktop.store.blobs import Blobs
from desktop.store.bookmarks import Bookmarks
from desktop.store.branches import Branches
from desktop.store.drafts import Drafts
from desktop.store.lanes import Lanes
from desktop.store.leases import Leases
from desktop.store.preferences import Preferences
from desktop.store.projects import ProjectRegistry, project_of
from desktop.store.purging import Purging
from desktop.store.readable import readable
from desktop.store.snapshots import AgentSnapshotStore
from desktop.store.tables import CATALOGUE_REVISION, PROJECTS, TABS, WORKSPACES
from desktop.store.tabs import TabRegistry, tab_of
from desktop.store.view_states import ViewStates
from desktop.store.workspaces import WorkspaceRegistry, workspace_of


class SqlCatalogue:
    """The Catalogue of a database."""

    def __init__(
        self,
        lanes: Lanes,
        leases: Leases,
        blobs: Blobs,
        *,
        purging: Purging,
        scratch: Path,
        new_id: Callable[[], str],
        now_ms: Callable[[], int],
    ) -> None:
        self._lanes = lanes
        projects = ProjectRegistry(lanes, leases, now_ms=now_ms)
        self.create_project = projects.create
        self.archive_project = projects.archive
        self.unarchive_project = projects.unarchive
        workspaces = WorkspaceRegistry(lanes, leases, scratch=scratch, now_ms=now_ms)
        self.open_workspace = workspaces.open
        self.scratch_workspace = workspaces.scratch
        self.workspace = workspaces.get
        self.create_workspace = workspaces.create
        self.archive_workspace = workspaces.archive
        self.unarchive_workspace = workspaces.unarchive
        tabs = TabRegistry(lanes, leases, new_id=new_id, now_ms=now_ms)
        self.create_tab = tabs.create
        self.tab = tabs.get
        self.rename_tab = tabs.rename
        self.name_tab = tabs.name
        self.set_tab_open = tabs.set_open
        self.move_tabs = tabs.move
        self.refuse_elsewhere = tabs.refuse_elsewhere
        self.archive_tab = tabs.archive
        self.unarchive_tab = tabs.unarchive
        self.trash_tab = tabs.trash
        self.restore_tab = tabs.restore
        self.trashed_tabs = tabs.trashed
        drafts = Drafts(lanes, blobs, now_ms=now_ms)
        self.draft = drafts.get
        self.save_draft = drafts.save
        self.save_attachments = drafts.save_attachments
        view_states = ViewStates(lanes, now_ms=now_ms)
        self.view_state = view_states.get
        self.save_view_state = view_states.save
        self._branches = Branches(lanes, new_id=new_id, now_ms=now_ms)
        self.branches = self._branches.of
        bookmarks = Bookmarks(lanes, now_ms=now_ms)
        self.bookmarks = bookmarks.of
        self.set_bookmark = bookmarks.set
        self._purging = purging
        self._now_ms = now_ms
        snapshots = AgentSnapshotStore(lanes, now_ms=now_ms)
        self.snapshot = snapshots.get
        self.save_snapshot = snapshots.save
        preferences = Preferences(lanes, now_ms=now_ms)
        self.rules = preferences.rules
        self.add_rule = preferences.add_rule
        self.remove_rule = preferences.remove_rule
        self.settings = preferences.settings
        self.save_setting = preferences.save_setting

    async def view(self) -> CatalogueView:
        return await self._lanes.read(_view)

    async def fork_tab(self, tab_id: str, *, at_seq: int) -> Tab:
        return await self.tab(await self._branches.fork(tab_id, at_seq))

    async def purge_tab(self, tab_id: str) -> None:
        await self._purging.purge(tab_id, now=self._now_ms())

    async def revision(self) -> int:
        return await self._lanes.read(read_catalogue_revision)


def read_catalogue_revision(connection: Connection) -> int:
    return connection.execute(select(CATALOGUE_REVISION.c.revision)).scalar_one()


def _view(connection: Connection) -> CatalogueView:
    shown = TABS.c.trashed_at.is_(None) & TABS.c.purged_at.is_(None)
    tabs = select(TABS).where(shown).order_by(TABS.c.position, TABS.c.id)
    return CatalogueView(
        projects=readable(connection, select(PROJECTS).order_by(PROJECTS.c.id), project_of),
        workspaces=readable(connection, select(WORKSPACES).order_by(WORKSPACES.c.id), workspace_of),
        tabs=readable(connection, tabs, tab_of),
        revision=read_catalogue_revision(connection),
    )
