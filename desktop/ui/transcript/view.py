"""The transcript's view: rows of very unlike heights, of which only the seen ones are laid out.

It is a QListView, so that Qt's accessibility sees a list with items, and overrides all geometry.
A thin adapter: events go in to the page that is shown, and the page's layout comes out as painting,
scroll bar and the button to the end.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import (
    QEvent,
    QItemSelectionModel,
    QPointF,
    QRectF,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTouchEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from desktop.core.records import Branch, ViewState
from desktop.ui.theme import Theme
from desktop.ui.transcript.acts import Act, Point
from desktop.ui.transcript.bar import RowBar
from desktop.ui.transcript.boxes import NO_PICTURES, Maker
from desktop.ui.transcript.clock import FrameClock
from desktop.ui.transcript.deeds import Deeds
from desktop.ui.transcript.frame import Frame, frame_of
from desktop.ui.transcript.keys import Keys
from desktop.ui.transcript.model import TranscriptModel
from desktop.ui.transcript.overlay import Overlay, Wish, overlay_style
from desktop.ui.transcript.page import Listener, Page
from desktop.ui.transcript.paged import PagedList
from desktop.ui.transcript.parting import point_near, wish_near
from desktop.ui.transcript.pictures import Gallery
from desktop.ui.transcript.pointer import Pointer, Strokes, slide_at, tip_at
from desktop.ui.transcript.row_ways import ROW_WAYS_STYLE, RowWays
from desktop.ui.transcript.ticking import Ticker
from desktop.ui.transcript.to_end import ToEnd, to_end_style
from desktop.ui.transcript.writing import PlainRenderer, Renderer

_LOG = logging.getLogger(__name__)


class TranscriptView(PagedList):
    """Shows a `TranscriptModel`. Set its model with `show_model`, its look with `set_theme`.

    `wished(Wish)` to edit, regenerate or fork; `way_wanted(Way)` for an answer that was cut;
    `branch_wanted(Point, tab_id)` to switch; `code_wanted(text, language)` to save a block of code;
    `laid_out` when another place may be on the screen.
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
    laid_out = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(FrameClock(theme.motion.frame), parent)
        self.setObjectName("transcript")
        self.setAccessibleName(self.tr("Conversation"))
        self.setProperty("rings", True)
        self._base_theme = theme
        self._zoom = 1.0
        self._theme = theme
        self._gallery: Gallery = NO_PICTURES
        self._maker = self._maker_with(PlainRenderer())
        self._ticker = Ticker(self.viewport())
        self._strokes = Strokes()
        self._bar = RowBar(self.verticalScrollBar())
        self._keys = Keys(self)
        self._pointer = Pointer(self.viewport(), theme.motion.frame)
        self._overlay = Overlay(self.viewport())
        self._deeds = Deeds(self.viewport())
        self.ways = RowWays(self.viewport())
        self._to_end = ToEnd(self.viewport())
        self._connect()
        self._take_theme()

    def _connect(self) -> None:
        self._clock.tick.connect(self._refresh)
        self._bar.dragged.connect(self._clock.mark)
        self._bar.stepped.connect(self._step)
        self._to_end.clicked.connect(self.follow)
        keys, pointer = self._keys, self._pointer
        deeds = self._deeds
        keys.ringed.connect(self._show_ring)
        keys.repaint.connect(self.viewport().update)
        pointer.clicked.connect(self._click)
        pointer.hovered.connect(self.link_hovered)
        pointer.dragged.connect(self._pull_away)
        for copied in (keys.copied, deeds.copied):
            copied.connect(self._copy)
        for marked in (keys.marked, pointer.marked, deeds.marked):
            marked.connect(self._offer)
        self._overlay.wished.connect(self._wish)
        self._overlay.branch_wanted.connect(self._switch)
        self.ways.wanted.connect(self.way_wanted)
        deeds.ringed.connect(self._ring)
        for mine in ("wished", "way_wanted", "link_activated", "code_wanted", "open_requested"):
            getattr(deeds, mine).connect(getattr(self, mine))

    # For the window

    def show_model(self, model: TranscriptModel | None, state: ViewState | None = None) -> None:
        """Shows these rows, at the place of `state` (the end without one)."""
        if self._page is not None:
            self._page.rows.newer_changed.disconnect(self._show_to_end)
            self._page.rows.status_changed.disconnect(self._show_ways)
            self._page.rows.rowsMoved.disconnect(self._rows_moved)
        self._page = page = None if model is None else self._page_of(model, state)
        self.setModel(model)  # pyright: ignore[reportArgumentType]
        if page is not None:
            page.rows.newer_changed.connect(self._show_to_end)
            page.rows.status_changed.connect(self._show_ways)
            page.rows.rowsMoved.connect(self._rows_moved)
            page.position.begin()
        else:
            self._overlay.lay_out(None, "")
            self._show_ways()
            self._ticker.look(None)

    def _page_of(self, model: TranscriptModel, state: ViewState | None) -> Page:
        return Page(
            model,
            self._maker,
            state=state,
            thinking_open=self._thinking_open,
            frame=self._frame,
            listener=Listener(
                self.following_changed.emit, self._show_layout, self.viewport().update
            ),
            finds=self._finds,
        )

    def set_theme(self, theme: Theme) -> None:
        self._base_theme = theme
        self._take_theme()

    def set_zoom(self, percent: int) -> None:
        """Scales the transcript's text; 100 is as designed."""
        self._zoom = percent / 100
        self._take_theme()

    def set_renderer(self, renderer: Renderer) -> None:
        """Markdown and colours from now on; what is on the screen is drawn again."""
        self._maker = self._maker_with(renderer)
        if self._page is not None:
            self._page.dress(self._maker)
        self.viewport().update()

    def set_gallery(self, gallery: Gallery) -> None:
        """Pictures come from here, for the rows that are shown next."""
        self._gallery = gallery
        self._maker = self._maker_with(self._maker.renderer)

    def _maker_with(self, renderer: Renderer) -> Maker:
        return Maker(self._theme, renderer, self.viewport().update, self._gallery)

    @property
    def frame_due(self) -> bool:
        """Whether something is waiting for the next frame."""
        return self._clock.running

    def show_branches(self, branches: Sequence[Branch]) -> None:
        """Where other conversations part from this one."""
        self._overlay.show_branches(branches)
        self._overlay.lay_out(self._page, self._ringed())

    @property
    def points(self) -> tuple[Point, ...]:
        """Where conversations part among the loaded rows."""
        return self._overlay.points

    def act(self, act: Act) -> None:
        """Does this with the row that the keyboard is on, else near the one that is read."""
        wish = wish_near(self._page, self._ringed(), act) if self._page is not None else None
        if wish is not None:
            self._deeds.wish(self._page, wish)

    def step_branch(self, step: int) -> None:
        """To the branch before or after, at the place that is nearest to what is read."""
        page = self._page
        point = point_near(page, self.points, self._ringed()) if page is not None else None
        if point is not None:
            self._switch(point, step)

    # What the parts say; none of them holds the view, which is freed with its last holder

    def _step(self, lines: int, screens: int) -> None:
        if self._page is not None:
            self._page.step(lines, screens)

    def _click(self, at: QPointF) -> None:
        if self._page is not None:
            self._deeds.click(self._page, at)

    def _wish(self, wish: Wish) -> None:
        self._deeds.wish(self._page, wish)

    def _frame(self) -> Frame:
        return frame_of(self._theme, self.viewport().size())

    # The look

    def _take_theme(self) -> None:
        base = self._base_theme
        self._theme = replace(
            base, scale=base.scale * self._zoom, column=round(base.column * self._zoom)
        )
        self.setStyleSheet(
            f"QListView#transcript {{ background: {base.colours.bg}; border: none; }}"
            f" {to_end_style(base)} {overlay_style(base)} {ROW_WAYS_STYLE}"
        )
        self._overlay.set_theme(self._theme)
        self.set_renderer(self._maker.renderer)

    # The layout comes out

    def _show_layout(self) -> None:
        page = self._page
        if page is not None:
            page.settle()
            self._bar.show(page.position.extent())
        self._overlay.lay_out(page, self._ringed())
        self._show_ways()
        self._show_to_end()
        self._ticker.look(page)
        if page is None or page.takes_new_picture():
            self.viewport().update()
        self.laid_out.emit()

    def _ringed(self) -> str:
        """The row that the keyboard is on."""
        return self._keys.current if self.hasFocus() else ""

    def _ring(self, id_: str) -> None:
        self._keys.current = id_

    def _show_ring(self, at: int) -> None:
        """The ring is on this row, which is kept on the screen."""
        if self._page is not None:
            self._stand_on(self._page, at)
            self.scrollTo(self._page.rows.index(at))

    def _stand_on(self, page: Page, at: int | None) -> None:
        """The keyboard is on this row, which is the current one for Qt: a screen reader says it."""
        if at is not None:
            index = page.rows.index(at)
            self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.NoUpdate)
        self._overlay.lay_out(page, self._ringed())
        self.viewport().update()

    def _show_ways(self) -> None:
        self.ways.lay_out(self._page, self._theme)

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
            self._page.position.lay_out(moved=True)

    # Keys, wheel and fingers

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Who comes by the keyboard is on a row from the start: the last one on the screen."""
        super().focusInEvent(event)
        if event.reason() != Qt.FocusReason.MouseFocusReason and self._page is not None:
            self._stand_on(self._page, self._keys.stand(self._page))

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
        if self._page is not None and self._keys.press(self._page, event):
            event.accept()
        else:
            event.ignore()

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
        self._pointer.release(self._page, event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self._page is not None:
            self._pointer.double_press(self._page, event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Of the row under the mouse; of the ringed one when a key asked for it."""
        page = self._page
        if page is None:
            return
        place = event.pos()
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            at = self._keys.stand(page)
            self._stand_on(page, at)
            menu = self._deeds.menu(page, at, None, self)
            place = place if at is None else self.visualRect(page.rows.index(at)).topLeft()
        else:
            placed = page.placed_at(place.y())
            at = placed.row if placed is not None else None
            menu = self._deeds.menu(page, at, QPointF(place), self)
        menu.popup(self.viewport().mapToGlobal(place))

    def _switch(self, point: Point, step: int) -> None:
        if point.neighbour(step):
            self.branch_wanted.emit(point, point.neighbour(step))
