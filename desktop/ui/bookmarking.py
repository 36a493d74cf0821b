"""The bookmarks of one conversation's page: which rows have one, and setting one (decision 27)."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from desktop.core.catalogue import Catalogue
from desktop.ui.tasks import Tasks
from desktop.ui.transcript.overlay import Wish
from desktop.ui.transcript.pane import TranscriptPane


class Bookmarking(QObject):
    """`read(bookmarks)` whenever the seqs of the bookmarked rows were read."""

    read = Signal(object)

    def __init__(
        self, tab_id: str, *, catalogue: Catalogue, tasks: Tasks, pane: TranscriptPane
    ) -> None:
        # Of no widget: what is on its way when the page is closed ends as it should.
        super().__init__()
        self._tab_id = tab_id
        self._catalogue = catalogue
        self._tasks = tasks
        self._pane = pane
        self._is_gone = False
        self.bookmarks: frozenset[int] = frozenset()
        pane.wished.connect(self._wish)

    def refresh(self) -> None:
        """They may have changed: a fork shares rows, another window is open."""
        self._tasks.start(self._read(), f"bookmarks of {self._tab_id}")

    def close(self) -> None:
        """The page is left for good."""
        self._is_gone = True

    def _wish(self, wish: Wish) -> None:
        if wish.act == "bookmark" and wish.seq:
            self._tasks.start(self._toggle(wish.seq), f"bookmark in {self._tab_id}")

    async def _toggle(self, seq: int) -> None:
        is_set = seq not in self.bookmarks
        await self._catalogue.set_bookmark(self._tab_id, seq, is_set=is_set)
        await self._read()

    async def _read(self) -> None:
        bookmarks = await self._catalogue.bookmarks(self._tab_id)
        if self._is_gone:
            return
        self.bookmarks = bookmarks
        self._pane.show_bookmarks(bookmarks)
        self.read.emit(bookmarks)
