"""The life of the windowed program: first paint, loading, working, an end within three seconds.

Order of the end: the window lets go, running turns are stopped and sealed, the log is flushed, and
whoever still waits for a network or a keyring is left behind (DESIGN.md §6, §8).
"""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication

from desktop.app.collecting import Collector
from desktop.core.errors import NacreError
from desktop.core.loading import at_rest
from desktop.paths import DataFolder
from desktop.settings import FONT_SCALE, REDUCED_MOTION, THEME
from desktop.ui.main_window import MainWindow
from desktop.ui.preferences import LivePreferences
from desktop.ui.shell_style import shell_style
from desktop.ui.tasks import Tasks
from desktop.ui.theme import Theme, dress, system_high_contrast, system_scheme, theme_for
from desktop.ui.window_cache import WindowCache, read_cache, write_cache

if TYPE_CHECKING:
    from desktop.app.front_door import FrontDoor
    from desktop.app.layers import Layers
    from desktop.app.listening import Listener
    from desktop.app.selftest import Errand
    from desktop.headless.crashes import CrashFile
    from desktop.headless.runtime import Runtime

_LOG = logging.getLogger(__name__)
END_SECONDS = 2.5


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
        dress(app, self._theme, shell_style(self._theme))
        self._window = MainWindow(
            theme=self._theme,
            tasks=self._tasks,
            preferences=self._preferences,
            cache=self._cache,
        )

    async def run(self) -> int:
        """Returns the exit code."""
        loop = asyncio.get_running_loop()
        self._quitting = loop.create_future()
        self._window.close_wanted.connect(self._close_wanted)
        self._listen_to_signals(loop)
        painted = loop.create_future()
        _FirstPaint(self._window, partial(_settle, painted))
        self._window.show()
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
        code = await self._end()
        collector.stop()
        return code

    def _complete(self) -> None:
        """What is needed from the first moment after the paint on."""
        from desktop.app.arriving import Arrivals
        from desktop.app.helping import Helping
        from desktop.app.icon import show_icon
        from desktop.headless.crashes import CrashFile
        from desktop.ui.actions import fill_menus
        from desktop.ui.keys_in_force import KeysInForce

        KeysInForce(self._window.complete(fill_menus), self._preferences, self._app, self._window)
        self._tasks.start(show_icon(self._app), "show the icon")
        self.arrivals = Arrivals(
            self._window, self._tasks, self._door.place if self._door is not None else None
        )
        self._helping = Helping(
            self._folder,
            window=self._window,
            tasks=self._tasks,
            theme=lambda: self._theme,
            runtime=lambda: self._runtime,
        )
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
            self._window.stand(notice, notice)
        make_layers = await asyncio.to_thread(_import_layers)
        self._layers = make_layers(
            self._folder,
            tasks=self._tasks,
            preferences=self._preferences,
            theme=lambda: self._theme,
            tell=self._tell,
            stand=self._window.stand,
        )
        try:
            runtime = await self._layers.open()
            rows = await runtime.catalogue.settings()
            view = await runtime.catalogue.view()
        except NacreError as error:
            _LOG.error("could not start: %s", error)
            self._window.say(str(error), error.detail)
            return
        self._runtime = runtime
        if runtime.notice:
            self._window.stand(runtime.notice, runtime.notice)
        self._app.styleHints().colorSchemeChanged.connect(lambda _: self._dress())
        self._preferences.changed.connect(self._preference_changed)
        self._preferences.load(rows, runtime.catalogue)
        desk = self._layers.desk(self._window)
        self._window.connect_desk(desk, self._layers.make_page, view, self._folder.scratch)
        self.arrivals.connect_desk(desk)

    async def _listen(self, door: FrontDoor) -> None:
        """Second starts are heard, while everything else is still loading."""
        where, make_listener = await asyncio.to_thread(_import_listener, door)
        if where:
            self._listener = make_listener(self.arrivals.hear, self._window)
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
            self._cache = WindowCache(
                theme=self._preferences.value(THEME),
                font_scale=self._preferences.value(FONT_SCALE),
            )
            self._dress()

    def _dress(self) -> None:
        theme = self._theme_now()
        if theme != self._theme:
            self._theme = theme
            dress(self._app, theme, shell_style(theme))
            self._window.show_theme(theme)

    # -- ending -------------------------------------------------------------------------------

    def quit(self) -> None:
        """Ends the program; what runs is stopped and sealed."""
        if self._quitting is not None and not self._quitting.done():
            self._quitting.set_result(None)

    def _close_wanted(self) -> None:
        if self._runtime is None or not self._runtime.busy():
            self.quit()
        elif not self._asked:
            self._tasks.start(self._ask_then_close(self._runtime), "ask before closing")

    async def _ask_then_close(self, runtime: Runtime) -> None:
        """Asks once: keep the turn running to its end, or stop it."""
        from desktop.ui import asking

        self._asked = True
        try:
            answer = await asking.choose(
                self._window,
                self._window.tr("An agent is still working"),
                self._window.tr("Stop it now, or let it finish in the background?"),
                (
                    ("stop", self._window.tr("Stop and quit")),
                    ("finish", self._window.tr("Finish, then quit")),
                    ("stay", self._window.tr("Stay")),
                ),
                escape="stay",
            )
        finally:
            self._asked = False
        if answer == "stop":
            self.quit()
        elif answer == "finish":
            self._window.hide()
            await runtime.until_idle()
            if self._window.isHidden():  # a second start may have brought it back
                self.quit()

    def _listen_to_signals(self, loop: asyncio.AbstractEventLoop) -> None:
        if sys.platform == "win32":
            return
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.quit)

    async def _end(self) -> int:
        self.arrivals.end()
        look = self._cache
        cache = replace(self._window.state(), theme=look.theme, font_scale=look.font_scale)
        try:
            async with asyncio.timeout(END_SECONDS):
                await self._window.end()
                await self._tasks.close()
                if self._layers is not None:
                    await self._layers.close()
                await asyncio.to_thread(write_cache, self._folder.window_cache, cache)
        except TimeoutError:
            _LOG.warning("the end took too long; what still waits is left behind")
        if self._layers is not None:
            self._layers.release()
        if self._listener is not None:
            self._listener.close()
        if self._crashes is not None:
            self._crashes.end()
        return 0

    # -- telling ------------------------------------------------------------------------------

    def _tell(self, sentence: str, detail: str) -> None:
        """From any thread: shows a message in the window."""
        self._tasks.failed.emit(sentence, detail)

    async def _run(self, errand: Errand) -> None:
        try:
            await errand(self._window, lambda: self._runtime)
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


def _import_layers() -> type[Layers]:
    """On a thread: half a second and more."""
    with at_rest():
        from desktop.app.layers import Layers

    return Layers
