"""Archive and bin, carried out through the doors: what stops is asked first, all can be undone.

Nothing is ever deleted but by the two acts that say so and ask (SPEC U13). Each act offers its
Undo until the next one or until it is dismissed.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from desktop.core.errors import NacreError
from desktop.core.records import CatalogueView, Tab
from desktop.ui import asking
from desktop.ui.conversation_area import ConversationArea
from desktop.ui.doors import Doors
from desktop.ui.put_away_page import PutAwayPage, Which
from desktop.ui.put_away_rows import AwayPhrases, AwayRow, archived_rows, bin_rows
from desktop.ui.tasks import Tasks
from desktop.ui.theme import Theme
from desktop.ui.visible import in_order, visible

PROGRESS_MS = 2_000
NAMED = 5

Act = Callable[[], Coroutine[Any, Any, object]]


class PuttingAway(QObject):
    """`offered(sentence)`: the last act can be undone ("": no more). `counted(archived, binned)`:
    how much is put away. `look_wanted(tab_id)`: a conversation is to come into view."""

    offered = Signal(str)
    counted = Signal(int, int)
    look_wanted = Signal(str)

    def __init__(
        self,
        doors: Doors,
        *,
        area: ConversationArea,
        tasks: Tasks,
        theme: Callable[[], Theme],
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._doors = doors
        self._area = area
        self._tasks = tasks
        self._theme = theme
        self._window = window
        self._view = CatalogueView()
        self._trashed: tuple[Tab, ...] = ()
        self._undo: Act | None = None
        self._pages: dict[Which, PutAwayPage] = {}
        self._progress = ""
        self._purging = False
        self._stopping = False
        self._slow = QTimer(self, singleShot=True, interval=PROGRESS_MS)
        self._slow.timeout.connect(self._show_progress)
        self._phrases = AwayPhrases(
            self.tr("New conversation"), self._conversations, self._folders_words
        )

    # -- what is there ------------------------------------------------------------------------

    def show(self, view: CatalogueView) -> None:
        """The catalogue has been read; the bin follows."""
        self._view = view
        self._tasks.start(self._read_bin(), "read the bin")

    async def _read_bin(self) -> None:
        self._trashed = await self._doors.catalogue.trashed_tabs()
        self.counted.emit(len(self._rows("archived")), len(self._trashed))
        for which, page in self._pages.items():
            page.show_rows(self._rows(which))

    def _rows(self, which: Which) -> tuple[AwayRow, ...]:
        if which == "bin":
            return bin_rows(self._trashed, self._view, self._phrases)
        return archived_rows(self._view, self._phrases)

    def show_page(self, which: Which, tab_id: str = "") -> None:
        """Archived or the bin, in the place of a conversation; with this one chosen there."""
        page = self._pages.get(which) or self._make_page(which)
        page.show_rows(self._rows(which))
        page.choose(tab_id)
        self._area.show_other(page)

    def _make_page(self, which: Which) -> PutAwayPage:
        page = PutAwayPage(which, self._theme, self._area)
        page.back_wanted.connect(self._bring_back)
        page.open_wanted.connect(self.look_wanted)
        page.purge_wanted.connect(self._ask_purge)
        page.empty_wanted.connect(lambda: self._ask_purge([tab.id for tab in self._trashed]))
        page.cancel_wanted.connect(self._stop_purge)
        page.closed.connect(self._area.show_last)
        self._pages[which] = page
        return page

    # -- archive and bin ----------------------------------------------------------------------

    def archive_tab(self, tab_id: str) -> None:
        self._put_tab(tab_id, into="archived")

    def trash_tab(self, tab_id: str) -> None:
        self._put_tab(tab_id, into="bin")

    def archive_workspace(self, workspace_id: int) -> None:
        name = next(one.display_name for one in self._view.workspaces if one.id == workspace_id)
        tabs = [tab for tab in self._view.tabs if tab.workspace_id == workspace_id]
        self._start(
            self._put_folder(
                visible(name),
                tabs,
                put=lambda: self._doors.commands.archive_workspace(workspace_id),
                undo=lambda: self._doors.catalogue.unarchive_workspace(workspace_id),
            )
        )

    def unarchive_workspace(self, workspace_id: int) -> None:
        self._start(self._doors.catalogue.unarchive_workspace(workspace_id))

    def archive_project(self, project_id: int) -> None:
        name = next(one.display_name for one in self._view.projects if one.id == project_id)
        inside = {one.id for one in self._view.workspaces if one.project_id == project_id}
        tabs = [tab for tab in self._view.tabs if tab.workspace_id in inside]
        self._start(
            self._put_folder(
                visible(name),
                tabs,
                put=lambda: self._doors.commands.archive_project(project_id),
                undo=lambda: self._doors.catalogue.unarchive_project(project_id),
            )
        )

    def unarchive_tab(self, tab_id: str) -> None:
        self._start(self._doors.catalogue.unarchive_tab(tab_id))

    def undo(self) -> None:
        """Takes the last act back."""
        undo, self._undo = self._undo, None
        self.offered.emit("")
        if undo is not None:
            self._start(undo())

    def forget_undo(self) -> None:
        self._undo = None
        self.offered.emit("")

    def _put_tab(self, tab_id: str, *, into: Which) -> None:
        tab = next((one for one in self._view.tabs if one.id == tab_id), None)
        is_there = tab is not None and into == "archived" and tab.archived_at is not None
        if tab is not None and not is_there:
            self._start(self._put_tab_now(tab, into))

    async def _put_tab_now(self, tab: Tab, into: Which) -> None:
        title = self._title(tab)
        stops = self.tr("“{title}” is still working. It will be stopped; what it did is kept.")
        go = self.tr("Stop and archive") if into == "archived" else self.tr("Stop, move to bin")
        if self._works(tab) and not await self._ask(stops.format(title=title), go):
            return
        was_in_view = self._area.current is not None and self._area.current.tab_id == tab.id

        async def undo() -> None:
            if into == "bin":
                await self._doors.catalogue.restore_tab(tab.id)
            else:
                await self._doors.catalogue.unarchive_tab(tab.id)
            if was_in_view:
                self.look_wanted.emit(tab.id)

        if into == "bin":
            await self._doors.commands.trash_tab(tab.id)
            self._offer(self.tr("“{title}” is in the bin.").format(title=title), undo)
        else:
            await self._doors.commands.archive_tab(tab.id)
            self._offer(self.tr("“{title}” is archived.").format(title=title), undo)

    async def _put_folder(self, name: str, tabs: Sequence[Tab], *, put: Act, undo: Act) -> None:
        working = [self._title(tab) for tab in tabs if self._works(tab)]
        if working:
            stops = self.tr(
                "Still at work in “{name}”, and stopped by this: {titles}. What they did is kept."
            )
            words = stops.format(name=name, titles=self._named(working))
            if not await self._ask(words, self.tr("Stop and archive")):
                return
        await put()
        self._offer(self.tr("“{name}” is archived.").format(name=name), undo)

    def _offer(self, sentence: str, undo: Act) -> None:
        self._undo = undo
        self.offered.emit(sentence)

    def _bring_back(self, rows: list[AwayRow]) -> None:
        self._start(self._bring_back_now(rows))

    async def _bring_back_now(self, rows: list[AwayRow]) -> None:
        catalogue = self._doors.catalogue
        for row in rows:
            match row.kind:
                case "workspace":
                    await catalogue.unarchive_workspace(int(row.id))
                case "project":
                    await catalogue.unarchive_project(int(row.id))
                case "tab" if any(tab.id == row.id for tab in self._trashed):
                    await catalogue.restore_tab(row.id)
                case "tab":
                    await catalogue.unarchive_tab(row.id)

    # -- for good -----------------------------------------------------------------------------

    def _ask_purge(self, tab_ids: list[str]) -> None:
        tabs = [tab for tab in self._trashed if tab.id in set(tab_ids)]
        if tabs and not self._purging:
            self._purging = True
            self._start(self._purge(tabs))

    async def _purge(self, tabs: list[Tab]) -> None:
        try:
            if await self._ask(await self._what_goes(tabs), self.tr("Delete for good")):
                await self._purge_now(tabs)
        finally:
            self._purging = False

    async def _purge_now(self, tabs: list[Tab]) -> None:
        self._stopping = False
        self._slow.start()
        try:
            for number, tab in enumerate(tabs, 1):
                if self._stopping:
                    break
                self._report(number, len(tabs), self._title(tab))
                await self._doors.catalogue.purge_tab(tab.id)
        finally:
            self._slow.stop()
            self._progress = ""
            self._show_progress()
            self._tasks.start(self._read_bin(), "read the bin")

    async def _what_goes(self, tabs: list[Tab]) -> str:
        rows = 0
        for tab in tabs:
            rows += await self._own_rows(tab)
        count = self.tr("1 message or step") if rows == 1 else self.tr("{count} messages and steps")
        count = count.format(count=f"{rows:,}")
        if len(tabs) == 1:
            words = self.tr(
                "“{title}” with {count} will be deleted for good. This can't be undone.\n\n"
                "Branches that part from it keep all of their messages."
            )
            return words.format(title=self._title(tabs[0]), count=count)
        words = self.tr(
            "{number} conversations with {count} will be deleted for good: {titles}. "
            "This can't be undone.\n\nBranches that part from them keep all of their messages."
        )
        titles = self._named([self._title(tab) for tab in tabs])
        return words.format(number=f"{len(tabs):,}", count=count, titles=titles)

    async def _own_rows(self, tab: Tab) -> int:
        """How many rows go with it; what a branch reads of another stays there."""
        try:
            page = await self._doors.reader.page(tab.id, limit=1)
        except NacreError:
            # Damaged or half deleted: it can still be deleted.
            return 0
        return max(0, page.total - (tab.forked_at_seq or 0))

    def _report(self, number: int, total: int, title: str) -> None:
        words = self.tr("Deleting {number} of {total}: “{title}”")
        self._progress = words.format(number=f"{number:,}", total=f"{total:,}", title=title)
        if not self._slow.isActive():
            self._show_progress()

    def _stop_purge(self) -> None:
        """What is being deleted is finished: half a conversation is of use to nobody."""
        self._stopping = True
        self._progress = self.tr("Stops when this one is deleted")
        self._show_progress()

    def _show_progress(self) -> None:
        page = self._pages.get("bin")
        if page is not None:
            page.show_progress(self._progress)

    # -- words and questions ------------------------------------------------------------------

    def _start(self, work: Coroutine[Any, Any, object]) -> None:
        self._tasks.start(work, "put away")

    async def _ask(self, words: str, go: str) -> bool:
        choices = (("go", go), ("stay", self.tr("Cancel")))
        answer = await asking.choose(self._window, "Nacre", words, choices, escape="stay")
        return answer == "go"

    def _works(self, tab: Tab) -> bool:
        return self._doors.commands.status(tab.id).phase == "running"

    def _title(self, tab: Tab) -> str:
        return in_order(tab.title) or self.tr("New conversation")

    def _named(self, titles: Sequence[str]) -> str:
        shown = ", ".join(f"“{title}”" for title in titles[:NAMED])
        more = len(titles) - NAMED
        if more <= 0:
            return shown
        return self.tr("{titles} and {more} more").format(titles=shown, more=more)

    def _conversations(self, count: int) -> str:
        if count == 1:
            return self.tr("1 conversation")
        return self.tr("{count} conversations").format(count=f"{count:,}")

    def _folders_words(self, folders: int, conversations: int) -> str:
        words = self.tr("{folders} folders · {conversations}")
        return words.format(folders=folders, conversations=self._conversations(conversations))
