"""Keeps the text on the page where a conversation begins (SPEC U14).

It belongs to no conversation yet, so it lies among the settings, whose unknown rows every version
keeps. What is attached there is not kept.
"""

from PySide6.QtCore import QObject

from desktop.core.protocols import Catalogue
from desktop.ui.composer import Composer
from desktop.ui.tasks import Tasks

KEY = "draft.new"


class NewDraft(QObject):
    """Nothing is saved before what was kept has been read."""

    def __init__(self, composer: Composer, *, catalogue: Catalogue, tasks: Tasks) -> None:
        super().__init__(composer)
        self._composer = composer
        self._catalogue = catalogue
        self._tasks = tasks
        self._kept: str | None = None
        composer.draft_changed.connect(self.save)

    def bring_back(self) -> None:
        """Fills the field, above what the person has begun to write meanwhile."""
        self._tasks.start(self._bring_back(), "bring back what was begun")

    def save(self) -> None:
        self._tasks.start(self.keep(), "save what is begun")

    async def keep(self) -> None:
        """Raises StoreError when it can't be kept."""
        text = self._composer.text()
        if self._kept is None or text == self._kept:
            return
        self._kept = text
        await self._catalogue.save_setting(KEY, text or None)

    async def _bring_back(self) -> None:
        kept = (await self._catalogue.settings()).get(KEY, "")
        self._kept = kept
        written = self._composer.text()
        if kept and kept != written:
            self._composer.set_text(f"{kept}\n{written}" if written else kept)
