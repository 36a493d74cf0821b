"""How Nacre may reach a model: which key from where, which server. Never holds a key itself."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from desktop.core.events import Failure
from desktop.core.model import ModelInfo

KeySource = Literal["none", "asking", "keyring", "file", "environment", "session", "unneeded"]
KeyPlace = Literal["keyring", "file", "session"]


@dataclass(frozen=True, slots=True)
class AccessState:
    """What stands between the person and a model.

    `base_url` '' is the provider's own; `base_url_source` says where it comes from (`settings`,
    `environment`, or ''). `keyring` and `key_file` are the states of the two places that outlast a
    run, '' while one was not asked or is not there, with the sentence to tell and the way out of
    it. `problem` is one that is not theirs. `asking` is the source before a keyring has answered.
    """

    key_source: KeySource = "none"
    base_url: str = ""
    base_url_source: str = ""
    keyring: str = ""
    keyring_sentence: str = ""
    keyring_way_out: str = ""
    key_file: str = ""
    key_file_sentence: str = ""
    key_file_way_out: str = ""
    problem: str = ""

    @property
    def ready(self) -> bool:
        return self.key_source not in ("none", "asking")

    @property
    def keyring_words(self) -> str:
        """All that is to be said of the keyring."""
        return f"{self.keyring_sentence} {self.keyring_way_out}".strip()

    @property
    def key_file_words(self) -> str:
        """All that is to be said of the encrypted file."""
        return f"{self.key_file_sentence} {self.key_file_way_out}".strip()

    @property
    def locked(self) -> Literal["", "file", "keyring"]:
        """Which place has to be unlocked before a key can be had; the file is asked first. A server
        that needs none can be `ready` all the same: it may be given one that lies in the file."""
        if self.key_file == "locked" and self.key_source in ("none", "unneeded"):
            return "file"
        if self.keyring == "locked" and self.key_source == "none" and not self.key_file:
            return "keyring"
        return ""


class Access(Protocol):
    """The welcome page and the settings talk to this; keys go in and never come out."""

    def state(self) -> AccessState: ...

    def on_change(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Calls `changed` whenever another key or server may be in force; what is returned ends
        that."""
        ...

    async def look(self) -> None:
        """Finds out anew which places can be used, without a prompt, and takes the key there is."""
        ...

    async def enter_key(self, key: str, *, keep: KeyPlace = "keyring") -> Failure | None:
        """Checks the key by one cheap call and keeps it there and nowhere else.

        A Failure means that the provider refused it or could not be reached: nothing was kept.
        Raises CredentialError for a text that is no key, or when the place can't keep it; the check
        is not made again when the same key is entered once more (SPEC K02).
        """
        ...

    async def move_key(self, to: KeyPlace) -> None:
        """Keeps the key in use in another place. Raises CredentialError; then it stays."""
        ...

    async def unlock_keyring(self) -> None:
        """Waits for the person at the system's own window; may be cancelled. Raises
        CredentialError when it stays locked."""
        ...

    async def unlock_file(self, passphrase: str) -> None:
        """Opens the encrypted file for this run; without a file, one comes to be with the first
        key that is kept in it. Raises CredentialError for a passphrase that does not do."""
        ...

    async def forget_file(self) -> None:
        """Removes the encrypted file and all keys in it, opened or not. Raises CredentialError."""
        ...

    async def use_server(self, base_url: str) -> Failure | None:
        """Checks that a Messages API answers there and keeps the address ('' forgets it)."""
        ...

    async def forget_key(self) -> None:
        """Removes the key from every place. Raises CredentialError where that was not possible."""
        ...

    async def check(self) -> Failure | None:
        """One cheap call with what is set now."""
        ...

    def known_models(self) -> tuple[ModelInfo, ...]:
        """The models to choose from as far as they are known without asking anybody."""
        ...

    async def models(self) -> tuple[ModelInfo, ...]:
        """The models to choose from; never raises for the network's sake."""
        ...
