"""The transcript of one conversation as a part of a page: scope, model and view, while in sight.

In sight it subscribes and shows; out of sight it lets its rows go and keeps the place and the
folds (SPEC U09). An empty conversation says so.
"""

import asyncio
from collections.abc import Awaitable, Callable

from PySide6.QtCore import Signal
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop.core.errors import NacreError
from desktop.core.protocols import LogReader
from desktop.core.records import ViewState
from desktop.core.status import TabStatus
from desktop.feed.hub import Hub
from desktop.feed.scope import Scope
from desktop.feed.timing import Later, Start
from desktop.ui.kept_files import OUTPUT_SUFFIX, kept_path, open_kept
from desktop.ui.theme import Theme
from desktop.ui.transcript.copying import Copying, put
from desktop.ui.transcript.links import offer_link
from desktop.ui.transcript.model import TranscriptModel
from desktop.ui.transcript.pictures import KeptGallery
from desktop.ui.transcript.saving import save_code
from desktop.ui.transcript.view import TranscriptView
from desktop.ui.transcript.whole.window import OutputWindow
from desktop.ui.transcript.writing import Renderer

PATIENCE = 0.5  # seconds that a picture may stand still


class TranscriptPane(QWidget):
    """`failed(sentence, detail)` when rows can't be read;
    `filled` when the rows in sight were read; `wished` and `branch_wanted` as the view's."""

    filled = Signal()
    wished = Signal(object)
    way_wanted = Signal(str)
    branch_wanted = Signal(object, str)
    failed = Signal(str, str)
    painted_rows = Signal()

    def __init__(
        self,
        tab_id: str,
        *,
        theme: Theme,
        reader: LogReader,
        hub: Hub,
        start: Start,
        later: Later,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._tab_id = tab_id
        self._reader = reader
        self._hub = hub
        self._start = start
        self._theme = theme
        self._later = later
        self._model: TranscriptModel | None = None
        self._state: ViewState | None = None
        self._recall: Callable[[], Awaitable[ViewState]] | None = None
        self._bookmarks: frozenset[int] = frozenset()
        self._copying: Copying | None = None
        self.rendered = False
        self.view = TranscriptView(theme, self)
        self.view.set_gallery(KeptGallery(reader, start, self.view.viewport().update))
        self.view.link_activated.connect(self._offer_link)
        self.view.code_wanted.connect(self._save_code)
        self.view.open_requested.connect(self._open)
        self.view.copy_wanted.connect(lambda copying: start(self._copy(copying), "copy"))
        self.view.painted_rows.connect(self.painted_rows)
        self.view.wished.connect(self.wished)
        self.view.way_wanted.connect(self.way_wanted)
        self.view.branch_wanted.connect(self.branch_wanted)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.view)
        self.setFocusProxy(self.view)

    def enter(self) -> None:
        """Subscribes and shows; entering twice is harmless."""
        if self._model is not None:
            return
        scope = Scope(self._tab_id, self._reader, self._hub, start=self._start, later=self._later)
        model = TranscriptModel(scope, self)
        model.failed.connect(self.failed)
        model.show_bookmarks(self._bookmarks)
        self._model = model
        self.view.show_model(model, self._state)
        # After the view, which finds its place in the rows first.
        model.modelReset.connect(self.filled)
        if self._state is None and self._recall is not None:
            self._start(self._enter_at(self._recall, model), f"place in {self._tab_id}")
        else:
            scope.open(self.view.awaited)

    async def _enter_at(
        self, recall: Callable[[], Awaitable[ViewState]], model: TranscriptModel
    ) -> None:
        """Reads no row before the place is known, so that no other is seen first."""
        recalled = await recall()
        is_news = self._state is None
        self._state = self._state or recalled
        if self._model is not model:
            return
        if is_news and self.view.placed:  # nobody has said meanwhile where to go
            self.view.show_model(model, recalled)
        model.scope.open(self.view.awaited)

    def leave(self) -> None:
        """Lets the rows go and remembers the place; leaving twice is harmless."""
        model, self._model = self._model, None
        if model is None:
            return
        self._state = self._state_in_sight()
        self.view.show_model(None)
        model.detach()
        model.scope.close()
        model.deleteLater()

    @property
    def loaded(self) -> bool:
        """Whether the rows in sight have been read."""
        return self._model is not None and self._model.scope.loaded

    def shows(self, status: TabStatus) -> bool:
        """Whether the rows in sight have been laid out for what can be done now."""
        model = self._model
        if model is None or not self.loaded or self.view.frame_due:
            return False
        return model.scope.status_now.ways_on == status.ways_on

    @property
    def state(self) -> ViewState | None:
        """Where one is, or was when it was left; None while that is not known."""
        return self._state if self._model is None else self._state_in_sight()

    def _state_in_sight(self) -> ViewState | None:
        is_known = self._state is not None or self._recall is None or not self.view.placed
        return self.view.view_state() if is_known else None

    def recall_with(self, recall: Callable[[], Awaitable[ViewState]]) -> None:
        """How the place is had when it is entered for the first time."""
        self._recall = recall

    def stand_at(self, state: ViewState) -> None:
        """Where it is entered next."""
        self._state = state

    async def until_placed(self) -> None:
        """Until the rows at the place where it was entered are there, or it takes too long."""
        placed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def look() -> None:
            if not placed.done() and (self._model is None or (self.loaded and self.view.placed)):
                placed.set_result(None)

        self.filled.connect(look)
        try:
            look()
            async with asyncio.timeout(PATIENCE):
                await placed
        except TimeoutError:
            return
        finally:
            self.filled.disconnect(look)

    def show_bookmarks(self, bookmarks: frozenset[int]) -> None:
        """The seqs of the rows that have a bookmark."""
        self._bookmarks = bookmarks
        if self._model is not None:
            self._model.show_bookmarks(bookmarks)

    def follow(self) -> None:
        self._state = self._state or ViewState()
        self.view.follow()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.view.set_theme(theme)

    def set_zoom(self, percent: int) -> None:
        self.view.set_zoom(percent)

    def set_thinking_open(self, is_open: bool) -> None:
        self.view.set_thinking_open(is_open)

    def set_renderer(self, renderer: Renderer) -> None:
        """Text is rendered from now on; `rendered` says that it is."""
        self.rendered = True
        self.view.set_renderer(renderer)

    def _open(self, file: str) -> None:
        self._start(self._show_file(file), "open a kept file")

    async def _show_file(self, file: str) -> None:
        """An output in a window of its own, anything else in the system's viewer."""
        if file.endswith(OUTPUT_SUFFIX):
            path = await kept_path(file, self._reader)
            title = self.tr("Output")
            OutputWindow(path, title, self._theme, self._start, self.window()).show()
        else:
            await open_kept(file, self._reader)

    def _offer_link(self, address: str) -> None:
        # At the mouse that pointed at it; without one where the person reads.
        middle = self.view.mapToGlobal(self.view.rect().center())
        offer_link(self, address, QCursor.pos() if self.view.underMouse() else middle)

    def _save_code(self, text: str, language: str) -> None:
        self._start(save_code(self, text, language), "save code")

    async def _copy(self, copying: Copying) -> None:
        self._copying = copying
        try:
            text = await copying.read(self._reader)
        except NacreError as error:
            if copying.target == "clipboard":  # nobody asked for what is only offered
                self.failed.emit(str(error), error.detail)
            return
        if self._copying is copying:  # the last wish holds
            put(text, copying.target)
            self._copying = None

    def visible_texts(self) -> list[str]:
        """What a screen reader is told of the rows on the screen, top to bottom."""
        model = self._model
        if model is None:
            return []
        texts = (model.data(model.index(one.row)) for one in self.view.layout_now.placed)
        return [str(text) for text in texts if text]
