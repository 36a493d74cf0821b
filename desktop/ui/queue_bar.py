"""The messages that wait for their turn: visible, in order; each can be changed, taken back, or put
in another place (SPEC C05)."""

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QPoint, QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from desktop.core.status import QueuedMessage, in_order
from desktop.ui.announcing import announce
from desktop.ui.controls import act_button, text_label
from desktop.ui.flow import hint_at_width, least_at_width
from desktop.ui.giving_way import GivingWay
from desktop.ui.queue_row import QueueRow
from desktop.ui.theme import Theme


class QueueBar(QFrame):
    """`edit_wanted(message_id)`, `taken_back(message_id)`, `ordered(message_ids)`; `released` sends
    a queue that was held by a stop or a restart."""

    edit_wanted = Signal(str)
    taken_back = Signal(str)
    ordered = Signal(list)
    released = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("queueBar")
        self.setAccessibleName(self.tr("Waiting messages"))
        self._theme = theme
        self._queue: tuple[QueuedMessage, ...] = ()
        self._wanted: tuple[str, ...] = ()  # as it will be told, once it is kept
        self._held = False
        self._edited = ""
        self._rows: dict[str, QueueRow] = {}
        self._outer = outer = QVBoxLayout(self)
        outer.setContentsMargins(theme.space_12, theme.space_4, theme.space_12, theme.space_4)
        outer.setSpacing(theme.space_4)
        self._list = GivingWay(self.accessibleName(), self)
        self._column = self._list.column
        self._column.setSpacing(theme.space_4)
        outer.addWidget(self._list)
        self._release = self._release_row()
        outer.addWidget(self._release)
        self._drop_line = QFrame(self._list.part)
        self._drop_line.setObjectName("queueDropLine")
        self._drop_line.hide()
        self.hide()

    def show_queue(self, queue: Sequence[QueuedMessage], *, held: bool) -> None:
        if (tuple(queue), held) != (self._queue, self._held):
            self._queue, self._held = tuple(queue), held
            self._show()

    def show_room(self, height: int) -> None:
        """How high the page is: many messages take no more than a good part of it."""
        self._list.show_room(height)

    def hasHeightForWidth(self) -> bool:
        return False

    def sizeHint(self) -> QSize:
        return hint_at_width(self, self._outer)

    def minimumSizeHint(self) -> QSize:
        return least_at_width(self, self._outer)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.updateGeometry()

    def show_edited(self, message_id: str) -> None:
        """The message that is in the field to be changed; '' for none."""
        self._edited = message_id
        self._show()

    def step(self, by: int) -> None:
        """Moves the message whose row has the keyboard; without one the last gets it."""
        focus = self.window().focusWidget()
        for message_id, row in self._rows.items():
            if row.isAncestorOf(focus):
                self._step(message_id, by)
                return
        if len(self._queue) > 1 and self.isVisible():
            self._rows[self._ids()[-1]].handle.setFocus()

    def _step(self, message_id: str, by: int) -> None:
        at = self._ids().index(message_id) + by
        if 0 <= at < len(self._queue):
            self._put(message_id, at)

    def _put(self, message_id: str, at: int) -> None:
        """The message at a place among the others, from 0."""
        ids = [one for one in self._ids() if one != message_id]
        ids.insert(at, message_id)
        if ids == self._ids():
            return
        words = self.tr("Now {place} of {count}").format(place=at + 1, count=len(ids))
        announce(self, words, at_once=True)
        # At once: the next press goes on from here.
        self._wanted = tuple(ids)
        self._show()
        self._list.show_part(self._rows[message_id])
        self.ordered.emit(ids)

    def settle(self, message_ids: Sequence[str]) -> None:
        """The order of an `ordered` is kept, or could not be: what is told counts again."""
        if tuple(message_ids) == self._wanted:
            self._wanted = ()
            self._show()

    def _ids(self) -> list[str]:
        return [one.id for one in self._shown()]

    def _shown(self) -> tuple[QueuedMessage, ...]:
        return in_order(self._queue, self._wanted)

    # -- showing ------------------------------------------------------------------------------

    def _show(self) -> None:
        """Rows of messages that still wait stay, and with them what has the keyboard."""
        self._drop_line.hide()
        waiting = set(self._ids())
        for message_id in [one for one in self._rows if one not in waiting]:
            row = self._rows.pop(message_id)
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        for at, message in enumerate(self._shown()):
            row = self._rows.get(message.id) or self._make_row(message.id)
            if self._column.indexOf(row) != at:
                self._column.removeWidget(row)
                self._column.insertWidget(at, row)
            row.show_message(
                message,
                is_edited=message.id == self._edited,
                place=at + 1,
                count=len(self._queue),
            )
            row.show_dragged(False)
        self._release.setVisible(bool(self._queue) and self._held and not self._edited)
        self._order_stops()
        self.setVisible(bool(self._queue))

    def _make_row(self, message_id: str) -> QueueRow:
        row = self._rows[message_id] = QueueRow(self._theme, self._list.part)
        row.edit_wanted.connect(lambda: self.edit_wanted.emit(message_id))
        row.taken_back.connect(lambda: self.taken_back.emit(message_id))
        row.step_wanted.connect(lambda by: self._step(message_id, by))
        row.dragged.connect(lambda place: self._drag(message_id, place))
        row.dropped.connect(lambda place: self._drop(message_id, place))
        return row

    def _order_stops(self) -> None:
        """Tab goes from row to row as they stand, and on from the last one to the button below."""
        stops = [stop for message_id in self._ids() for stop in self._rows[message_id].stops]
        # What is made late comes last in a window: they stand where that button has always stood.
        for before, after in pairwise([self._go, *stops, self._go] if stops else []):
            QWidget.setTabOrder(before, after)

    # -- dragging -----------------------------------------------------------------------------

    def _drag(self, message_id: str, place: QPoint) -> None:
        """Shows where it would go."""
        self._rows[message_id].show_dragged(True)
        # Near an edge what is beyond it comes into sight.
        at = self._list.part.mapFromGlobal(place)
        self._list.ensureVisible(0, at.y(), 0, self._theme.measures.hit)
        gap = self._gap_at(place)
        self._drop_line.setVisible(gap is not None)
        if gap is None:
            return
        rows = [self._rows[one].geometry() for one in self._ids()]
        y = rows[gap].top() if gap < len(rows) else rows[-1].bottom() + self._column.spacing()
        thick = self._theme.measures.focus_ring
        y -= (self._column.spacing() + thick) // 2
        y = min(max(y, 0), self._list.part.height() - thick)
        self._drop_line.setGeometry(rows[0].left(), y, rows[0].width(), thick)
        self._drop_line.raise_()

    def _drop(self, message_id: str, place: QPoint) -> None:
        gap = self._gap_at(place)
        self._drop_line.hide()
        if message_id not in self._ids():
            return
        self._rows[message_id].show_dragged(False)
        if gap is not None:
            self._put(message_id, gap - (gap > self._ids().index(message_id)))

    def _gap_at(self, place: QPoint) -> int | None:
        """Before which row it would go, from 0; None far from the bar: then it stays."""
        far = self._theme.space_32
        near = self.rect().adjusted(-far, -far, far, far)
        if not near.contains(self.mapFromGlobal(place)):
            return None
        at = self._list.part.mapFromGlobal(place)
        centres = [self._rows[one].geometry().center().y() for one in self._ids()]
        return sum(centre < at.y() for centre in centres)

    def _release_row(self) -> QWidget:
        holder = QWidget(self)
        row = QHBoxLayout(holder)
        row.setContentsMargins(0, 0, 0, 0)
        words = self.tr("Held since the stop; nothing goes out until you say so.")
        note = text_label(holder, "heldNote", words)
        note.setProperty("muted", True)
        row.addWidget(note, 1)
        self._go = act_button(holder, self.tr("Send now"), "releaseQueue", self.released.emit)
        row.addWidget(self._go)
        return holder
