"""The archive and the bin of a log in memory: plain Python for what the database does in SQL."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Protocol

from desktop.core.errors import LeaseHeld, UnknownFolder
from desktop.core.records import Project, Snapshot, Tab, Workspace


class Held(Protocol):
    """A conversation as a MemoryLog holds it."""

    tab: Tab
    holder: str
    snapshot: Snapshot | None


class MemoryArchive:
    """Over the conversations, projects and workspaces of a MemoryLog, which it changes in place.

    `find` gives a conversation or raises; `writing` is asked before every write, `changed` told
    after one that changed something.
    """

    def __init__(
        self,
        conversations: Mapping[str, Held],
        projects: list[Project],
        workspaces: list[Workspace],
        *,
        find: Callable[[str], Held],
        process_id: Callable[[], str],
        now_ms: Callable[[], int],
        writing: Callable[[], None],
        changed: Callable[[], None],
    ) -> None:
        self._conversations = conversations
        self._projects = projects
        self._workspaces = workspaces
        self._find = find
        self._process_id = process_id
        self._now_ms = now_ms
        self._writing = writing
        self._changed = changed

    async def refuse_elsewhere(self, tab_ids: Iterable[str]) -> None:
        for tab_id in tab_ids:
            held = self._conversations.get(tab_id)
            if held is not None and held.holder not in ("", self._process_id()):
                raise LeaseHeld(
                    f"Another Nacre is working in the conversation “{held.tab.title}”.",
                    way_out="Wait until it is done.",
                    detail=held.holder,
                )

    async def archive_tab(self, tab_id: str) -> Tab:
        self._writing()
        self._find(tab_id)
        await self._archive(self._family(tab_id))
        return self._find(tab_id).tab

    async def archive_workspace(self, workspace_id: int) -> Workspace:
        self._writing()
        self.workspace(workspace_id)
        await self._archive(self._inside({workspace_id}), workspaces={workspace_id})
        return self.workspace(workspace_id)

    async def archive_project(self, project_id: int) -> Project:
        self._writing()
        self.project(project_id)
        inside = self._workspaces_of(project_id)
        await self._archive(self._inside(inside), workspaces=inside, projects={project_id})
        return self.project(project_id)

    async def unarchive_tab(self, tab_id: str) -> Tab:
        self._writing()
        moment = self._find(tab_id).tab.archived_at
        if moment is not None:
            self._unarchive(self._family(tab_id), moment)
            for parent in self._line(tab_id):
                time = self._find(parent).tab.archived_at
                if time is not None:
                    self._unarchive([parent], time)
            self._changed()
        return self._find(tab_id).tab

    async def unarchive_workspace(self, workspace_id: int) -> Workspace:
        self._writing()
        moment = self.workspace(workspace_id).archived_at
        if moment is not None:
            self._unarchive(self._inside({workspace_id}), moment)
            self.bring_back(workspace_id)
            self._changed()
        return self.workspace(workspace_id)

    async def unarchive_project(self, project_id: int) -> Project:
        self._writing()
        moment = self.project(project_id).archived_at
        if moment is not None:
            inside = self._workspaces_of(project_id)
            self._unarchive(self._inside(inside), moment)
            for one in inside:
                if self.workspace(one).archived_at == moment:
                    self.bring_back(one)
            self.bring_back_project(project_id)
            self._changed()
        return self.project(project_id)

    async def trash_tab(self, tab_id: str) -> Tab:
        self._writing()
        self._find(tab_id)
        ids = [one for one in self._family(tab_id) if self._find(one).tab.trashed_at is None]
        await self.refuse_elsewhere(ids)
        moment = self._free({self._find(one).tab.trashed_at for one in self._family(tab_id)})
        for one in ids:
            self._put(one, replace(self._find(one).tab, trashed_at=moment), lifecycle="closed")
        if ids:
            self._changed()
        return self._find(tab_id).tab

    async def restore_tab(self, tab_id: str) -> Tab:
        self._writing()
        moment = self._find(tab_id).tab.trashed_at
        if moment is not None:
            together = [
                one for one in self._family(tab_id) if self._find(one).tab.trashed_at == moment
            ]
            for one in (*together, *self._line(tab_id)):
                tab = replace(self._find(one).tab, trashed_at=None)
                self._put(one, tab, lifecycle="" if tab.archived_at else "idle")
                if tab.archived_at is None:
                    self.bring_back(tab.workspace_id)
            self._changed()
        return self._find(tab_id).tab

    async def trashed_tabs(self) -> tuple[Tab, ...]:
        tabs = [one.tab for one in self._conversations.values() if one.tab.trashed_at is not None]
        return tuple(sorted(tabs, key=lambda one: (-(one.trashed_at or 0), one.position, one.id)))

    def project(self, project_id: int) -> Project:
        for project in self._projects:
            if project.id == project_id:
                return project
        raise UnknownFolder("No project has this number.", detail=str(project_id))

    def workspace(self, workspace_id: int) -> Workspace:
        for workspace in self._workspaces:
            if workspace.id == workspace_id:
                return workspace
        raise UnknownFolder("No workspace has this number.", detail=str(workspace_id))

    def bring_back(self, workspace_id: int) -> None:
        """The workspace and its project are in use again."""
        workspace = self.workspace(workspace_id)
        place = self._workspaces.index(workspace)
        self._workspaces[place] = replace(workspace, archived_at=None)
        self.bring_back_project(workspace.project_id)

    def bring_back_project(self, project_id: int) -> None:
        project = self.project(project_id)
        self._projects[self._projects.index(project)] = replace(project, archived_at=None)

    async def _archive(
        self,
        tab_ids: Iterable[str],
        *,
        workspaces: Iterable[int] = (),
        projects: Iterable[int] = (),
    ) -> None:
        tabs = [self._find(one).tab for one in tab_ids]
        folders = [*map(self.workspace, workspaces), *map(self.project, projects)]
        here = [one for one in tabs if one.trashed_at is None and one.archived_at is None]
        await self.refuse_elsewhere([one.id for one in here])
        moment = self._free({one.archived_at for one in (*tabs, *folders)})
        for tab in here:
            self._put(tab.id, replace(tab, archived_at=moment), lifecycle="closed")
        fresh = [one for one in folders if one.archived_at is None]
        for folder in fresh:
            if isinstance(folder, Workspace):
                place = self._workspaces.index(folder)
                self._workspaces[place] = replace(folder, archived_at=moment)
            else:
                place = self._projects.index(folder)
                self._projects[place] = replace(folder, archived_at=moment)
        if here or fresh:
            self._changed()

    def _unarchive(self, tab_ids: Iterable[str], moment: int) -> None:
        for id_ in tab_ids:
            tab = self._find(id_).tab
            if tab.archived_at == moment:
                self._put(id_, replace(tab, archived_at=None), lifecycle="idle")
                if tab.trashed_at is None:
                    self.bring_back(tab.workspace_id)

    def _put(self, tab_id: str, tab: Tab, *, lifecycle: str) -> None:
        held = self._find(tab_id)
        held.tab = tab
        snapshot = held.snapshot
        if snapshot is not None and (lifecycle == "closed" or snapshot.lifecycle == "closed"):
            held.snapshot = replace(snapshot, lifecycle=lifecycle or snapshot.lifecycle)

    def _free(self, taken: "set[int | None]") -> int:
        moment = self._now_ms()
        while moment in taken:
            moment += 1
        return moment

    def _family(self, tab_id: str) -> list[str]:
        found = [tab_id]
        for one in found:
            found += [
                id_ for id_, held in self._conversations.items() if held.tab.parent_tab_id == one
            ]
        return found

    def _line(self, tab_id: str) -> list[str]:
        found: list[str] = []
        parent = self._find(tab_id).tab.parent_tab_id
        while parent is not None:
            found.append(parent)
            parent = self._find(parent).tab.parent_tab_id
        return found

    def _inside(self, workspaces: Iterable[int]) -> list[str]:
        wanted = set(workspaces)
        return [id_ for id_, held in self._conversations.items() if held.tab.workspace_id in wanted]

    def _workspaces_of(self, project_id: int) -> set[int]:
        return {one.id for one in self._workspaces if one.project_id == project_id}
