"""The Secret Service of a Linux desktop (GNOME Keyring, KWallet), over SecretStorage.

Its state is looked at before every use: through keyring alone a locked or missing collection would
put a window on the screen for a plain read (PLATFORM §3.1).
"""

from contextlib import closing

import jeepney
import keyring.errors
import secretstorage
import secretstorage.exceptions as secret_errors
from jeepney.io.blocking import DBusConnection
from keyring.backends import SecretService

from desktop.credentials.status import READY, Status, absent, broken, locked, not_set_up

PROMPT_SECONDS = 120.0


class SecretServiceDoor:
    """The state of the person's default collection, and its window."""

    def __init__(self, backend: SecretService.Keyring) -> None:
        self._preferred: str | None = getattr(backend, "preferred_collection", None)

    def look(self) -> Status:
        try:
            with closing(secretstorage.dbus_init()) as connection:
                if not secretstorage.check_service_availability(connection):
                    return absent("no org.freedesktop.secrets on the session bus")
                try:
                    collection = self._collection(connection)
                except secret_errors.ItemNotFoundException:
                    return not_set_up("there is no default collection")
                return locked() if collection.is_locked() else READY
        except Exception as error:
            return self.explain(error)

    def unlock(self) -> None:
        with closing(secretstorage.dbus_init()) as connection:
            try:
                collection = self._collection(connection)
            except secret_errors.ItemNotFoundException:
                collection = secretstorage.create_collection(connection, "Default", "default")
            if collection.is_locked():
                collection.unlock(timeout=PROMPT_SECONDS)

    def explain(self, error: Exception) -> Status:
        """The table of this door's foreign errors. Only texts that come from the bus are kept: of
        an unknown error the text could hold the secret itself."""
        name = f"{type(error).__module__}.{type(error).__qualname__}"
        match error:
            case (
                keyring.errors.KeyringLocked()
                | secret_errors.LockedException()
                | secret_errors.PromptDismissedException()
                | TimeoutError()
            ):
                return locked(name)
            case keyring.errors.InitError():
                return not_set_up(f"{name}: {error}")
            case (
                keyring.errors.NoKeyringError()
                | secret_errors.SecretServiceNotAvailableException()
                | OSError()
            ):
                return absent(f"{name}: {error}")
            case jeepney.DBusErrorResponse():
                return broken(f"{name}: {error.name}")
            case _:
                return broken(name)

    def _collection(self, connection: DBusConnection) -> secretstorage.Collection:
        if self._preferred is None:
            return secretstorage.Collection(connection)
        return secretstorage.Collection(connection, self._preferred)
