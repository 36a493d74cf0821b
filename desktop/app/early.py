"""The last conversation on the screen, before the log is open and what opens it is loaded.

Imported on a thread after the first paint, before `layers`: the view's own modules and SQLite's,
nothing slow. What is made here is handed on: the whole page is made around the rows that are seen
(desktop/decisions/0058-an-early-look.md).
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from desktop import settings
from desktop.feed.hub import Hub
from desktop.feed.window import DEFAULT_LIMITS
from desktop.settings import SHOW_THINKING, TRANSCRIPT_ZOOM
from desktop.store import glimpse
from desktop.ui.composer import Composer
from desktop.ui.early_page import EarlyPage
from desktop.ui.transcript.highlight import Highlighter
from desktop.ui.transcript.markdown.renderer import MarkdownRenderer
from desktop.ui.transcript.pane import TranscriptPane

if TYPE_CHECKING:
    from desktop.core.protocols import LogReader
    from desktop.core.records import Page
    from desktop.settings import Preferences
    from desktop.store.glimpse import Glimpse
    from desktop.ui.conversation_area import ConversationArea
    from desktop.ui.tasks import Tasks
    from desktop.ui.theme import Theme


class EarlyReader:
    """A LogReader that has one page, the first that is asked for; all else waits for the log."""

    def __init__(self, first: Page) -> None:
        self._first: Page | None = first
        self._log: asyncio.Future[LogReader] = asyncio.get_running_loop().create_future()

    def hand_over(self, reader: LogReader) -> None:
        """The log is open: from now on its reader is asked."""
        self._log.set_result(reader)

    async def page(
        self,
        tab_id: str,
        *,
        limit: int,
        before: int | None = None,
        after: int | None = None,
        around: int | None = None,
    ) -> Page:
        if self._first is not None and before is None and after is None:
            first, self._first = self._first, None
            return first
        reader = await self._reader()
        return await reader.page(tab_id, limit=limit, before=before, after=after, around=around)

    async def revision(self, tab_id: str) -> int:
        return await (await self._reader()).revision(tab_id)

    async def blob_path(self, sha256: str) -> Path | None:
        return await (await self._reader()).blob_path(sha256)

    async def _reader(self) -> LogReader:
        # Who waits may be cancelled; the others go on waiting.
        return await asyncio.shield(self._log)


class Early:
    """Made on the window's thread. `hub` is that of the whole program."""

    def __init__(self, tasks: Tasks) -> None:
        self.hub = Hub()
        self._renderer = MarkdownRenderer(Highlighter(tasks.start))
        self._tasks = tasks
        self._reader: EarlyReader | None = None

    async def show(self, area: ConversationArea, seen: Glimpse, theme: Theme) -> None:
        """Returns when it is painted. Who has begun to write already is not disturbed."""
        reader = EarlyReader(seen.page)
        pane = self.make_pane(
            seen.tab_id, reader=reader, theme=theme, preferred=settings.read(seen.settings)
        )
        pane.stand_at(seen.place)
        await asyncio.sleep(0)  # no key waits for more than one of these
        page = EarlyPage(seen.tab_id, pane, Composer(theme), theme)
        await asyncio.sleep(0)
        if area.new_page.composer.text() or area.in_view is not area.new_page:
            page.deleteLater()
            return
        self._reader = reader
        area.show_early(page, seen.open_tabs)
        pane.enter()
        await pane.until_placed()

    def make_pane(
        self, tab_id: str, *, reader: LogReader, theme: Theme, preferred: Preferences
    ) -> TranscriptPane:
        """The rows of any conversation, as the person likes them."""
        pane = TranscriptPane(
            tab_id,
            theme=theme,
            reader=reader,
            hub=self.hub,
            start=self._tasks.start,
            later=asyncio.get_running_loop().call_later,
        )
        pane.set_zoom(preferred.value(TRANSCRIPT_ZOOM))
        pane.set_thinking_open(preferred.value(SHOW_THINKING))
        pane.set_renderer(self._renderer)
        return pane

    def hand_over(self, reader: LogReader) -> None:
        """The log is open."""
        if self._reader is not None:
            self._reader.hand_over(reader)


def look(database: Path, tab_id: str) -> Glimpse | None:
    """The rows that `Early.show` shows. Blocks; never raises."""
    return glimpse.read(database, tab_id, limit=DEFAULT_LIMITS.initial)
