"""The outline as a page of the right pane: a field to filter by, the lines, or why there are none.

It reads only while it is seen. It follows what is read in the transcript: the line of the prompt at
its top is marked and kept in sight.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from desktop.ui import filtered
from desktop.ui.controls import text_label
from desktop.ui.outline.list import OutlineList
from desktop.ui.outline.model import OutlineModel
from desktop.ui.outline.reading import OutlineReading

if TYPE_CHECKING:
    from desktop.core.protocols import OutlineReader
    from desktop.feed.hub import Hub
    from desktop.feed.timing import Later
    from desktop.ui.bookmarking import Bookmarking
    from desktop.ui.tasks import Tasks
    from desktop.ui.theme import Theme
    from desktop.ui.transcript.pane import TranscriptPane

PAUSE_MS = 120  # after the last letter of the filter


class Conversation(Protocol):
    """What the outline needs of a conversation's page."""

    tab_id: str
    pane: TranscriptPane
    bookmarking: Bookmarking


class OutlinePage(QWidget):
    """`left` when Esc gives the focus back."""

    left = Signal()

    def __init__(
        self,
        theme: Callable[[], Theme],
        *,
        outline: OutlineReader,
        hub: Hub,
        tasks: Tasks,
        later: Later,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("outlinePage")
        self._page: Conversation | None = None
        self._is_reading = False
        self._seen = -1
        self._aimed = 0
        self.model = OutlineModel(self)
        self._reading = OutlineReading(
            self.model, outline=outline, hub=hub, tasks=tasks, later=later
        )
        self.field = QLineEdit(self)
        self.list = OutlineList(self.model, theme, self)
        self._why = text_label(self, "outlineEmpty")
        self._problem = text_label(self, "outlineProblem")
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._build(theme())
        self._wire()

    @property
    def busy(self) -> bool:
        """Whether a piece is on its way."""
        return self._reading.busy

    @property
    def is_fresh(self) -> bool:
        """Whether the lines say all that is known of the conversation."""
        return self._reading.is_fresh

    def show_conversation(self, page: Conversation | None) -> None:
        """The conversation in view; None where there is none."""
        if page is self._page:
            return
        self._leave()
        self._reading.close()
        self._page = page
        self.field.clear()
        self._pause.stop()
        self.model.forget()
        self._tell()
        if self.isVisible():
            self._enter()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not filtered.takes_key(event, self.field, self.list, self.left):
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._enter()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._leave()

    # -- which conversation -------------------------------------------------------------------

    def _enter(self) -> None:
        page = self._page
        if page is None or self._is_reading:
            return
        self._is_reading = True
        self._seen = -1
        view = page.pane.view
        around = None if view.following else view.read_seq or None
        if self._reading.tab_id == page.tab_id:
            self._reading.show(True)
            self._reading.show_bookmarks(page.bookmarking.bookmarks, around=around)
        else:
            self._reading.open(page.tab_id, page.bookmarking.bookmarks, around=around)
        view.painted_rows.connect(self._follow)
        page.bookmarking.read.connect(self._show_bookmarks)
        self._follow()

    def _leave(self) -> None:
        """Out of sight: the lines stay, and nothing is read for them until they are seen."""
        page = self._page
        if page is None or not self._is_reading:
            return
        self._is_reading = False
        self._reading.show(False)
        page.pane.view.painted_rows.disconnect(self._follow)
        page.bookmarking.read.disconnect(self._show_bookmarks)

    def _show_bookmarks(self, bookmarks: frozenset[int]) -> None:
        around = self._seen if self.model.has_newer and self._seen > 0 else None
        self._reading.show_bookmarks(bookmarks, around=around)

    # -- where one is -------------------------------------------------------------------------

    def _follow(self) -> None:
        """The transcript was painted: is another prompt at its top?"""
        seen = self._page.pane.view.read_seq if self._page is not None else 0
        if seen == self._seen or not seen:
            return
        self._seen = seen
        here, self._aimed = self._aimed or seen, 0
        if self.model.show_current(here):
            self.list.show_place()
        self._reading.seek(here)

    def _jump(self, seq: int) -> None:
        """The line that was chosen is where one is, also where it can't come to the very top."""
        if self._page is None:
            return
        view = self._page.pane.view
        before = view.layout_now
        self.model.show_current(seq)
        view.jump(seq)
        self._aimed = seq if view.layout_now != before or not view.placed else 0

    # -- filter, and what there is to see -----------------------------------------------------

    def _typed(self) -> None:
        self._pause.start()

    def _look(self) -> None:
        self._reading.look_for(self.field.text())

    def _read(self) -> None:
        self._tell()
        self.list.look()

    def _failed(self, sentence: str) -> None:
        self._tell(sentence)

    def _tell(self, problem: str = "") -> None:
        """The lines, or a sentence why there are none; both where they could not be read anew."""
        is_open = self._page is not None
        is_filled = self.model.rowCount() > 0
        self._problem.setText(problem)
        self._problem.setVisible(is_filled and bool(problem))
        looked = not self.model.has_older and not self._reading.busy
        if problem or not is_open:
            words = problem or self.tr("Its prompts and bookmarks stand here once one is open.")
        elif self.field.text().strip():
            words = self.tr("No prompt holds this.") if looked else self.tr("Looking…")
        else:
            words = self.tr("Nothing was asked here yet.")
        self._why.setText(words)
        self.field.setEnabled(is_open)
        self._stack.setCurrentWidget(self.list if is_filled else self._why)

    # -- building -----------------------------------------------------------------------------

    def _build(self, theme: Theme) -> None:
        self.field.setObjectName("outlineFilter")
        self.field.setAccessibleName(self.tr("Filter prompts"))
        self.field.setPlaceholderText(self.tr("Filter prompts"))
        self._why.setProperty("muted", True)
        self._why.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._why.setContentsMargins(theme.space_12, theme.space_8, theme.space_12, 0)
        self._stack = filtered.lay_out(self, self.field, self.list, self._why, theme)
        self._problem.setContentsMargins(theme.space_12, 0, theme.space_12, theme.space_8)
        column = self.layout()
        assert column is not None
        column.addWidget(self._problem)
        self._tell()

    def _wire(self) -> None:
        self.field.textChanged.connect(self._typed)
        self._pause.timeout.connect(self._look)
        self.list.jump_wanted.connect(self._jump)
        self.list.older_wanted.connect(self._reading.fetch_older)
        self.list.newer_wanted.connect(self._reading.fetch_newer)
        self._reading.read_piece.connect(self._read)
        self._reading.failed.connect(self._failed)
