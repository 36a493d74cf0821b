"""The transcript's view: rows of very unlike heights, of which only the seen ones are laid out.

It is a QListView, so that Qt's accessibility sees a list with items, and overrides all geometry.
A thin adapter: events go in to the page that is shown, and the page's layout comes out as painting,
scroll bar and the button to the end.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import (
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QGuiApplication,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QRegion,
    QResizeEvent,
    QTouchEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QToolTip, QWidget

from desktop.core.groups import Row
from desktop.core.records import Branch
from desktop.ui.theme import Theme
from desktop.ui.transcript.acts import Act, Point, answer_text, is_answer, is_prompt
from desktop.ui.transcript.anchor import Layout
from desktop.ui.transcript.bar import RowBar
from desktop.ui.transcript.box import Box
from desktop.ui.transcript.boxes import Fold, Maker
from desktop.ui.transcript.clock import FrameClock
from desktop.ui.transcript.code_piece import Code, CodePiece
from desktop.ui.transcript.finds import Finds
from desktop.ui.transcript.frame import Frame, frame_of
from desktop.ui.transcript.model import TranscriptModel
from desktop.ui.transcript.overlay import Overlay, Wish, acts_of, overlay_style, ways_of, wish_of
from desktop.ui.transcript.page import Listener, Page
from desktop.ui.transcript.parting import point_near, state_at, wish_near
from desktop.ui.transcript.phrases import plain_text
from desktop.ui.transcript.pieces import Hit
from desktop.ui.transcript.pointer import Pointer, Strokes, slide_at, tip_at
from desktop.ui.transcript.position import ViewState
from desktop.ui.transcript.row_menu import RowMenu
from desktop.ui.transcript.row_parts import with_parts
from desktop.ui.transcript.to_end import ToEnd, to_end_style
from desktop.ui.transcript.writing import PlainRenderer, Renderer

_LOG = logging.getLogger(__name__)

Index = QModelIndex | QPersistentModelIndex

_STEPS = {
    Qt.Key.Key_PageUp: (0, -1),
    Qt.Key.Key_PageDown: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
}
_SIDEWAYS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
_UNFOLDING = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


class TranscriptView(QListView):
    """Shows a `TranscriptModel`. Set its model with `show_model`, its look with `set_theme`.

    `wished(Wish)` to edit, regenerate or fork; `way_wanted(Way)` for an answer that was cut;
    `branch_wanted(Point, tab_id)` to switch; `code_wanted(text, language)` to save a block of code.
    """

    wished = Signal(object)
    way_wanted = Signal(str)
    branch_wanted = Signal(object, str)
    link_activated = Signal(str)
    code_wanted = Signal(str, str)
    link_hovered = Signal(str)
    open_requested = Signal(str)
    following_changed = Signal(bool)
    painted_rows = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("transcript")
        self.setAccessibleName(self.tr("Conversation"))
        self.setProperty("rings", True)
        self._base_theme = theme
        self._zoom = 1.0
        self._theme = theme
        self._thinking_open = False
        self._maker = Maker(theme, PlainRenderer(), self.viewport().update)
        self._page: Page | None = None
        self._finds = Finds()
        self._current = ""
        self._strokes = Strokes()
        self._clock = FrameClock(theme.motion.frame, self)
        self._clock.tick.connect(self._refresh)
        self._bar = RowBar(self.verticalScrollBar())
        self._bar.dragged.connect(self._clock.mark)
        self._bar.stepped.connect(self._step)
        self._pointer = Pointer(self.viewport())
        self._pointer.clicked.connect(self._click)
        self._pointer.hovered.connect(self.link_hovered)
        self._overlay = Overlay(self.viewport())
        self._overlay.wished.connect(self._wish)
        self._overlay.branch_wanted.connect(self._switch)
        self._to_end = ToEnd(self.viewport())
        self._to_end.clicked.connect(self.follow)
        self._set_up()
        self._take_theme()

    def _set_up(self) -> None:
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # Always there (empty when there is nowhere to go): the column must not shift.
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        # The row that the keyboard is on moves nothing by being it.
        self.setAutoScroll(False)
        self.setMouseTracking(True)
        self.viewport().setMouseTracking(True)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_AcceptTouchEvents)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    # For the window

    def show_model(self, model: TranscriptModel | None, state: ViewState | None = None) -> None:
        """Shows these rows, at the place of `state` (the end without one)."""
        if self._page is not None:
            self._page.rows.newer_changed.disconnect(self._show_to_end)
        self._page = page = None if model is None else self._page_of(model, state)
        self.setModel(model)  # pyright: ignore[reportArgumentType]
        if page is not None:
            page.rows.newer_changed.connect(self._show_to_end)
            page.position.begin()
        else:
            self._overlay.lay_out(None, "")

    def _page_of(self, model: TranscriptModel, state: ViewState | None) -> Page:
        return Page(
            model,
            self._maker,
            state=state,
            thinking_open=self._thinking_open,
            frame=self._frame,
            listener=Listener(self.following_changed.emit, self._show_layout, self._show_marking),
            finds=self._finds,
        )

    def view_state(self) -> ViewState:
        """Where the person is now, for `show_model` later."""
        return self._page.state if self._page is not None else ViewState()

    def set_theme(self, theme: Theme) -> None:
        self._base_theme = theme
        self._take_theme()

    def set_zoom(self, percent: int) -> None:
        """Scales the transcript's text; 100 is as designed."""
        self._zoom = percent / 100
        self._take_theme()

    def set_thinking_open(self, is_open: bool) -> None:
        """Whether thinking stands open unless the person folds it."""
        if is_open == self._thinking_open:
            return
        self._thinking_open = is_open
        if self._page is not None:
            self._page.set_thinking_open(is_open)

    def set_renderer(self, renderer: Renderer) -> None:
        """Markdown and colours from now on; what is on the screen is drawn again."""
        self._maker = Maker(self._theme, renderer, self.viewport().update)
        if self._page is not None:
            self._page.dress(self._maker)
        self.viewport().update()

    @property
    def following(self) -> bool:
        return self._page is None or self._page.position.following

    @property
    def layout_now(self) -> Layout:
        """What is on the screen."""
        return self._page.position.layout if self._page is not None else Layout()

    @property
    def frame_due(self) -> bool:
        """Whether something is waiting for the next frame."""
        return self._clock.running

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

    def follow(self) -> None:
        """Goes to the end of the conversation and stays there."""
        if self._page is not None:
            self._page.position.follow()

    def jump(self, seq: int, offset: int = 0) -> None:
        """Shows the row of this seq at the top."""
        if self._page is not None:
            self._page.position.jump(seq, offset)

    def show_found(self, text: str) -> None:
        """Marks a text wherever it is seen; an empty one marks nothing."""
        self._finds.look_for(text)
        self.viewport().update()

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

    def show_branches(self, branches: Sequence[Branch]) -> None:
        """Where other conversations part from this one."""
        self._overlay.show_branches(branches)
        self._overlay.lay_out(self._page, self._ringed())

    @property
    def points(self) -> tuple[Point, ...]:
        """Where conversations part among the loaded rows."""
        return self._overlay.points

    def act(self, act: Act) -> None:
        """Does this with the row that the keyboard is on, else with the last one it fits."""
        wish = wish_near(self._page, self._ringed(), act) if self._page is not None else None
        if wish is not None:
            self._wish(wish)

    def step_branch(self, step: int) -> None:
        """To the branch before or after, at the place that is nearest to what is read."""
        page = self._page
        point = point_near(page, self.points, self._ringed()) if page is not None else None
        if point is not None:
            self._switch(point, step)

    @property
    def last_seen(self) -> int:
        """The seq of the last row on the screen; 0 where none is."""
        placed = self.layout_now.placed
        return self._page.rows.seq_of(placed[-1].row) if self._page and placed else 0

    def state_at(self, seq: int) -> ViewState:
        """The place for another conversation that shares the rows before `seq`: there, that row
        stands where it stands here."""
        return state_at(self._page, seq) if self._page is not None else ViewState()

    @property
    def placed(self) -> bool:
        """Whether the place to be at is loaded."""
        return self._page is None or not self._page.position.waiting

    def copy(self) -> None:
        """The marked text, plain, to the clipboard."""
        text = self.selected_text()
        if text:
            QGuiApplication.clipboard().setText(text)

    def selected_text(self) -> str:
        return self._page.marking.text() if self._page is not None else ""

    def selectAll(self) -> None:
        """Everything that is loaded."""
        if self._page is not None:
            self._page.marking.mark_all()

    # The look

    def _take_theme(self) -> None:
        base = self._base_theme
        self._theme = replace(
            base, scale=base.scale * self._zoom, column=round(base.column * self._zoom)
        )
        self.setStyleSheet(
            f"QListView#transcript {{ background: {base.colours.bg}; border: none; }}"
            f" {to_end_style(base)} {overlay_style(base)}"
        )
        self._overlay.set_theme(self._theme)
        self.set_renderer(self._maker.renderer)

    def _frame(self) -> Frame:
        return frame_of(self._theme, self.viewport().size())

    # The layout comes out

    def _show_layout(self) -> None:
        if self._page is not None:
            self._page.settle()
            self._bar.show(self._page.position.extent())
        self._overlay.lay_out(self._page, self._ringed())
        self._show_to_end()
        self.viewport().update()

    def _ringed(self) -> str:
        """The row that the keyboard is on."""
        return self._current if self.hasFocus() else ""

    def _show_marking(self) -> None:
        if self._page is not None:
            self._page.hold()
        self.viewport().update()

    def _show_to_end(self) -> None:
        page = self._page
        if page is None or page.position.following or page.position.at_log_end:
            self._to_end.hide()
        else:
            self._to_end.offer(page.rows.scope.newer, self.viewport(), self._theme.space_12)

    def _refresh(self) -> None:
        """Once a frame: what was marked dirty is drawn, and a dragged bar is followed."""
        target = self._bar.take_target()
        if self._page is None:
            self.viewport().update()
        elif target is None:
            self._page.position.lay_out()
        else:
            self._page.position.go_to(target.seq, target.share, at_end=target.at_end)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        try:
            painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
            # Lines that name acts and marks begin at the left; texts have their own direction.
            painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
            painter.fillRect(event.rect(), self._theme.color("bg"))
            if self._page is not None:
                ringed = self._ringed()
                self._page.paint(painter, QRectF(event.rect()), self._theme, ringed=ringed)
        except Exception:  # a fault in one paint must not end the program
            _LOG.exception("the transcript could not be painted")
        finally:
            painter.end()
        self.painted_rows.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._page is None:
            self.viewport().update()
        elif event.oldSize().width() != event.size().width():
            self._page.rewrap()
        else:
            self._page.position.lay_out()

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

    # Keys, wheel and fingers

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Who comes by the keyboard is on a row from the start: the last one on the screen."""
        super().focusInEvent(event)
        if event.reason() != Qt.FocusReason.MouseFocusReason:
            self._stand_somewhere()

    def _stand_somewhere(self) -> None:
        page = self._page
        if page is not None:
            at = page.rows.place(self._current)
            self._stand_on(page, page.last_seen() if at is None else at)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._overlay.lay_out(self._page, self._ringed())

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
            return
        line, page = self._frame().line, self._page
        sideways = self._strokes.sideways(event, line)
        slide = slide_at(page, event.position()) if sideways and page is not None else None
        if slide is None:
            self.scroll_by(self._strokes.wheel(event, line))
        elif slide.by(sideways):
            self.viewport().update()
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.selectAll()
        elif not self._move_by_key(event):
            event.ignore()
            return
        event.accept()

    def _move_by_key(self, event: QKeyEvent) -> bool:
        key, ctrl = event.key(), event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if ctrl and key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._step_current(-1 if key == Qt.Key.Key_Up else 1)
        elif key in _STEPS:
            self._step(*_STEPS[Qt.Key(key)])
        elif key == Qt.Key.Key_Home:
            self.jump(1)
        elif key == Qt.Key.Key_End:
            self.follow()
        elif key in _SIDEWAYS and self._current:
            self._slide_current(_SIDEWAYS[Qt.Key(key)])
        elif key in _UNFOLDING and self._page is not None:
            self._stand_somewhere()
            self._page.toggle(self._current)
        else:
            return False
        return True

    def _step(self, lines: int, screens: int) -> None:
        frame = self._frame()
        self.scroll_by(lines * frame.line + screens * frame.screenful)

    def _slide_current(self, step: int) -> None:
        """←/→: what is wide in the row that the keyboard is on scrolls by some letters."""
        box = self.box_of(self._current)
        moved = [one.by(step * 2 * self._frame().line) for one in box.slides()] if box else []
        if any(moved):
            self.viewport().update()

    def _step_current(self, step: int) -> None:
        """Ctrl+↑/↓: the row before or after, kept on the screen; Enter unfolds it."""
        page = self._page
        at = page.neighbour(self._current, step) if page is not None else None
        if page is None or at is None:
            return
        self._stand_on(page, at)
        self.scrollTo(page.rows.index(at))

    def _stand_on(self, page: Page, at: int | None) -> None:
        """The keyboard is on this row now; a screen reader says it."""
        if at is not None:
            self._current = page.rows.row(at).id
            index = page.rows.index(at)
            self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.NoUpdate)
        self._overlay.lay_out(page, self._ringed())
        self.viewport().update()

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QTouchEvent) and event.points():
            self.scroll_by(self._strokes.touch(event))
            event.accept()
            return True
        if event.type() == QEvent.Type.Leave and self._page is not None:
            self._overlay.point(self._page, None)
        if isinstance(event, QHelpEvent):
            words = tip_at(self._page, QPointF(event.pos())) if self._page is not None else ""
            QToolTip.showText(event.globalPos(), words, self)
            return True
        return super().viewportEvent(event)

    # The mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._page is not None:
            self._pointer.press(self._page, event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._page is not None:
            self._pointer.move(self._page, event)
            self._overlay.point(self._page, event.position())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._pointer.release(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self._page is not None:
            self._pointer.double_press(self._page, event)

    def _click(self, at: QPointF) -> None:
        page = self._page
        hit, row = self.hit_at(at), page.row_at(at.y()) if page is not None else None
        if page is None or hit is None or row is None:
            return
        piece = page.piece_at(at)
        if hit.kind == "copy":
            QGuiApplication.clipboard().setText(hit.value)
            QToolTip.showText(self.viewport().mapToGlobal(at.toPoint()), self.tr("Copied"), self)
        elif hit.kind in ("save", "wrap") and isinstance(piece, CodePiece):
            self._act_on_code(page, row.id, piece.code, wrap=hit.kind == "wrap")
        else:
            self._do(page, row, hit)

    def _do(self, page: Page, row: Row, hit: Hit) -> None:
        match hit.kind:
            case "link":
                self.link_activated.emit(hit.value)
            case "subagent":
                self._wish(wish_of(page, row, "subagent"))
            case "open":
                self.open_requested.emit(hit.value)
            case "all":
                page.set_fold(row.id, "all")
            case "fold":
                self._current = row.id
                page.toggle(row.id)
            case "text" | "slide" | "copy" | "save" | "wrap":
                pass

    def _act_on_code(self, page: Page, id_: str, code: Code, *, wrap: bool) -> None:
        if wrap:
            page.toggle_wrapping(id_, code)
        else:
            self.code_wanted.emit(code.text, code.language)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Of the row under the mouse; of the ringed one when a key asked for it."""
        page = self._page
        if page is None:
            return
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        if by_key:
            self._stand_somewhere()
        place = event.pos()
        at = self.indexAt(place).row()
        piece = page.piece_at(QPointF(place))
        code = piece.code if isinstance(piece, CodePiece) else None
        menu = self._menu_of(page, at, code)
        if by_key and self._current:
            at = page.rows.place(self._current)
            at = -1 if at is None else at
            place = self.visualRect(page.rows.index(at)).topLeft()
            menu = self._with_parts(page, at)
        menu.make(self).popup(self.viewport().mapToGlobal(place))

    def _with_parts(self, page: Page, at: int) -> RowMenu:
        menu, box = self._menu_of(page, at, None), self.box_of(self._current)
        if at < 0 or box is None:
            return menu
        row = page.rows.row(at)
        code_acts = partial(self._code_acts, page, row.id)
        return with_parts(menu, box, code_acts, partial(self._do, page, row))

    def _menu_of(self, page: Page, at: int, code: Code | None) -> RowMenu:
        row = page.rows.row(at) if at >= 0 else None
        text = plain_text(row, page.rows.context()) if row is not None else ""
        return RowMenu(
            acts=acts_of(page, at) if row is not None else (),
            ways=ways_of(page, at) if row is not None else (),
            is_prompt=row is not None and is_prompt(row),
            has_marked=not page.marking.empty,
            act=lambda act: row is not None and self._wish(wish_of(page, row, act)),
            go=self.way_wanted.emit,
            copy_marked=self.copy,
            copy_part=(lambda: QGuiApplication.clipboard().setText(text)) if text else None,
            select_all=self.selectAll,
            code=self._code_acts(page, row.id, code) if row is not None and code else (),
            is_written=page.shelf.is_written(row.id) if row and is_answer(row) else None,
            toggle_written=lambda: row is not None and self.toggle_written(row.id),
        )

    def _code_acts(
        self, page: Page, id_: str, code: Code
    ) -> tuple[tuple[str, Callable[[], object]], ...]:
        wrap = self.tr("Don't wrap the code") if code.wrapped else self.tr("Wrap the code")
        return (
            (self.tr("Copy the code"), lambda: QGuiApplication.clipboard().setText(code.text)),
            (
                self.tr("Save the code…"),
                lambda: self._act_on_code(page, id_, code, wrap=False),
            ),
            (wrap, lambda: self._act_on_code(page, id_, code, wrap=True)),
        )

    def _wish(self, wish: Wish) -> None:
        page = self._page
        at = page.rows.place(wish.row_id) if page is not None else None
        if wish.act != "copy":
            self.wished.emit(wish)
        elif page is not None and at is not None:
            text = answer_text(page.rows.rows(), at, page.rows.context())
            QGuiApplication.clipboard().setText(text)

    def _switch(self, point: Point, step: int) -> None:
        if point.neighbour(step):
            self.branch_wanted.emit(point, point.neighbour(step))

    # Geometry that QListView would do itself

    def doItemsLayout(self) -> None:
        """Rows are never laid out all at once."""

    def updateGeometries(self) -> None:
        """The bar is set with the layout."""

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """The bar counts rows: its moves are no pixels."""
        del dx, dy

    def visualRect(self, index: Index) -> QRect:
        frame = self._frame()
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

    def moveCursor(
        self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier
    ) -> QModelIndex:
        del action, modifiers
        return self.currentIndex()

    def horizontalOffset(self) -> int:
        return 0

    def verticalOffset(self) -> int:
        return 0

    def isIndexHidden(self, index: Index) -> bool:
        rows = self._page.rows if self._page is not None else None
        return rows is not None and not rows.takes_space(rows.row(index.row()))

    def setSelection(self, rect: QRect, command: QItemSelectionModel.SelectionFlag) -> None:
        """Text is marked, not rows."""
        del rect, command

    def visualRegionForSelection(self, selection: QItemSelection) -> QRegion:
        del selection
        return QRegion()
