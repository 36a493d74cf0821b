"""Keys over a page: moving, marking, and the row that the keyboard is on.

Ctrl with an arrow moves a ring from row to row; what is done next means the row in the ring.
"""

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence

from desktop.ui.transcript.caret import extend, step_of
from desktop.ui.transcript.copying import Form
from desktop.ui.transcript.page import Page

_STEPS = {
    Qt.Key.Key_PageUp: (0, -1),
    Qt.Key.Key_PageDown: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
}
_SIDEWAYS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
_UNFOLDING = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
_CTRL, _SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


class Keys(QObject):
    """`ringed(row)` when the ring is on another row; `repaint` when only the picture changes;
    `copied(Form)` and `marked()` when text is to be copied or was marked."""

    ringed = Signal(int)
    repaint = Signal()
    copied = Signal(str)
    marked = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.current = ""

    def stand(self, page: Page) -> int | None:
        """Where the row is that the keyboard is on: from now on the last one on the screen, where
        it was on none. None where no row is seen."""
        at = page.rows.place(self.current)
        at = page.last_seen() if at is None else at
        self.current = "" if at is None else page.rows.row(at).id
        return at

    def press(self, page: Page, event: QKeyEvent) -> bool:
        """Whether the key means anything here."""
        form = _copied_by(event)
        if form is not None:
            self.copied.emit(form)
            return True
        if event.matches(QKeySequence.StandardKey.SelectAll):
            page.marking.mark_all()
            self.marked.emit()
            return True
        step = step_of(event)
        if step is not None:
            extend(page, *step, current=self.current)
            self.marked.emit()
            return True
        act = self._moving(page, event)
        if act is not None:
            act()
        return act is not None

    def _moving(self, page: Page, event: QKeyEvent) -> Callable[[], object] | None:
        key = Qt.Key(event.key())
        if event.modifiers() & _CTRL and key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            return lambda: self._step_ring(page, -1 if key == Qt.Key.Key_Up else 1)
        if key in _STEPS:
            return lambda: page.step(*_STEPS[key])
        if key == Qt.Key.Key_Home:
            return lambda: page.position.jump(1)
        if key == Qt.Key.Key_End:
            return page.position.follow
        if key in _SIDEWAYS and self.current:
            return lambda: self._slide(page, _SIDEWAYS[key])
        if key in _UNFOLDING and self.stand(page) is not None:
            return lambda: page.toggle(self.current)
        return None

    def _slide(self, page: Page, step: int) -> None:
        """←/→: what is wide in the row that the keyboard is on scrolls by some letters."""
        box = page.shelf.kept(self.current)
        moved = [one.by(step * 2 * page.frame.line) for one in box.slides()] if box else []
        if any(moved):
            self.repaint.emit()

    def _step_ring(self, page: Page, step: int) -> None:
        """Ctrl+↑/↓: the row before or after, kept on the screen; Enter unfolds it."""
        at = page.neighbour(self.current, step)
        if at is not None:
            self.current = page.rows.row(at).id
            self.ringed.emit(at)


def _copied_by(event: QKeyEvent) -> Form | None:
    if event.matches(QKeySequence.StandardKey.Copy):
        return "plain"
    both = event.modifiers() & (_CTRL | _SHIFT) == _CTRL | _SHIFT
    return "markdown" if both and event.key() == Qt.Key.Key_C else None
