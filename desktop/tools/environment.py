"""What a child process may know: the person's environment without secrets and packager's paths.

A command is chosen by a model, so it gets no key, no session bus (the keyring answers there,
PLATFORM.md §0.2), no agent socket, nothing that runs code at a shell's start, and nothing that
waits for a person who can't be reached (an editor, a pager, a password prompt).
"""

import re
from collections.abc import Mapping

_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|^ANTHROPIC_", re.IGNORECASE)
_SESSION = frozenset(
    {
        "DBUS_SESSION_BUS_ADDRESS",
        "DBUS_STARTER_ADDRESS",
        "XDG_RUNTIME_DIR",
        "SSH_AUTH_SOCK",
        "SSH_ASKPASS",
        "SUDO_ASKPASS",
        "GPG_AGENT_INFO",
    }
)
_RUNS_CODE = re.compile(
    r"^(BASH_ENV|ENV|BASH_FUNC_.*|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|GIT_SSH_COMMAND|GIT_SSH"
    r"|GIT_EXTERNAL_DIFF|GIT_CONFIG.*|LD_PRELOAD|LD_AUDIT|PYTHONSTARTUP|LESSOPEN)$"
)
_PACKAGER = re.compile(r"^(LD_LIBRARY_PATH|DYLD_\w+|QT_\w+|QML\w*_IMPORT_PATH)$")
_PACKAGER_OWN = re.compile(r"^(_PYI_|_MEIPASS|.*_ORIG$)")

QUIET: Mapping[str, str] = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "EDITOR": "true",
    "VISUAL": "true",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "DEBIAN_FRONTEND": "noninteractive",
}


def scrubbed_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for `Scene.environment`, from one like `os.environ`.

    A library path that the packager replaced comes back from its `*_ORIG`, or goes.
    """
    kept = {name: value for name, value in environment.items() if _may_stay(name)}
    for name, value in environment.items():
        original = name.removesuffix("_ORIG")
        if original != name and _PACKAGER.match(original):
            kept[original] = value
    return {**kept, **QUIET}


def _may_stay(name: str) -> bool:
    patterns = (_RUNS_CODE, _PACKAGER, _PACKAGER_OWN)
    if name in _SESSION or _SECRET.search(name):
        return False
    return not any(pattern.match(name) for pattern in patterns)
