"""The times of tools that run, drawn anew once a second and only while they are seen (SPEC U05)."""

from collections.abc import Iterable

from PySide6.QtCore import QEvent, QObject, QRect, QTimer
from PySide6.QtWidgets import QWidget

from desktop.ui.transcript.box import Box
from desktop.ui.transcript.line_piece import LinePiece
from desktop.ui.transcript.page import Page

SECOND = 1_000


class Ticker(QObject):
    """`look` whenever other rows may be seen. No row is laid out anew: a line is only painted."""

    def __init__(self, viewport: QWidget) -> None:
        super().__init__(viewport)
        self._viewport = viewport
        self._page: Page | None = None
        self._timer = QTimer(self, interval=SECOND)
        self._timer.timeout.connect(self._tick)
        viewport.installEventFilter(self)

    @property
    def running(self) -> bool:
        return self._timer.isActive()

    def look(self, page: Page | None) -> None:
        """Ticks while a time that runs is on the screen."""
        self._page = page
        wanted = self._viewport.isVisible() and any(True for _ in self._lines())
        if wanted and not self._timer.isActive():
            self._timer.start()
        elif not wanted:
            self._timer.stop()

    def _tick(self) -> None:
        lines = list(self._lines())
        for line in lines:
            self._viewport.update(line)
        if not lines:
            self._timer.stop()

    def _lines(self) -> Iterable[QRect]:
        """Where the lines are whose end runs with the time."""
        page = self._page
        if page is None:
            return
        for one in page.position.layout.placed:
            line = _ticking(page.shelf.kept(page.rows.row(one.row).id))
            if line is not None:
                yield QRect(page.frame.left, one.y + line.y, line.width, line.height)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Nothing ticks out of sight."""
        if event.type() == QEvent.Type.Show:
            self.look(self._page)
        elif event.type() == QEvent.Type.Hide:
            # Also the last that is heard of a widget: nothing of it may be asked then.
            self._timer.stop()
        return super().eventFilter(watched, event)


def _ticking(box: Box | None) -> LinePiece | None:
    first = box.pieces[0] if box is not None and box.pieces else None
    return first if isinstance(first, LinePiece) and first.ticking is not None else None
