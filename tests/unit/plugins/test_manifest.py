"""What a plugin says of itself is read exactly, or it is not used."""

import json
from pathlib import Path
from typing import Any

import pytest

from desktop.plugins.folders import read_named
from desktop.plugins.manifest import MOST_BYTES, READ_MESSAGES, BadManifest, Manifest, manifest_of

GOOD: dict[str, Any] = {
    "id": "plain",
    "name": "Plain",
    "version": "1.2",
    "minimum_host": "0.9",
    "command": ["{python}", "main.py"],
    "capabilities": [READ_MESSAGES],
}


def toml(found: dict[str, Any]) -> bytes:
    """What JSON says of texts and lists of texts, TOML says too."""
    return "\n".join(f"{key} = {json.dumps(value)}" for key, value in found.items()).encode()


def read(found: dict[str, Any] | bytes) -> Manifest:
    data = found if isinstance(found, bytes) else toml(found)
    return manifest_of(data, host_version="0.10.1")


def test_a_manifest_is_read_as_it_stands() -> None:
    command, may = ("{python}", "main.py"), frozenset({READ_MESSAGES})
    assert read(GOOD) == Manifest("plain", "Plain", "1.2", "0.9", command, may)


@pytest.mark.parametrize(
    "change",
    [
        {"id": "Plain"},
        {"id": "../plain"},
        {"name": ""},
        {"name": "two\nlines"},
        {"name": "turned \u202e around"},
        {"name": "x" * 61},
        {"version": "1.x"},
        {"version": 1},
        {"version": "\u0661"},
        {"minimum_host": "0.11"},
        {"command": "main.py"},
        {"command": []},
        {"command": ["a", 1]},
        {"command": ["a\0b"]},
        {"command": ["{python}"]},
        {"command": ["{python}", "-c", "print(1)"]},
        {"command": ["{python}", "/main.py"]},
        {"command": ["{python}", "../main.py"]},
        {"command": ["{python}", "C:main.py"]},
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
        b"id = " + b"[" * 60_000,
        toml(GOOD) + b"#" * MOST_BYTES,
        toml(GOOD) + b'\nid = "plain"',
        json.dumps(GOOD).encode(),
    ],
    ids=["nothing", "a table", "no text", "deep", "large", "a key twice", "JSON"],
)
def test_what_is_no_manifest_is_refused_in_words(data: bytes) -> None:
    with pytest.raises(BadManifest, match=r"in its plugin\.toml, "):
        read(data)


def test_the_id_of_a_plugin_is_the_one_it_is_kept_under(tmp_path: Path) -> None:
    (tmp_path / "plugin.toml").write_bytes(toml(GOOD))
    assert read_named(tmp_path, "plain", host_version="1").id == "plain"
    with pytest.raises(BadManifest):
        read_named(tmp_path, "other", host_version="1")
