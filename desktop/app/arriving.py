"""What this start and later ones want to see: the window comes to the front and goes there, as soon
as everything is loaded."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from desktop.ui.main_window import MainWindow
from desktop.ui.tasks import Tasks

if TYPE_CHECKING:
    from desktop.app.handing_over import Answer, Message
    from desktop.core.links import Place
    from desktop.ui.desk import Desk

LEAVE = "XDG_ACTIVATION_TOKEN"  # Qt looks here for the desktop's leave to take the focus


class Arrivals:
    """`hear` may be called before the desk is there; what was wanted last is kept till then."""

    def __init__(self, window: MainWindow, tasks: Tasks, first: Place | None) -> None:
        self._window = window
        self._tasks = tasks
        self._wanted = first
        self._desk: Desk | None = None
        self._ending = False

    def hear(self, message: Message) -> Answer:
        if self._ending:
            return "ending"
        bring_to_front(self._window, message.token)
        self._wanted = message.place or self._wanted
        self._go()
        return "done"

    def connect_desk(self, desk: Desk) -> None:
        self._desk = desk
        self._go()

    def end(self) -> None:
        """Whoever comes now opens a window of their own, in a moment."""
        self._ending = True

    def _go(self) -> None:
        desk, place = self._desk, self._wanted
        if desk is None or place is None:
            return
        self._wanted = None
        if isinstance(place, Path):
            self._tasks.start(desk.begin_in(place), "open what was asked for")
        else:
            self._tasks.start(desk.go_to(place.tab_id, place.seq), "open what was asked for")


def bring_to_front(window: MainWindow, token: str) -> None:
    """Shows the window, wherever it was, and asks the desktop for the focus."""
    if token:
        os.environ[LEAVE] = token
    window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
    window.show()
    window.raise_()
    window.activateWindow()
    os.environ.pop(LEAVE, None)
