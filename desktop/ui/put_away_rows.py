"""What was put away, as plain lists: archived folders with their conversations, and the bin."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from desktop.ui.visible import in_order, visible

if TYPE_CHECKING:
    from desktop.core.records import CatalogueView, Project, Tab, Workspace

AwayKind = Literal["tab", "workspace", "project"]


@dataclass(frozen=True, slots=True)
class AwayRow:
    """One thing that can come back. `moment` (ms UTC) is when it went; `inner` ones came with the
    folder above them."""

    kind: AwayKind
    id: str
    title: str
    detail: str
    moment: int
    inner: bool = False

    @property
    def key(self) -> str:
        return f"{self.kind} {self.id}"


@dataclass(frozen=True, slots=True)
class AwayPhrases:
    """The words of the lists: `inside(conversations)` and `folders(folders, conversations)` count
    what comes back with a folder or a project."""

    untitled: str
    inside: Callable[[int], str]
    folders: Callable[[int, int], str]


def archived_rows(view: CatalogueView, phrases: AwayPhrases) -> tuple[AwayRow, ...]:
    """What is archived, the last first; a folder's conversations stand below it."""
    groups = list(_groups(view, phrases))
    groups.sort(key=lambda group: -group[0].moment)
    return tuple(row for group in groups for row in group)


def bin_rows(
    trashed: Iterable[Tab], view: CatalogueView, phrases: AwayPhrases
) -> tuple[AwayRow, ...]:
    """The conversations of the bin in the order they are given."""
    names = {one.id: one.display_name for one in view.workspaces}
    return tuple(
        _tab(tab, names.get(tab.workspace_id, ""), tab.trashed_at or 0, phrases) for tab in trashed
    )


def _groups(view: CatalogueView, phrases: AwayPhrases) -> Iterator[list[AwayRow]]:
    projects = {one.id: one for one in view.projects if one.archived_at is not None}
    folders: dict[int, list[Workspace]] = {}
    for workspace in view.workspaces:
        if workspace.archived_at is not None:
            folders.setdefault(workspace.project_id, []).append(workspace)
    inside: dict[int, list[Tab]] = {}
    for tab in view.tabs:
        if tab.archived_at is not None:
            inside.setdefault(tab.workspace_id, []).append(tab)
    names = {one.id: one.display_name for one in view.workspaces}
    for project_id, workspaces in folders.items():
        blocks = [
            _folder(one, inside.pop(one.id, []), phrases) for one in sorted(workspaces, key=_name)
        ]
        project = projects.get(project_id)
        if project is not None and len(blocks) > 1:
            yield [_project(project, blocks, phrases), *(row for block in blocks for row in block)]
        else:
            yield from blocks
    for tabs in inside.values():
        for tab in tabs:
            yield [_tab(tab, names.get(tab.workspace_id, ""), tab.archived_at or 0, phrases)]


def _folder(workspace: Workspace, tabs: list[Tab], phrases: AwayPhrases) -> list[AwayRow]:
    detail = f"{phrases.inside(len(tabs))} · {visible(workspace.directory)}"
    moment = workspace.archived_at or 0
    head = AwayRow("workspace", str(workspace.id), visible(workspace.display_name), detail, moment)
    tabs = sorted(tabs, key=lambda tab: -(tab.last_message_at or tab.created_at))
    name = workspace.display_name
    return [head, *(_tab(tab, name, tab.archived_at or 0, phrases, inner=True) for tab in tabs)]


def _project(project: Project, blocks: list[list[AwayRow]], phrases: AwayPhrases) -> AwayRow:
    conversations = sum(len(block) - 1 for block in blocks)
    detail = phrases.folders(len(blocks), conversations)
    moment = project.archived_at or 0
    return AwayRow("project", str(project.id), visible(project.display_name), detail, moment)


def _tab(
    tab: Tab, folder: str, moment: int, phrases: AwayPhrases, *, inner: bool = False
) -> AwayRow:
    return AwayRow(
        "tab", tab.id, in_order(tab.title) or phrases.untitled, visible(folder), moment, inner
    )


def _name(workspace: Workspace) -> str:
    return workspace.display_name.casefold()
