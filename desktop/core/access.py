"""How Nacre may reach a model: which key from where, which server. Never holds a key itself."""

from dataclasses import dataclass
from typing import Literal, Protocol

from desktop.core.events import Failure
from desktop.core.model import ModelInfo

KeySource = Literal["none", "keyring", "environment", "session", "unneeded"]


@dataclass(frozen=True, slots=True)
class AccessState:
    """What stands between the person and a model.

    `base_url` '' is the provider's own; `base_url_source` says where it comes from (`settings`,
    `environment`, or ''). `keyring` is the keyring's state and `keyring_sentence` what to tell.
    """

    key_source: KeySource = "none"
    base_url: str = ""
    base_url_source: str = ""
    keyring: str = ""
    keyring_sentence: str = ""

    @property
    def ready(self) -> bool:
        return self.key_source != "none"


class Access(Protocol):
    """The welcome page and the settings talk to this; keys go in and never come out."""

    def state(self) -> AccessState: ...

    async def enter_key(self, key: str, *, for_session: bool = False) -> Failure | None:
        """Checks the key by one cheap call and keeps it (in the keyring, or for this run only).

        A Failure means that the provider refused it or could not be reached: nothing was kept.
        Raises CredentialError for a text that is no key, or when the keyring can't keep it.
        """
        ...

    async def use_server(self, base_url: str) -> Failure | None:
        """Checks that a Messages API answers there and keeps the address ('' forgets it)."""
        ...

    async def forget_key(self) -> None: ...

    async def check(self) -> Failure | None:
        """One cheap call with what is set now."""
        ...

    def known_models(self) -> tuple[ModelInfo, ...]:
        """The models to choose from as far as they are known without asking anybody."""
        ...

    async def models(self) -> tuple[ModelInfo, ...]:
        """The models to choose from; never raises for the network's sake."""
        ...
