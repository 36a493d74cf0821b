"""The key of a command without a window: a passphrase is asked at a terminal, and nowhere else.

Neither an argument nor a variable can hold the passphrase: other processes can read those.
"""

import getpass
import signal
import sys

from desktop.core.access import Access, AccessState
from desktop.core.errors import CredentialError

TRIES = 3
NO_KEY = "no key is set. Set ANTHROPIC_API_KEY, or enter a key in the window's settings."
NO_TERMINAL = (
    "Your keys are in an encrypted file, and its passphrase can only be typed at a terminal. Run "
    "this at one, or set the variable ANTHROPIC_API_KEY."
)


async def have_key(access: Access) -> bool:
    """Whether a model can be asked; opens the encrypted file if that is what it takes. Says why
    not on stderr."""
    state = access.state()
    if state.locked == "file" and sys.stdin.isatty():
        await _open_file(access)
    elif state.locked == "file" and not state.ready:
        _say(NO_TERMINAL)
        return False
    state = access.state()
    if not state.ready:
        _say_why_not(state)
    return state.ready


async def _open_file(access: Access) -> None:
    """Asks until the passphrase is right, three times at most."""
    for _ in range(TRIES):
        try:
            passphrase = _ask()
        except (EOFError, KeyboardInterrupt):
            print(file=sys.stderr)
            return
        try:
            await access.unlock_file(passphrase)
        except CredentialError as error:
            _say(error.sentence)
        else:
            return


def _ask() -> str:
    """The prompt; Ctrl+C ends it at once, where the loop would only make a note of it."""
    loops_own = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return getpass.getpass("Passphrase of your encrypted keys: ")
    finally:
        signal.signal(signal.SIGINT, loops_own)


def _say_why_not(state: AccessState) -> None:
    if state.locked != "file":
        _say(state.problem or NO_KEY)
    for place, sentence in (
        (state.key_file, state.key_file_words),
        (state.keyring, state.keyring_words),
    ):
        if place not in ("", "ready"):
            _say(sentence)


def _say(sentence: str) -> None:
    print(f"nacre: {sentence}", file=sys.stderr)
