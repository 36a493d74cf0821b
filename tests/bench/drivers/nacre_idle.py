"""Nacre with its tabs looked at once, then left alone: what it does then, as one JSON line.

    python -m tests.bench.drivers.nacre_idle DATA_FOLDER SECONDS shown|hidden [restored] [send]

With `restored` only the tab in view is looked at. With `send` a message is sent before it is left
alone, and the memory before and after it is told. `timers` are the mean periods of what fired more
than once, in seconds: Qt's timers by the names of what has them, the loop's by what they call.
"""

import asyncio
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from desktop.cli import main
from tests.bench.drivers.nacre_watched import visible

EVERY = 0.05
PATIENCE = 300.0  # longer than any wait that was begun at the start
SETTLING = 14.0  # seconds after the last tab, in which what was begun comes to its end


def memory() -> float:
    """What this process holds of the machine's memory now, in MB."""
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def _name(callback: Any) -> str:
    while isinstance(callback, partial):
        callback = callback.func
    return getattr(callback, "__qualname__", repr(callback))


class Idle:
    """Steps through a plan by itself; nothing of it ticks while the program is measured."""

    def __init__(self, seconds: float, *, hidden: bool, restored: bool, sends: bool) -> None:
        self.report: dict[str, Any] = {}
        self._seconds = seconds
        self._hidden = hidden
        self._restored = restored
        self._sends = sends

    def begin(self) -> None:
        from PySide6.QtCore import QTimer

        self._timer = QTimer(interval=round(EVERY * 1_000))
        self._steps = self._plan()
        self._wait: Callable[[], bool] = lambda: True
        self._until = time.monotonic() + PATIENCE
        self._timer.timeout.connect(self._look)
        self._timer.start()

    def _look(self) -> None:
        if not self._wait():
            if time.monotonic() > self._until:
                self.report["stuck"] = self.report.get("step", "")
                os.kill(os.getpid(), signal.SIGTERM)
                self._timer.stop()
            return
        try:
            self._wait = next(self._steps)
            self._until = time.monotonic() + PATIENCE
        except StopIteration:
            self._timer.stop()

    def _plan(self) -> Any:
        from PySide6.QtWidgets import QApplication, QPlainTextEdit, QPushButton, QTabBar

        from desktop.ui.main_window import MainWindow

        (window,) = (one for one in QApplication.topLevelWidgets() if isinstance(one, MainWindow))
        yield lambda: window.area.current is not None
        yield self._settled(window)
        (strip,) = visible(QTabBar, "tabStrip")
        for at in () if self._restored else range(strip.count()):
            strip.setCurrentIndex(at)
            yield self._settled(window)
        self.report["pages"] = len(window.area.pages())
        yield self._after(SETTLING)
        if self._seconds > PATIENCE:
            # Of a server of tools that never answers it is said once that it does not.
            yield lambda: bool(window.banner.message)
            yield self._after(1.0)
        self.report["memory_before_send"] = memory()
        if self._sends:
            # Only now: it is memory of the measurement's own.
            from PySide6.QtTest import QTest

            (field,) = visible(QPlainTextEdit, "composer")
            QTest.keyClicks(field, "Hello")
            (button,) = visible(QPushButton, "sendButton")
            yield button.isEnabled
            button.click()
            yield lambda: "anthropic" in sys.modules
            yield self._settled(window)
            yield self._after(SETTLING)
            self.report["memory_after_send"] = memory()
        if self._hidden:
            window.hide()
            yield self._after(1.0)
        self._count(window)

    @staticmethod
    def _settled(window: Any) -> Callable[[], bool]:
        return lambda: (page := window.area.current).pane.loaded and page.pane.rendered

    @staticmethod
    def _after(seconds: float) -> Callable[[], bool]:
        due = time.monotonic() + seconds
        return lambda: time.monotonic() > due

    def _count(self, window: Any) -> None:
        """From now on nothing of the measurement runs but a filter of events and one timer."""
        from PySide6.QtCore import QEvent, QObject, QTimer
        from PySide6.QtWidgets import QApplication

        report = self.report
        fired: dict[str, list[float]] = {}
        paints: list[str] = []

        class Events(QObject):
            def eventFilter(self, watched: QObject, event: QEvent) -> bool:
                if event.type() == QEvent.Type.Timer:
                    if type(watched).__name__ != "_SimpleTimer":  # what the loop does is below
                        name = f"{type(watched).__name__} {watched.objectName()}".strip()
                        fired.setdefault(name, []).append(time.monotonic())
                elif event.type() in (QEvent.Type.Paint, QEvent.Type.UpdateRequest):
                    paints.append(watched.objectName() or type(watched).__name__)
                return False

        app = QApplication.instance()
        assert app is not None
        self._events = Events()
        self._timer.stop()
        loop: Any = asyncio.get_event_loop()
        add_callback = loop._timer.add_callback

        def heard(handle: Any, delay: float = 0) -> Any:
            if delay > 0:  # what is to be done at once is no timer
                fired.setdefault(_name(handle._callback), []).append(time.monotonic() + delay)
            return add_callback(handle, delay)

        loop._timer.add_callback = heard
        app.installEventFilter(self._events)
        began = time.monotonic(), time.process_time()

        def over() -> None:
            app.removeEventFilter(self._events)
            report["share"] = (time.process_time() - began[1]) / (time.monotonic() - began[0])
            report["paints"] = paints
            report["timers"] = {
                name: round((moments[-1] - moments[0]) / (len(moments) - 1), 3)
                for name, moments in fired.items()
                if len(moments) > 1
            }
            os.kill(os.getpid(), signal.SIGTERM)

        QTimer.singleShot(round(self._seconds * 1_000), over)


if __name__ == "__main__":
    folder, seconds, how, *more = sys.argv[1:]
    idle = Idle(
        float(seconds), hidden=how == "hidden", restored="restored" in more, sends="send" in more
    )
    code = main(["--data-dir", folder], on_first_paint=idle.begin)
    print(json.dumps(idle.report), flush=True)
    sys.exit(code)
