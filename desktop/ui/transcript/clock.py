"""One tick a frame, and none while nothing is dirty (SPEC A10, U05)."""

import time

from PySide6.QtCore import QObject, Qt, QTimer, Signal


class FrameClock(QObject):
    """`mark` it and `tick` comes once, at the end of the frame; marking again changes nothing."""

    tick = Signal()

    def __init__(self, frame_ms: int = 16, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        # The default type is coarse: it may be a whole frame late.
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(frame_ms)
        self._timer.timeout.connect(self.tick)

    def mark(self) -> None:
        if not self._timer.isActive():
            self._timer.start()

    def stop(self) -> None:
        self._timer.stop()

    @property
    def running(self) -> bool:
        return self._timer.isActive()


def wall_ms() -> int:
    """Now, in ms UTC: the clock of the rows."""
    return time.time_ns() // 1_000_000
