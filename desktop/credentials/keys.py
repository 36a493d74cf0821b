"""Where the person's keys live: this run's memory, the encrypted file or the system keyring.

One place is authoritative for a key at any time (SPEC U34). This run's memory comes first, then the
file, then the keyring: an earlier place holds the person's later word. While the file is there and
can't be read, nothing behind it is used, since it may hold that word. A key moves by being written,
read back and compared before it is removed from where it was.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from desktop.credentials import file_status
from desktop.credentials.key_file import KeyFile
from desktop.credentials.secret import Secret
from desktop.credentials.status import KeyRefused, KeyringError, Status, older_ones
from desktop.credentials.store import SecretStore, ignore

Place = Literal["session", "file", "keyring"]
PASSPHRASE_LEAST = 8


@dataclass(frozen=True, slots=True)
class Found:
    """A key and its place; with none, `problem` says what kept a place from being asked."""

    place: Place | None = None
    secret: Secret | None = None
    problem: Status | None = None


class Keys:
    """The one door to all places. Nothing is moved or kept unless the person asks for it."""

    def __init__(
        self,
        keyring: SecretStore,
        key_file: KeyFile,
        *,
        forget: Callable[[str], None] = ignore,
    ) -> None:
        self._keyring = keyring
        self._key_file = key_file
        self._file = SecretStore(
            open_backend=lambda: key_file,
            words=file_status.WORDS,
            proves=False,
            limit=0,
            forget=forget,
        )
        self._forget = forget
        self._session: dict[str, Secret] = {}

    def __repr__(self) -> str:
        return f"Keys({self._keyring!r}, {self._file!r})"

    @property
    def keyring_status(self) -> Status | None:
        """The keyring's state as last seen, None before it was first asked."""
        return self._keyring.status

    @property
    def file_status(self) -> Status | None:
        """The file's state as last seen; None before, and when there is no file."""
        status = self._file.status
        return None if status is None or status.state == "absent" else status

    # -- asking -------------------------------------------------------------------------------

    async def find(self, account: str) -> Found:
        """The key of `account` and where it is. Never raises, never prompts."""
        kept = self._session.get(account)
        if kept is not None:
            return Found("session", kept)
        try:
            kept = await self._file.get(account)
        except KeyringError as error:
            if error.status.state != "absent":
                return Found(problem=error.status)
        if kept is not None:
            return Found("file", kept)
        try:
            kept = await self._keyring.get(account)
        except KeyringError as error:
            return Found(problem=error.status)
        return Found("keyring", kept) if kept is not None else Found()

    async def look(self) -> None:
        """Finds the state of both places anew, even of one that was stuck. Never prompts."""
        await self._file.check()
        await self._keyring.check()

    # -- opening ------------------------------------------------------------------------------

    async def unlock_keyring(self) -> Status:
        """Waits for the person at the system's window; may be cancelled. Never raises."""
        return await self._keyring.unlock()

    async def unlock_file(self, passphrase: Secret) -> None:
        """Opens the file for this run, or begins one that its first key brings onto the disk.

        Raises KeyRefused for a passphrase that protects nothing, KeyringError for a wrong one.
        """
        if len(passphrase) < PASSPHRASE_LEAST and (await self._file.check()).state == "absent":
            raise KeyRefused(
                f"This passphrase is shorter than {PASSPHRASE_LEAST} characters.",
                way_out="Use a longer one; several words are easy to remember and hard to guess.",
            )
        self.forget(passphrase)
        try:
            await self._file.do(lambda: self._key_file.open(passphrase))
        finally:
            await self._file.check()

    # -- changing -----------------------------------------------------------------------------

    async def keep(self, account: str, secret: Secret, *, place: Place) -> None:
        """Keeps the key in `place` and nowhere else. Raises KeyRefused or KeyringError; then the
        key is where it was before."""
        match place:
            case "session":
                self.forget(secret)
                self._session[account] = secret
                return
            case "file":
                await self._file.put(account, secret)
                await self._drop_behind_file(account)
            case "keyring":
                await self._keep_in_keyring(account, secret)
        self._session.pop(account, None)

    async def move(self, account: str, *, place: Place) -> None:
        """Keeps the key in use in another place. Raises KeyringError."""
        found = await self.find(account)
        if found.secret is not None and found.place != place:
            await self.keep(account, found.secret, place=place)

    async def remove(self, account: str) -> None:
        """Removes the key from every place. Raises KeyringError where one could not be cleared."""
        was_kept = self._session.pop(account, None) is not None
        try:
            await self._file.delete(account)
            was_kept = True
        except KeyringError as error:
            if error.status.state != "absent":
                raise
        try:
            await self._keyring.delete(account)
        except KeyringError as error:
            if error.status.state == "absent":
                return
            if was_kept:
                raise KeyringError(older_ones().because(error.status.detail)) from None
            raise

    async def remove_file(self) -> None:
        """Removes the encrypted file with all its keys, opened or not. Raises KeyringError."""
        await self._file.do(self._key_file.erase)
        await self._file.check()

    def forget(self, secret: Secret) -> None:
        """Has the log leave `secret` out."""
        self._forget(secret.reveal())

    def close(self) -> None:
        """Drops the memory of this run and ends the threads, without waiting for a stuck one."""
        self._session.clear()
        self._keyring.close()
        self._file.close()

    # -- parts --------------------------------------------------------------------------------

    async def _keep_in_keyring(self, account: str, secret: Secret) -> None:
        """Behind a file that can't be opened the key would not be used: refused before a change."""
        status = await self._file.check()
        if status.state == "locked":
            raise KeyringError(file_status.locked_out().because(status.detail))
        if status.state not in ("ready", "absent"):
            raise KeyringError(status)
        await self._keyring.put(account, secret)
        if status.state == "ready":
            await self._file.delete(account)

    async def _drop_behind_file(self, account: str) -> None:
        """An older key in a keyring that can't be opened does no harm: the file comes before it."""
        try:
            await self._keyring.delete(account)
        except KeyringError:
            return
