"""What the store needs of a keyring. Every call may block for ever and may raise anything."""

from collections.abc import Callable
from typing import Protocol

from desktop.credentials.status import Status


class Backend(Protocol):
    """A keyring, seen from the worker thread."""

    def look(self) -> Status:
        """Its state, found out without a prompt."""
        ...

    def unlock(self) -> None:
        """Unlock it, or set it up; may show the system's own window and wait for the person."""
        ...

    def get(self, account: str) -> str | None: ...

    def set(self, account: str, secret: str) -> None: ...

    def delete(self, account: str) -> bool:
        """Delete one entry; False when there is none."""
        ...

    def explain(self, error: Exception) -> Status:
        """The state that an error of this keyring stands for."""
        ...


OpenBackend = Callable[[], Backend]
"""Finds the keyring anew; called on the worker thread before each use, so that a service that
was started later is seen. Raises KeyringError when there is none that may be used."""
