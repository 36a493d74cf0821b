"""The window: sidebar, conversations, menus. It comes up empty-handed and gets its doors later.

It joins its parts and shows what is; what the person wants with conversations is the desk's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QMainWindow,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from desktop.settings import (
    EFFORT,
    MODEL,
    PERMISSION_MODE,
    SEND_KEY,
    SHOW_THINKING,
    TRANSCRIPT_ZOOM,
)
from desktop.ui.banner import Banner
from desktop.ui.beginning import Beginning
from desktop.ui.conversation_area import ConversationArea
from desktop.ui.menu_key import hear_menu_key
from desktop.ui.notice_bar import NoticeBar
from desktop.ui.preferences import LivePreferences
from desktop.ui.sidebar import Sidebar
from desktop.ui.tasks import Tasks
from desktop.ui.theme import Theme
from desktop.ui.visible import in_order
from desktop.ui.window_acts import Slots, WindowActs
from desktop.ui.window_cache import WindowCache

if TYPE_CHECKING:
    from PySide6.QtGui import QAction
    from PySide6.QtWidgets import QMenu

    from desktop.core.model import ModelInfo
    from desktop.core.protocols import Unsubscribe
    from desktop.core.records import CatalogueView, Receipt
    from desktop.core.reducer import BlockOp
    from desktop.core.status import TabStatus
    from desktop.ui.conversation_area import MakePage
    from desktop.ui.desk import Desk
    from desktop.ui.other_windows import OtherWindows
    from desktop.ui.putting_away import PuttingAway

FillMenus = Callable[["MainWindow", dict[str, "QMenu"], Slots], dict[str, "QAction"]]

_OF_SCREEN = 0.95  # the rest is for the frame
MENUS = ("File", "Edit", "View", "Conversation", "Go", "Help")


class MainWindow(QMainWindow):
    """`close_wanted` when the person closes the window, `quit_wanted` to end the program: the root
    decides how it ends. `window_wanted(tab_id)`: another window, with this conversation if one is
    named. `diagnostics_wanted` also while the log is not open."""

    close_wanted = Signal()
    quit_wanted = Signal()
    window_wanted = Signal(str)
    diagnostics_wanted = Signal()

    def __init__(
        self,
        *,
        theme: Theme,
        tasks: Tasks,
        preferences: LivePreferences,
        cache: WindowCache,
    ) -> None:
        super().__init__()
        self.setObjectName("mainWindow")
        self.setWindowTitle("Nacre")
        self._theme = theme
        self._tasks = tasks
        self._preferences = preferences
        self._cache = cache
        self.number = cache.number
        self._desk: Desk | None = None
        self._unsubscribes: list[Unsubscribe] = []
        self._unseen: frozenset[str] = frozenset()
        self._has_begun = False
        self._may_close = False
        self.banner = Banner(theme, self)
        self.sidebar = Sidebar(theme, self)
        self.area = ConversationArea(theme, self)
        self.undo_bar = NoticeBar(
            theme, name="undoBar", act=self.tr("Undo"), closable=True, parent=self
        )
        self._build()
        # Still empty: what is seen of the menus before one is opened.
        self._menus = {
            # Alt and the first letter; all differ.
            name: self.menuBar().addMenu(f"&{self.tr(name)}")
            for name in MENUS
        }
        self._acts = WindowActs(
            self,
            area=self.area,
            sidebar=self.sidebar,
            splitter=self._splitter,
            preferences=preferences,
            desk=lambda: self._desk,
            undo_bar=self.undo_bar,
            own={
                "settings": self._settings,
                "diagnostics": self.diagnostics_wanted.emit,
                "new_window": lambda: self.window_wanted.emit(""),
                "quit": self.quit_wanted.emit,
            },
        )
        self._beginning = Beginning(self.area, preferences, lambda: self._desk)
        self._wire()
        self._restore()
        self._beginning.show_ready()
        # Who types at once writes a message.
        self.area.new_page.composer.field.setFocus()

    # -- for the root -------------------------------------------------------------------------

    def complete(self, fill_menus: FillMenus) -> Mapping[str, QAction]:
        """The window has been painted: its menus get their actions, which are returned by name."""
        self._acts.actions = fill_menus(self, self._menus, self._acts.slots())
        hear_menu_key(self)
        menu = self._menus["Conversation"]
        menu.aboutToShow.connect(self._acts.offer_ways)
        # Their keys are heard while the menu is closed; with nothing to do they do nothing.
        menu.aboutToHide.connect(self._acts.hear_ways)
        # At large fonts the buttons of the sidebar want more; to ask them lays them out.
        least = max(self.sidebar.minimumWidth(), self.sidebar.minimumSizeHint().width())
        self.sidebar.setMinimumWidth(least)
        return self._acts.actions

    def connect_desk(
        self,
        desk: Desk,
        make_page: MakePage,
        view: CatalogueView,
        scratch: Path,
        *,
        others: OtherWindows,
    ) -> None:
        """Everything is loaded: shows what is there and lets the person act."""
        self._desk = desk
        self.number = others.number
        self._scratch = scratch
        self.area.connect_pages(make_page, others)
        for action in self._acts.actions.values():
            action.setEnabled(True)
        self._list = desk.doors.conversation_list(self.sidebar)
        self.sidebar.connect_list(self._list)
        self._unsubscribes.append(desk.doors.hub.subscribe(self))
        for status in desk.doors.hub.statuses:
            self.status(status)
        self._unsubscribes.append(desk.doors.hub.subscribe(desk.announcer))
        self._wire_desk(desk)
        self._unsubscribes.append(desk.follow(view))

    def begin(self, desk: Desk, *, is_first: bool) -> None:
        """Shows what is to be in view. The first window of a start goes on where the last ended."""
        self._has_begun = True
        if is_first:
            self._beginning.begin_with(desk, self._cache.current_tab)
        elif self._cache.current_tab:
            desk.open_tab(self._cache.current_tab)
        else:
            self.area.show_new()
        self._beginning.show_ready()
        if self._cache.right_pane:
            self._acts.right_side(desk).open(self._cache.right_pane)
        desk.show_models()
        desk.bring_back_draft()

    @property
    def desk(self) -> Desk | None:
        """None until everything is loaded."""
        return self._desk

    def say(self, sentence: str, detail: str = "") -> None:
        """A message over the whole window."""
        self.banner.say(sentence, detail)

    def stand(self, key: str, sentence: str, detail: str = "") -> None:
        """A notice that stays until the person closes it, or it is taken away by an empty one."""
        self.banner.stand(key, sentence, detail)

    def show_bar(self, bar: QWidget) -> None:
        """A line over everything that is in the window."""
        self._column.insertWidget(0, bar)

    def show_theme(self, theme: Theme) -> None:
        """The application has been dressed anew; what paints itself follows."""
        self._theme = theme
        self.sidebar.set_theme(theme)
        self.area.new_page.composer.set_theme(theme)
        if self._desk is not None:
            self._desk.searching.set_theme(theme)
        for page in self.area.pages():
            page.set_theme(theme)
        if self.area.early is not None:
            self.area.early.set_theme(theme)

    async def settled(self) -> None:
        """Returns when what the person looks at is loaded and painted."""
        while not self._is_settled():  # noqa: ASYNC110 (many signals end it; the self-test waits)
            await asyncio.sleep(0.02)

    def _is_settled(self) -> bool:
        if self._desk is None:
            return bool(self.banner.message)
        if not self._has_begun or self._beginning.awaits_key:
            return False
        page = self.area.current
        return page is None or (page.pane.loaded and page.pane.rendered)

    def state(self) -> WindowCache:
        """What the next start wants to know before anything is loaded."""
        return WindowCache(
            geometry=bytes(self.saveGeometry().toBase64().data()).decode("ascii"),
            sidebar=self.sidebar.width(),
            sidebar_hidden=self.sidebar.isHidden(),
            theme=self._cache.theme,
            font_scale=self._cache.font_scale,
            # Before anything is loaded nothing was chosen either.
            current_tab=self.area.current_id if self._desk else self._cache.current_tab,
            right_pane=self._acts.right.width if self._acts.right is not None else 0,
            number=self.number,
        )

    async def end(self) -> None:
        """The root has decided: keeps what was being written and closes for good. Raises StoreError
        at the end when not all of it could be kept."""
        self._may_close = True
        self.close()
        for unsubscribe in self._unsubscribes:
            unsubscribe()
        try:
            await self.area.close_pages()
        finally:
            if self._desk is not None:
                self._desk.searching.end()
                await self._desk.new_draft.keep()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._may_close:
            event.accept()
            return
        event.ignore()
        self.close_wanted.emit()

    # -- heard from the feed ------------------------------------------------------------------

    def receipt(self, receipt: Receipt) -> None:
        """A conversation that is not in view got rows: it is marked until it is looked at."""
        current = self.area.current
        if current is None or current.tab_id != receipt.tab_id:
            self._unseen |= {receipt.tab_id}
            self._list.show_unseen(self._unseen)

    def live(self, tab_id: str, op: BlockOp) -> None:
        """The pages hear these themselves."""

    def status(self, status: TabStatus) -> None:
        self._list.show_status(status)
        self.area.show_status(status)
        if self._desk is not None and status.phase == "running":
            self._desk.ask_models()

    # -- showing ------------------------------------------------------------------------------

    def _show_view(self, view: CatalogueView) -> None:
        self._list.show_catalogue(view)
        self.area.show_workspaces(view, self._scratch)
        if self._desk is not None:
            self.area.show_tabs(self._desk.open_tabs())
        if self.area.current is not None:
            self.area.current.refresh()
        self._show_title()

    def _show_models(self, models: Sequence[ModelInfo]) -> None:
        self.area.show_models(models)
        self._beginning.show_choice()

    def _shown(self, tab_id: str) -> None:
        self._unseen -= {tab_id}
        if self.sidebar.conversations is not None:
            self._list.show_unseen(self._unseen)
            self._list.show_current(tab_id)
        self._show_title()

    def _show_title(self) -> None:
        current = self.area.current
        tab = self._desk.tab(current.tab_id) if current and self._desk else None
        self.setWindowTitle(f"{in_order(tab.title)} – Nacre" if tab and tab.title else "Nacre")

    def _preference_changed(self, key: str) -> None:
        if key in (MODEL.key, EFFORT.key, PERMISSION_MODE.key):
            self._beginning.show_choice()
        if key == SEND_KEY.key:
            with_ctrl = self._preferences.value(SEND_KEY) == "ctrl-enter"
            for composer in (self.area.new_page.composer, *(p.composer for p in self.area.pages())):
                composer.field.send_with_ctrl = with_ctrl
        if key == SHOW_THINKING.key:
            for page in self.area.pages():
                page.pane.set_thinking_open(self._preferences.value(SHOW_THINKING))
        if key == TRANSCRIPT_ZOOM.key:
            for page in self.area.pages():
                page.pane.set_zoom(self._preferences.value(TRANSCRIPT_ZOOM))

    def _settings(self) -> None:
        if self._desk is None:
            return
        self._desk.doors.settings_dialog(self).open()

    # -- building -----------------------------------------------------------------------------

    def _build(self) -> None:
        self._splitter = QSplitter(Qt.Orientation.Horizontal, self)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.setHandleWidth(self._theme.measures.hairline)
        self._splitter.addWidget(self.sidebar)
        self._splitter.addWidget(self.area)
        self._splitter.setStretchFactor(1, 1)
        self.sidebar.setMinimumWidth(self._theme.measures.sidebar * 2 // 3)
        self.area.setMinimumWidth(self._theme.column // 2)
        holder = QWidget(self)
        self._column = column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.banner)
        column.addWidget(self._splitter, 1)
        column.addWidget(self.undo_bar)
        self.setCentralWidget(holder)

    def _restore(self) -> None:
        measures = self._theme.measures
        geometry = self._cache.geometry_bytes()
        if not geometry or not self.restoreGeometry(
            QByteArray.fromBase64(self._cache.geometry.encode("ascii"))
        ):
            # On a small or a magnified screen no part of it may be off the edge.
            wanted = QSize(measures.window_width, measures.window_height)
            self.resize(wanted.boundedTo(self.screen().availableSize() * _OF_SCREEN))
        width = self._cache.sidebar or measures.sidebar
        self._splitter.setSizes([width, max(1, self.width() - width)])
        self.sidebar.setVisible(not self._cache.sidebar_hidden)

    def _wire(self) -> None:
        self._preferences.changed.connect(self._preference_changed)
        self.sidebar.new_wanted.connect(self.area.show_new)
        self.area.shown.connect(self._shown)

    def _wire_desk(self, desk: Desk) -> None:
        """The parts' wishes go to the desk from now on."""
        desk.loaded.connect(self._show_view)
        desk.models_loaded.connect(self._show_models)
        desk.reachable.connect(self._beginning.show_reachable)
        desk.settings_wanted.connect(self._settings)
        self._list.open_wanted.connect(desk.open_tab)
        self._list.window_wanted.connect(self.window_wanted)
        self._list.rename_wanted.connect(desk.rename)
        self._list.stop_wanted.connect(desk.stop)
        self._list.stop_all_wanted.connect(desk.stop_all)
        self.area.open_wanted.connect(desk.open_tab)
        self.area.action_wanted.connect(lambda name: self._acts.actions[name].trigger())
        self._wire_putting_away(desk.putting_away)
        self.sidebar.search_wanted.connect(desk.searching.begin)
        self.sidebar.folder_wanted.connect(desk.open_folder)
        self.area.closed.connect(desk.close_tab)
        self.area.reordered.connect(desk.move_tabs)
        self.area.attach_wanted.connect(desk.attach)
        self.area.new_page.begin_wanted.connect(desk.begin)
        self.area.new_page.folder_wanted.connect(desk.open_folder)

    def _wire_putting_away(self, away: PuttingAway) -> None:
        self._list.archive_wanted.connect(away.archive_tab)
        self._list.unarchive_wanted.connect(away.unarchive_tab)
        self._list.trash_wanted.connect(away.trash_tab)
        self._list.archive_folder_wanted.connect(away.archive_workspace)
        self._list.unarchive_folder_wanted.connect(away.unarchive_workspace)
        self._list.archive_project_wanted.connect(away.archive_project)
        self.sidebar.archived_wanted.connect(lambda: away.show_page("archived"))
        self.sidebar.bin_wanted.connect(lambda: away.show_page("bin"))
        away.counted.connect(self.sidebar.show_put_away)
        away.offered.connect(self.undo_bar.say)
        self.undo_bar.acted.connect(away.undo)
        self.undo_bar.dismissed.connect(away.forget_undo)
