"""The search over everything, carried out: what is typed is looked for page by page (SPEC U40).

Another letter or another choice makes a look on its way void and stops it. A page that finds little
goes on by itself until it has enough to show, and says how far it is; the rest comes as one
scrolls. What is laid down after it was looked joins at the top, told by the feed.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from desktop.core.errors import NacreError
from desktop.core.protocols import Search
from desktop.core.records import EVERYTHING, CatalogueView, SearchHit, SearchPlace
from desktop.feed.hub import Hub
from desktop.feed.searching import FollowedSearch
from desktop.feed.timing import Later
from desktop.ui.conversation_area import ConversationArea
from desktop.ui.search_page import EverythingPage
from desktop.ui.tasks import Tasks
from desktop.ui.theme import Theme

PAUSE_MS = 150  # after the last letter
ENOUGH = 50  # hits that one page shows more


class Searching(QObject):
    """`open_wanted(SearchHit)`: the person chose one."""

    open_wanted = Signal(object)

    def __init__(
        self,
        search: Search,
        *,
        hub: Hub,
        area: ConversationArea,
        tasks: Tasks,
        later: Later,
        theme: Callable[[], Theme],
        now: Callable[[], datetime] = lambda: datetime.now().astimezone(),
    ) -> None:
        super().__init__(area)
        self._search = search
        self._area = area
        self._tasks = tasks
        self._theme = theme
        self._now = now
        self._followed = FollowedSearch(search, hub, self._join, start=tasks.start, later=later)
        self._view = CatalogueView()
        self._page: EverythingPage | None = None
        self._look: asyncio.Task[Any] | None = None
        self._place: SearchPlace | None = None
        self._newest = 0
        self._more = False
        self._only = EVERYTHING
        self._is_told = True
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self._go_on)

    def show(self, view: CatalogueView) -> None:
        """The catalogue is this: the folders to choose from follow, and what the conversations are
        called that something was found in. What is in none of them any more goes."""
        before, self._view = self._view, view
        page = self._page
        if page is None:
            return
        page.filters.show_folders(view)
        gone = {one.id for one in before.tabs} - {one.id for one in view.tabs}
        if page.rows.follow(view.tabs, gone=set() if self._only.in_bin else gone):
            self._tell()

    def begin(self, text: str = "") -> None:
        """The page, as it was left; with another text, that is looked for."""
        page = self._page = self._page or self._make_page()
        if text:
            page.field.setText(text)
        self._area.show_other(page)
        page.field.selectAll()

    def end(self) -> None:
        """The window is going: nothing is looked for or followed any more."""
        self._cancel()
        self._followed.end()

    def set_theme(self, theme: Theme) -> None:
        if self._page is not None:
            self._page.filters.set_theme(theme)
            self._page.list.viewport().update()

    def _make_page(self) -> EverythingPage:
        page = EverythingPage(self._theme, self._area)
        page.filters.show_folders(self._view)
        page.typed.connect(self._typed)
        page.stop_wanted.connect(self._stop)
        page.open_wanted.connect(self.open_wanted)
        page.closed.connect(self._area.show_last)
        page.rows.more_wanted.connect(self._go_on)
        page.seen.connect(self._followed.show)
        page.show_state(self._found_words(), can_stop=False)
        return page

    # -- looking --------------------------------------------------------------------------------

    @property
    def _text(self) -> str:
        return self._page.field.text() if self._page is not None else ""

    def _typed(self) -> None:
        self._cancel()
        self._followed.end()
        self._place, self._newest = None, 0
        self._more = bool(self._text.strip())
        self._is_told = not self._more
        if self._page is not None:
            self._page.rows.begin()
        if self._more:
            self._pause.start()
        self._tell()

    def _stop(self) -> None:
        """What was found stays; what was not looked at is looked at no more."""
        self._cancel()
        self._more = False
        self._tell(self.tr("Stopped. {found}").format(found=self._found_words()))

    def _cancel(self) -> None:
        self._pause.stop()
        look, self._look = self._look, None
        if look is not None:
            look.cancel()

    def _go_on(self) -> None:
        if self._page is not None:
            self._tasks.start(self._find(self._page), "search everything")

    async def _find(self, page: EverythingPage) -> None:
        """So many hits more, shown as they come; a look that is not the latest shows nothing."""
        if self._look is not None:
            return
        me = self._look = asyncio.current_task()
        problem = ""
        try:
            await self._read(page, until=page.rows.hits + ENOUGH)
        except NacreError as error:
            problem, self._more = str(error), False
            if self._place is None:
                self._followed.end()
        finally:
            if self._look is me:
                self._look = None
                self._tell(problem)

    async def _read(self, page: EverythingPage, *, until: int) -> None:
        text, only = self._text, page.filters.value(self._now())
        if self._place is None and self._more:
            self._only = only
            self._followed.begin(text, only)
        while self._more and page.rows.hits < until:
            found = await self._search.find(text, limit=ENOUGH, place=self._place, only=only)
            if self._look is not asyncio.current_task():
                return  # other words are looked for by now
            if self._place is None:
                self._followed.stand(found)
            self._place, self._more = found.next, found.next is not None
            page.filters.show_tools([hit.tool for hit in found.hits])
            page.rows.add(found.hits)
            self._newest = self._newest or (found.next.ordinal if found.next else 0)
            self._tell()
        page.rows.offer_more(self._more)

    def _join(self, hits: tuple[SearchHit, ...]) -> None:
        """These were laid down since: they stand above what was found."""
        if self._page is not None:
            self._page.rows.put_first([hit for one in hits if (hit := self._placed(one))])
            self._tell()

    def _placed(self, hit: SearchHit) -> SearchHit | None:
        """With what its conversation is called and where it is; None where it is not asked for."""
        tab = next((one for one in self._view.tabs if one.id == hit.tab_id), None)
        if tab is None:
            return hit if hit.title else None
        asked = self._only.workspace_ids
        if asked and tab.workspace_id not in asked:
            return None
        place = next((one for one in self._view.workspaces if one.id == tab.workspace_id), None)
        directory = place.directory if place is not None else ""
        return replace(hit, title=tab.title, directory=directory, shelf=tab.shelf)

    # -- words ----------------------------------------------------------------------------------

    def _tell(self, problem: str = "") -> None:
        """Where the search is; a screen reader hears it once, when there is something to say."""
        page, looks = self._page, self._look is not None or self._pause.isActive()
        if page is None:
            return
        problem = problem or str(self._followed.error or "")
        words = problem or (self._looking_words() if looks else self._found_words())
        page.show_state(words, can_stop=looks and bool(self._newest))
        if not looks and not self._is_told:
            self._is_told = True
            page.announce(words)

    def _looking_words(self) -> str:
        count = self._page.rows.hits if self._page is not None else 0
        place = self._place
        if place is None:
            return self.tr("Looking…")
        if place.file:
            words = self.tr("{count} found. Looking into conversations that are kept as files…")
            return words.format(count=f"{count:,}")
        share = 100 - 100 * place.ordinal // max(self._newest, 1)
        words = self.tr("{count} found. Looking… {share} %")
        return words.format(count=f"{count:,}", share=share)

    def _found_words(self) -> str:
        count = self._page.rows.hits if self._page is not None else 0
        if not self._text.strip():
            return self.tr("What was said, written and run, in every conversation.")
        if count:
            number = f"{count:,}+" if self._more else f"{count:,}"
            return self.tr("{number} found, the newest first.").format(number=number)
        if self._page is not None and not self._page.filters.bin.isChecked():
            return self.tr("Nothing was found. The bin was not searched.")
        return self.tr("Nothing was found.")
