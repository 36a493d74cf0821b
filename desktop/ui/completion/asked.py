"""What of a text asks to be completed: a pure function of what stands before the caret.

A file is asked for by `@` where a word begins, a command by `/` where the message begins, and
some commands for a value.
"""

import json
import re
from dataclasses import dataclass
from typing import Literal

from desktop.core.drafts import units

Kind = Literal["file", "command", "value"]
# More than this before the caret is no name that somebody types.
LOOKED_AT = 300

_FILE = re.compile(r"(?:^|[\s(\[{<\"'`,:;=])@([^\s@]*)\Z")
_COMMAND = re.compile(r"/([a-z]*)\Z", re.IGNORECASE)
_VALUE = re.compile(r"/([a-z]+) +(\S*)\Z", re.IGNORECASE)
# A path that stands in a sentence as it is. All others are quoted.
_PLAIN = re.compile(r"[\w./+@%~-]*[\w/+@%~-]")


@dataclass(frozen=True, slots=True)
class Asked:
    """`query` is what was typed so far; it takes the last `length` UTF-16 units, sign included."""

    kind: Kind
    query: str
    length: int
    command: str = ""


def asked(before: str, *, is_beginning: bool, valued: frozenset[str]) -> Asked | None:
    """What the text before the caret asks for; None where it is nothing.

    `before` is of the caret's line, whole or its end. `is_beginning`: the message begins with it.
    `valued` names the commands whose values can be chosen from.
    """
    if is_beginning and (found := _COMMAND.match(before)):
        return Asked("command", found[1].lower(), units(before))
    if is_beginning and (found := _VALUE.match(before)) and found[1].lower() in valued:
        return Asked("value", found[2], units(found[2]), command=found[1].lower())
    if found := _FILE.search(before):
        return Asked("file", found[1], units(found[1]) + 1)
    return None


def written(path: str) -> str:
    """A path as it is put into a message: quoted where a reader would lose its end.

    What is invisible in it is written as an escape, so that nothing is said that isn't seen.
    """
    if _PLAIN.fullmatch(path):
        return path
    is_seen = all(letter.isprintable() for letter in path)
    return json.dumps(path, ensure_ascii=not is_seen)
