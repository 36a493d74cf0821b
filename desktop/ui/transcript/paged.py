"""A list that shows a page: where one is in it, what is folded and marked, and where rows stand.

All of it is asked of the page; without one there is nothing. What the model tells goes there too,
and is drawn with the next frame. Knows nothing of painting, keys and the mouse.
"""

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPoint, QPointF, QRect, Signal
from PySide6.QtWidgets import QAbstractItemView, QWidget

from desktop.core.records import Fold, ViewState
from desktop.ui.transcript.anchor import Layout
from desktop.ui.transcript.bare import BareList, Index
from desktop.ui.transcript.box import Box
from desktop.ui.transcript.clips import Clips
from desktop.ui.transcript.clock import FrameClock
from desktop.ui.transcript.copying import Form, marked_at_hand
from desktop.ui.transcript.finds import Finds
from desktop.ui.transcript.page import Page
from desktop.ui.transcript.parting import read_seq, state_at
from desktop.ui.transcript.pieces import Hit


class PagedList(BareList):
    """`copy_wanted(Copying)` when rows that are marked have to be read from the log.

    `clock` says when the next frame is.
    """

    copy_wanted = Signal(object)

    def __init__(self, clock: FrameClock, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._page: Page | None = None
        self._clock = clock
        self._clips = Clips(self.viewport())
        self._finds = Finds()
        self._thinking_open = False
        clock.setParent(self)
        self._clips.wanted.connect(self.copy_wanted)

    # Where the person is

    def view_state(self) -> ViewState:
        """Where the person is now, for `show_model` later."""
        return self._page.state if self._page is not None else ViewState()

    @property
    def following(self) -> bool:
        return self._page is None or self._page.position.following

    @property
    def layout_now(self) -> Layout:
        """What is on the screen."""
        return self._page.position.layout if self._page is not None else Layout()

    @property
    def last_seen(self) -> int:
        """The seq of the last row on the screen; 0 where none is."""
        placed = self.layout_now.placed
        return self._page.rows.seq_of(placed[-1].row) if self._page and placed else 0

    @property
    def read_seq(self) -> int:
        """The seq of the row that is read; 0 where none is seen."""
        return read_seq(self._page) if self._page is not None else 0

    def state_at(self, seq: int) -> ViewState:
        """The place for another conversation that shares the rows before `seq`: there, that row
        stands where it stands here."""
        return state_at(self._page, seq) if self._page is not None else ViewState()

    @property
    def placed(self) -> bool:
        """Whether the place to be at is loaded."""
        return self.awaited is None

    @property
    def awaited(self) -> int | None:
        """The seq of the place to be at, while that is not loaded."""
        return self._page.position.awaited if self._page is not None else None

    # Going elsewhere, folding

    def follow(self) -> None:
        """Goes to the end of the conversation and stays there."""
        if self._page is not None:
            self._page.position.follow()

    def jump(self, seq: int, offset: int = 0) -> None:
        """Shows the row of this seq at the top."""
        if self._page is not None:
            self._page.position.jump(seq, offset)

    def seek(self, seq: int) -> None:
        """Shows the row of this seq, unfolded where the text that is looked for is folded away."""
        if self._page is not None:
            self._page.seek(seq)

    def scroll_by(self, pixels: int) -> None:
        """Moves down (or up, when negative). The smallest move up ends following."""
        if self._page is not None:
            self._page.position.scroll_by(pixels)

    def set_fold(self, id_: str, fold: Fold) -> None:
        """Folds or unfolds. The row stays where it is: only what is below it moves."""
        if self._page is not None:
            self._page.set_fold(id_, fold)

    def toggle_written(self, id_: str) -> None:
        """Shows an answer as it was written, or as it is meant again."""
        if self._page is not None:
            self._page.toggle_written(id_)

    def set_thinking_open(self, is_open: bool) -> None:
        """Whether thinking stands open unless the person folds it."""
        if is_open == self._thinking_open:
            return
        self._thinking_open = is_open
        if self._page is not None:
            self._page.set_thinking_open(is_open)

    # What is there

    @property
    def documents_built(self) -> int:
        """How many documents were made for the rows that are shown."""
        return self._page.shelf.documents_built if self._page is not None else 0

    @property
    def documents_alive(self) -> int:
        return self._page.shelf.documents if self._page is not None else 0

    def box_of(self, id_: str) -> Box | None:
        """The box that is kept for a row."""
        return self._page.shelf.kept(id_) if self._page is not None else None

    def hit_at(self, at: QPointF) -> Hit | None:
        """What lies under a point of the viewport."""
        return self._page.hit_at(at) if self._page is not None else None

    # What is marked and found

    def show_found(self, *texts: str) -> None:
        """Marks these texts wherever they are seen; empty ones mark nothing."""
        self._finds.look_for(*texts)
        self.viewport().update()

    def copy(self) -> None:
        """The marked text, as it is seen, to the clipboard."""
        self._copy("plain")

    def copy_markdown(self) -> None:
        """The marked text as Markdown, to the clipboard."""
        self._copy("markdown")

    def selected_text(self, form: Form = "plain") -> str:
        """What is marked, where it is at hand."""
        return marked_at_hand(self._page, form) if self._page is not None else ""

    def selectAll(self) -> None:
        """All of the conversation, loaded or not."""
        if self._page is not None:
            self._page.marking.mark_all()
            self._clips.offer(self._page)

    def _copy(self, form: Form) -> None:
        if self._page is not None:
            self._clips.copy(self._page, form)

    def _offer(self) -> None:
        if self._page is not None:
            self._clips.offer(self._page)

    def _pull_away(self) -> None:
        if self._page is not None:
            self._clips.pull_away(self._page)

    # What the model tells

    def rowsInserted(self, parent: Index, start: int, end: int) -> None:
        super().rowsInserted(parent, start, end)
        self._rows_moved()

    def rowsAboutToBeRemoved(self, parent: Index, start: int, end: int) -> None:
        if self._page is not None:
            self._page.rows_gone(start, end)
        super().rowsAboutToBeRemoved(parent, start, end)
        self._rows_moved()

    def _rows_moved(self) -> None:
        """Places are others now; what is seen is laid out with the frame."""
        if self._page is not None:
            self._page.position.rows_moved()
        self._clock.mark()

    def dataChanged(
        self, topLeft: Index, bottomRight: Index, roles: Sequence[int] | None = None
    ) -> None:
        del roles
        if self._page is not None:
            self._page.rows_changed(topLeft.row(), bottomRight.row())

    def reset(self) -> None:
        super().reset()
        if self._page is not None:
            self._page.rows_reset()
            self._clock.mark()

    # What Qt asks: where rows are

    def visualRect(self, index: Index) -> QRect:
        if self._page is None:
            return QRect()
        frame = self._page.frame
        for one in self.layout_now.placed:
            # A row that is not seen is none for a screen reader, though it may keep room.
            if one.row == index.row() and not self.isIndexHidden(index):
                return QRect(frame.left, one.y, frame.width, one.height)
        return QRect()

    def indexAt(self, p: QPoint) -> QModelIndex:
        placed = self._page.placed_at(p.y()) if self._page is not None else None
        if self._page is None or placed is None:
            return QModelIndex()
        return self._page.rows.index(placed.row)

    def scrollTo(
        self,
        index: Index,
        hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible,
    ) -> None:
        del hint
        if self._page is not None and index.isValid():
            self._page.position.reveal(index.row())

    def isIndexHidden(self, index: Index) -> bool:
        rows = self._page.rows if self._page is not None else None
        return rows is not None and not rows.takes_space(rows.row(index.row()))
