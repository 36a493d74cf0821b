"""Reads pages and outlines wherever a conversation is kept: no view has to know where that is."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from desktop.core.errors import NacreError, StoreError
from desktop.core.outline import Piece
from desktop.core.records import Page, Requests
from desktop.core.sources import Sight
from desktop.store import jsonl_outline
from desktop.store.blobs import Blobs
from desktop.store.home_notes import Home
from desktop.store.jsonl_pages import FSJSONLPages
from desktop.store.jsonl_sources import FileSource
from desktop.store.lanes import CLOSED
from desktop.store.log import Log
from desktop.store.outline import Asked

T = TypeVar("T")

_LOG = logging.getLogger(__name__)


class Pages:
    """A LogReader, RequestReader, OutlineReader and Lookout. `is_unkept` knows the conversations of
    this process that are kept nowhere."""

    def __init__(self, log: Log, *, is_unkept: Callable[[str], bool]) -> None:
        self._log = log
        self._is_unkept = is_unkept
        self._files: dict[tuple[str, Path], FSJSONLPages] = {}
        self._sources: dict[FSJSONLPages, FileSource] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="nacre-file-reader")

    async def page(
        self,
        tab_id: str,
        *,
        limit: int,
        before: int | None = None,
        after: int | None = None,
        around: int | None = None,
    ) -> Page:
        if self._is_unkept(tab_id):
            return Page(rows=(), total=0, has_older=False, has_newer=False, revision=0)
        file = await self._file(tab_id)
        if file is None:
            return await self._log.reader.page(
                tab_id, limit=limit, before=before, after=after, around=around
            )
        return await self.on_thread(
            lambda: file.page(limit=limit, before=before, after=after, around=around)
        )

    async def piece(
        self,
        tab_id: str,
        *,
        limit: int,
        before: int | None = None,
        after: int | None = None,
        around: int | None = None,
        bookmarks: frozenset[int] = frozenset(),
        text: str = "",
    ) -> Piece:
        if self._is_unkept(tab_id):
            return Piece()
        file = await self._file(tab_id)
        if file is None:
            return await self._log.outline.piece(
                tab_id,
                limit=limit,
                before=before,
                after=after,
                around=around,
                bookmarks=bookmarks,
                text=text,
            )
        asked = Asked(limit, before, after, around, bookmarks, text)
        return await self.on_thread(lambda: jsonl_outline.read_piece(file.page, asked))

    async def requests(self, tab_id: str) -> Requests:
        if self._is_unkept(tab_id):
            return Requests()
        file = await self._file(tab_id)
        if file is None:
            return await self._log.reader.requests(tab_id)
        return await self.on_thread(file.requests)

    async def revision(self, tab_id: str) -> int:
        if self._is_unkept(tab_id):
            return 0
        file = await self._file(tab_id)
        if file is None:
            return await self._log.reader.revision(tab_id)
        return await self.on_thread(file.revision)

    async def look(self, tab_ids: Sequence[str]) -> Sight:
        """As `Lookout`: the database's own look, and the files of those that are kept as one."""
        sight = await self._log.lookout.look(tab_ids)
        if not tab_ids:
            return sight
        found = dict(sight.revisions)
        elsewhere = await self._log.homes.elsewhere()
        for one in tab_ids:
            if one in elsewhere or self._is_unkept(one):
                found.pop(one, None)  # what the database counts is not of its rows
            if one in elsewhere:
                try:
                    found[one] = await self.revision(one)
                except NacreError as error:
                    _LOG.info("a file was not looked at: %s", error.detail or error)
        return replace(sight, revisions=found)

    async def moved(self) -> int:
        """As `Lookout`. Writes into files do not count: those are found by the next look."""
        return await self._log.lookout.moved()

    async def blob_path(self, sha256: str) -> Path | None:
        found = await self._log.reader.blob_path(sha256)
        if found is not None:
            return found
        homes = (await self._log.homes.elsewhere()).values()
        kept = [Blobs(folder / "blobs") for home in set(homes) if (folder := home.folder)]
        return await self.on_thread(
            lambda: next(filter(None, (one.path(sha256) for one in kept)), None)
        )

    async def doctor(self) -> dict[str, Any]:
        """What is wrong with the conversations that are kept as files, as JSON values."""
        count = 0
        faults: dict[str, str] = {}
        for tab_id in await self._log.homes.elsewhere():
            count += 1
            try:
                file = await self._file(tab_id)
                fault = await self.on_thread(file.fault) if file is not None else ""
            except StoreError as error:
                fault = str(error)
            if fault:
                faults[tab_id] = fault
        return {"ok": not faults, "conversations": count, "faults": faults}

    async def source(self, tab_id: str) -> FileSource | None:
        """Reads one that is kept as a file, for scopes, by `on_thread`; None for others."""
        file = await self._file(tab_id)
        if file is None:
            return None
        return self._sources.setdefault(file, FileSource(file))

    def close(self) -> None:
        """Pages on their way are finished first."""
        self._thread.shutdown(wait=True)

    async def _file(self, tab_id: str) -> FSJSONLPages | None:
        """The pages of a conversation that is kept as a file; asked anew, for it may be moved."""
        home: Home = await self._log.homes.of(tab_id)
        if home.folder is None:
            return None
        key = (tab_id, home.folder)
        if key not in self._files:
            self._files[key] = FSJSONLPages(home.folder, tab_id)
        return self._files[key]

    async def on_thread(self, work: Callable[[], T]) -> T:
        """On the one thread that reads files."""
        try:
            return await asyncio.wrap_future(self._thread.submit(work))
        except RuntimeError as error:
            raise StoreError(CLOSED) from error
