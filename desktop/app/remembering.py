"""How the windows stand is kept while the program runs too: after a kill the next start goes on
where the person was (SPEC U37)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QTimer

from desktop.ui.conversation_area import ConversationArea
from desktop.ui.tasks import Tasks
from desktop.ui.window_cache import WindowCache, write_cache

SAVE_MS = 2_000


class Remembering(QObject):
    """Writes `now()` a while after another conversation came into view; who goes from one to the
    next writes once."""

    def __init__(
        self, file: Path, now: Callable[[], WindowCache], tasks: Tasks, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._file = file
        self._now = now
        self._tasks = tasks
        self._soon = QTimer(self, singleShot=True, interval=SAVE_MS)
        self._soon.timeout.connect(self._save)

    @property
    def due(self) -> bool:
        """Whether something is going to be written."""
        return self._soon.isActive()

    def watch(self, area: ConversationArea) -> None:
        area.shown.connect(lambda _: self._soon.start())

    def end(self) -> None:
        """From now on nothing is written: who ends the program does it."""
        self._soon.stop()
        self._soon.timeout.disconnect(self._save)

    def _save(self) -> None:
        self._tasks.start(asyncio.to_thread(write_cache, self._file, self._now()), "keep the place")
