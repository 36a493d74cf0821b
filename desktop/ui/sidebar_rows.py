"""What the sidebar shows, as a plain list made from metadata only (no conversation is read).

Folders by their last activity; under each its conversations by time, in the spans Today, Yesterday,
7 days, Older. Conversations that part from each other are one family: its newest stands for it, the
others are folded below. So are those of subagents, each below the one that began it. A filter
keeps conversations whose title or folder holds every word, the archived ones too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from desktop.ui.marks import Mark, mark_of
from desktop.ui.visible import in_order, visible

if TYPE_CHECKING:
    from desktop.core.records import CatalogueView, Tab, Workspace
    from desktop.core.status import TabStatus

DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class FolderRow:
    """A workspace; `detail` is its path. Folding hides its conversations. `project` is the title
    of its project where that has other folders too."""

    key: str
    workspace_id: int
    title: str
    detail: str
    folded: bool
    project_id: int = 0
    project: str = ""
    archived: bool = False


@dataclass(frozen=True, slots=True)
class SpanRow:
    """A span of time inside a folder that has conversations of several."""

    key: str
    title: str


@dataclass(frozen=True, slots=True)
class ConversationRow:
    """One conversation; `moment` (ms UTC) is its last message, or its start.

    `branch_of` is the title of the conversation it parts from, None where it parts from none;
    `inner` one stands below the newest of its family. `subagent_of` is the title of the one whose
    agent began it; `level` says how deep it stands below that.
    """

    key: str
    tab_id: str
    title: str
    moment: int
    mark: Mark
    is_open: bool
    branch_of: str | None = None
    inner: bool = False
    archived: bool = False
    subagent_of: str | None = None
    level: int = 0


@dataclass(frozen=True, slots=True)
class BranchesRow:
    """The other conversations of a family, or those of subagents; folded at first."""

    key: str
    root: str
    title: str
    folded: bool
    level: int = 0


SidebarRow = FolderRow | SpanRow | ConversationRow | BranchesRow


@dataclass(frozen=True, slots=True)
class Look:
    """How the person looks at the list: what is searched, (un)folded, in view."""

    words: str = ""
    folded: frozenset[int] = frozenset()
    unfolded: frozenset[str] = frozenset()
    current: str = ""


@dataclass(frozen=True, slots=True)
class Phrases:
    """The words of the list: `spans` names the spans of time as they are now, newest first, each
    with the moment (ms UTC) since which it lasts; the last one has no beginning."""

    spans: Callable[[], Sequence[tuple[int, str]]]
    branches: Callable[[int], str]
    subagents: Callable[[int], str]
    untitled: str


def sidebar_rows(
    view: CatalogueView,
    look: Look,
    phrases: Phrases,
    *,
    statuses: Mapping[str, TabStatus],
    unseen: frozenset[str],
) -> Iterator[SidebarRow]:
    """All rows in order, each made when it is asked for, of what is given now."""
    return _Listing(view, look, phrases, dict(statuses), unseen).rows()


def moment_of(tab: Tab) -> int:
    return tab.last_message_at or tab.created_at


class _Listing:
    """One making of the list."""

    def __init__(
        self,
        view: CatalogueView,
        look: Look,
        phrases: Phrases,
        statuses: Mapping[str, TabStatus],
        unseen: frozenset[str],
    ) -> None:
        self._view = view
        self._look = look
        self._phrases = phrases
        self._statuses = statuses
        self._unseen = unseen
        self._spans = phrases.spans()
        self._wanted = [word for word in look.words.casefold().split() if word]
        self._tabs = {tab.id: tab for tab in view.tabs}
        self._begun: dict[str, list[Tab]] = {}
        self._projects = {project.id: project.display_name for project in view.projects}

    def rows(self) -> Iterator[SidebarRow]:
        by_folder: dict[int, list[Tab]] = {}
        for tab in self._view.tabs:
            if self._wanted or tab.archived_at is None:
                by_folder.setdefault(tab.workspace_id, []).append(tab)
        listed = [one for one in self._view.workspaces if self._wanted or one.archived_at is None]
        listed.sort(key=lambda one: -max(map(moment_of, by_folder.get(one.id, ())), default=0))
        alive = [one.project_id for one in self._view.workspaces if one.archived_at is None]
        for workspace in listed:
            tabs = [
                tab for tab in by_folder.get(workspace.id, ()) if self._is_wanted(tab, workspace)
            ]
            if self._wanted and not tabs:
                continue
            folder = self._folder(workspace, shared=alive.count(workspace.project_id) > 1)
            yield folder
            if not folder.folded:
                yield from self._inside(folder, sorted(tabs, key=moment_of, reverse=True))

    def _is_wanted(self, tab: Tab, workspace: Workspace) -> bool:
        if not self._wanted:
            return True
        text = f"{tab.title} {workspace.display_name} {workspace.directory}".casefold()
        return all(word in text for word in self._wanted)

    def _folder(self, workspace: Workspace, *, shared: bool) -> FolderRow:
        return FolderRow(
            f"w{workspace.id}",
            workspace.id,
            visible(workspace.display_name),
            visible(workspace.directory),
            workspace.id in self._look.folded and not self._wanted,
            workspace.project_id,
            self._projects.get(workspace.project_id, "") if shared else "",
            workspace.archived_at is not None,
        )

    def _inside(self, folder: FolderRow, tabs: list[Tab]) -> Iterator[SidebarRow]:
        """The conversations of a folder, newest first, one family after the other."""
        families: dict[str, list[Tab]] = {}
        here = {tab.id for tab in tabs}
        self._begun.clear()
        for tab in tabs:
            if tab.parent_tab_id in here and not self._wanted:
                self._begun.setdefault(tab.parent_tab_id, []).append(tab)
                continue
            families.setdefault(tab.id if self._wanted else self._root(tab), []).append(tab)
        # They stand by time, as the spans do.
        newest = [family[0] for family in families.values()]
        has_spans = bool(newest) and self._span(newest[0]) != self._span(newest[-1])
        span = ""
        for root, family in families.items():
            if has_spans and (now := self._span(family[0])) != span:
                span = now
                yield SpanRow(f"{folder.key}/{span}", span)
            yield self._conversation(family[0])
            if family[0].id in self._begun:
                yield from self._subagents(family[0], level=1)
            if len(family) > 1:
                yield from self._branches(root, family[1:])

    def _span(self, tab: Tab) -> str:
        moment = moment_of(tab)
        for since, name in self._spans:
            if moment >= since:
                return name
        return self._spans[-1][1]

    def _root(self, tab: Tab) -> str:
        """The conversation that its family goes back to, also where that is not listed any more."""
        parent = tab.forked_from
        if parent is None:  # as nearly all
            return tab.id
        seen = {tab.id}
        root = tab.id
        while parent is not None and parent not in seen:
            seen.add(parent)
            root = parent
            known = self._tabs.get(parent)
            if known is None or known.workspace_id != tab.workspace_id:
                break
            parent = known.forked_from
        return root

    def _branches(self, root: str, others: list[Tab]) -> Iterator[SidebarRow]:
        """The rest of a family. Folded, what is in view, works or asks is shown all the same."""
        unfolded = root in self._look.unfolded
        rows = [(tab, self._conversation(tab, inner=True)) for tab in others]
        hidden = sum(not self._is_needed(row) for _, row in rows)
        if hidden:
            title = self._phrases.branches(hidden)
            yield BranchesRow(f"b{root}", root, title, not unfolded)
        for tab, row in rows:
            if unfolded or self._is_needed(row):
                yield row
                yield from self._subagents(tab, level=2)

    def _subagents(self, parent: Tab, *, level: int) -> Iterator[SidebarRow]:
        """What the agent of a conversation began, in the order it did; folded as branches are."""
        begun = sorted(self._begun.get(parent.id, ()), key=lambda one: (one.created_at, one.id))
        key = f"s{parent.id}"
        unfolded = key in self._look.unfolded
        needed = [unfolded or self._is_needed_below(tab) for tab in begun]
        hidden = sum(not self._is_needed_below(tab) for tab in begun)
        if hidden:
            yield BranchesRow(key, key, self._phrases.subagents(hidden), not unfolded, level)
        for tab, is_shown in zip(begun, needed, strict=True):
            if is_shown:
                yield self._conversation(tab, level=level)
                yield from self._subagents(tab, level=level + 1)

    def _is_needed_below(self, tab: Tab) -> bool:
        """Whether it, or one of those that it began, is shown all the same."""
        begun = self._begun.get(tab.id, ())
        return self._is_needed(self._conversation(tab)) or any(map(self._is_needed_below, begun))

    def _is_needed(self, row: ConversationRow) -> bool:
        return row.tab_id == self._look.current or row.mark in ("running", "needs-you")

    def _conversation(self, tab: Tab, *, inner: bool = False, level: int = 0) -> ConversationRow:
        parent = self._tabs.get(tab.forked_from) if tab.forked_from else None
        branch_of = None
        if tab.forked_from is not None:
            branch_of = in_order(parent.title if parent else "") or self._phrases.untitled
        above = self._tabs.get(tab.parent_tab_id) if tab.parent_tab_id else None
        return ConversationRow(
            tab.id,
            tab.id,
            in_order(tab.title) or self._phrases.untitled,
            moment_of(tab),
            mark_of(self._statuses.get(tab.id), unseen=tab.id in self._unseen),
            tab.is_open,
            branch_of,
            inner,
            tab.archived_at is not None,
            (in_order(above.title) or self._phrases.untitled) if above else None,
            level,
        )
