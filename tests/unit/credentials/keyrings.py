"""Keyrings in memory, well and badly behaved, and one that the keyring library itself can load."""

import threading
from collections.abc import Callable
from typing import ClassVar

from keyring.backend import KeyringBackend

from desktop.credentials.status import READY, Status, broken


class MemoryKeyring:
    """A keyring with several entries of one name, as foreign programs can leave them.

    `before(action, account)` is called ahead of every action and may raise or block.
    """

    def __init__(self) -> None:
        self.entries: list[tuple[str, str]] = []
        self.actions: list[str] = []
        self.state: Status = READY
        self.after_unlock: Status = READY
        self.before: Callable[[str, str], None] = lambda action, account: None

    def look(self) -> Status:
        self._act("look", "")
        return self.state

    def unlock(self) -> None:
        self._act("unlock", "")
        self.state = self.after_unlock

    def get(self, account: str) -> str | None:
        self._act("get", account)
        return next((secret for name, secret in self.entries if name == account), None)

    def set(self, account: str, secret: str) -> None:
        self._act("set", account)
        self.entries.append((account, secret))

    def delete(self, account: str) -> bool:
        self._act("delete", account)
        for entry in self.entries:
            if entry[0] == account:
                self.entries.remove(entry)
                return True
        return False

    def explain(self, error: Exception) -> Status:
        return broken(type(error).__name__)

    def of(self, account: str) -> list[str]:
        return [secret for name, secret in self.entries if name == account]

    def _act(self, action: str, account: str) -> None:
        self.actions.append(action)
        self.before(action, account)


class NullKeyring(MemoryKeyring):
    """Takes everything and gives nothing back, as keyring's own null backend does."""

    def set(self, account: str, secret: str) -> None:
        self._act("set", account)


class ClingingKeyring(MemoryKeyring):
    """Says that it deletes, and does not."""

    def delete(self, account: str) -> bool:
        self._act("delete", account)
        return True


class Door:
    """Blocks whoever passes on another thread until it is opened."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self._open = threading.Event()

    def __call__(self) -> None:
        self.reached.set()
        self._open.wait()

    def open(self) -> None:
        self._open.set()


class PlainTextKeyring(KeyringBackend):
    """A backend that a configuration could name; it answers to keyring, and must never be used."""

    priority = 9  # pyright: ignore[reportIncompatibleVariableOverride, reportAssignmentType]
    used: ClassVar[list[str]] = []

    def get_password(self, service: str, username: str) -> str | None:
        self.used.append(username)
        return "from a plain file"

    def set_password(self, service: str, username: str, password: str) -> None:
        self.used.append(username)

    def delete_password(self, service: str, username: str) -> None:
        self.used.append(username)
