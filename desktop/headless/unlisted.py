"""The catalogue of a process whose conversations leave no trace (SPEC S06).

A conversation that is begun here is in memory alone: neither its title nor what it is set to gets
into the database, and it is in nobody's list. Folders, settings and rules are those of the real
catalogue.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from desktop.core.catalogue import Catalogue
from desktop.core.records import Snapshot, Tab


class Unlisted:
    """A Catalogue, by what it does itself and by what it hands on to `kept`."""

    def __init__(
        self, kept: Catalogue, *, new_id: Callable[[], str], now_ms: Callable[[], int]
    ) -> None:
        self._kept = kept
        self._new_id = new_id
        self._now_ms = now_ms
        self._tabs: dict[str, Tab] = {}
        self._snapshots: dict[str, Snapshot] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kept, name)

    async def create_tab(
        self, workspace_id: int, *, title: str = "", parent: str | None = None
    ) -> Tab:
        await self._kept.workspace(workspace_id)
        tab = Tab(
            self._new_id(),
            workspace_id,
            title,
            0,
            is_open=False,
            created_at=self._now_ms(),
            parent_tab_id=parent,
        )
        self._tabs[tab.id] = tab
        return tab

    async def tab(self, tab_id: str) -> Tab:
        return self._tabs.get(tab_id) or await self._kept.tab(tab_id)

    async def rename_tab(self, tab_id: str, title: str) -> Tab:
        if tab_id not in self._tabs:
            return await self._kept.rename_tab(tab_id, title)
        self._tabs[tab_id] = replace(self._tabs[tab_id], title=title)
        return self._tabs[tab_id]

    async def name_tab(self, tab_id: str, title: str) -> Tab:
        if tab_id not in self._tabs:
            return await self._kept.name_tab(tab_id, title)
        tab = self._tabs[tab_id]
        return tab if tab.title else await self.rename_tab(tab_id, title)

    async def snapshot(self, tab_id: str) -> Snapshot | None:
        if tab_id not in self._tabs:
            return await self._kept.snapshot(tab_id)
        return self._snapshots.get(tab_id)

    async def save_snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.tab_id not in self._tabs:
            await self._kept.save_snapshot(snapshot)
        else:
            self._snapshots[snapshot.tab_id] = snapshot
