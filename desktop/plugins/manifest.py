"""What a plugin says of itself in its `plugin.toml`: read strictly, or not at all. Pure.

A key that this version does not know is refused, as is every value that is not exactly of its
kind: what a person is asked to agree to must be what is started.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, NoReturn

from desktop.core.errors import PluginError

FILE = "plugin.toml"
PROTOCOL = 2
READ_MESSAGES = "api_read:messages"
CAPABILITIES = frozenset({READ_MESSAGES})
PYTHON = "{python}"
"""As the first word of a command: Nacre's own Python, which runs the script that follows it."""

MOST_BYTES = 65_536
_KEYS = ("id", "name", "version", "minimum_host", "command", "capabilities")
_ID = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
_VERSION = re.compile(r"\d{1,6}(?:\.\d{1,6}){0,2}")
_LONGEST_NAME = 60
_LONGEST_WORD = 1_000
_MOST_WORDS = 32


class BadManifest(PluginError):
    """The plugin is not started; the detail says what is wrong in its `plugin.toml`."""

    def __init__(self, detail: str) -> None:
        super().__init__(f"This plugin can't be used: in its {FILE}, {detail}.", detail=detail)


@dataclass(frozen=True, slots=True)
class Manifest:
    id: str
    name: str
    version: str
    minimum_host: str
    command: tuple[str, ...]
    capabilities: frozenset[str]


def manifest_of(data: bytes, *, host_version: str) -> Manifest:
    """Of the bytes of the file, for this version of the program. Raises BadManifest."""
    found = _table(data)
    _keys(found)
    manifest = Manifest(
        id=_matching(found, "id", _ID),
        name=_name(found["name"]),
        version=_matching(found, "version", _VERSION),
        minimum_host=_matching(found, "minimum_host", _VERSION),
        command=_command(found["command"]),
        capabilities=_capabilities(found["capabilities"]),
    )
    if order(manifest.minimum_host) > order(host_version):
        _refuse(f"it says that it needs version {manifest.minimum_host} of this program")
    return manifest


def order(version: str) -> tuple[int, ...]:
    """What versions are compared by: their first three numbers."""
    numbers = [int(one) for one in re.findall(r"\d+", version)[:3]]
    return tuple(numbers + [0] * (3 - len(numbers)))


def _table(data: bytes) -> Mapping[str, Any]:
    if len(data) > MOST_BYTES:
        _refuse("there is more than 64 KiB")
    try:
        return tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadManifest(f"there is no TOML ({error})") from error


def _keys(found: Mapping[str, Any]) -> None:
    for key in _KEYS:
        if key not in found:
            _refuse(f"{key} is missing")
    for key in found:
        if key not in _KEYS:
            _refuse(f"{key[:_LONGEST_NAME]!r} is no key that there is")


def _matching(found: Mapping[str, Any], key: str, shape: re.Pattern[str]) -> str:
    value = found[key]
    if not isinstance(value, str) or not value.isascii() or shape.fullmatch(value) is None:
        _refuse(f"{key} is not of its form")
    return value


def _name(value: object) -> str:
    # What is not printable could make one name look like another's.
    if not isinstance(value, str) or not value.isprintable() or value != value.strip():
        _refuse("name is not one line of visible characters")
    if not 0 < len(value) <= _LONGEST_NAME:
        _refuse("name has not 1 to 60 characters")
    return value


def _command(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not 0 < len(value) <= _MOST_WORDS:
        _refuse("command is not a list of 1 to 32 words")
    for word in value:
        if not isinstance(word, str) or not 0 < len(word) <= _LONGEST_WORD or "\0" in word:
            _refuse("a word of command is not a text")
    if value[0] == PYTHON and not (len(value) > 1 and _is_inside(value[1])):
        _refuse(f"{PYTHON} in command is not followed by a script of the plugin's folder")
    return tuple(value)


def _is_inside(word: str) -> bool:
    """Whether it names a file below the plugin's folder, and is no option of an interpreter."""
    place = PurePosixPath(word)
    is_relative = not place.is_absolute() and ".." not in place.parts
    return is_relative and not word.startswith("-") and "\\" not in word and ":" not in word


def _capabilities(value: object) -> frozenset[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        _refuse("capabilities is not a list of texts")
    if len(set(value)) != len(value):
        _refuse("a capability stands twice")
    for one in value:
        if one not in CAPABILITIES:
            _refuse(f"{one[:_LONGEST_NAME]!r} is no capability that there is")
    return frozenset(value)


def _refuse(why: str) -> NoReturn:
    raise BadManifest(why)
