"""The state of a place of keys, in a word for the program and in sentences for the person.

The functions are the system keyring's; the encrypted file has its own in `file_status`.
"""

from dataclasses import dataclass, replace
from typing import Literal

from desktop.core.errors import CredentialError

State = Literal["ready", "locked", "absent", "broken", "stuck"]

OTHERWISE = (
    "You can keep the key in an encrypted file, use it for this run only, or set the variable "
    "ANTHROPIC_API_KEY before you start."
)


@dataclass(frozen=True, slots=True)
class Status:
    """What the place can do now. `detail` is technical and free of secrets."""

    state: State
    sentence: str
    way_out: str = ""
    detail: str = ""

    def because(self, detail: str) -> "Status":
        return replace(self, detail=detail)


@dataclass(frozen=True, slots=True)
class Words:
    """What is said of a place of keys when its store itself finds something out."""

    ready: Status
    broken: Status
    forgetful: Status
    clinging: Status
    stuck: Status
    waiting: Status


class KeyringError(CredentialError):
    """A place of keys did not do what was asked; `status` says in which state it is."""

    def __init__(self, status: Status) -> None:
        super().__init__(status.sentence, way_out=status.way_out, detail=status.detail)
        self.status = status


class KeyRefused(CredentialError):
    """This key can't be kept or used as it is; nothing was changed."""


READY = Status("ready", "Keys are kept in the system keyring.")


def locked(detail: str = "") -> Status:
    return Status(
        "locked", "The system keyring is locked.", "Unlock it and try again. " + OTHERWISE, detail
    )


def not_set_up(detail: str = "") -> Status:
    return Status(
        "locked",
        "The system keyring has not been set up yet.",
        "Unlock it: the system will ask you for a password for it. " + OTHERWISE,
        detail,
    )


def absent(detail: str = "") -> Status:
    return Status(
        "absent",
        "This computer has no system keyring that Nacre could keep a key in.",
        "Install one (GNOME Keyring or KWallet) or start the one you have. " + OTHERWISE,
        detail,
    )


def refused(backend: str) -> Status:
    return Status(
        "absent",
        "The keyring chosen in your Python keyring settings does not keep secrets safe, so Nacre "
        "does not use it.",
        "Choose the system's keyring there, or remove the setting. " + OTHERWISE,
        backend,
    )


def broken(detail: str = "") -> Status:
    return Status(
        "broken", "The system keyring answered with an error.", "Try again. " + OTHERWISE, detail
    )


def older_ones() -> Status:
    """After a removal: what a keyring that could not be looked into may still hold."""
    return Status(
        "locked",
        "The key in use is removed. The system keyring can't be looked into now, so an older key "
        "may still be in it.",
        "Unlock the keyring and remove the key once more to be sure.",
    )


def closed() -> Status:
    return Status("absent", "Nacre is closing and no longer uses your keys.")


KEYRING = Words(
    ready=READY,
    broken=broken(),
    forgetful=Status(
        "broken",
        "The system keyring did not give back what was stored in it.",
        "Nothing was kept. " + OTHERWISE,
    ),
    clinging=Status(
        "broken",
        "The system keyring still holds the key after it was told to delete it.",
        "Delete the entries named “nacre” with the system's own keyring program.",
    ),
    stuck=Status(
        "stuck",
        "The system keyring does not answer.",
        "Look for a window that asks for your password, then try again. " + OTHERWISE,
    ),
    waiting=Status(
        "locked",
        "The system keyring waits for you to unlock it.",
        "Look for a window that asks for your password.",
    ),
)
