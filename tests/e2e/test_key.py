"""A key from the keyring to the wire: the real program, a real Secret Service, a real server."""

import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest

from tests import private_session
from tests.e2e.nacre import Home
from tests.fakes.messages_api import MessagesServer, fails, reply, text, tool_use

KEY = "keyring-key-0123456789"

PUT = """
import asyncio, os, sys
from desktop.credentials.api_key import choose_endpoint
from desktop.credentials.secret import Secret
from desktop.credentials.store import SecretStore

async def main():
    store = SecretStore()
    await store.put(choose_endpoint(os.environ, "").account, Secret(sys.argv[1]))
    store.close()

asyncio.run(main())
"""


@pytest.fixture
def own_keyring() -> Iterator[dict[str, str]]:
    """A keyring of this test's own: what it leaves there must not meet another test."""
    try:
        with private_session.secret_service() as environment:
            yield environment
    except private_session.NotAvailable as reason:
        pytest.skip(str(reason))


@pytest.mark.keyring
def test_k01_a_key_in_the_keyring_is_used_and_leaves_no_trace(
    home: Home, own_keyring: dict[str, str]
) -> None:
    bus = {
        name: own_keyring[name]
        for name in ("DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR")
        if name in own_keyring
    }
    with MessagesServer([reply(text("Hello."))]) as server:
        there = replace(home, base_url=server.base_url, key="", extra=bus)
        subprocess.run(
            [sys.executable, "-c", PUT, KEY],
            env={**there.environment(), "PYTHONPATH": os.pathsep.join(sys.path)},
            check=True,
            timeout=60,
        )
        found = there.run("hello")
        doctor = there.nacre("doctor", "--json")
    assert found.code == 0, found.err
    assert server.requests[-1].headers["authorization"] == f"Bearer {KEY}"
    assert '"key": "keyring"' in doctor.out
    for path in home.data.rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes(), path
    assert KEY not in found.out + found.err + doctor.out + doctor.err


def test_k01_the_environments_key_never_reaches_a_command_of_the_agent(home: Home) -> None:
    script = [
        reply(
            tool_use("shell", {"command": "env; cat /proc/self/environ"}), stop_reason="tool_use"
        ),
        reply(text("Done.")),
    ]
    with MessagesServer(script) as server:
        there = replace(home, base_url=server.base_url)
        found = there.run("look around", "--permission", "auto")
    assert found.code == 0, found.err
    results = [row["data_json"] for row in home.rows() if row["type"] == "tool_result"]
    assert len(results) == 1
    assert "PATH" in results[0]
    assert there.key not in results[0]


@pytest.mark.keyring
@pytest.mark.parametrize("source", ["keyring", "environment"])
def test_k01_after_a_whole_day_of_work_the_key_is_nowhere(
    home: Home, own_keyring: dict[str, str], source: str
) -> None:
    """Database, log files, every file of the folder, the backup and what it holds, doctor, what is
    printed, the environment of a command's child; also when the server itself says the key."""
    bus = {name: own_keyring[name] for name in ("DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR")}
    look = "env; cat /proc/self/environ; echo $ANTHROPIC_API_KEY; set"
    script = [
        reply(tool_use("shell", {"command": look}), stop_reason="tool_use"),
        reply(text("Done.")),
        fails(401, message=f"invalid x-api-key: {KEY}"),
        fails(400, html=f"<html>Authorization: Bearer {KEY}</html>"),
    ]
    with MessagesServer(script) as server:
        key = KEY if source == "environment" else ""
        there = replace(home, base_url=server.base_url, key=key, extra=bus)
        if source == "keyring":
            subprocess.run(
                [sys.executable, "-c", PUT, KEY],
                env={**there.environment(), "PYTHONPATH": os.pathsep.join(sys.path)},
                check=True,
                timeout=60,
            )
        ended = [there.run("look around", "--permission", "auto")]
        assert ended[0].code == 0, ended[0].err
        ended += [there.run("fail"), there.run("fail again")]
        assert [one.code for one in ended[1:]] == [1, 1]
        archive = home.root / "all.zip"
        ended += [
            there.nacre("backup", str(archive)),
            there.nacre("doctor", "--json"),
            there.nacre("search", "look"),
            there.nacre("show", str(there.rows("select id from tabs")[0]["id"])),
        ]
        assert {one.headers["authorization"] for one in server.requests} == {f"Bearer {KEY}"}
    for one in ended:
        assert_clean((one.out + one.err).encode(), "what was printed")
    for path in home.root.rglob("*"):
        if path.is_file():
            assert_clean(path.read_bytes(), path)
    with zipfile.ZipFile(archive) as members:
        for name in members.namelist():
            assert_clean(members.read(name), name)
    (result,) = (row["data_json"] for row in there.rows() if row["type"] == "tool_result")
    assert "PATH" in result


def assert_clean(data: bytes, where: str | Path) -> None:
    """No spelling of the key, nor a half of it."""
    for spelling in (KEY, quote(KEY, safe=""), KEY[: len(KEY) // 2], KEY[len(KEY) // 2 :]):
        assert spelling.encode() not in data, where
        assert spelling.encode("utf-16-le") not in data, where
