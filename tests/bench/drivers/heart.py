"""What lay between two beats of a timer on the thread of a window, in ms.

`cpu` is the processor time of that thread: what one would wait on a machine with nothing else to
do. `wall` is on the clock: with the waits for the interpreter, and with all noise of the machine.
"""

import time

from PySide6.QtCore import Qt, QTimer

BEAT_MS = 5


class Heart:
    """Beats from `start` to `stop`; `on_beat` is told of each."""

    def __init__(self) -> None:
        self.cpu: list[float] = []
        self.wall: list[float] = []
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(BEAT_MS)
        self._timer.timeout.connect(self._beat)
        self.beat = self._timer.timeout

    def start(self) -> None:
        self._last = time.thread_time(), time.perf_counter()
        self._timer.start()

    def stop(self) -> None:
        self._timer.stop()

    def _beat(self) -> None:
        now = time.thread_time(), time.perf_counter()
        self.cpu.append((now[0] - self._last[0]) * 1_000)
        self.wall.append((now[1] - self._last[1]) * 1_000)
        self._last = now
