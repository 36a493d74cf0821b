"""The life of the windowed program: first paint, loading, working, an end within three seconds.

Order of the end: the window lets go, running turns are stopped and sealed, the log is flushed, and
whoever still waits for a network or a keyring is left behind (DESIGN.md §6, §8).
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint
from PySide6.QtWidgets import QApplication

from desktop.app.collecting import Collector
from desktop.app.finishing import finish, has_unsaved, leave_unsaved
from desktop.app.remembering import Remembering
from desktop.app.windows import Windows
from desktop.core.errors import NacreError
from desktop.core.loading import at_rest
from desktop.paths import DataFolder
from desktop.settings import FONT_SCALE, REDUCED_MOTION, THEME
from desktop.ui.focus_ring import FocusRings
from desktop.ui.main_window import MainWindow
from desktop.ui.preferences import LivePreferences
from desktop.ui.shell_style import shell_style
from desktop.ui.tasks import Tasks
from desktop.ui.theme import Theme, dress, system_high_contrast, system_scheme, theme_for
from desktop.ui.window_cache import WindowCache, read_cache, write_cache

if TYPE_CHECKING:
    from desktop.app.early import Early
    from desktop.app.front_door import FrontDoor
    from desktop.app.layers import Layers
    from desktop.app.listening import Listener
    from desktop.app.selftest import Errand
    from desktop.core.records import CatalogueView
    from desktop.headless.crashes import CrashFile
    from desktop.headless.runtime import Runtime
    from desktop.store.glimpse import Glimpse
    from desktop.ui.desk import Desk

_LOG = logging.getLogger(__name__)
END_SECONDS = 2.5
SETTLING_SECONDS = 5.0  # what cannot be shown must not hold up the rest
BESIDE = 32  # pixels: a further window does not cover the one that it comes from


class _FirstPaint(QObject):
    """Calls back once, when the window has been painted for the first time."""

    def __init__(self, window: MainWindow, then: Callable[[], None]) -> None:
        super().__init__(window)
        self._window = window
        self._then = then
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            self._window.removeEventFilter(self)
            # Back to the loop first: the paint itself is done then.
            asyncio.get_event_loop().call_soon(self._then)
        return False


class Program:
    """Built on the GUI thread inside a running QApplication; `run` is its whole life."""

    def __init__(
        self,
        app: QApplication,
        folder: DataFolder,
        *,
        door: FrontDoor | None = None,
        notices: Sequence[str] = (),
        errand: Errand | None = None,
        on_first_paint: Callable[[], None] | None = None,
    ) -> None:
        self._app = app
        self._folder = folder
        self._door = door
        self._crashes: CrashFile | None = None
        self._notices = tuple(notices)
        self._errand = errand
        self._on_first_paint = on_first_paint
        self._cache = read_cache(folder.window_cache)
        self._tasks = Tasks()
        self._preferences = LivePreferences(self._tasks)
        self._runtime: Runtime | None = None
        self._layers: Layers | None = None
        self._listener: Listener | None = None
        self._quitting: asyncio.Future[None] | None = None
        self._asked = False
        self._theme = self._theme_now()
        self._windows = Windows()
        self._remembering = Remembering(
            folder.window_cache, self._cache_now, self._tasks, self._windows
        )
        FocusRings(app, lambda: self._theme, self._windows)
        self._tasks.failed.connect(self._windows.say)
        self._preferences.problem.connect(self._windows.say)
        # Built without a sheet: with one each change of a parent polishes all within it anew.
        app.setFont(self._theme.font())
        self._make_window(self._cache)
        dress(app, self._theme, shell_style(self._theme))

    async def run(self) -> int:
        """Returns the exit code."""
        loop = asyncio.get_running_loop()
        self._quitting = loop.create_future()
        self._listen_to_signals(loop)
        painted = loop.create_future()
        _FirstPaint(self._windows.front, partial(_settle, painted))
        self._windows.front.show()
        await painted
        if self._on_first_paint is not None:
            self._on_first_paint()
        collector = Collector(self._app)
        self._complete()
        self._tasks.start(self._load(), "load")
        if self._door is not None and self._door.is_held:
            self._tasks.start(self._listen(self._door), "listen")
        if self._errand is not None:
            self._tasks.start(self._run(self._errand), "self-test")
        await self._quitting
        trouble = await self._end()
        self._caret.stop()
        collector.stop()
        if trouble is not None:
            raise trouble
        return 0

    def _complete(self) -> None:
        """What is needed from the first moment after the paint on."""
        from desktop.app import memory
        from desktop.app.arriving import Arrivals
        from desktop.app.caret import Caret
        from desktop.app.helping import Helping
        from desktop.app.icon import show_icon
        from desktop.headless.crashes import CrashFile

        memory.keep_few_arenas()
        self._tasks.start(show_icon(self._app), "show the icon")
        self.arrivals = Arrivals(
            self._windows, self._tasks, self._door.place if self._door is not None else None
        )
        self._caret = Caret(self._app)
        self._helping = Helping(
            self._folder,
            windows=self._windows,
            tasks=self._tasks,
            theme=lambda: self._theme,
            runtime=lambda: self._runtime,
        )
        self._complete_window(self._windows.front)
        if self._door is not None and self._door.is_held:
            self._crashes = CrashFile(self._folder.logs)
            self._tasks.start(self._helping.watch(self._crashes), "watch for crashes")

    def note_death(self, error: Exception) -> None:
        """An error that ends the program leaves behind where it was."""
        if self._crashes is not None:
            self._crashes.write(error)

    # -- loading ------------------------------------------------------------------------------

    async def _load(self) -> None:
        """Brings up the layers behind the painted window, each on a thread where it is slow."""
        for notice in self._notices:
            self._windows.stand(notice, notice)
        make_early, seen = await asyncio.to_thread(
            _look_early, self._folder, self._cache.current_tab
        )
        early = make_early(self._tasks)
        if seen is not None:
            await early.show(self._windows.front.area, seen, self._theme)
        make_layers = await asyncio.to_thread(_import_layers)
        self._layers = make_layers(
            self._folder,
            tasks=self._tasks,
            preferences=self._preferences,
            theme=lambda: self._theme,
            tell=self._tell,
            stand=self._windows.stand,
            early=early,
        )
        try:
            runtime = await self._layers.open()
            rows = await runtime.catalogue.settings()
            view = await runtime.catalogue.view()
        except NacreError as error:
            _LOG.error("could not start: %s", error)
            self._windows.say(str(error), error.detail)
            return
        self._runtime = runtime
        if runtime.notice:
            self._windows.stand(runtime.notice, runtime.notice)
        self._app.styleHints().colorSchemeChanged.connect(lambda _: self._dress())
        self._preferences.changed.connect(self._preference_changed)
        self._preferences.load(rows, runtime.catalogue)
        first = self._windows.front
        desk = self._connect(first, view)
        await asyncio.sleep(0)  # who writes meanwhile is not held up by both
        first.begin(desk, is_first=True)
        for cache in self._cache.further:
            self._show_further(cache, view)
        self.arrivals.go()
        with suppress(TimeoutError):
            async with asyncio.timeout(SETTLING_SECONDS):
                await first.settled()
        self._layers.begin_rest()

    # -- windows ------------------------------------------------------------------------------

    def _make_window(self, cache: WindowCache) -> MainWindow:
        window = MainWindow(
            theme=self._theme, tasks=self._tasks, preferences=self._preferences, cache=cache
        )
        window.close_wanted.connect(partial(self._close_wanted, window))
        window.quit_wanted.connect(self._quit_wanted)
        window.window_wanted.connect(self._window_wanted)
        self._remembering.watch(window.area)
        self._windows.add(window)
        return window

    def _complete_window(self, window: MainWindow) -> None:
        from desktop.ui.actions import fill_menus
        from desktop.ui.keys_in_force import KeysInForce

        window.diagnostics_wanted.connect(self._helping.show_diagnostics)
        KeysInForce(window.complete(fill_menus), self._preferences, self._app, window)

    def _connect(self, window: MainWindow, view: CatalogueView) -> Desk:
        assert self._layers is not None
        others = self._windows.beside(window)
        desk = self._layers.desk(window, others)
        window.connect_desk(
            desk,
            self._layers.make_page,
            view,
            self._folder.scratch,
            others=others,
        )
        return desk

    def _window_wanted(self, tab_id: str) -> None:
        if self._runtime is not None:
            self._tasks.start(self._show_another(self._runtime, tab_id), "open another window")

    async def _show_another(self, runtime: Runtime, tab_id: str) -> None:
        """A window with this conversation, or with the page for a new one."""
        view = await runtime.catalogue.view()
        front = self._windows.front
        self._windows.leave(tab_id)
        window = self._show_further(replace(front.state(), current_tab=tab_id, right_pane=0), view)
        window.move(front.pos() + QPoint(BESIDE, BESIDE))
        window.activateWindow()

    def _show_further(self, cache: WindowCache, view: CatalogueView) -> MainWindow:
        window = self._make_window(cache)
        self._complete_window(window)
        window.begin(self._connect(window, view), is_first=False)
        window.show()
        return window

    async def _close_window(self, window: MainWindow) -> None:
        """One of several: what is written there is kept, what runs goes on."""
        window.hide()
        window.area.show_new()  # from now on another one may show what was in view here
        await window.end()
        self._windows.remove(window)
        window.deleteLater()

    async def _listen(self, door: FrontDoor) -> None:
        """Second starts are heard, while everything else is still loading."""
        where, make_listener = await asyncio.to_thread(_import_listener, door)
        if where:
            self._listener = make_listener(self.arrivals.hear, self._windows)
            self._listener.listen(where)

    # -- looks --------------------------------------------------------------------------------

    def _theme_now(self) -> Theme:
        """From the cache until the settings are read, so that the first paint is right."""
        hints = self._app.styleHints()
        chosen = self._cache.theme
        return theme_for(
            "light" if chosen == "light" else "dark" if chosen == "dark" else system_scheme(hints),
            self._app.palette(),
            high_contrast=system_high_contrast(hints),
            scale=self._cache.font_scale / 100,
            reduced_motion=self._preferences.value(REDUCED_MOTION),
        )

    def _preference_changed(self, key: str) -> None:
        if self._runtime is not None:
            self._runtime.prefer(self._preferences.current)
        if key in (THEME.key, FONT_SCALE.key, REDUCED_MOTION.key):
            self._cache = replace(
                self._cache,
                theme=self._preferences.value(THEME),
                font_scale=self._preferences.value(FONT_SCALE),
            )
            self._dress()

    def _dress(self) -> None:
        theme = self._theme_now()
        if theme != self._theme:
            self._theme = theme
            dress(self._app, theme, shell_style(theme))
            for window in self._windows.all:
                window.show_theme(theme)

    # -- ending -------------------------------------------------------------------------------

    def quit(self) -> None:
        """Ends the program; what runs is stopped and sealed."""
        if self._quitting is not None and not self._quitting.done():
            self._quitting.set_result(None)

    def _close_wanted(self, window: MainWindow) -> None:
        if len(self._windows.all) > 1:
            self._tasks.start(self._close_window(window), "close a window")
        else:
            self._quit_wanted()

    def _quit_wanted(self) -> None:
        runtime = self._runtime
        if runtime is None or not (runtime.busy() or has_unsaved(runtime)):
            self.quit()
        elif not self._asked:
            self._tasks.start(self._ask_then_close(runtime), "ask before closing")

    async def _ask_then_close(self, runtime: Runtime) -> None:
        """Asks once: keep the turn running to its end, or stop it; or lose what is not saved."""
        from desktop.ui import asking

        self._asked = True
        window = self._windows.front
        try:
            if not runtime.busy():
                if await leave_unsaved(window):
                    self.quit()
                return
            answer = await asking.choose(
                window,
                window.tr("An agent is still working"),
                window.tr("Stop the agent now, or let it finish in the background?"),
                (
                    ("stop", window.tr("Stop and quit")),
                    ("finish", window.tr("Finish, then quit")),
                    ("stay", window.tr("Stay")),
                ),
                escape="stay",
            )
        finally:
            self._asked = False
        if answer == "stop" or (answer == "finish" and await finish(self._windows, runtime)):
            self.quit()

    def _listen_to_signals(self, loop: asyncio.AbstractEventLoop) -> None:
        if sys.platform == "win32":
            return
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.quit)

    def _cache_now(self) -> WindowCache:
        look = self._cache
        first, *further = (window.state() for window in self._windows.all)
        return replace(first, theme=look.theme, font_scale=look.font_scale, further=tuple(further))

    async def _end(self) -> NacreError | None:
        """All of it, whatever fails: what of the last words could not be kept is given back."""
        trouble: NacreError | None = None
        self.arrivals.end()
        self._remembering.end()
        cache = self._cache_now()
        try:
            async with asyncio.timeout(END_SECONDS):
                steps = [*(window.end for window in self._windows.all), self._tasks.close]
                for step in (*steps, self._layers.close) if self._layers else steps:
                    try:
                        await step()
                    except NacreError as error:
                        trouble = trouble or error
                await asyncio.to_thread(write_cache, self._folder.window_cache, cache)
        except TimeoutError:
            _LOG.warning("the end took too long; what still waits is left behind")
        if self._layers is not None:
            self._layers.release()
        if self._listener is not None:
            self._listener.close()
        if self._crashes is not None:
            self._crashes.end()
        self._windows.deleteLater()
        return trouble

    # -- telling ------------------------------------------------------------------------------

    def _tell(self, sentence: str, detail: str) -> None:
        """From any thread: shows a message in the window."""
        self._tasks.failed.emit(sentence, detail)

    async def _run(self, errand: Errand) -> None:
        try:
            await errand(self._windows.front, lambda: self._runtime)
        finally:
            self.quit()


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _import_listener(door: FrontDoor) -> tuple[str, type[Listener]]:
    """On a thread: another library of Qt's, and a look at the disk."""
    with at_rest():
        from desktop.app.listening import Listener

    return door.address, Listener


def _look_early(folder: DataFolder, tab_id: str) -> tuple[type[Early], Glimpse | None]:
    """On a thread: a fifth of what the layers take, and a page of the log."""
    with at_rest():
        from desktop.app.early import Early, look

    return Early, look(folder.database, tab_id)


def _import_layers() -> type[Layers]:
    """On a thread: half a second and more."""
    with at_rest():
        from desktop.app.layers import Layers

        importlib.import_module("desktop.ui.attached_text")  # or the first click on one waits

    return Layers
