"""What a plugin says of itself is read exactly, or it is not used."""

import json
from typing import Any

import pytest

from desktop.plugins.manifest import MOST_BYTES, READ_MESSAGES, BadManifest, Manifest, manifest_of

GOOD: dict[str, Any] = {
    "id": "plain",
    "name": "Plain",
    "version": "1.2",
    "protocol": 2,
    "minimumHost": "0.9",
    "command": ["{python}", "main.py"],
    "capabilities": [READ_MESSAGES],
}


def read(found: object, *, folder: str = "plain") -> Manifest:
    data = found if isinstance(found, bytes) else json.dumps(found).encode()
    return manifest_of(data, folder=folder, host_version="0.10.1")


def test_a_manifest_is_read_as_it_stands() -> None:
    command, may = ("{python}", "main.py"), frozenset({READ_MESSAGES})
    assert read(GOOD) == Manifest("plain", "Plain", "1.2", "0.9", command, may)


@pytest.mark.parametrize(
    "change",
    [
        {"id": "Plain"},
        {"id": "../plain"},
        {"id": "other"},
        {"name": ""},
        {"name": "two\nlines"},
        {"name": "turned \u202e around"},
        {"name": "x" * 61},
        {"version": "1.x"},
        {"version": 1},
        {"protocol": 3},
        {"protocol": True},
        {"minimumHost": "0.11"},
        {"command": "main.py"},
        {"command": []},
        {"command": ["a", 1]},
        {"command": ["a\0b"]},
        {"capabilities": ["api_read:everything"]},
        {"capabilities": [READ_MESSAGES, READ_MESSAGES]},
        {"capabilities": [[]]},
        {"more": 1},
    ],
    ids=repr,
)
def test_what_is_not_exactly_of_its_kind_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(BadManifest):
        read({**GOOD, **change})


@pytest.mark.parametrize("key", GOOD)
def test_a_missing_key_is_refused(key: str) -> None:
    with pytest.raises(BadManifest):
        read({name: value for name, value in GOOD.items() if name != key})


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"\xff",
        b"[" * 60_000,
        json.dumps(GOOD).encode() + b" " * MOST_BYTES,
        json.dumps(GOOD).encode()[:-1] + b', "id": "plain"}',
    ],
    ids=["nothing", "a list", "no text", "deep", "large", "a key twice"],
)
def test_what_is_no_manifest_is_refused(data: bytes) -> None:
    with pytest.raises(BadManifest):
        read(data)
