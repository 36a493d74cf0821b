"""What the person does with conversations and folders, carried out through the doors.

Loaded once the log is open. Each wish is a task; its error is shown by whoever owns the tasks. The
desk changes the catalogue and brings pages into view; it decides nothing about turns.
"""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QInputDialog, QSplitter, QWidget

from desktop.core.drafts import beginning
from desktop.core.errors import InBin
from desktop.core.protocols import Unsubscribe
from desktop.core.records import CatalogueView, SearchHit, Tab, ViewState
from desktop.feed.catalogue import FollowedCatalogue
from desktop.feed.timing import Cancellable
from desktop.ui import asking, attaching, compacting
from desktop.ui.announcer import Announcer
from desktop.ui.completion import plugging
from desktop.ui.composer import Composer
from desktop.ui.conversation_area import ConversationArea
from desktop.ui.conversation_page import ConversationPage
from desktop.ui.doors import Doors
from desktop.ui.drafting import Drafting
from desktop.ui.other_windows import OtherWindows
from desktop.ui.putting_away import PuttingAway
from desktop.ui.right_side import RightSide
from desktop.ui.search_rows import found_texts
from desktop.ui.searching import Searching
from desktop.ui.tasks import Tasks
from desktop.ui.theme import Theme
from desktop.ui.welcome import WelcomePage


class Desk(QObject):
    """`loaded(CatalogueView)` after each read of the catalogue, `models_loaded(models)` when they
    are known, `reachable()` when that may have changed, `settings_wanted()` to set a key."""

    loaded = Signal(object)
    models_loaded = Signal(object)
    reachable = Signal()
    settings_wanted = Signal()

    def __init__(
        self,
        doors: Doors,
        *,
        area: ConversationArea,
        right_side: Callable[[QSplitter], RightSide],
        tasks: Tasks,
        theme: Callable[[], Theme],
        window: QWidget,
        others: OtherWindows,
    ) -> None:
        super().__init__(window)
        self.doors = doors
        self._others = others
        self.right_side = right_side
        self._area = area
        self._tasks = tasks
        self._window = window
        self._tabs: tuple[Tab, ...] = ()
        self._revision = 0
        self._closed: list[str] = []
        self._unsent: dict[int, str] = {}
        self._archived_open: set[str] = set()
        self._catalogue = FollowedCatalogue(
            doors.catalogue,
            doors.hub,
            start=tasks.start,
            later=_later,
        )
        self.putting_away = PuttingAway(doors, area=area, tasks=tasks, theme=theme, window=window)
        self.putting_away.look_wanted.connect(self.open_tab)
        self.announcer = Announcer(
            window,
            doors.hub,
            in_view=lambda: area.current.tab_id if area.current else "",
            title_of=self._title_of,
            is_front=lambda: others.is_front,
        )
        area.shown.connect(self.announcer.shown)
        self.loaded.connect(self.putting_away.show)
        plugging.for_new_page(area.new_page, doors=doors, tasks=tasks).action_wanted.connect(
            area.action_wanted
        )
        begun = area.new_page.composer
        self.new_draft = Drafting(
            beginning(others.number),
            catalogue=doors.catalogue,
            tasks=tasks,
            composer=begun,
            draft=begun.draft,
        )
        begun.draft_changed.connect(self.new_draft.save)
        self.searching = Searching(
            doors.search, hub=doors.hub, area=area, tasks=tasks, later=_later, theme=theme
        )
        self.searching.open_wanted.connect(self.open_hit)
        self.loaded.connect(self.searching.show)
        self._held = 0
        self._has_asked = False
        area.moved.connect(self._move_to)
        area.forked.connect(self._show_fork)
        area.working.connect(self._hold)
        area.unarchive_wanted.connect(self.putting_away.unarchive_tab)
        area.connect_welcome(self._make_welcome)
        area.key_wanted.connect(self._help_with_key)
        area.models_wanted.connect(self.ask_models)
        doors.unlocking.changed.connect(self.reachable)
        self.destroyed.connect(doors.access.on_change(self._key_changed))

    # -- the catalogue ------------------------------------------------------------------------

    def tab(self, tab_id: str) -> Tab | None:
        """A conversation's metadata, as last read."""
        return next((tab for tab in self._tabs if tab.id == tab_id), None)

    def _title_of(self, tab_id: str) -> str:
        tab = self.tab(tab_id)
        return tab.title if tab is not None else ""

    def open_tabs(self) -> list[Tab]:
        """The conversations of the strip in their order. An archived one only when the person
        opened it to look at it."""
        shown = [
            tab
            for tab in self._tabs
            if tab.is_open and (tab.archived_at is None or tab.id in self._archived_open)
        ]
        return sorted(shown, key=lambda tab: tab.position)

    def recent_tabs(self) -> list[Tab]:
        """The conversations that are not put away, the one with the newest message first."""
        living = [tab for tab in self._tabs if tab.archived_at is None and tab.last_message_at]
        return sorted(living, key=lambda tab: tab.last_message_at or 0, reverse=True)

    def show(self, view: CatalogueView) -> None:
        """The catalogue as it is now; a read that was overtaken shows nothing."""
        if view.revision < self._revision:
            return
        self._revision = view.revision
        self._tabs = view.tabs
        self._archived_open &= {tab.id for tab in view.tabs if tab.archived_at is not None}
        self.loaded.emit(view)

    def follow(self, view: CatalogueView) -> Unsubscribe:
        """Shows the catalogue, which was just read, and from here on what changes of it, whoever
        changes it, until the returned call."""
        return self._catalogue.follow(self._show_followed, view)

    def _show_followed(self, view: CatalogueView) -> None:
        if not self._held:
            self.show(view)

    def refresh(self) -> None:
        self._tasks.start(self._load(), "load catalogue")

    def show_models(self) -> None:
        """The models that are known. What the server has beside them is asked when it is wanted:
        the provider's library, which asks it, is a third of all that Nacre holds (SPEC U10)."""
        self._has_asked = False
        self.models_loaded.emit(self.doors.access.known_models())

    def ask_models(self) -> None:
        """Somebody chooses a model, or a request goes out: asks the server, once."""
        if not self._has_asked and self.doors.access.state().ready:
            self._has_asked = True
            self._tasks.start(self._load_models(), "load models")

    async def _load(self) -> None:
        if not self._held:
            self.show(await self._catalogue.view())

    def _hold(self, held: bool) -> None:
        """While a fork takes a place in the strip, nothing in between is shown."""
        self._held += 1 if held else -1
        if not self._held:
            self.refresh()

    async def _load_models(self) -> None:
        self.models_loaded.emit(await self.doors.access.models())

    # -- beginning ----------------------------------------------------------------------------

    def bring_back_draft(self) -> None:
        """What was being written before there was a conversation is on its page again."""
        self._tasks.start(self.new_draft.bring_back(lambda: False), "bring back what was begun")

    def begin(self, workspace_id: int, text: str, attachments: list[dict[str, Any]]) -> None:
        """Makes a conversation with its first message; id 0 is the scratch folder."""
        self._tasks.start(self._begin(workspace_id, text, attachments), "begin conversation")

    async def _begin(self, workspace_id: int, text: str, attachments: list[dict[str, Any]]) -> None:
        composer = self._area.new_page.composer
        composer.show_ready(False, self.tr("Sending…"))
        try:
            if not workspace_id:
                workspace_id = (await self.doors.catalogue.scratch_workspace()).id
            # A conversation whose first message could not go out is used for the next try.
            tab_id = self._unsent.get(workspace_id)
            if tab_id is None:
                tab_id = (await self.doors.catalogue.create_tab(workspace_id)).id
                self._unsent[workspace_id] = tab_id
            model, effort, mode = composer.choice()
            await self.doors.commands.choose(tab_id, model=model, effort=effort, mode=mode)
            await self.doors.commands.send(tab_id, text, attachments)
            del self._unsent[workspace_id]
        finally:
            self.reachable.emit()
        composer.drop_sent(text, attachments)
        await self.new_draft.keep()
        await self._load()
        self._area.show_tab(tab_id)
        page, written = self._area.current, composer.draft()
        if page is not None and (written.text or written.attachments):
            # What was written behind it meanwhile is about this conversation.
            composer.clear()
            page.composer.refill(written.text, written.attachments)
            self.new_draft.save()

    def play_tour(self) -> None:
        self._tasks.start(self._play_tour(), "play the tour")

    async def _play_tour(self) -> None:
        tab_id = await self.doors.start_tour()
        await self._load()
        self._area.show_tab(tab_id)

    def open_folder(self) -> None:
        self._tasks.start(self._open_folder(), "open folder")

    async def _open_folder(self) -> None:
        folder = await asking.choose_folder(self._window, self.tr("Open a folder to work in"))
        if folder is not None:
            await self.begin_in(folder)

    async def begin_in(self, folder: Path) -> None:
        """The page for a new conversation, in this folder. Raises UnknownFolder."""
        workspace = await self.doors.catalogue.open_workspace(folder)
        await self._load()
        self._area.show_new(workspace.id)

    def _make_welcome(self) -> WelcomePage:
        page = self.doors.welcome_page(self._window)
        page.entered.connect(self._entered)
        page.tour_wanted.connect(self.play_tour)
        return page

    def _entered(self) -> None:
        """A model can be reached now."""
        self._area.show_new()

    # -- the key ------------------------------------------------------------------------------

    def _key_changed(self) -> None:
        """Another key or server is in force, or none any more."""
        self.reachable.emit()
        self.show_models()

    def _help_with_key(self, act: str) -> None:
        """The button beside the line that says why no key can be had."""
        match act:
            case "unlock file":
                self.doors.unlocking.file(self._window)
            case "unlock keyring":
                self.doors.unlocking.keyring()
            case "cancel":
                self.doors.unlocking.cancel()
            case _:
                self.settings_wanted.emit()

    # -- open conversations -------------------------------------------------------------------

    def open_tab(self, tab_id: str) -> None:
        self._tasks.start(self._open_tab(tab_id), "open conversation")

    async def _open_tab(self, tab_id: str) -> ConversationPage | None:
        """Its page, in the window that shows it."""
        if tab_id not in self._area.strip.tab_ids():
            tab = await self.doors.catalogue.set_tab_open(tab_id, is_open=True)
            if tab.archived_at is not None:
                self._archived_open.add(tab_id)
            await self._load()
        return self._area.show_tab(tab_id)

    def open_hit(self, hit: SearchHit) -> None:
        """To what was found; what is in the bin is shown there, for it must come back first."""
        if hit.shelf == "bin":
            self.putting_away.show_page("bin", hit.tab_id)
        else:
            self._tasks.start(self._open_hit(hit), "open what was found")

    async def _open_hit(self, hit: SearchHit) -> None:
        page = await self._open_tab(hit.tab_id)
        if page is not None:
            page.finding.show_hit(hit.seq, found_texts(hit))
            page.pane.view.setFocus()

    async def go_to(self, tab_id: str, seq: int | None = None) -> None:
        """Into view, at its row of this seq if it has one. Raises UnknownConversation, InBin."""
        tab = await self.doors.catalogue.tab(tab_id)
        if tab.trashed_at is not None:
            raise InBin(tab_id)
        page = await self._open_tab(tab_id)
        if seq is None or page is None:
            return
        found = await self.doors.reader.page(tab_id, limit=1, around=seq)
        if any(row.seq == seq for row in found.rows):
            await page.pane.until_placed()
            page.pane.view.seek(seq)

    def close_tab(self, tab_id: str) -> None:
        """Hides it from the strip; the conversation and its turn go on (SPEC P06)."""
        if tab_id:
            self._closed.append(tab_id)
            self._tasks.start(self._close_tab(tab_id), "close conversation")

    async def _close_tab(self, tab_id: str) -> None:
        self._archived_open.discard(tab_id)
        await self.doors.catalogue.set_tab_open(tab_id, is_open=False)
        await self._load()

    def reopen_tab(self) -> None:
        if self._closed:
            self.open_tab(self._closed.pop())

    def move_tabs(self, tab_ids: Sequence[str]) -> None:
        self._tasks.start(self.doors.catalogue.move_tabs(tab_ids), "move tabs")

    # -- branches -----------------------------------------------------------------------------

    def _move_to(self, old: str, new: str, state: ViewState) -> None:
        other = self._others.showing(new)
        if other is not None:
            self._others.go_to(other)
            return
        self._hold(True)
        self._tasks.start(self._take_place(old, new, state), "show a branch")

    async def _take_place(self, old: str, new: str, state: ViewState) -> None:
        """One branch in the strip instead of another; the other is closed there, no more."""
        catalogue = self.doors.catalogue
        try:
            tab = await catalogue.set_tab_open(new, is_open=True)
            if tab.archived_at is not None:
                self._archived_open.add(new)
            await self._area.take_place(old, tab, state)
            await catalogue.set_tab_open(old, is_open=False)
            await catalogue.move_tabs(self._area.strip.tab_ids())
        finally:
            self._hold(False)

    def _show_fork(self, old: str, new: str) -> None:
        self._hold(True)
        self._tasks.start(self._stand_beside(old, new), "show a fork")

    async def _stand_beside(self, old: str, new: str) -> None:
        """A fork stands right after the conversation that it was made from."""
        ids = [one for one in self._area.strip.tab_ids() if one != new]
        at = ids.index(old) + 1 if old in ids else len(ids)
        try:
            await self.doors.catalogue.move_tabs([*ids[:at], new, *ids[at:]])
        finally:
            self._hold(False)
        await self._load()
        self._area.show_tab(new)

    def rename(self, tab_id: str) -> None:
        tab = self.tab(tab_id)
        if tab is not None:
            self._tasks.start(self._rename(tab), "rename conversation")

    async def _rename(self, tab: Tab) -> None:
        dialog = QInputDialog(self._window)
        dialog.setWindowTitle(self.tr("Rename conversation"))
        dialog.setLabelText(self.tr("Title"))
        dialog.setTextValue(tab.title)
        if await asking.finished(dialog) and dialog.textValue().strip():
            await self.doors.catalogue.rename_tab(tab.id, dialog.textValue().strip())

    def stop(self, tab_id: str) -> None:
        self._tasks.start(self.doors.commands.stop(tab_id), f"stop {tab_id}")

    def stop_all(self) -> None:
        """Every turn of the program, whatever is in view (SPEC U28)."""
        self._tasks.start(self.doors.commands.stop_all(), "stop everything")

    def compact(self, tab_id: str) -> None:
        if tab_id:
            asked = compacting.compact(self.doors.commands, tab_id, window=self._window)
            self._tasks.start(asked, "compact conversation")

    # -- attaching ----------------------------------------------------------------------------

    def attach(self, composer: Composer, wanted: object) -> None:
        """Attaches files, or a picture of the clipboard; asks for files where none are given."""
        self._tasks.start(self._attach(composer, wanted), "attach files")

    async def _attach(self, composer: Composer, wanted: object) -> None:
        if wanted is None:
            wanted = await asking.choose_files(self._window, self.tr("Attach files"))
        await attaching.attach(composer, wanted, self.doors.reading)


def _later(seconds: float, call: Callable[[], None]) -> Cancellable:
    return asyncio.get_running_loop().call_later(seconds, call)
