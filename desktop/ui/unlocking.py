"""Opening the place where keys are kept: the system's own window, or the passphrase of the file.

One for the whole window, because a keyring that waits for its person is waited for once, wherever
that is shown: beside a message field, in the settings, on the first page.
"""

import asyncio
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from desktop.core.access import Access
from desktop.core.errors import CredentialError
from desktop.ui import asking
from desktop.ui.passphrase import PassphraseDialog
from desktop.ui.tasks import Tasks
from desktop.ui.theme import Theme


class Unlocking(QObject):
    """`changed` when the waiting begins or ends; `failed(sentence)` when a place stays locked."""

    changed = Signal()
    failed = Signal(str)

    def __init__(self, access: Access, tasks: Tasks, theme: Callable[[], Theme]) -> None:
        super().__init__()
        self._access = access
        self._tasks = tasks
        self._theme = theme
        self._waiting: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> bool:
        """Whether the system's window is open, or should be."""
        return self._waiting is not None

    def file(self, parent: QWidget) -> None:
        """Asks for the passphrase of the encrypted file."""
        self._tasks.start(self._file(parent), "unlock the encrypted file")

    def keyring(self) -> None:
        """Has the system ask for the keyring's password."""
        if not self.waiting:
            self._tasks.start(self._keyring(), "unlock the keyring")

    def cancel(self) -> None:
        """Waits no longer; the system's window may stay, it is not ours."""
        if self._waiting is not None:
            self._waiting.cancel()

    async def open_file(self, parent: QWidget) -> bool:
        """Whether the encrypted file is open: asks for its passphrase, or for a new one when there
        is no file yet."""
        if self._access.state().key_source == "environment":
            await self._access.look()  # with a key from there no place has been looked at
        state = self._access.state()
        if state.key_file == "ready":
            return True
        if state.key_file not in ("", "locked"):
            self.failed.emit(state.key_file_words)
            return False
        dialog = PassphraseDialog(
            self._theme(),
            self._tasks,
            self._access.unlock_file,
            is_new=not state.key_file,
            parent=parent,
        )
        return bool(await asking.finished(dialog))

    async def _file(self, parent: QWidget) -> None:
        await self.open_file(parent)

    async def _keyring(self) -> None:
        self._waiting = asyncio.current_task()
        self.changed.emit()
        try:
            await self._access.unlock_keyring()
        except CredentialError as error:
            self.failed.emit(str(error))
        finally:
            self._waiting = None
            self.changed.emit()
