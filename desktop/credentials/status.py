"""The state of the system keyring, in a word for the program and in sentences for the person."""

from dataclasses import dataclass
from typing import Literal

from desktop.core.errors import CredentialError

State = Literal["ready", "locked", "absent", "broken", "stuck"]

THIS_RUN = (
    "You can use the key for this run only, or set the variable ANTHROPIC_API_KEY before you start."
)


@dataclass(frozen=True, slots=True)
class Status:
    """What the keyring can do now. `detail` is technical and free of secrets."""

    state: State
    sentence: str
    way_out: str = ""
    detail: str = ""


class KeyringError(CredentialError):
    """The keyring did not do what was asked; `status` says in which state it is."""

    def __init__(self, status: Status) -> None:
        super().__init__(status.sentence, way_out=status.way_out, detail=status.detail)
        self.status = status


class KeyRefused(CredentialError):
    """This key can't be kept or used as it is; nothing was changed."""


READY = Status("ready", "Keys are kept in the system keyring.")


def locked(detail: str = "") -> Status:
    return Status(
        "locked", "The system keyring is locked.", "Unlock it and try again. " + THIS_RUN, detail
    )


def not_set_up(detail: str = "") -> Status:
    return Status(
        "locked",
        "The system keyring has not been set up yet.",
        "Unlock it: the system will ask you for a password for it. " + THIS_RUN,
        detail,
    )


def absent(detail: str = "") -> Status:
    return Status(
        "absent",
        "This computer has no system keyring that Nacre could keep a key in.",
        "Install one (GNOME Keyring or KWallet) or start the one you have. " + THIS_RUN,
        detail,
    )


def refused(backend: str) -> Status:
    return Status(
        "absent",
        "The keyring chosen in your Python keyring settings does not keep secrets safe, so Nacre "
        "does not use it.",
        "Choose the system's keyring there, or remove the setting. " + THIS_RUN,
        backend,
    )


def broken(detail: str = "") -> Status:
    return Status(
        "broken", "The system keyring answered with an error.", "Try again. " + THIS_RUN, detail
    )


def forgetful(detail: str = "") -> Status:
    return Status(
        "broken",
        "The system keyring did not give back what was stored in it.",
        "Nothing was kept. " + THIS_RUN,
        detail,
    )


def clinging(detail: str = "") -> Status:
    return Status(
        "broken",
        "The system keyring still holds the key after it was told to delete it.",
        "Delete the entries named “nacre” with the system's own keyring program.",
        detail,
    )


def stuck(detail: str = "") -> Status:
    return Status(
        "stuck",
        "The system keyring does not answer.",
        "Look for a window that asks for your password, then try again. " + THIS_RUN,
        detail,
    )


def closed() -> Status:
    return Status("absent", "Nacre is closing and no longer uses the system keyring.")
