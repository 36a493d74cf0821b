"""`mcp.json` as people and other programs write it (SPEC U33)."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from desktop.core.tool_servers import ServerEntry, ServerSandbox
from desktop.tools.mcp.config import Config, parse, read

PLACE = Path("mcp.json")


def parsed(servers: Any) -> Config:
    return parse(json.dumps({"mcpServers": servers}).encode(), PLACE)


def test_a_command_and_an_address_are_understood() -> None:
    config = parsed(
        {
            "files": {"command": "npx", "args": ["-y", "x"], "env": {"A": "1"}, "cwd": "/tmp"},
            "web": {"type": "http", "url": "https://x.test/mcp", "headers": {"X": "y"}},
            "off": {"command": "a", "disabled": True, "autoApprove": ["b"]},
        }
    )
    assert config == Config(
        (
            ServerEntry("files", command="npx", args=("-y", "x"), env={"A": "1"}, cwd="/tmp"),
            ServerEntry("web", url="https://x.test/mcp", headers={"X": "y"}),
            ServerEntry("off", command="a", is_enabled=False),
        )
    )


BAD: dict[str, Any] = {
    "a text": "npx",
    "nothing in it": {},
    "both": {"command": "a", "url": "https://x.test"},
    "args": {"command": "a", "args": "-y"},
    "args of numbers": {"command": "a", "args": [1]},
    "env": {"command": "a", "env": {"A": 1}},
    "a NUL": {"command": "a\0b"},
    "another address": {"url": "ftp://x.test"},
    "no host": {"url": "http://"},
    "no address": {"url": "http://[x"},
    "the old way": {"type": "sse", "url": "https://x.test"},
    "a command by http": {"type": "http", "command": "a"},
    "a\nname": {"command": "a"},
    "n" * 200: {"command": "a"},
}


@pytest.mark.parametrize("name", BAD, ids=[name[:20].replace("\n", " ") for name in BAD])
def test_a_bad_entry_is_named_and_the_rest_is_used(name: str) -> None:
    """SPEC U33."""
    config = parsed({name: BAD[name], "good": {"command": "b"}})
    assert [entry.name for entry in config.entries] == ["good"]
    assert len(config.problems) == 1
    assert name[:20] in config.problems[0]
    assert "is not used" in config.problems[0]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" \n",
        b'{"mcpServers": {"a": {"comm',
        b"[]",
        b"null",
        b'{"mcpServers": []}',
        b"\xff\xfe{",
        b"[" * 100_000,
        b"9" * 5_000,
    ],
    ids=["empty", "blank", "cut", "list", "null", "servers", "bytes", "deep", "number"],
)
def test_a_file_that_is_no_list_of_servers_is_named_and_nothing_stops(data: bytes) -> None:
    """SPEC U33."""
    config = parse(data, PLACE)
    assert (config.entries, config.is_read) == ((), False)
    assert len(config.problems) == 1
    assert "mcp.json" in config.problems[0]


def test_what_a_later_version_adds_is_left_alone() -> None:
    document = {"version": 9, "inputs": [], "mcpServers": {"a": {"command": "b", "new": {}}}}
    assert parse(json.dumps(document).encode(), PLACE) == Config((ServerEntry("a", command="b"),))


def test_no_file_means_no_servers(tmp_path: Path) -> None:
    assert read(tmp_path / "mcp.json") == Config()


def test_a_folder_in_its_place_is_named(tmp_path: Path) -> None:
    (tmp_path / "mcp.json").mkdir()
    assert "can't be read" in read(tmp_path / "mcp.json").problems[0]


def test_an_endless_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.touch()
    os.truncate(path, 2_000_000_000)
    assert "too large" in read(path).problems[0]


def test_what_may_be_secret_is_in_no_text_about_an_entry() -> None:
    entry = ServerEntry("a", command="b", env={"K": "hidden"}, headers={"H": "hidden"})
    assert "hidden" not in repr(entry)


@pytest.mark.parametrize(
    ("said", "wish"),
    [
        (None, ServerSandbox()),
        (False, ServerSandbox(is_wanted=False)),
        (True, ServerSandbox(is_asked_for=True)),
        ({}, ServerSandbox(is_asked_for=True)),
        ({"network": False}, ServerSandbox(is_asked_for=True, network=False)),
        ({"write": ["/srv/x", "~/y"]}, ServerSandbox(is_asked_for=True, write=("/srv/x", "~/y"))),
    ],
)
def test_an_entry_says_what_its_sandbox_is_like(said: object, wish: ServerSandbox) -> None:
    document = {"mcpServers": {"a": {"command": "b", "sandbox": said}}}
    (entry,) = parse(json.dumps(document).encode(), PLACE).entries
    assert entry.sandbox == wish


@pytest.mark.parametrize(
    "said",
    ["off", 0, [], {"network": "no"}, {"write": "/srv"}, {"write": ["here"]}, {"nett": True}],
)
def test_an_entry_that_says_something_odd_of_its_sandbox_is_named_and_not_used(
    said: object,
) -> None:
    """Never started with more freedom than was meant."""
    document = {"mcpServers": {"a": {"command": "b", "sandbox": said}}}
    config = parse(json.dumps(document).encode(), PLACE)
    assert config.entries == ()
    assert "sandbox" in config.problems[0]
