"""Long work on the log that the person asked for: a backup, giving room back. One at a time.

It goes on when the settings are closed: whoever shows it then asks what runs and hears how it ends.
Nobody there to hear it: the window is told.
"""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QObject, Signal

from desktop.core.backups import KeptBackup, Tell
from desktop.core.errors import NacreError
from desktop.ui.tasks import Tasks
from desktop.ui.words import size

Kind = Literal["backup", "space"]


class StorageJobs(QObject):
    """`kind` and `now` tell what runs, or ran last.

    `moved(words, done, total)` while it works (bytes; a total of 0: nobody knows), then
    `ended(sentence, is_good)`. `tell` gets the sentence when nobody attends.
    """

    moved = Signal(str, object, object)
    ended = Signal(str, bool)

    def __init__(
        self,
        *,
        tasks: Tasks,
        back_up: Callable[[Path, Tell], Awaitable[KeptBackup]],
        free_space: Callable[[Callable[[str, int], None]], Awaitable[int]],
        tell: Callable[[str, str], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._tasks = tasks
        self._back_up = back_up
        self._free_space = free_space
        self._tell = tell
        self._task: asyncio.Task[object] | None = None
        self._is_stopped = False
        self.is_attended = False
        self.kind: Kind = "backup"
        self.now = ""

    @property
    def is_running(self) -> bool:
        return bool(self.now)

    def back_up(self, target: Path) -> None:
        """Begins a backup at a new file or in a folder; a no-op while something runs."""
        self._begin("backup", self.tr("Making a backup"), lambda: self._backed_up(target))

    def free_space(self) -> None:
        """Begins to give room back; a no-op while something runs."""
        self._begin("space", self.tr("Freeing space"), self._freed)

    def stop(self) -> None:
        """Ends what runs; what it had begun is cleared away."""
        if self._task is not None and not self._is_stopped:
            self._is_stopped = True
            self._task.cancel()

    def _begin(self, kind: Kind, words: str, work: Callable[[], Awaitable[str]]) -> None:
        if self.is_running:
            return
        self.kind = kind
        self._is_stopped = False
        self._show(words, 0, 0)
        self._tasks.start(self._run(work), words)

    async def _run(self, work: Callable[[], Awaitable[str]]) -> None:
        self._task = asyncio.current_task()
        detail, is_good = "", True
        try:
            sentence = await work()
        except NacreError as error:
            sentence, detail, is_good = str(error), error.detail, False
        except asyncio.CancelledError:
            if not self._is_stopped:
                raise
            sentence = self.tr("Stopped. Nothing of it was left behind.")
        finally:
            self._task, self.now = None, ""
        if not self.is_attended:
            self._tell(sentence, detail)
        self.ended.emit(sentence, is_good)

    async def _backed_up(self, target: Path) -> str:
        made = await self._back_up(target, self._show)
        return self.tr("Backed up and checked: {file} ({size}).").format(
            file=made.file, size=size(made.size)
        )

    async def _freed(self) -> str:
        freed = await self._free_space(self._show_freed)
        if freed <= 0:
            return self.tr("There was nothing to give back.")
        return self.tr("{size} were given back to the disk.").format(size=size(freed))

    def _show_freed(self, words: str, freed: int) -> None:
        given = self.tr("{words}: {size} so far").format(words=words, size=size(max(0, freed)))
        self._show(given if freed > 0 else words, 0, 0)

    def _show(self, words: str, done: int, total: int) -> None:
        self.now = words[:1].upper() + words[1:]
        self.moved.emit(self.now, done, total)
