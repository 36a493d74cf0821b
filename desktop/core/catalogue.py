"""The door to what stands beside the rows: projects, folders, conversations, drafts, settings.

All methods are coroutines that never block the loop they are awaited on. All raise StoreError (or a
subclass) when the log can't be read or written.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol

from desktop.core.chunks import Json
from desktop.core.drafts import Draft
from desktop.core.permissions import Rule
from desktop.core.records import (
    Branch,
    CatalogueView,
    Project,
    Snapshot,
    Tab,
    ViewState,
    Workspace,
)


class Catalogue(Protocol):
    """Projects, workspaces, conversations and what stands beside them."""

    async def view(self) -> CatalogueView: ...

    async def revision(self) -> int:
        """The catalogue's revision, for one who looks whether anything changed."""
        ...

    async def open_workspace(self, directory: Path) -> Workspace:
        """The workspace of exactly this folder, made with its project if it is not there yet."""
        ...

    async def scratch_workspace(self) -> Workspace: ...

    async def workspace(self, workspace_id: int) -> Workspace: ...

    async def create_project(self, directory: Path) -> Project:
        """The project of exactly this folder; the one that is there, where there is one (P01)."""
        ...

    async def create_workspace(
        self, project_id: int, directory: Path, *, kind: Literal["checkout", "worktree"]
    ) -> Workspace:
        """The folder's workspace in this project; the one that is there, where there is one.

        Raises UnknownFolder where the folder belongs to another project.
        """
        ...

    async def create_tab(
        self, workspace_id: int, *, title: str = "", parent: str | None = None
    ) -> Tab:
        """An open conversation; one of a subagent (`parent` began it) is not in the strip."""
        ...

    async def tab(self, tab_id: str) -> Tab:
        """Raises UnknownConversation."""
        ...

    async def rename_tab(self, tab_id: str, title: str) -> Tab: ...

    async def name_tab(self, tab_id: str, title: str) -> Tab:
        """A title for a conversation that has none; one that has keeps it (SPEC P04)."""
        ...

    async def set_tab_open(self, tab_id: str, *, is_open: bool) -> Tab: ...

    async def move_tabs(self, tab_ids: Sequence[str]) -> None:
        """The order of the open tabs."""
        ...

    # Archiving puts out of the way and changes nothing else: no file, no row. All of these can be
    # repeated; a second call changes nothing. What runs there is stopped by `Commands` first; where
    # another living process works, archiving and the bin are refused with LeaseHeld.

    async def refuse_elsewhere(self, tab_ids: Sequence[str]) -> None:
        """Raises LeaseHeld where another living process works in one of these."""
        ...

    async def archive_tab(self, tab_id: str) -> Tab:
        """And the conversations that its agent began from it, with the same time."""
        ...

    async def unarchive_tab(self, tab_id: str) -> Tab:
        """And those that went with it; its workspace, its project and those that it was begun
        from come back with it."""
        ...

    async def archive_workspace(self, workspace_id: int) -> Workspace:
        """And its conversations, with the same time, so that they come back together."""
        ...

    async def unarchive_workspace(self, workspace_id: int) -> Workspace:
        """And its project, and the conversations that were archived with it."""
        ...

    async def archive_project(self, project_id: int) -> Project: ...

    async def unarchive_project(self, project_id: int) -> Project: ...

    async def trash_tab(self, tab_id: str) -> Tab:
        """Into the bin: out of lists and search, every row still there (SPEC U13).

        The conversations that its agent began from it go along.
        """
        ...

    async def restore_tab(self, tab_id: str) -> Tab:
        """Out of the bin with what went in with it; a no-op where it is not in it.

        It is archived again if it was; else its workspace and its project come back with it.
        """
        ...

    async def trashed_tabs(self) -> tuple[Tab, ...]:
        """What the bin holds, the last thrown away first."""
        ...

    async def purge_tab(self, tab_id: str) -> None:
        """Deletes a conversation that is in the bin, in short transactions, for good.

        Rows that a fork reads stay, hidden, until the last such fork is gone. Can be repeated
        after a crash in its middle. Raises StoreError where it is not in the bin.
        """
        ...

    async def fork_tab(self, tab_id: str, *, at_seq: int) -> Tab:
        """A new open conversation whose log is this one's up to and with `at_seq` (0: nothing).

        Raises StoreError unless that is the end of a turn or just before a user row.
        """
        ...

    async def branches(self, tab_id: str) -> tuple[Branch, ...]:
        """Where other conversations part from this one, by seq (SPEC U19)."""
        ...

    async def snapshot(self, tab_id: str) -> Snapshot | None: ...

    async def save_snapshot(self, snapshot: Snapshot) -> None: ...

    async def rules(self, workspace_id: int) -> frozenset[Rule]: ...

    async def add_rule(self, rule: Rule) -> None: ...

    async def remove_rule(self, rule: Rule) -> None: ...

    async def settings(self) -> Mapping[str, str]: ...

    async def save_setting(self, key: str, value: str | None) -> None:
        """None takes the row away."""
        ...

    async def bookmarks(self, tab_id: str) -> frozenset[int]:
        """The seqs of the rows that are bookmarked, those that a fork shares among them."""
        ...

    async def set_bookmark(self, tab_id: str, seq: int, *, is_set: bool) -> None:
        """Sets or takes away the bookmark of a row, for all that read the row; again: a no-op."""
        ...

    async def draft(self, tab_id: str) -> Draft:
        """Of a conversation, or of `BEGINNING`, as in what saves it."""
        ...

    async def save_draft(self, tab_id: str, text: str, *, caret: int = 0) -> None:
        """What is attached stays as it was saved."""
        ...

    async def save_attachments(self, tab_id: str, attachments: Sequence[Json]) -> None:
        """What the draft has attached now, bytes and all; its text stays as it was saved."""
        ...

    async def view_state(self, tab_id: str) -> ViewState:
        """Where it was read last, in any window; following the end where nothing was saved."""
        ...

    async def save_view_state(self, tab_id: str, state: ViewState) -> None: ...
