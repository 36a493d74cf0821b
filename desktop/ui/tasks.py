"""Where the window starts its coroutines: every task is kept, named, and its error shown.

Slots call `start`; nothing else in the window makes a task. Closing cancels and waits.
"""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from PySide6.QtCore import QObject, Signal

from desktop.core.errors import NacreError

_LOG = logging.getLogger(__name__)


class Tasks(QObject):
    """The running coroutines of the window; `failed(sentence, detail)` is shown as a banner."""

    failed = Signal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._running: set[asyncio.Task[Any]] = set()
        self._closed = False

    def start(self, coroutine: Coroutine[Any, Any, Any], name: str) -> None:
        """Runs a coroutine on the program's loop; after `close` it is dropped unrun."""
        if self._closed:
            coroutine.close()
            return
        task = asyncio.get_running_loop().create_task(coroutine, name=name)
        self._running.add(task)
        task.add_done_callback(self._done)

    async def close(self) -> None:
        """Cancels what still runs and waits for it."""
        self._closed = True
        running = list(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            return
        if isinstance(error, NacreError):
            self.failed.emit(str(error), error.detail)
            return
        _LOG.error("%s failed", task, exc_info=error)
        self.failed.emit(
            self.tr("Something went wrong inside Nacre. Your conversations are kept."),
            f"{type(error).__name__}: {error}",
        )
