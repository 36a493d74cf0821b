"""The system's own keyring, and no other (PLATFORM §3.3).

keyring is imported here and in `secret_service`, nowhere else: it takes about 0.2 s, so both are
loaded on the store's thread when they are first needed. A backend is judged by its class: a
configuration file, a variable or an installed package can otherwise put a plain text file in the
keyring's place.
"""

import importlib
import os
import sys
from typing import Protocol, cast

import keyring.core
import keyring.errors
from keyring.backend import KeyringBackend
from keyring.backends import SecretService, Windows, chainer, macOS

from desktop.credentials.backend import Backend
from desktop.credentials.status import (
    READY,
    KeyringError,
    Status,
    absent,
    broken,
    locked,
    refused,
)

CHOICE = "PYTHON_KEYRING_BACKEND"

ALLOWED: tuple[type[KeyringBackend], ...] = (
    SecretService.Keyring,
    macOS.Keyring,
    Windows.WinVaultKeyring,
)


class Door(Protocol):
    """What differs between the systems' keyrings: their state, how they open, their errors."""

    def look(self) -> Status: ...

    def unlock(self) -> None: ...

    def explain(self, error: Exception) -> Status: ...


class SystemKeyring:
    """Implements `Backend`: the entries of one service, behind a door."""

    def __init__(self, backend: KeyringBackend, service: str, door: Door) -> None:
        self._backend = backend
        self._service = service
        self.look = door.look
        self.unlock = door.unlock
        self.explain = door.explain

    @property
    def name(self) -> str:
        """The class behind it, for the self-test: a bundle may have lost the right one."""
        return f"{type(self._backend).__module__}.{type(self._backend).__qualname__}"

    def get(self, account: str) -> str | None:
        return self._backend.get_password(self._service, account)

    def set(self, account: str, secret: str) -> None:
        self._backend.set_password(self._service, account, secret)

    def delete(self, account: str) -> bool:
        try:
            self._backend.delete_password(self._service, account)
        except keyring.errors.PasswordDeleteError:
            return False
        return True


class NativeDoor:
    """The keyring of macOS or Windows, which is unlocked with the person's session."""

    def look(self) -> Status:
        return READY

    def unlock(self) -> None:
        return

    def explain(self, error: Exception) -> Status:
        """Texts of errors are left out: a backend may put the secret itself into them."""
        name = f"{type(error).__module__}.{type(error).__qualname__}"
        if isinstance(error, keyring.errors.KeyringLocked):
            return locked(name)
        if isinstance(error, keyring.errors.NoKeyringError):
            return absent(name)
        return broken(name)


def open_system_keyring(service: str) -> Backend:
    """The keyring of this system. Raises KeyringError (absent) when there is none to trust."""
    backend = _chosen() or _own()
    if not isinstance(backend, SecretService.Keyring):
        return SystemKeyring(backend, service, NativeDoor())
    # By name, because SecretStorage is there on Linux only.
    door = importlib.import_module("desktop.credentials.secret_service")
    return SystemKeyring(backend, service, cast("Door", door.SecretServiceDoor(backend)))


def _chosen() -> KeyringBackend | None:
    """What the person's keyring settings name, if they name anything. It is taken or refused,
    never passed over in silence."""
    named = os.environ.get(CHOICE, "").strip()
    try:
        backend = keyring.core.load_env() if named else keyring.core.load_config()
    except RuntimeError as error:  # the class is known, but not usable on this machine now
        raise KeyringError(absent(f"{named}: {error}")) from error
    except Exception as error:
        raise KeyringError(refused(f"{named}: {type(error).__name__}")) from error
    return None if backend is None else _trusted(backend)


def _trusted(backend: KeyringBackend) -> KeyringBackend:
    """An allowed backend; of a chain its first member, so that no other one is ever read."""
    if type(backend) is chainer.ChainerBackend:
        members: list[KeyringBackend] = list(backend.backends)
        if members and type(members[0]) in ALLOWED:
            return members[0]
    elif type(backend) in ALLOWED:
        return backend
    raise KeyringError(refused(f"{type(backend).__module__}.{type(backend).__qualname__}"))


def _own() -> KeyringBackend:
    """This platform's backend, built directly: keyring's own search remembers its first answer for
    the life of the process and would never see a service that was started later."""
    match sys.platform:
        case "win32":
            kind: type[KeyringBackend] = Windows.WinVaultKeyring
        case "darwin":
            kind = macOS.Keyring
        case "linux":
            return SecretService.Keyring()
        case _:
            raise KeyringError(absent(f"no keyring is known for {sys.platform}"))
    if not kind.viable:
        raise KeyringError(absent(f"{kind.__module__} can't be used"))
    return kind()
