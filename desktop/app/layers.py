"""Everything behind the painted window: the log, the agents, the key, the pages of conversations.

Imported on a thread after the first paint (half a second and more), used on the GUI thread.
"""

import asyncio
import logging
from collections.abc import Callable

from PySide6.QtWidgets import QDialog, QSplitter, QWidget

from desktop.app import memory
from desktop.app.early import Early
from desktop.app.log_watch import LogWatch
from desktop.core.logged import Word
from desktop.core.panels import Place, PluginPanel
from desktop.credentials.closed_process import close_this_process
from desktop.diagnostics import Hooks, LogFile, Redaction, program_version
from desktop.headless.backups import Around, Backups
from desktop.headless.opening import made_ready, now_ms
from desktop.headless.places import DiskWatch, shared_folder
from desktop.headless.plugin_list import Plugins
from desktop.headless.releases import Around as AroundReleases
from desktop.headless.releases import ReleaseWatch
from desktop.headless.runtime import Runtime, start
from desktop.paths import DataFolder
from desktop.settings import (
    BACKUP_FOLDER,
    BACKUP_INTERVAL,
    BASE_URL,
    KEYS,
    RELEASE_FEED,
    SEND_KEY,
)
from desktop.tools.attachments.reading import attachment_of, picture_of
from desktop.tools.naming import file_names
from desktop.ui import shortcuts
from desktop.ui.access_page import AccessPage
from desktop.ui.attaching import Reading
from desktop.ui.conversation_page import ConversationPage
from desktop.ui.desk import Desk
from desktop.ui.doors import Doors, StorageDoors
from desktop.ui.early_page import EarlyPage
from desktop.ui.help_boxes import show_about, show_shortcuts
from desktop.ui.keyboard_page import KeyboardPage
from desktop.ui.main_window import MainWindow
from desktop.ui.other_windows import OtherWindows
from desktop.ui.outline.page import OutlinePage
from desktop.ui.palette import show_palette
from desktop.ui.plugin_page import PluginPage
from desktop.ui.plugins_page import PluginsPage
from desktop.ui.preferences import LivePreferences
from desktop.ui.release_bar import ReleaseBar
from desktop.ui.release_row import ReleaseRow
from desktop.ui.right_side import RightSide
from desktop.ui.sandbox_note import SandboxNote
from desktop.ui.settings_dialog import SettingsDialog
from desktop.ui.sidebar_list import ConversationList
from desktop.ui.storage_jobs import StorageJobs
from desktop.ui.storage_page import StoragePage
from desktop.ui.tasks import Tasks
from desktop.ui.theme import Theme
from desktop.ui.tool_servers_page import ToolServersPage
from desktop.ui.transcript.pane import TranscriptPane
from desktop.ui.unlocking import Unlocking
from desktop.ui.usage_box import UsageBox
from desktop.ui.welcome import WelcomePage

_LOG = logging.getLogger(__name__)
# After the check of the file, which is the last thing that a start does.
REST_SECONDS = 12.0


class Layers:
    """Made on the GUI thread once the module is there; `open` makes the rest, `close` ends it.

    `tell(sentence, detail)` may be called on any thread, `stand(key, sentence, detail)` on the
    GUI's only. `theme` gives the look of the moment.
    """

    def __init__(
        self,
        folder: DataFolder,
        *,
        tasks: Tasks,
        preferences: LivePreferences,
        theme: Callable[[], Theme],
        tell: Callable[[str, str], None],
        stand: Callable[[str, str, str], None],
        early: Early,
    ) -> None:
        self._folder = folder
        self._early = early
        self._tasks = tasks
        self._preferences = preferences
        self._theme = theme
        self._tell = tell
        self._stand = stand
        self._redaction = Redaction()
        self._hooks = Hooks(tell, self._redaction)
        self._log_file: LogFile | None = None
        self._runtime: Runtime | None = None
        self._log_watch: LogWatch | None = None
        self._backups: Backups | None = None
        self._releases: ReleaseWatch | None = None
        self._unlocking: Unlocking | None = None
        self._jobs: StorageJobs | None = None
        self._plugins: Plugins | None = None
        self._plugin_window: MainWindow | None = None
        self._hooks.install()
        self._hooks.watch(asyncio.get_running_loop())

    async def open(self) -> Runtime:
        """Makes the folder ready and opens what lies in it. Raises NacreError."""
        close_this_process()
        notices = await asyncio.to_thread(self._prepare)
        for notice in notices:
            self._stand(notice, notice, "")
        self._runtime = await start(
            self._folder,
            redaction=self._redaction,
            has_person=True,
            report=lambda sentence: self._tell(sentence, ""),
            hub=self._early.hub,
        )
        self._early.hand_over(self._runtime.reader)
        if self._runtime.is_read_only:  # which the runtime's own notice says
            for notice in notices:
                self._stand(notice, "", "")
        later = asyncio.get_running_loop().call_later
        self._log_watch = LogWatch(self._folder.database)
        self._log_watch.woken.connect(self._runtime.wake)
        self._runtime.watch(later, self._tasks.start, arm=self._log_watch.arm)
        # Not waited for: a keyring may take its time, and everything but a request goes without.
        self._tasks.start(self._runtime.find_key(), "find the key")
        DiskWatch(self._folder.root, stand=self._stand).watch(later, self._tasks.start)
        self._backups = self._make_backups(self._runtime)
        self._backups.watch(later, self._tasks.start)
        self._jobs = StorageJobs(
            tasks=self._tasks,
            back_up=self._backups.back_up,
            free_space=self._runtime.free_space,
            tell=self._tell,
        )
        self._releases = self._make_releases(self._runtime)
        self._releases.watch(later, self._tasks.start)
        self._preferences.changed.connect(self._preference_changed)
        return self._runtime

    def begin_rest(self) -> None:
        """What the person looks at is on the screen: what takes the processor for long begins."""
        later = asyncio.get_running_loop().call_later
        self._opened().keep_tools_connected(later, self._tasks.start)
        later(REST_SECONDS, self._give_back)

    def _give_back(self) -> None:
        self._tasks.start(asyncio.to_thread(memory.give_back), "give memory back")

    def doors(self) -> Doors:
        """What the window gets handed in."""
        runtime = self._opened()
        return Doors(
            commands=runtime.commands,
            catalogue=runtime.catalogue,
            reader=runtime.reader,
            outline=runtime.outline,
            search=runtime.search,
            hub=runtime.hub,
            access=runtime.access,
            unlocking=self._unlocking_now(),
            start_tour=runtime.start_tour,
            rule_words=runtime.rule_words,
            settings_dialog=self._settings_dialog,
            welcome_page=self._welcome_page,
            conversation_list=lambda parent: ConversationList(self._theme(), parent),
            show_shortcuts=lambda parent: show_shortcuts(parent, self._keys_in_force()),
            show_about=lambda parent: show_about(parent, program_version()),
            show_usage=self._show_usage,
            show_palette=lambda *what: show_palette(self._theme(), *what),
            reading=Reading(file=attachment_of, picture=picture_of),
            file_names=file_names,
        )

    def desk(self, window: MainWindow, others: OtherWindows) -> Desk:
        """What carries out the window's wishes."""
        assert self._releases is not None
        window.show_bar(ReleaseBar(self._theme(), self._releases, self._tasks, window))
        return Desk(
            self.doors(),
            area=window.area,
            right_side=lambda splitter: self._right_side(splitter, window),
            tasks=self._tasks,
            theme=self._theme,
            window=window,
            others=others,
        )

    def make_page(self, tab_id: str, early: EarlyPage | None) -> ConversationPage:
        """The page of one conversation, of what is seen of it already."""
        doors = self.doors()
        pane = early.pane if early is not None else self._make_pane(tab_id)
        page = ConversationPage(
            tab_id,
            theme=self._theme(),
            tasks=self._tasks,
            doors=doors,
            pane=pane,
            now_ms=now_ms,
            composer=early.composer if early is not None else None,
        )
        page.composer.field.send_with_ctrl = self._preferences.value(SEND_KEY) == "ctrl-enter"
        return page

    def _make_pane(self, tab_id: str) -> TranscriptPane:
        return self._early.make_pane(
            tab_id,
            reader=self._opened().reader,
            theme=self._theme(),
            preferred=self._preferences.current,
        )

    async def close(self) -> None:
        """Stops and seals what runs, flushes the log."""
        if self._log_watch is not None:
            self._log_watch.close()
        if self._plugins is not None:
            await self._plugins.close()
        if self._runtime is not None:
            await self._runtime.close()

    def release(self) -> None:
        """The last thing: hooks and log file."""
        self._hooks.remove()
        if self._log_file is not None:
            self._log_file.close()

    def _make_backups(self, runtime: Runtime) -> Backups:
        return Backups(
            self._folder,
            Around(
                notes=runtime.backup_notes,
                preferences=lambda: self._preferences.current,
                is_busy=runtime.busy,
                stand=self._stand,
                now_ms=now_ms,
            ),
        )

    def _make_releases(self, runtime: Runtime) -> ReleaseWatch:
        return ReleaseWatch(
            AroundReleases(
                own=program_version(),
                address=lambda: self._preferences.value(RELEASE_FEED),
                newest=runtime.newest_release,
                read=runtime.catalogue.settings,
                save=runtime.catalogue.save_setting,
                now_ms=now_ms,
            )
        )

    def _preference_changed(self, key: str) -> None:
        if self._releases is not None and key == RELEASE_FEED.key:
            self._releases.address_changed(self._tasks.start)
        if self._backups is not None and key in (BACKUP_INTERVAL.key, BACKUP_FOLDER.key):
            self._backups.plan_changed()

    def _settings_dialog(self, parent: QWidget) -> QDialog:
        access_page = AccessPage(
            self._theme(),
            access=self._opened().access,
            unlocking=self._unlocking_now(),
            tasks=self._tasks,
            server=self._preferences.value(BASE_URL),
        )
        assert self._releases is not None
        storage_page = StoragePage(self._theme(), self._storage_doors(), self._tasks)
        return SettingsDialog(
            self._theme(),
            self._preferences,
            self._tasks,
            access_page=access_page,
            tool_servers_page=ToolServersPage(
                self._theme(), self._opened().tool_server_list, self._tasks
            ),
            plugins_page=PluginsPage(self._theme(), self._plugins_now(), self._tasks),
            storage_page=storage_page,
            keyboard_page=KeyboardPage(self._theme(), self._preferences),
            cache_prices=self._opened().cache_prices,
            sandbox_note=SandboxNote(self._opened().confinement, self._tasks),
            release_row=ReleaseRow(self._theme(), self._releases, self._tasks, now_ms=now_ms),
            parent=parent,
        )

    def _show_usage(self, parent: QWidget, tab_id: str) -> None:
        UsageBox(
            self._theme(),
            usage=self._opened().usage(
                tab_id, asyncio.get_running_loop().call_later, self._tasks.start
            ),
            now_ms=now_ms,
            parent=parent,
        ).open()

    def _right_side(self, splitter: QSplitter, window: MainWindow) -> RightSide:
        runtime = self._opened()
        later = asyncio.get_running_loop().call_later
        outline = OutlinePage(
            self._theme, outline=runtime.outline, hub=runtime.hub, tasks=self._tasks, later=later
        )
        side = RightSide(self._theme, splitter=splitter, area=window.area, outline=outline)
        # A plugin shows one conversation: its panel has its place in one window.
        if self._plugin_window is None:
            self._plugin_window = window
            self._show_plugins(side)
        return side

    def _show_plugins(self, side: RightSide) -> None:
        plugins = self._plugins_now()

        def show() -> None:
            side.show_plugins(plugins.panels(), self._plugin_page)

        side.destroyed.connect(plugins.on_change(show))
        side.destroyed.connect(self._free_plugins)
        show()
        self._tasks.start(plugins.look(), "read the plugins")

    def _free_plugins(self) -> None:
        """The window that they stood in is gone."""
        self._plugin_window = None

    def _plugin_page(self, panel: PluginPanel) -> PluginPage:
        return PluginPage(self._theme, panel=panel, now_ms=now_ms)

    def _plugins_now(self) -> Plugins:
        """Those of this data folder, made when somebody wants to see them."""
        if self._plugins is None:
            later = asyncio.get_running_loop().call_later
            self._plugins = self._opened().plugins(later, self._tasks.start, self._navigate)
        return self._plugins

    async def _navigate(self, place: Place) -> None:
        desk = self._plugin_window.desk if self._plugin_window is not None else None
        if desk is not None:
            await desk.go_to(place.session_id, place.seq)

    def _storage_doors(self) -> StorageDoors:
        assert self._jobs is not None and self._backups is not None
        return StorageDoors(
            storage=self._opened().storage,
            backups=self._backups.state,
            on_backup_look=self._backups.on_look,
            jobs=self._jobs,
            now_ms=now_ms,
            data_folder=str(self._folder.root),
        )

    def _welcome_page(self, parent: QWidget) -> WelcomePage:
        page = WelcomePage(self._theme(), self._tasks, parent)
        page.connect_access(self._opened().access, self._unlocking_now())
        return page

    def _unlocking_now(self) -> Unlocking:
        """The one of the window."""
        if self._unlocking is None:
            self._unlocking = Unlocking(self._opened().access, self._tasks, self._theme)
        return self._unlocking

    def _prepare(self) -> tuple[str, ...]:
        """On a thread; what the person should know about the folder."""
        try:
            notices = made_ready(self._folder)
            shared = shared_folder(self._folder.root)
            return (*notices, shared) if shared else notices
        finally:
            if self._folder.logs.is_dir():
                self._log_file = LogFile(self._folder.logs, self._redaction)
                _LOG.info("Nacre %s started", Word(program_version()))

    def _keys_in_force(self) -> dict[str, tuple[str, ...]]:
        return shortcuts.read(self._preferences.value(KEYS)).in_force()

    def _opened(self) -> Runtime:
        if self._runtime is None:
            raise RuntimeError("used before open")
        return self._runtime
