"""Finds rows wherever a conversation is kept: first in the database, then in the files.

The files are looked through one after the other, the conversation with the newest message first,
a slice a call, so that a search can be shown as it goes and stopped at any moment.
"""

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from desktop.core.chunks import LogChunk
from desktop.core.errors import StoreError
from desktop.core.records import (
    EVERYTHING,
    FoundRows,
    SearchFilter,
    SearchHit,
    SearchPage,
    SearchPlace,
    Tab,
)
from desktop.store import jsonl_search, search, search_query
from desktop.store.jsonl_search import Sought
from desktop.store.lanes import CLOSED
from desktop.store.log import Log
from desktop.store.searching_within import Wanted

T = TypeVar("T")

_END = -1  # as a file's ordinal: from its end


@dataclass(frozen=True, slots=True)
class FileOf:
    """A conversation that is kept as a file, and the folder that it works in."""

    tab: Tab
    path: Path
    directory: str


class Finder:
    """A Search. `report` gets a sentence about each file that can't be looked at."""

    def __init__(self, log: Log, *, report: Callable[[str], None]) -> None:
        self._log = log
        self._report = report
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="nacre-file-search")

    async def find(
        self,
        text: str,
        *,
        limit: int,
        place: SearchPlace | None = None,
        only: SearchFilter = EVERYTHING,
    ) -> SearchPage:
        query = search_query.parse(text)
        if not query.words or limit < 1:
            return SearchPage()
        if place is None or not place.file:
            page = await self._log.search.find(text, limit=limit, place=place, only=only)
            if page.next is not None:
                return page
            return replace(page, next=_first(await self.files(only)))
        stop = threading.Event()
        sought = Sought(query, limit, only, stopped=stop.is_set)
        try:
            return await self._look(sought, place, await self.files(only))
        finally:
            stop.set()  # of one that was cancelled

    async def newest(self) -> int:
        return await self._log.search.newest()

    async def among(
        self, rows: Sequence[tuple[int, LogChunk]], text: str, *, only: SearchFilter = EVERYTHING
    ) -> tuple[SearchHit, ...]:
        return await self._log.search.among(rows, text, only=only)

    async def within(self, tab_id: str, text: str, *, place: int | None = None) -> FoundRows:
        home = (await self._log.homes.elsewhere()).get(tab_id)
        if home is None or home.folder is None:
            return await self._log.search.within(tab_id, text, place=place)
        wanted = Wanted.of(text)
        if wanted is None:
            return FoundRows()
        path = home.folder / f"{tab_id}.jsonl"
        return await self._run(
            partial(jsonl_search.look_within, path, tab_id, wanted, before=place)
        )

    async def files(self, only: SearchFilter = EVERYTHING) -> Sequence[FileOf]:
        """The conversations that are kept as files, the one with the newest message first."""
        homes = await self._log.homes.elsewhere()
        if not homes:
            return ()
        view = await self._log.catalogue.view()
        directories = {one.id: one.directory for one in view.workspaces}
        binned = await self._log.catalogue.trashed_tabs() if only.in_bin else ()
        asked = only.workspace_ids or directories
        tabs = [
            tab for tab in (*view.tabs, *binned) if tab.id in homes and tab.workspace_id in asked
        ]
        tabs.sort(key=lambda tab: (tab.last_message_at or tab.created_at, tab.id), reverse=True)
        return [
            FileOf(tab, folder / f"{tab.id}.jsonl", directories.get(tab.workspace_id, ""))
            for tab in tabs
            if (folder := homes[tab.id].folder) is not None
        ]

    def close(self) -> None:
        """A look on its way is finished first."""
        self._thread.shutdown(wait=True)

    async def _look(
        self, sought: Sought, place: SearchPlace, files: Sequence[FileOf]
    ) -> SearchPage:
        at = next((n for n, one in enumerate(files) if one.tab.id == place.file), None)
        if at is None:
            return SearchPage()
        file, after = files[at], _first(files[at + 1 :])
        before = None if place.ordinal == _END else place.ordinal
        look = partial(jsonl_search.look, file.path, file.tab.id, sought, before=before)
        try:
            hits = await self._run(look)
        except StoreError as error:
            self._report(f"“{file.tab.title or file.tab.id}” was not looked at: {error}")
            return SearchPage(next=after)
        return SearchPage(
            tuple(
                replace(
                    search.hit_of(row, found),
                    tab_id=file.tab.id,
                    title=file.tab.title,
                    directory=file.directory,
                    shelf=file.tab.shelf,
                )
                for row, found in hits.found
            ),
            after if hits.before is None else SearchPlace(hits.before, file=file.tab.id),
        )

    async def _run(self, look: Callable[[], T]) -> T:
        try:
            return await asyncio.wrap_future(self._thread.submit(look))
        except RuntimeError as error:
            raise StoreError(CLOSED) from error


def _first(files: Sequence[FileOf]) -> SearchPlace | None:
    return SearchPlace(_END, file=files[0].tab.id) if files else None
