"""What the sidebar shows, as a plain list made from metadata only (no conversation is read).

Folders by their last activity; under each its conversations by time, in the spans Today, Yesterday,
7 days, Older. A filter keeps conversations whose title or folder holds every word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from desktop.ui.marks import Mark, mark_of

if TYPE_CHECKING:
    from desktop.core.records import CatalogueView, Tab, Workspace
    from desktop.core.status import TabStatus

DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class FolderRow:
    """A workspace; `detail` is its path. Folding hides its conversations."""

    key: str
    workspace_id: int
    title: str
    detail: str
    folded: bool


@dataclass(frozen=True, slots=True)
class SpanRow:
    """A span of time inside a folder that has conversations of several."""

    key: str
    title: str


@dataclass(frozen=True, slots=True)
class ConversationRow:
    """One conversation; `moment` (ms UTC) is its last message, or its start."""

    key: str
    tab_id: str
    title: str
    moment: int
    mark: Mark
    is_open: bool


SidebarRow = FolderRow | SpanRow | ConversationRow


def sidebar_rows(
    view: CatalogueView,
    *,
    words: str,
    folded: frozenset[int],
    statuses: Mapping[str, TabStatus],
    unseen: frozenset[str],
    span_of: Callable[[int], str],
    untitled: str,
) -> tuple[SidebarRow, ...]:
    """All rows in order. `span_of` names the span of a moment in the person's day."""
    wanted = [word for word in words.casefold().split() if word]
    by_folder: dict[int, list[Tab]] = {}
    for tab in view.tabs:
        if tab.archived_at is None:
            by_folder.setdefault(tab.workspace_id, []).append(tab)
    workspaces = [one for one in view.workspaces if one.archived_at is None]
    workspaces.sort(key=lambda one: -max(map(moment_of, by_folder.get(one.id, ())), default=0))
    rows: list[SidebarRow] = []
    for workspace in workspaces:
        tabs = [
            tab
            for tab in sorted(by_folder.get(workspace.id, ()), key=moment_of, reverse=True)
            if _matches(tab, workspace, wanted)
        ]
        if wanted and not tabs:
            continue
        is_folded = workspace.id in folded and not wanted
        rows.append(
            FolderRow(
                f"w{workspace.id}",
                workspace.id,
                workspace.display_name,
                workspace.directory,
                is_folded,
            )
        )
        if is_folded:
            continue
        spans = {span_of(moment_of(tab)) for tab in tabs}
        span = ""
        for tab in tabs:
            now = span_of(moment_of(tab))
            if len(spans) > 1 and now != span:
                span = now
                rows.append(SpanRow(f"w{workspace.id}/{span}", span))
            mark = mark_of(statuses.get(tab.id), unseen=tab.id in unseen)
            rows.append(
                ConversationRow(
                    tab.id, tab.id, tab.title or untitled, moment_of(tab), mark, tab.is_open
                )
            )
    return tuple(rows)


def moment_of(tab: Tab) -> int:
    return tab.last_message_at or tab.created_at


def _matches(tab: Tab, workspace: Workspace, wanted: list[str]) -> bool:
    text = f"{tab.title} {workspace.display_name} {workspace.directory}".casefold()
    return all(word in text for word in wanted)
