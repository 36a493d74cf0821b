"""The commands that can be typed at the beginning of a message: the program's own actions.

A text that only looks like one (`/etc/hosts is broken`, `/new ideas`) is none and is sent.
"""

import re
from dataclasses import dataclass
from typing import Literal

from desktop.ui.actions import ACTIONS

Takes = Literal["nothing", "words", "text", "value"]
# Those of the window's actions that one wants while writing, and what may follow them.
_ACTIONS: dict[str, Takes] = {
    "compact": "text",
    "find": "words",
    "rename": "words",
    "new": "nothing",
    "fork": "nothing",
    "retry": "nothing",
    "regenerate": "nothing",
    "usage": "nothing",
    "archive": "nothing",
    "settings": "nothing",
    "shortcuts": "nothing",
}
_TYPED = re.compile(r"/([a-z]+)(?:\s+(.*))?", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Command:
    """`words` say what it does. `takes`: nothing, words of one line, a text, or a value from a
    list, without which it does nothing. `is_action`: the window has an action of this name."""

    name: str
    words: str
    takes: Takes = "nothing"
    is_action: bool = False


OF_THE_FIELD: tuple[Command, ...] = (
    Command("model", "Model", "value"),
    Command("effort", "Effort", "value"),
    Command("mode", "Permissions", "value"),
    Command("attach", "Attach files"),
)
_TEXTS = {spec.name: spec.text.rstrip("…") for spec in ACTIONS}
OF_A_CONVERSATION: tuple[Command, ...] = (
    *OF_THE_FIELD,
    *(Command(name, _TEXTS[name], takes, is_action=True) for name, takes in _ACTIONS.items()),
)
OF_THE_NEW_PAGE: tuple[Command, ...] = (
    *OF_THE_FIELD,
    *(one for one in OF_A_CONVERSATION if one.name in ("settings", "shortcuts")),
)


def read(text: str, commands: tuple[Command, ...]) -> tuple[Command, str] | None:
    """The command that a message is, and what follows it; None where it is to be sent."""
    found = _TYPED.fullmatch(text.strip())
    if found is None:
        return None
    name, rest = found[1].lower(), (found[2] or "").strip()
    command = next((one for one in commands if one.name == name), None)
    if command is None or (rest and command.takes == "nothing"):
        return None
    return None if "\n" in rest and command.takes != "text" else (command, rest)
