"""The transcript's view: rows of very unlike heights, of which only the seen ones are laid out.

It is a QListView, so that Qt's accessibility sees a list with items, and overrides all geometry.
The place is an anchor (a row's id and the pixels of it above the screen) or "following"; `_lay_out`
is its only writer. The scroll bar counts rows of the whole log, never pixels, so it can't wobble
(TRANSCRIPT §6). The rows on the screen are pinned in the scope.
"""

import logging
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import (
    QDateTime,
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QLocale,
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
    QGuiApplication,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QRegion,
    QResizeEvent,
    QTouchEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractSlider,
    QFrame,
    QListView,
    QMenu,
    QPushButton,
    QToolTip,
    QWidget,
)

from desktop.core.chunks import LogChunk
from desktop.feed.rows import OpenRow, Row, is_thinking, takes_space
from desktop.ui.theme import Theme
from desktop.ui.transcript.anchor import Layout, Placed, from_anchor, from_end
from desktop.ui.transcript.boxes import Box, Fold, Maker
from desktop.ui.transcript.clock import FrameClock
from desktop.ui.transcript.model import TranscriptModel
from desktop.ui.transcript.phrases import plain_text
from desktop.ui.transcript.pieces import Hit
from desktop.ui.transcript.selection import Place, Selection
from desktop.ui.transcript.writing import PlainRenderer, Renderer

_LOG = logging.getLogger(__name__)

DOCUMENTS = 64
HEIGHTS = 4_000
PREFETCH_ROWS = 60
UNITS = 1_000
WHEEL_LINES = 3
Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class ViewState:
    """Where the person was: following the end, or `offset` pixels into the row of `seq`."""

    following: bool = True
    seq: int = 0
    offset: int = 0
    folds: tuple[tuple[str, Fold], ...] = ()


class TranscriptView(QListView):
    """Shows a `TranscriptModel`. Set its model with `show_model`, its look with `set_theme`."""

    link_activated = Signal(str)
    link_hovered = Signal(str)
    retry_requested = Signal()
    following_changed = Signal(bool)
    painted_rows = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("transcript")
        self.setAccessibleName(self.tr("Conversation"))
        self._base_theme = theme
        self._zoom = 1.0
        self._theme = theme
        self._rows: TranscriptModel | None = None
        self._maker = Maker(theme, PlainRenderer(), self.viewport().update)
        self._boxes: OrderedDict[str, Box] = OrderedDict()
        self._heights: OrderedDict[str, int] = OrderedDict()
        self._stale: set[str] = set()
        self._folds: dict[str, Fold] = {}
        self._thinking_open = False
        self._following = True
        self._anchor_id = ""
        self._anchor_seq = 0
        self._offset = 0
        self._wanted: ViewState | None = None
        self._layout = Layout()
        self._downward = False
        self._asked_older = ("", 0)
        self._selection = Selection()
        self._selecting = False
        self._pressed: QPointF | None = None
        self._hovered = ""
        self._bar_is_set = False
        self._bar_target: int | None = None
        self._touch_y: float | None = None
        self._wheel_rest = 0.0
        self._current = ""
        self._pins: frozenset[str] = frozenset()
        self.documents_built = 0
        self._clock = FrameClock(theme.motion.frame, self)
        self._clock.tick.connect(self._refresh)
        self._to_end = QPushButton(self.viewport())
        self._to_end.setObjectName("toEnd")
        self._to_end.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._to_end.clicked.connect(self.follow)
        self._to_end.hide()
        self._set_up()
        self._take_theme()

    def _set_up(self) -> None:
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # Always there (empty when there is nowhere to go): the column must not shift.
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setMouseTracking(True)
        self.viewport().setMouseTracking(True)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_AcceptTouchEvents)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        bar = self.verticalScrollBar()
        bar.setSingleStep(UNITS)
        bar.valueChanged.connect(self._bar_moved)
        bar.actionTriggered.connect(self._bar_stepped)

    # For the window

    def show_model(self, model: TranscriptModel | None, state: ViewState | None = None) -> None:
        """Shows these rows, at the place of `state` (the end without one)."""
        if self._rows is not None:
            self._rows.newer_changed.disconnect(self._show_to_end)
        self._rows = model
        self._forget_all()
        self._selection = Selection()
        self._following = state is None or state.following
        self._wanted = state if state is not None and not state.following else None
        self._folds = dict(state.folds) if state is not None else {}
        self._anchor_id, self._offset, self._pins = "", 0, frozenset()
        self._asked_older = ("", 0)
        self.setModel(model)  # pyright: ignore[reportArgumentType]
        if model is None:
            return
        model.newer_changed.connect(self._show_to_end)
        if self._wanted is not None:
            model.scope.follow(False)
            if model.scope.loaded:
                self._go_to_wanted()
        self._lay_out()

    def view_state(self) -> ViewState:
        """Where the person is now, for `show_model` later."""
        seq = self._anchor_seq
        return ViewState(self._following, seq, self._offset, tuple(self._folds.items()))

    def set_theme(self, theme: Theme) -> None:
        self._base_theme = theme
        self._take_theme()

    def set_zoom(self, percent: int) -> None:
        """Scales the transcript's text; 100 is as designed."""
        self._zoom = percent / 100
        self._take_theme()

    def set_thinking_open(self, is_open: bool) -> None:
        """Whether thinking stands open unless the person folds it."""
        if is_open != self._thinking_open:
            self._thinking_open = is_open
            self._remeasure()

    def set_renderer(self, renderer: Renderer) -> None:
        """Markdown and colours from now on; what is on the screen is drawn again."""
        self._maker = Maker(self._theme, renderer, self.viewport().update)
        self._remeasure()

    @property
    def following(self) -> bool:
        return self._following

    @property
    def layout_now(self) -> Layout:
        """What is on the screen."""
        return self._layout

    @property
    def frame_due(self) -> bool:
        """Whether something is waiting for the next frame."""
        return self._clock.running

    @property
    def boxes_alive(self) -> int:
        return len(self._boxes)

    @property
    def documents_alive(self) -> int:
        return sum(box.documents for box in self._boxes.values())

    def box_of(self, id_: str) -> Box | None:
        """The box that is kept for a row."""
        return self._boxes.get(id_)

    def follow(self) -> None:
        """Goes to the end of the conversation and stays there."""
        if self._rows is None:
            return
        self._set_following(True)
        self._rows.scope.to_tail()
        self._lay_out()

    def jump(self, seq: int, offset: int = 0) -> None:
        """Shows the row of this seq at the top."""
        if self._rows is None:
            return
        self._let_go()
        self._wanted = ViewState(False, seq, offset)
        self._go_to_wanted()

    # The look

    def _take_theme(self) -> None:
        base = self._base_theme
        self._theme = replace(
            base, scale=base.scale * self._zoom, column=round(base.column * self._zoom)
        )
        self._maker = Maker(self._theme, self._maker.renderer, self.viewport().update)
        self.setStyleSheet(
            f"QListView#transcript {{ background: {base.colours.bg}; border: none; }}"
            f" QPushButton#toEnd {{ background: {base.colours.raised}; color: {base.colours.text};"
            f" border: {base.measures.hairline}px solid {base.colours.border};"
            f" border-radius: {base.measures.hit // 2}px; padding: 0 {base.space_12}px;"
            f" min-height: {base.measures.hit - 2}px; }}"
        )
        self._remeasure()

    def _remeasure(self) -> None:
        """Everything looks different now: all is made anew."""
        self._boxes.clear()
        self._stale.clear()
        self._rewrap()

    def _rewrap(self) -> None:
        """All heights are others now; the anchor keeps its share of its row."""
        before = self._layout.placed[0].height if self._layout.placed else 0
        self._heights.clear()
        at = self._anchor_row()
        if not self._following and before and at is not None:
            self._offset = round(self._offset * self._height(at) / before)
        self._lay_out()

    def _forget_all(self) -> None:
        self._boxes.clear()
        self._heights.clear()
        self._stale.clear()

    def _column(self) -> tuple[int, int]:
        """Left edge and width of the text."""
        room = self.viewport().width() - 2 * self._theme.space_16
        width = max(1, min(self._theme.column, room))
        return (self.viewport().width() - width) // 2, width

    # Measuring

    def _height(self, at: int) -> int:
        """The height of a row: known, or from its box. What takes no space needs no box."""
        rows = self._rows
        if rows is None:
            return 0
        row = rows.row(at)
        end = self._theme.space_24 if at == rows.rowCount() - 1 else 0
        if not takes_space(row, rows.relations()):
            return end
        height = self._heights.get(row.id)
        if height is None or row.id in self._stale:
            height = self._box(row).height
        return height + end

    def _fold_of(self, row: Row) -> Fold:
        usual: Fold = "open" if self._thinking_open and is_thinking(row) else "folded"
        return self._folds.get(row.id, usual)

    def _row_of(self, id_: str) -> Row | None:
        at = self._rows.place(id_) if self._rows is not None else None
        return self._rows.row(at) if self._rows is not None and at is not None else None

    def _box(self, row: Row) -> Box:
        rows = self._rows
        assert rows is not None
        box = self._boxes.get(row.id)
        width = self._column()[1]
        if box is not None and row.id in self._stale:
            box = self._renewed(box, row)
        if box is None:
            box = self._maker.make(row, rows.context(), self._fold_of(row))
            self.documents_built += box.documents
        elif box.width == width and row.id not in self._stale:
            self._boxes.move_to_end(row.id)
            return box
        self._stale.discard(row.id)
        box.lay_out(width)
        self._keep(row.id, box)
        return box

    def _renewed(self, box: Box, row: Row) -> Box | None:
        """A box that streams takes what came; any other is made anew."""
        streams = isinstance(row, OpenRow) or (
            isinstance(row, LogChunk) and row.type == "text" and box.writer is not None
        )
        if box.writer is None or not streams:
            return None
        self._maker.grow(box, row)
        if not isinstance(row, OpenRow):
            box.lay_out(self._column()[1])
            box.writer = None
            self._maker.finish(box, row)
        return box

    def _keep(self, id_: str, box: Box) -> None:
        self._boxes[id_] = box
        self._boxes.move_to_end(id_)
        self._heights[id_] = box.height
        self._heights.move_to_end(id_)
        while len(self._heights) > HEIGHTS:
            self._heights.popitem(last=False)

    def _drop_far_boxes(self) -> None:
        """Keeps the boxes on the screen, and as many others as the documents' limit allows."""
        if self._rows is None:
            return
        seen = {self._rows.row(one.row).id for one in self._layout.placed}
        total = self.documents_alive
        for id_ in list(self._boxes):
            if total <= DOCUMENTS and len(self._boxes) <= DOCUMENTS:
                return
            if id_ not in seen:
                total -= self._boxes.pop(id_).documents

    # Laying out

    def _lay_out(self) -> None:
        """Places the rows of the screen; the only writer of the place."""
        rows = self._rows
        screen = self.viewport().height()
        if rows is None:
            self._layout = Layout()
            self.viewport().update()
            return
        count = rows.rowCount()
        if self._following:
            layout = from_end(count, self._height, screen)
        else:
            at = self._anchor_row()
            layout = from_anchor(at or 0, self._offset, count, self._height, screen)
        self._layout = layout
        if layout.placed:
            first = rows.row(layout.anchor)
            self._anchor_id = first.id
            self._anchor_seq = self._seq_of(layout.anchor)
            self._offset = layout.offset
        self._pin()
        self._drop_far_boxes()
        self._set_bar()
        self._show_to_end()
        self._prefetch()
        self.viewport().update()

    def _anchor_row(self) -> int | None:
        if self._rows is None:
            return None
        at = self._rows.place(self._anchor_id)
        return at if at is not None else self._rows.place_of_seq(self._anchor_seq)

    def _seq_of(self, at: int) -> int:
        """The seq of a row; an open row's is what it would get."""
        rows = self._rows
        assert rows is not None
        row = rows.row(at)
        if not isinstance(row, OpenRow):
            return row.seq
        sealed = len(rows.scope.window.rows)
        return (rows.scope.window.last_seq or 0) + at - sealed + 1

    def _pin(self) -> None:
        """What is on the screen and the ends of the selection must not be evicted."""
        rows = self._rows
        if rows is None:
            return
        seen = frozenset(rows.row(one.row).id for one in self._layout.placed)
        pins = seen | self._selection.ids
        if pins != self._pins:
            self._pins = pins
            rows.scope.pin(pins)

    def _prefetch(self) -> None:
        """Older rows well before they are seen; newer ones only when the person comes down."""
        rows = self._rows
        if rows is None or not rows.scope.loaded or not rows.rowCount():
            return
        scope = rows.scope
        unfilled = not self._layout.filled and len(scope.window.rows) <= (
            scope.window.limits.limit - scope.window.limits.page
        )
        # Less than a page: the rows that come must end the wish for more.
        margin = min(PREFETCH_ROWS, scope.window.limits.page - 1)
        near_top = not self._following and self._layout.anchor < margin
        asked = (self._anchor_id, scope.window.first_seq or 0)
        if scope.has_older and (unfilled or near_top) and asked != self._asked_older:
            self._asked_older = asked if rows.fetch_older() else self._asked_older
        last = self._layout.placed[-1].row if self._layout.placed else 0
        near_end = last >= rows.rowCount() - margin // 4 - 1
        if scope.has_newer and self._downward and near_end:
            rows.fetchMore(QModelIndex())

    def _refresh(self) -> None:
        """Once a frame: what was marked dirty is drawn, and a dragged bar is followed."""
        target, self._bar_target = self._bar_target, None
        if target is not None:
            self._go_to_unit(target)
            return
        self._lay_out()

    # Moving

    def scroll_by(self, pixels: int) -> None:
        """Moves down (or up, when negative). The smallest move up ends following."""
        if self._rows is None or not pixels:
            return
        self._downward = pixels > 0
        if pixels < 0:
            if self._fits_whole():
                return
            self._let_go()
        elif self._following:
            return
        self._offset += pixels
        self._lay_out()
        if pixels > 0 and self._layout.at_end and self._rows.scope.at_tail:
            self._set_following(True)
            self._lay_out()

    def _fits_whole(self) -> bool:
        """Everything is on the screen: there is nowhere to go."""
        rows = self._rows
        placed = self._layout.placed
        if rows is None or rows.scope.has_older or not placed:
            return not placed
        above = any(self._height(at) for at in range(placed[0].row))
        return not above and placed[0].y >= 0 and self._layout.at_end

    def _let_go(self) -> None:
        self._set_following(False)

    def _set_following(self, following: bool) -> None:
        if self._rows is not None:
            self._rows.scope.follow(following)
        if following != self._following:
            self._following = following
            self.following_changed.emit(following)

    def _go_to_wanted(self) -> None:
        """To the place that was asked for, once its row is loaded."""
        rows, wanted = self._rows, self._wanted
        if rows is None or wanted is None:
            return
        if not rows.scope.window.holds(wanted.seq):
            rows.scope.jump(wanted.seq)
            if not rows.scope.window.holds(wanted.seq):
                return
        self._wanted = None
        at = rows.place_of_seq(wanted.seq)
        if at is None:
            return
        self._anchor_id, self._anchor_seq = rows.row(at).id, wanted.seq
        self._offset = wanted.offset
        self._lay_out()

    # The scroll bar counts rows of the log

    def _set_bar(self) -> None:
        rows = self._rows
        placed = self._layout.placed
        bar = self.verticalScrollBar()
        self._bar_is_set = True
        try:
            if rows is None or not placed or self._fits_whole():
                bar.setRange(0, 0)
                bar.setEnabled(False)
                return
            bar.setEnabled(True)
            total = max(rows.scope.last_known, self._seq_of(rows.rowCount() - 1)) * UNITS
            top = self._unit(placed[0], 0)
            bottom = total if self._at_log_end() else self._unit(placed[-1], self._screen())
            bar.setPageStep(max(1, bottom - top))
            bar.setRange(0, max(0, total - (bottom - top)))
            if not bar.isSliderDown():
                bar.setValue(top)
        finally:
            self._bar_is_set = False

    def _screen(self) -> int:
        return self.viewport().height()

    def _at_log_end(self) -> bool:
        return self._rows is not None and self._layout.at_end and self._rows.scope.at_tail

    def _unit(self, placed: Placed, y: int) -> int:
        share = min(max((y - placed.y) / max(placed.height, 1), 0), 1)
        return round((self._seq_of(placed.row) - 1 + share) * UNITS)

    def _bar_moved(self, value: int) -> None:
        if self._bar_is_set or self._rows is None:
            return
        # A long drag loads once a frame; the newest place wins.
        self._bar_target = value
        self._clock.mark()

    def _bar_stepped(self, action: int) -> None:
        """Arrows and the groove move by pixels, like wheel and keys."""
        steps = {
            QAbstractSlider.SliderAction.SliderSingleStepAdd.value: self._line(),
            QAbstractSlider.SliderAction.SliderSingleStepSub.value: -self._line(),
            QAbstractSlider.SliderAction.SliderPageStepAdd.value: self._page(),
            QAbstractSlider.SliderAction.SliderPageStepSub.value: -self._page(),
        }
        if action in steps:
            bar = self.verticalScrollBar()
            bar.setSliderPosition(bar.value())
            self.scroll_by(steps[action])

    def _go_to_unit(self, unit: int) -> None:
        rows = self._rows
        if rows is None:
            return
        self._downward = unit >= self._anchor_seq * UNITS
        if unit >= self.verticalScrollBar().maximum():
            self.follow()
            return
        self._let_go()
        seq, share = unit // UNITS + 1, unit % UNITS / UNITS
        if not rows.scope.window.holds(seq):
            self._wanted = ViewState(False, seq, 0)
            self._go_to_wanted()
            return
        at = rows.place_of_seq(seq)
        if at is not None:
            self._anchor_id, self._anchor_seq = rows.row(at).id, seq
            self._offset = round(share * self._height(at))
            self._lay_out()

    def _line(self) -> int:
        return self._theme.px(self._theme.sizes.body * self._theme.sizes.body_line)

    def _page(self) -> int:
        return max(self._line(), self._screen() - 2 * self._line())

    # What the model tells

    def rowsInserted(self, parent: Index, start: int, end: int) -> None:
        super().rowsInserted(parent, start, end)
        self._rows_moved()

    def rowsAboutToBeRemoved(self, parent: Index, start: int, end: int) -> None:
        rows = self._rows
        if rows is not None:
            for at in range(start, end + 1):
                id_ = rows.row(at).id
                self._boxes.pop(id_, None)
                self._stale.discard(id_)
        super().rowsAboutToBeRemoved(parent, start, end)
        self._rows_moved()

    def _rows_moved(self) -> None:
        """Places are others now; what is seen is laid out with the frame."""
        self._layout = replace(self._layout, placed=())
        self._clock.mark()

    def dataChanged(
        self, topLeft: Index, bottomRight: Index, roles: Sequence[int] | None = None
    ) -> None:
        del roles
        rows = self._rows
        if rows is None:
            return
        seen = {one.row for one in self._layout.placed}
        dirty = False
        for at in range(topLeft.row(), bottomRight.row() + 1):
            self._stale.add(rows.row(at).id)
            # A row off the screen is only marked: its text waits in the block (A10).
            dirty = dirty or at in seen
        if dirty or self._following or not self._layout.placed:
            self._lay_out()

    def reset(self) -> None:
        super().reset()
        rows = self._rows
        if rows is None:
            return
        self._stale.update(self._boxes)
        self._layout = Layout()
        if self._wanted is not None:
            self._go_to_wanted()
        self._clock.mark()

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        try:
            painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
            painter.fillRect(event.rect(), self._theme.color("bg"))
            self._paint_rows(painter, QRectF(event.rect()))
        except Exception:  # a fault in one paint must not end the program
            _LOG.exception("the transcript could not be painted")
        finally:
            painter.end()
        self.painted_rows.emit()

    def _paint_rows(self, painter: QPainter, clip: QRectF) -> None:
        rows = self._rows
        if rows is None:
            return
        if not self._layout.placed and rows.rowCount():
            self._lay_out()
        left, _ = self._column()
        for one in self._layout.placed:
            row = rows.row(one.row)
            if not takes_space(row, rows.relations()):
                continue
            box = self._box(row)
            painter.save()
            try:
                painter.translate(left, one.y)
                marked = self._selection.part_of(row.id, rows.place, box)
                box.paint(painter, clip.translated(-left, -one.y), self._theme, marked)
                if row.id == self._current and self.hasFocus():
                    self._paint_ring(painter, box)
            finally:
                painter.restore()

    def _paint_ring(self, painter: QPainter, box: Box) -> None:
        ring = self._theme.measures.focus_ring
        painter.setPen(QPen(self._theme.color("accent"), ring))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(0, box.above, box.width, box.height - box.above - box.below)
        radius = self._theme.measures.card_radius
        painter.drawRoundedRect(area.adjusted(-ring, -ring, ring, ring), radius, radius)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._rewrap()
        else:
            self._lay_out()

    # The button to the end

    def _show_to_end(self) -> None:
        rows = self._rows
        away = rows is not None and not self._following and not self._at_log_end()
        if rows is None or not away:
            self._to_end.hide()
            return
        count = rows.scope.newer
        words = self.tr("↓ {0} new").format(count) if count else self.tr("↓ To the end")
        self._to_end.setText(words)
        self._to_end.adjustSize()
        size = self._to_end.size()
        self._to_end.move(
            (self.viewport().width() - size.width()) // 2,
            self._screen() - size.height() - self._theme.space_12,
        )
        self._to_end.show()
        self._to_end.raise_()

    # Input

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
            return
        pixels = float(event.pixelDelta().y())
        if not pixels:
            pixels = event.angleDelta().y() / 120 * WHEEL_LINES * self._line()
        self._wheel_rest += pixels
        whole = int(self._wheel_rest)
        self._wheel_rest -= whole
        self.scroll_by(-whole)
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
        moves = {
            Qt.Key.Key_PageUp: -self._page(),
            Qt.Key.Key_PageDown: self._page(),
            Qt.Key.Key_Up: -self._line(),
            Qt.Key.Key_Down: self._line(),
        }
        if ctrl and key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._step_current(-1 if key == Qt.Key.Key_Up else 1)
        elif key in moves:
            self.scroll_by(moves[Qt.Key(key)])
        elif key == Qt.Key.Key_Home:
            self.jump(1)
        elif key == Qt.Key.Key_End:
            self.follow()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self._current:
            self._toggle(self._current)
        else:
            return False
        return True

    def _step_current(self, step: int) -> None:
        """Ctrl+↑/↓: the row before or after, kept on the screen; Enter unfolds it."""
        rows = self._rows
        if rows is None:
            return
        at = rows.place(self._current)
        if at is None:
            at = self._layout.anchor - step
        at += step
        while 0 <= at < rows.rowCount() and not takes_space(rows.row(at), rows.relations()):
            at += step
        if not 0 <= at < rows.rowCount():
            return
        self._current = rows.row(at).id
        index = rows.index(at)
        self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.NoUpdate)
        self.scrollTo(index)
        self.viewport().update()

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QTouchEvent) and event.points():
            y = event.points()[0].position().y()
            if event.type() == QEvent.Type.TouchUpdate and self._touch_y is not None:
                self.scroll_by(round(self._touch_y - y))
            self._touch_y = None if event.type() == QEvent.Type.TouchEnd else y
            event.accept()
            return True
        if isinstance(event, QHelpEvent):
            self._show_tip(event)
            return True
        return super().viewportEvent(event)

    def _show_tip(self, event: QHelpEvent) -> None:
        hit = self.hit_at(QPointF(event.pos()))
        row = self._row_at(event.pos().y())
        if hit is not None and hit.kind == "link":
            QToolTip.showText(event.globalPos(), hit.value, self)
        elif isinstance(row, LogChunk) and row.role == "user":
            moment = QDateTime.fromMSecsSinceEpoch(row.created_at)
            words = QLocale().toString(moment, QLocale.FormatType.ShortFormat)
            QToolTip.showText(event.globalPos(), words, self)
        else:
            QToolTip.hideText()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        self._pressed = event.position()
        place = self._place_at(event.position())
        shift = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        if place is not None:
            start = self._selection.start if shift and self._selection.start else place
            self._selection = Selection(start, place)
        else:
            self._selection = Selection()
        self._selecting = place is not None
        self._pin()
        self.viewport().update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._selecting and event.buttons() & Qt.MouseButton.LeftButton:
            self._extend_selection(event.position())
            return
        hit = self.hit_at(event.position())
        target = hit.value if hit is not None and hit.kind == "link" else ""
        if target != self._hovered:
            self._hovered = target
            self.link_hovered.emit(target)
        self.viewport().setCursor(_cursor_of(hit))

    def _extend_selection(self, at: QPointF) -> None:
        if at.y() < 0:
            self.scroll_by(round(at.y()))
        elif at.y() > self._screen():
            self.scroll_by(round(at.y()) - self._screen())
        bounded = QPointF(at.x(), min(max(at.y(), 0), self._screen() - 1))
        place = self._place_at(bounded)
        if place is not None:
            self._selection = Selection(self._selection.start, place)
            self._pin()
            self.viewport().update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, None
        self._selecting = False
        if pressed is None or event.button() != Qt.MouseButton.LeftButton:
            return
        moved = (event.position() - pressed).manhattanLength()
        if moved < QGuiApplication.styleHints().startDragDistance():
            self._click(event.position())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Marks the word."""
        found = self._box_at(event.position().y())
        hit = self.hit_at(event.position())
        if found is None or hit is None or hit.kind != "text":
            self.mousePressEvent(event)
            return
        row, box, y = found
        spot = box.spot_at(event.position().x() - self._column()[0], event.position().y() - y)
        start, end = box.word_at(spot)
        self._selection = Selection(Place(row.id, start), Place(row.id, end))
        self.viewport().update()

    def _click(self, at: QPointF) -> None:
        hit = self.hit_at(at)
        row = self._row_at(at.y())
        if hit is None or row is None:
            return
        match hit.kind:
            case "link":
                self.link_activated.emit(hit.value)
            case "copy":
                QGuiApplication.clipboard().setText(hit.value)
                QToolTip.showText(
                    self.viewport().mapToGlobal(at.toPoint()), self.tr("Copied"), self
                )
            case "retry":
                self.retry_requested.emit()
            case "all":
                self.set_fold(row.id, "all")
            case "fold":
                self._current = row.id
                self._toggle(row.id)
            case "text":
                pass

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        row = self._row_at(event.pos().y())
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        copy = menu.addAction(self.tr("Copy"), self.copy)
        copy.setEnabled(not self._selection.empty)
        if row is not None and self._rows is not None:
            text = plain_text(row, self._rows.context())
            menu.addAction(
                self.tr("Copy this part"), lambda: QGuiApplication.clipboard().setText(text)
            )
        menu.addAction(self.tr("Select all"), self.selectAll)
        menu.popup(event.globalPos())

    # Folding

    def _toggle(self, id_: str) -> None:
        row = self._row_of(id_)
        if row is not None:
            self.set_fold(id_, "open" if self._fold_of(row) == "folded" else "folded")

    def set_fold(self, id_: str, fold: Fold) -> None:
        """Folds or unfolds. The row stays where it is: only what is below it moves."""
        at = self._rows.place(id_) if self._rows is not None else None
        if at is None:
            return
        seen = any(one.row == at for one in self._layout.placed)
        self._folds[id_] = fold
        self._boxes.pop(id_, None)
        self._heights.pop(id_, None)
        if seen and self._following and not self._fits_whole():
            # Whoever opens something reads it: the end must not pull it away.
            self._let_go()
        self._lay_out()

    # Selection

    def copy(self) -> None:
        """The marked text, plain, to the clipboard."""
        text = self.selected_text()
        if text:
            QGuiApplication.clipboard().setText(text)

    def selected_text(self) -> str:
        rows = self._rows
        if rows is None or self._selection.empty:
            return ""
        ends = self._selection.ordered(rows.place)
        if ends is None:
            return ""
        first, last = ends
        start, stop = rows.place(first.id), rows.place(last.id)
        assert start is not None and stop is not None
        parts: list[str] = []
        for at in range(start, stop + 1):
            row = rows.row(at)
            if not takes_space(row, rows.relations()):
                continue
            box = self._box(row) if at in (start, stop) else None
            if box is None or (first.whole and last.whole):
                parts.append(plain_text(row, rows.context()))
                continue
            begin = first.spot if at == start else (0, 0)
            end = last.spot if at == stop else box.end
            parts.append(box.text_between(begin, end))
        return "\n\n".join(part.strip("\n") for part in parts if part)

    def selectAll(self) -> None:
        """Everything that is loaded."""
        rows = self._rows
        if rows is None or not rows.rowCount():
            return
        seen = [row for row in rows.rows() if takes_space(row, rows.relations())]
        if seen:
            self._selection = Selection(
                Place(seen[0].id, (0, 0), whole=True),
                Place(seen[-1].id, (1 << 30, 1 << 30), whole=True),
            )
            self.viewport().update()

    # Finding what lies where

    def _placed_at(self, y: float) -> Placed | None:
        for one in self._layout.placed:
            if one.y <= y < one.y + one.height:
                return one
        return None

    def _row_at(self, y: float) -> Row | None:
        placed = self._placed_at(y)
        return self._rows.row(placed.row) if placed is not None and self._rows else None

    def _box_at(self, y: float) -> tuple[Row, Box, int] | None:
        placed = self._placed_at(y)
        if placed is None or self._rows is None:
            return None
        row = self._rows.row(placed.row)
        if not takes_space(row, self._rows.relations()):
            return None
        return row, self._box(row), placed.y

    def hit_at(self, at: QPointF) -> Hit | None:
        """What lies under a point of the viewport."""
        found = self._box_at(at.y())
        left, width = self._column()
        if found is None or not left <= at.x() < left + width:
            return None
        return found[1].hit(at.x() - left, at.y() - found[2])

    def _place_at(self, at: QPointF) -> Place | None:
        found = self._box_at(at.y())
        if found is None:
            return None
        row, box, y = found
        return Place(row.id, box.spot_at(at.x() - self._column()[0], at.y() - y))

    # Geometry that QListView would do itself

    def doItemsLayout(self) -> None:
        """Rows are never laid out all at once."""

    def updateGeometries(self) -> None:
        """The bar is set with the layout."""

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """The bar counts rows: its moves are no pixels."""
        del dx, dy

    def visualRect(self, index: Index) -> QRect:
        left, width = self._column()
        for one in self._layout.placed:
            if one.row == index.row():
                return QRect(left, one.y, width, one.height)
        return QRect()

    def indexAt(self, p: QPoint) -> QModelIndex:
        placed = self._placed_at(p.y())
        if placed is None or self._rows is None:
            return QModelIndex()
        return self._rows.index(placed.row)

    def scrollTo(
        self,
        index: Index,
        hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible,
    ) -> None:
        del hint
        placed = next((one for one in self._layout.placed if one.row == index.row()), None)
        if placed is None:
            if self._rows is not None and index.isValid():
                self._let_go()
                self._anchor_id = self._rows.row(index.row()).id
                self._offset = 0
                self._lay_out()
        elif placed.y < 0:
            self.scroll_by(placed.y)
        elif placed.y + placed.height > self._screen():
            self.scroll_by(min(placed.y, placed.y + placed.height - self._screen()))

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
        rows = self._rows
        return rows is not None and not takes_space(rows.row(index.row()), rows.relations())

    def setSelection(self, rect: QRect, command: QItemSelectionModel.SelectionFlag) -> None:
        """Text is marked, not rows."""
        del rect, command

    def visualRegionForSelection(self, selection: QItemSelection) -> QRegion:
        del selection
        return QRegion()


def _cursor_of(hit: Hit | None) -> Qt.CursorShape:
    if hit is None:
        return Qt.CursorShape.ArrowCursor
    return Qt.CursorShape.IBeamCursor if hit.kind == "text" else Qt.CursorShape.PointingHandCursor
