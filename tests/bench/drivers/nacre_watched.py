"""Nacre as a person starts it, watched; tells one JSON line when it is over.

    python -m tests.bench.drivers.nacre_watched DATA_FOLDER type|tail SECONDS

`type`: a letter is typed as soon as the window was painted, and it is over when that is painted.
`tail`: it is over SECONDS after the log was open, which comes after the last conversation's end was
on the screen. What was touched before the first paint is told too: modules, connections, processes,
databases.
"""

import json
import os
import signal
import sys
import time
from typing import Any

from desktop.cli import main

# What would be a look at the network, at a keyring (another process) or at the log.
_LOOKED_FOR = ("socket.connect", "socket.getaddrinfo", "subprocess.Popen", "sqlite3.connect")
SECONDS = 120.0


class Watch:
    """From the start of the process to its end."""

    def __init__(self, what: str, seconds: float) -> None:
        self.report: dict[str, Any] = {"touched": []}
        self._what = what
        self._seconds = seconds
        self._is_painted = False
        sys.addaudithook(self._hear)

    def _hear(self, event: str, _: object) -> None:
        if event in _LOOKED_FOR and not self._is_painted:
            self.report["touched"].append(event)

    def begin(self) -> None:
        """The window has been painted."""
        self.report["painted_ns"] = time.monotonic_ns()
        self._is_painted = True
        self.report["modules"] = sorted(sys.modules)
        # Only now: the program loads Qt itself.
        from tests.bench.drivers.heart import Heart

        self._began = time.monotonic()
        self._heart = Heart()
        self._heart.beat.connect(self._type if self._what == "type" else self._look)
        self._heart.start()

    def _type(self) -> None:
        from PySide6.QtCore import QEvent, QObject
        from PySide6.QtTest import QTest
        from PySide6.QtWidgets import QPlainTextEdit

        watch = self

        class Typed(QObject):
            def eventFilter(self, watched: QObject, event: QEvent) -> bool:
                if event.type() == QEvent.Type.Paint:
                    watch.tell("typed_ns")
                    watch.end()
                return False

        self._heart.beat.disconnect()
        (field,) = visible(QPlainTextEdit, "composer")
        self._typed = Typed()
        field.viewport().installEventFilter(self._typed)
        QTest.keyClicks(field, "x")
        assert field.toPlainText() == "x"

    def _look(self) -> None:
        from PySide6.QtWidgets import QListView

        from desktop.ui.main_window import MainWindow

        now = time.monotonic()
        (window,) = visible(MainWindow, "mainWindow", top=True)
        if "tail_ns" not in self.report:
            for view in visible(QListView, "transcript"):
                pane = view.parentWidget()
                if pane.loaded and pane.rendered:
                    self.tell("tail_ns")
        elif "open_ns" not in self.report:
            if window.area.pages():
                self.tell("open_ns")
                self._began = now
        elif now - self._began > self._seconds:
            self.report["pages"] = len(window.area.pages())
            self.report["tabs"] = len(window.area.strip.tab_ids())
            self.end()
        if now - self._began > SECONDS:
            self.end()

    def tell(self, name: str) -> None:
        self.report[name] = time.monotonic_ns()

    def end(self) -> None:
        self._heart.stop()
        self.report["modules_at_end"] = sorted(sys.modules)
        self.report["cpu_gaps"] = sorted(self._heart.cpu, reverse=True)[:5]
        self.report["wall_gaps"] = sorted(self._heart.wall, reverse=True)[:5]
        os.kill(os.getpid(), signal.SIGTERM)


def visible(kind: Any, name: str, *, top: bool = False) -> list[Any]:
    """The visible parts of this name in all windows; with `top` the windows of this kind."""
    from PySide6.QtWidgets import QApplication

    windows = QApplication.topLevelWidgets()
    if top:
        return [one for one in windows if isinstance(one, kind)]
    return [one for w in windows for one in w.findChildren(kind, name) if one.isVisible()]


if __name__ == "__main__":
    watch = Watch(sys.argv[2], float(sys.argv[3]))
    code = main(["--data-dir", sys.argv[1]], on_first_paint=watch.begin)
    print(json.dumps(watch.report), flush=True)
    sys.exit(code)
