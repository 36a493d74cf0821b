"""What a plugin says of itself in its `plugin.json`: read strictly, or not at all. Pure.

A key that this version does not know is refused, as is every value that is not exactly of its
kind: what a person is asked to agree to must be what is started.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from desktop.core.errors import NacreError

FILE = "plugin.json"
PROTOCOL = 2
READ_MESSAGES = "api_read:messages"
CAPABILITIES = frozenset({READ_MESSAGES})
PYTHON = "{python}"
"""As the first word of a command: the Python that runs this program."""

MOST_BYTES = 65_536
_KEYS = ("id", "name", "version", "protocol", "minimumHost", "command", "capabilities")
_ID = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
_VERSION = re.compile(r"\d{1,6}(?:\.\d{1,6}){0,2}")
_LONGEST_NAME = 60
_LONGEST_WORD = 1_000
_MOST_WORDS = 32


class BadManifest(NacreError):
    """The plugin is not started; the detail says what is wrong in its `plugin.json`."""

    def __init__(self, detail: str) -> None:
        super().__init__("This plugin can't be used.", detail=detail)


@dataclass(frozen=True, slots=True)
class Manifest:
    id: str
    name: str
    version: str
    minimum_host: str
    command: tuple[str, ...]
    capabilities: frozenset[str]


def manifest_of(data: bytes, *, folder: str, host_version: str) -> Manifest:
    """Of the file in the folder of that name, for this version of the program."""
    found = _object(data)
    _keys(found)
    if found["protocol"] != PROTOCOL:
        _refuse(f"protocol is not {PROTOCOL}")
    manifest = Manifest(
        id=_matching(found, "id", _ID),
        name=_name(found["name"]),
        version=_matching(found, "version", _VERSION),
        minimum_host=_matching(found, "minimumHost", _VERSION),
        command=_command(found["command"]),
        capabilities=_capabilities(found["capabilities"]),
    )
    if manifest.id != folder:
        _refuse("id is not the name of its folder")
    if _order(manifest.minimum_host) > _order(host_version):
        _refuse(f"it needs version {manifest.minimum_host} of this program")
    return manifest


def _object(data: bytes) -> Mapping[str, Any]:
    if len(data) > MOST_BYTES:
        _refuse("it is larger than 64 KiB")
    try:
        found = json.loads(data.decode("utf-8"), object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise BadManifest(f"it is no JSON ({error})") from error
    if not isinstance(found, dict):
        _refuse("it is no JSON object")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        _refuse("a key stands there twice")
    return found


def _keys(found: Mapping[str, Any]) -> None:
    for key in _KEYS:
        if key not in found:
            _refuse(f"{key} is missing")
    for key in found:
        if key not in _KEYS:
            _refuse(f"{key!r} is no key of it")


def _matching(found: Mapping[str, Any], key: str, shape: re.Pattern[str]) -> str:
    value = found[key]
    if not isinstance(value, str) or shape.fullmatch(value) is None:
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
    return tuple(value)


def _capabilities(value: object) -> frozenset[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        _refuse("capabilities is not a list of texts")
    if len(set(value)) != len(value):
        _refuse("a capability stands there twice")
    for one in value:
        if one not in CAPABILITIES:
            _refuse(f"{one!r} is no capability")
    return frozenset(value)


def _order(version: str) -> tuple[int, ...]:
    numbers = [int(one) for one in re.findall(r"\d+", version)[:3]]
    return tuple(numbers + [0] * (3 - len(numbers)))


def _refuse(why: str) -> NoReturn:
    raise BadManifest(why)
