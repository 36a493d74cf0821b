"""The window: sidebar, conversations, menus. It comes up empty-handed and gets its doors later.

What it does is to carry out what the parts ask for, through the doors; it holds no rules.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QByteArray, Qt, Signal
from PySide6.QtGui import QCloseEvent, QGuiApplication
from PySide6.QtWidgets import (
    QApplication,
    QInputDialog,
    QMainWindow,
    QMessageBox,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from desktop.core.errors import NacreError
from desktop.settings import (
    EFFORT,
    MODEL,
    PERMISSION_MODE,
    SEND_KEY,
    SHOW_THINKING,
    TRANSCRIPT_ZOOM,
)
from desktop.ui import asking
from desktop.ui.actions import build_menus, shortcut_lines
from desktop.ui.attaching import read_attachment
from desktop.ui.banner import Banner
from desktop.ui.conversation_area import ConversationArea
from desktop.ui.preferences import LivePreferences
from desktop.ui.sidebar import Sidebar
from desktop.ui.tasks import Tasks
from desktop.ui.theme import Theme
from desktop.ui.window_cache import WindowCache

if TYPE_CHECKING:
    from desktop.core.protocols import Unsubscribe
    from desktop.core.records import CatalogueView, Receipt, Tab
    from desktop.core.reducer import BlockOp
    from desktop.core.status import TabStatus
    from desktop.ui.conversation_area import MakePage
    from desktop.ui.doors import Doors
    from desktop.ui.welcome import WelcomePage

ZOOM_STEP = 10


class MainWindow(QMainWindow):
    """`close_wanted` when the person closes the window or quits: the root decides how it ends."""

    close_wanted = Signal()

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
        self._doors: Doors | None = None
        self._unsubscribes: list[Unsubscribe] = []
        self._tabs: tuple[Tab, ...] = ()
        self._closed_tabs: list[str] = []
        self._unseen: frozenset[str] = frozenset()
        self._may_close = False
        self.banner = Banner(theme, self)
        self.sidebar = Sidebar(theme, self)
        self.area = ConversationArea(theme, self)
        self._build()
        self._actions = build_menus(self, self._slots())
        self._wire()
        self._restore()
        self._show_new_ready()

    # -- for the root -------------------------------------------------------------------------

    def connect_doors(
        self, doors: Doors, make_page: MakePage, view: CatalogueView, scratch: Path
    ) -> None:
        """Everything is loaded: shows what is there and lets the person act."""
        self._doors = doors
        self._scratch = scratch
        self.area.connect_pages(make_page)
        self.area.connect_welcome(self._make_welcome)
        for action in self._actions.values():
            action.setEnabled(True)
        self._unsubscribes.append(doors.hub.subscribe(self))
        self._unsubscribes.append(doors.hub.on_catalogue(self._refresh))
        self._show_view(view)
        self._begin_with(view)
        self._show_new_ready()
        self._tasks.start(self._load_models(doors), "load models")

    def say(self, sentence: str, detail: str = "") -> None:
        """A message over the whole window."""
        self.banner.say(sentence, detail)

    def show_theme(self, theme: Theme) -> None:
        """The application has been dressed anew; what paints itself follows."""
        self._theme = theme
        self.sidebar.set_theme(theme)
        self.area.new_page.composer.set_theme(theme)
        for page in self.area.pages():
            page.set_theme(theme)

    async def settled(self) -> None:
        """Returns when what the person looks at is loaded and painted."""
        while not self._is_settled():  # noqa: ASYNC110 (many signals end it; the self-test waits)
            await asyncio.sleep(0.02)

    def _is_settled(self) -> bool:
        if self._doors is None:
            return self.banner.isVisible()
        page = self.area.current
        return page is None or (page.pane.loaded and page.pane.rendered)

    def state(self) -> WindowCache:
        """What the next start wants to know before anything is loaded."""
        current = self.area.current
        return WindowCache(
            geometry=bytes(self.saveGeometry().toBase64().data()).decode("ascii"),
            sidebar=self.sidebar.width(),
            sidebar_hidden=self.sidebar.isHidden(),
            theme=self._cache.theme,
            font_scale=self._cache.font_scale,
            current_tab=current.tab_id if current else "",
        )

    async def end(self) -> None:
        """The root has decided: keeps what was being written and closes for good."""
        self._may_close = True
        self.close()
        for unsubscribe in self._unsubscribes:
            unsubscribe()
        await self.area.close_pages()

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
            self.sidebar.show_unseen(self._unseen)

    def live(self, tab_id: str, op: BlockOp) -> None:
        """The pages hear these themselves."""

    def status(self, status: TabStatus) -> None:
        self.sidebar.show_status(status)
        self.area.show_status(status)

    # -- catalogue ----------------------------------------------------------------------------

    def _refresh(self) -> None:
        if self._doors is not None:
            self._tasks.start(self._load_view(self._doors), "load catalogue")

    async def _load_view(self, doors: Doors) -> None:
        self._show_view(await doors.catalogue.view())

    def _show_view(self, view: CatalogueView) -> None:
        self._tabs = view.tabs
        self.sidebar.show_catalogue(view)
        self.area.show_workspaces(view, self._scratch)
        open_tabs = [tab for tab in view.tabs if tab.is_open and tab.archived_at is None]
        self.area.show_tabs(sorted(open_tabs, key=lambda tab: tab.position))
        self._show_title()

    def _begin_with(self, view: CatalogueView) -> None:
        """The last conversation, unless the person has begun to write already."""
        doors = self._doors
        composer = self.area.composer
        if doors is None or (composer is not None and composer.text()):
            return
        open_ids = self.area.strip.tab_ids()
        if self._cache.current_tab in open_ids:
            self.area.show_tab(self._cache.current_tab)
        elif open_ids:
            self.area.show_tab(open_ids[0])
        elif not doors.access.state().ready:
            self.area.show_welcome()

    async def _load_models(self, doors: Doors) -> None:
        self.area.show_models(await doors.access.models())
        self._show_new_choice()

    # -- conversations ------------------------------------------------------------------------

    def _begin(self, workspace_id: int, text: str, attachments: list[dict[str, Any]]) -> None:
        if self._doors is not None:
            self._tasks.start(
                self._begin_now(self._doors, workspace_id, text, attachments), "begin conversation"
            )

    async def _begin_now(
        self, doors: Doors, workspace_id: int, text: str, attachments: list[dict[str, Any]]
    ) -> None:
        composer = self.area.new_page.composer
        composer.show_ready(False, self.tr("Sending…"))
        try:
            if not workspace_id:
                workspace_id = (await doors.catalogue.scratch_workspace()).id
            tab = await doors.catalogue.create_tab(workspace_id)
            model, effort, mode = composer.choice()
            await doors.commands.choose(tab.id, model=model, effort=effort, mode=mode)
            await doors.commands.send(tab.id, text, attachments)
        except NacreError as error:
            self.say(str(error), error.detail)
            return
        finally:
            self._show_new_ready()
        if composer.text() == text:
            composer.clear()
        await self._load_view(doors)
        self.area.show_tab(tab.id)

    def _open_tab(self, tab_id: str) -> None:
        if self._doors is not None:
            self._tasks.start(self._open_tab_now(self._doors, tab_id), "open conversation")

    async def _open_tab_now(self, doors: Doors, tab_id: str) -> None:
        if tab_id not in self.area.strip.tab_ids():
            await doors.catalogue.set_tab_open(tab_id, is_open=True)
            await self._load_view(doors)
        self.area.show_tab(tab_id)

    def _close_tab(self, tab_id: str) -> None:
        """Hides it from the strip; the conversation and its turn go on (SPEC P06)."""
        if self._doors is not None and tab_id:
            self._closed_tabs.append(tab_id)
            self._tasks.start(self._close_tab_now(self._doors, tab_id), "close conversation")

    async def _close_tab_now(self, doors: Doors, tab_id: str) -> None:
        await doors.catalogue.set_tab_open(tab_id, is_open=False)
        await self._load_view(doors)

    def _reopen_tab(self) -> None:
        if self._closed_tabs:
            self._open_tab(self._closed_tabs.pop())

    def _move_tabs(self, tab_ids: Sequence[str]) -> None:
        if self._doors is not None:
            self._tasks.start(self._doors.catalogue.move_tabs(tab_ids), "move tabs")

    def _rename(self, tab_id: str = "") -> None:
        tab = self._tab(tab_id or (self.area.current.tab_id if self.area.current else ""))
        if self._doors is not None and tab is not None:
            self._tasks.start(self._rename_now(self._doors, tab), "rename conversation")

    async def _rename_now(self, doors: Doors, tab: Tab) -> None:
        dialog = QInputDialog(self)
        dialog.setWindowTitle(self.tr("Rename conversation"))
        dialog.setLabelText(self.tr("Title"))
        dialog.setTextValue(tab.title)
        if await asking.finished(dialog) and dialog.textValue().strip():
            await doors.catalogue.rename_tab(tab.id, dialog.textValue().strip())

    def _tab(self, tab_id: str) -> Tab | None:
        return next((tab for tab in self._tabs if tab.id == tab_id), None)

    def _open_folder(self) -> None:
        if self._doors is not None:
            self._tasks.start(self._open_folder_now(self._doors), "open folder")

    async def _open_folder_now(self, doors: Doors) -> None:
        folder = await asking.choose_folder(self, self.tr("Open a folder to work in"))
        if folder is None:
            return
        workspace = await doors.catalogue.open_workspace(folder)
        await self._load_view(doors)
        self.area.show_new(workspace.id)

    def _attach(self, composer: Any) -> None:
        self._tasks.start(self._attach_now(composer), "attach a file")

    async def _attach_now(self, composer: Any) -> None:
        path = await asking.choose_file(self, self.tr("Attach a text file"))
        if path is not None:
            composer.attach(path.name, await read_attachment(path))

    def _play_tour(self) -> None:
        if self._doors is not None:
            self._tasks.start(self._play_tour_now(self._doors), "play the tour")

    async def _play_tour_now(self, doors: Doors) -> None:
        tab_id = await doors.start_tour()
        await self._load_view(doors)
        self.area.show_tab(tab_id)

    def _entered(self) -> None:
        """A model can be reached now."""
        if self._doors is not None:
            self._show_new_ready()
            self.area.show_new()
            self._tasks.start(self._load_models(self._doors), "load models")

    def _make_welcome(self) -> WelcomePage | None:
        if self._doors is None:
            return None
        page = self._doors.welcome_page(self)
        page.entered.connect(self._entered)
        page.tour_wanted.connect(self._play_tour)
        return page

    # -- showing ------------------------------------------------------------------------------

    def _shown(self, tab_id: str) -> None:
        self._unseen -= {tab_id}
        self.sidebar.show_unseen(self._unseen)
        self.sidebar.show_current(tab_id)
        self._show_title()

    def _show_title(self) -> None:
        current = self.area.current
        tab = self._tab(current.tab_id) if current else None
        self.setWindowTitle(f"{tab.title} – Nacre" if tab and tab.title else "Nacre")

    def _show_new_ready(self) -> None:
        composer = self.area.new_page.composer
        if self._doors is None:
            composer.show_ready(False, self.tr("Nacre is still starting"))
        elif not self._doors.access.state().ready:
            composer.show_ready(False, self.tr("No key is set: see Settings → Access"))
        else:
            composer.show_ready(True)

    def _show_new_choice(self) -> None:
        effort = self._preferences.value(EFFORT)
        self.area.new_page.composer.show_choice(
            self._preferences.value(MODEL),
            "" if effort == "default" else effort,
            self._preferences.value(PERMISSION_MODE),
        )

    def _preference_changed(self, key: str) -> None:
        if key in (MODEL.key, EFFORT.key, PERMISSION_MODE.key):
            self._show_new_choice()
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

    def _zoom(self, by: int | None) -> None:
        now = self._preferences.value(TRANSCRIPT_ZOOM)
        low, high = TRANSCRIPT_ZOOM.minimum or 50, TRANSCRIPT_ZOOM.maximum or 300
        zoom = 100 if by is None else min(high, max(low, now + by))
        self._preferences.change(TRANSCRIPT_ZOOM.key, zoom)

    def _settings(self) -> None:
        if self._doors is None:
            return
        dialog = self._doors.settings_dialog(self)
        dialog.finished.connect(lambda _: self._settings_closed())
        dialog.open()

    def _settings_closed(self) -> None:
        self._show_new_ready()
        for page in self.area.pages():
            page.refresh_ready()

    def _shortcuts(self) -> None:
        rows = "".join(
            f"<tr><td>{self.tr(what)}</td><td>&nbsp;&nbsp;<b>{keys}</b></td></tr>"
            for what, keys in shortcut_lines()
        )
        self._message(self.tr("Keyboard shortcuts"), f"<table>{rows}</table>")

    def _about(self) -> None:
        self._message(
            self.tr("About Nacre"),
            "<b>Nacre</b><p>"
            + self.tr("A conversation is laid down like nacre, layer on layer.")
            + "</p>",
        )

    def _message(self, title: str, rich_text: str) -> None:
        box = QMessageBox(QMessageBox.Icon.NoIcon, title, rich_text, parent=self)
        box.setTextFormat(Qt.TextFormat.RichText)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()

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
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.banner)
        column.addWidget(self._splitter, 1)
        self.setCentralWidget(holder)

    def _restore(self) -> None:
        measures = self._theme.measures
        geometry = self._cache.geometry_bytes()
        if not geometry or not self.restoreGeometry(
            QByteArray.fromBase64(self._cache.geometry.encode("ascii"))
        ):
            self.resize(measures.window_width, measures.window_height)
        width = self._cache.sidebar or measures.sidebar
        self._splitter.setSizes([width, max(1, self.width() - width)])
        self.sidebar.setVisible(not self._cache.sidebar_hidden)

    def _wire(self) -> None:
        self._tasks.failed.connect(self.say)
        self._preferences.changed.connect(self._preference_changed)
        self._preferences.problem.connect(self.say)
        self.sidebar.open_wanted.connect(self._open_tab)
        self.sidebar.new_wanted.connect(self.area.show_new)
        self.sidebar.folder_wanted.connect(self._open_folder)
        self.sidebar.rename_wanted.connect(self._rename)
        self.area.shown.connect(self._shown)
        self.area.closed.connect(self._close_tab)
        self.area.reordered.connect(self._move_tabs)
        self.area.attach_wanted.connect(self._attach)
        self.area.new_page.begin_wanted.connect(self._begin)
        self.area.new_page.folder_wanted.connect(self._open_folder)

    def _slots(self) -> dict[str, Callable[[], object]]:
        """What each declared action does."""
        return {
            "new": self.area.show_new,
            "open_folder": self._open_folder,
            "close_tab": lambda: self._close_tab(self.area.strip.current()),
            "reopen_tab": self._reopen_tab,
            "settings": self._settings,
            "quit": self.close,
            "copy": partial(self._to_focus, "copy"),
            "select_all": partial(self._to_focus, "selectAll"),
            "find_conversation": self._focus_search,
            "sidebar": lambda: self.sidebar.setVisible(self.sidebar.isHidden()),
            "zoom_in": lambda: self._zoom(ZOOM_STEP),
            "zoom_out": lambda: self._zoom(-ZOOM_STEP),
            "zoom_reset": lambda: self._zoom(None),
            "stop": lambda: self.area.current and self.area.current.stop(),
            "retry": lambda: self.area.current and self.area.current.retry(),
            "rename": self._rename,
            "write": self._focus_composer,
            "next_tab": lambda: self.area.strip.step(1),
            "previous_tab": lambda: self.area.strip.step(-1),
            "next_region": self._next_region,
            "to_end": lambda: self.area.current and self.area.current.pane.follow(),
            "shortcuts": self._shortcuts,
            "tour": self._play_tour,
            "about": self._about,
        }

    def _to_focus(self, name: str) -> None:
        """Edit actions act on what has the focus, as the platform's own menus do."""
        act = getattr(QApplication.focusWidget(), name, None)
        if act is not None:
            act()

    def _focus_search(self) -> None:
        self.sidebar.show()
        self.sidebar.search.setFocus()

    def _focus_composer(self) -> None:
        composer = self.area.composer
        if composer is not None:
            composer.field.setFocus()

    def _next_region(self) -> None:
        """F6: sidebar, transcript, question, composer, and around."""
        page, composer = self.area.current, self.area.composer
        regions: list[QWidget] = [self.sidebar.search]
        if page is not None:
            regions += [page.pane.view, page.permission_bar]
        if composer is not None:
            regions.append(composer.field)
        regions = [one for one in regions if one.isVisible()]
        focus = QGuiApplication.focusObject()
        inside = [
            at
            for at, one in enumerate(regions)
            if one is focus or (isinstance(focus, QWidget) and one.isAncestorOf(focus))
        ]
        if regions:
            regions[(inside[0] + 1) % len(regions) if inside else 0].setFocus()
