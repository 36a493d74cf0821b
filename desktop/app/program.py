"""The life of the windowed program: first paint, loading, working, an end within three seconds.

Order of the end: the window lets go, running turns are stopped and sealed, the log is flushed, and
whoever still waits for a network or a keyring is left behind (DESIGN.md §6, §8).
"""

import asyncio
import gc
import logging
import signal
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication

from desktop.app import selftest as selftests
from desktop.core.errors import NacreError
from desktop.diagnostics import Hooks, LogFile, Redaction, program_version
from desktop.feed.scope import Start
from desktop.paths import DataFolder
from desktop.settings import FONT_SCALE, REDUCED_MOTION, THEME, TRANSCRIPT_ZOOM
from desktop.ui import asking
from desktop.ui.conversation_page import ConversationPage
from desktop.ui.doors import Doors
from desktop.ui.main_window import MainWindow
from desktop.ui.preferences import LivePreferences
from desktop.ui.tasks import Tasks
from desktop.ui.theme import Theme, dress, system_high_contrast, system_scheme, theme_for
from desktop.ui.transcript.pane import TranscriptPane
from desktop.ui.window_cache import WindowCache, read_cache, write_cache

if TYPE_CHECKING:
    from desktop.headless.runtime import Runtime
    from desktop.ui.transcript.writing import Renderer

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
        notices: Sequence[str] = (),
        selftest: str | None = None,
        on_first_paint: Callable[[], None] | None = None,
    ) -> None:
        self._app = app
        self._folder = folder
        self._notices = tuple(notices)
        self._selftest = selftest
        self._on_first_paint = on_first_paint
        self._cache = read_cache(folder.window_cache)
        self._redaction = Redaction()
        self._log_file: LogFile | None = None
        self._tasks = Tasks()
        self._preferences = LivePreferences(self._tasks)
        self._runtime: Runtime | None = None
        self._renderer: Renderer | None = None
        self._panes: list[TranscriptPane] = []
        self._quitting: asyncio.Future[None] | None = None
        self._asked = False
        self._theme = self._theme_now()
        dress(app, self._theme)
        self._window = MainWindow(
            theme=self._theme,
            tasks=self._tasks,
            preferences=self._preferences,
            cache=self._cache,
            version=program_version(),
        )
        self._hooks = Hooks(self._tell_later, self._redaction)

    async def run(self) -> int:
        """Returns the exit code."""
        loop = asyncio.get_running_loop()
        self._quitting = loop.create_future()
        self._hooks.install()
        self._hooks.watch(loop)
        self._window.close_wanted.connect(self._close_wanted)
        self._listen_to_signals(loop)
        painted = loop.create_future()
        _FirstPaint(self._window, partial(_settle, painted))
        self._window.show()
        await painted
        if self._on_first_paint is not None:
            self._on_first_paint()
        gc.enable()
        self._tasks.start(self._load(), "load")
        if self._selftest is not None:
            self._tasks.start(self._run_selftest(Path(self._selftest)), "self-test")
        await self._quitting
        return await self._end()

    # -- loading ------------------------------------------------------------------------------

    async def _load(self) -> None:
        """Brings up the layers behind the painted window, each on a thread where it is slow."""
        for notice in self._notices:
            self._window.say(notice)
        try:
            await asyncio.to_thread(self._prepare)
            layers = await asyncio.to_thread(_import_layers)
            self._runtime = await layers(self._folder, redaction=self._redaction, has_person=True)
        except NacreError as error:
            _LOG.error("could not start: %s", error)
            self._window.say(str(error), error.detail)
            return
        gc.freeze()
        if self._runtime.notice:
            self._window.say(self._runtime.notice)
        self._preferences.changed.connect(self._preference_changed)
        self._preferences.load(await self._runtime.catalogue.settings(), self._runtime.catalogue)
        self._connect(self._runtime)
        self._window.connect_doors(
            self._doors(self._runtime),
            self._make_page,
            await self._runtime.catalogue.view(),
            self._folder.scratch,
        )
        make_renderer = await asyncio.to_thread(_import_renderer)
        self._renderer = make_renderer(self._tasks.start)
        for pane in self._panes:
            pane.set_renderer(self._renderer)

    def _prepare(self) -> None:
        try:
            for notice in self._folder.prepare():
                self._tell_later(notice, "")
        finally:
            if self._folder.logs.is_dir():
                self._log_file = LogFile(self._folder.logs, self._redaction)

    def _connect(self, runtime: "Runtime") -> None:
        hints = self._app.styleHints()
        hints.colorSchemeChanged.connect(lambda _: self._dress())
        runtime.watch(asyncio.get_running_loop().call_later, self._tasks.start)

    def _doors(self, runtime: "Runtime") -> Doors:
        return Doors(
            commands=runtime.commands,
            catalogue=runtime.catalogue,
            reader=runtime.reader,
            hub=runtime.hub,
            access=runtime.access,
            start_tour=runtime.start_tour,
            rule_words=runtime.rule_words,
        )

    def _make_page(self, tab_id: str) -> ConversationPage:
        runtime = self._runtime
        if runtime is None:
            raise RuntimeError("a page before the layers")
        doors = self._doors(runtime)
        pane = TranscriptPane(
            tab_id,
            theme=self._theme,
            reader=doors.reader,
            hub=doors.hub,
            start=self._tasks.start,
            later=asyncio.get_running_loop().call_later,
        )
        pane.set_zoom(self._preferences.value(TRANSCRIPT_ZOOM))
        if self._renderer is not None:
            pane.set_renderer(self._renderer)
        self._panes.append(pane)
        pane.destroyed.connect(partial(self._forget_pane, pane))
        return ConversationPage(
            tab_id,
            theme=self._theme,
            tasks=self._tasks,
            doors=doors,
            pane=pane,
            now_ms=now_ms,
        )

    def _forget_pane(self, pane: TranscriptPane) -> None:
        if pane in self._panes:
            self._panes.remove(pane)

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
            dress(self._app, theme)
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

    async def _ask_then_close(self, runtime: "Runtime") -> None:
        """Asks once: keep the turn running to its end, or stop it."""
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
            self.quit()

    def _listen_to_signals(self, loop: asyncio.AbstractEventLoop) -> None:
        if sys.platform == "win32":
            return
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.quit)

    async def _end(self) -> int:
        state = self._window.state()
        cache = WindowCache(
            geometry=state.geometry,
            sidebar=state.sidebar,
            sidebar_hidden=state.sidebar_hidden,
            theme=self._cache.theme,
            font_scale=self._cache.font_scale,
            current_tab=state.current_tab,
        )
        self._window.end()
        try:
            async with asyncio.timeout(END_SECONDS):
                await self._tasks.close()
                if self._runtime is not None:
                    await self._runtime.close()
                await asyncio.to_thread(write_cache, self._folder.window_cache, cache)
        except TimeoutError:
            _LOG.warning("the end took too long; what still waits is left behind")
        self._hooks.remove()
        if self._log_file is not None:
            self._log_file.close()
        return 0

    # -- telling ------------------------------------------------------------------------------

    def _tell_later(self, sentence: str, detail: str) -> None:
        """From any thread: shows a message in the window."""
        self._tasks.failed.emit(sentence, detail)

    async def _run_selftest(self, picture: Path) -> None:
        try:
            await selftests.take_picture(self._window, picture)
        finally:
            self.quit()


def now_ms() -> int:
    """Milliseconds UTC."""
    return time.time_ns() // 1_000_000


def _settle(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


def _import_layers() -> "Callable[..., Coroutine[Any, Any, Runtime]]":
    """On a thread: the log, the agents and the network side (about half a second)."""
    from desktop.headless.runtime import start

    return start


def _import_renderer() -> "Callable[[Start], Renderer]":
    """On a thread: markdown and highlighting."""
    from desktop.ui.transcript.highlight import Highlighter
    from desktop.ui.transcript.markdown import MarkdownRenderer

    return lambda start: MarkdownRenderer(Highlighter(start))
