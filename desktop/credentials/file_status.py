"""The states of the encrypted file of keys, in sentences for the person."""

from pathlib import Path

from desktop.credentials.status import Status, Words

LEFT_ALONE = "The file was left as it is."
START_ANEW = "Put a copy of it back, or remove it in Settings → Access and enter the key again."

READY = Status("ready", "Keys are kept in an encrypted file, which is open for this run.")


def none_yet() -> Status:
    return Status(
        "absent",
        "There is no encrypted file of keys yet.",
        "Choose “Keep in an encrypted file…” in Settings → Access to make one.",
    )


def locked(path: Path) -> Status:
    return Status(
        "locked",
        "Your keys are in an encrypted file, which is locked.",
        "Unlock it with its passphrase.",
        str(path),
    )


def wrong_passphrase(path: Path) -> Status:
    return Status(
        "locked",
        "This passphrase does not open the encrypted file.",
        "Nothing was changed. Check capital letters and the keyboard's layout, and try again.",
        str(path),
    )


def locked_out() -> Status:
    return Status(
        "locked",
        "An encrypted file of keys is there and locked; its key would be used before this one.",
        "Unlock the file or remove it first, in Settings → Access.",
    )


def foreign(path: Path, detail: str) -> Status:
    return Status(
        "broken",
        f"{path} stands where Nacre keeps its encrypted keys, and is not such a file.",
        f"{LEFT_ALONE} Move it away if you don't need it there.",
        detail,
    )


def newer(path: Path, detail: str) -> Status:
    return Status(
        "broken",
        f"The encrypted file of keys was written by a newer Nacre: {path}.",
        f"{LEFT_ALONE} Update Nacre, or use the key for this run only.",
        detail,
    )


def damaged(path: Path, detail: str) -> Status:
    return Status(
        "broken",
        f"The encrypted file of keys is damaged: {path}.",
        f"{LEFT_ALONE} {START_ANEW}",
        detail,
    )


def busy(path: Path) -> Status:
    return Status(
        "broken",
        "Another Nacre is writing the encrypted file of keys.",
        "Nothing was changed. Try again.",
        str(path),
    )


def no_room(path: Path) -> Status:
    return Status(
        "broken",
        f"The encrypted file of keys could not be written: the disk is full ({path}).",
        "Nothing was changed. Make room and try again, or use the key for this run only.",
    )


def no_access(path: Path) -> Status:
    return Status(
        "broken",
        f"Nacre may not read or write the encrypted file of keys: {path}.",
        "Nothing was changed. Check who owns the file and its folder, and try again.",
    )


def broken(path: Path, detail: str) -> Status:
    return Status(
        "broken",
        f"The encrypted file of keys could not be read or written: {path}.",
        "Nothing was changed. Try again, or use the key for this run only.",
        detail,
    )


WORDS = Words(
    ready=READY,
    broken=Status("broken", "The encrypted file of keys could not be used.", "Try again."),
    forgetful=Status(
        "broken",
        "The encrypted file of keys did not give back what was written to it.",
        "Try again, or use the key for this run only.",
    ),
    clinging=Status(
        "broken",
        "The key is still in the encrypted file after it was removed.",
        "Try again, or remove the whole file in Settings → Access.",
    ),
    stuck=Status(
        "stuck",
        "The disk with the encrypted file of keys does not answer.",
        "Try again when it does, or use the key for this run only.",
    ),
    waiting=Status("locked", "The encrypted file is being opened.", "Wait a moment."),
)
