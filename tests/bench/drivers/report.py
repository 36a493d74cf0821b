"""How a driver tells when its window was painted: one JSON line, then the process is gone."""

import json
import os
import sys
import time
from typing import Never

from PySide6.QtCore import QEvent, QObject, QTimer


class FirstPaint(QObject):
    """Watches a window and ends the process once it has been painted.

    One turn of the loop after the paint event, as Nacre itself tells it: the event comes before
    the painting.
    """

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            watched.removeEventFilter(self)
            QTimer.singleShot(0, end)
        return super().eventFilter(watched, event)


def end() -> Never:
    """Report the moment, on the clock that all processes of a machine share, and what is loaded."""
    moment = time.monotonic_ns()
    roots = sorted({name.partition(".")[0] for name in sys.modules})
    print(json.dumps({"painted_ns": moment, "modules": roots}), flush=True)
    os._exit(0)
