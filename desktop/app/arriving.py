"""What this start and later ones want to see: the window comes to the front and goes there, as soon
as everything is loaded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from desktop.app.windows import Windows
from desktop.ui.tasks import Tasks

if TYPE_CHECKING:
    from desktop.app.handing_over import Answer, Message
    from desktop.core.links import Place


class Arrivals:
    """`hear` may be called before a window has its desk; what was wanted last is kept till then."""

    def __init__(self, windows: Windows, tasks: Tasks, first: Place | None) -> None:
        self._windows = windows
        self._tasks = tasks
        self._wanted = first
        self._ending = False

    def hear(self, message: Message) -> Answer:
        if self._ending:
            return "ending"
        self._windows.come_back(message.token)
        self._wanted = message.place or self._wanted
        self.go()
        return "done"

    def end(self) -> None:
        """Whoever comes now opens a window of their own, in a moment."""
        self._ending = True

    def go(self) -> None:
        """In the window at the front, once it has its desk."""
        desk, place = self._windows.front.desk, self._wanted
        if desk is None or place is None:
            return
        self._wanted = None
        if isinstance(place, Path):
            self._tasks.start(desk.begin_in(place), "open what was asked for")
        else:
            self._tasks.start(desk.go_to(place.tab_id, place.seq), "open what was asked for")
