"""A legacy database and a real keyring: killed at every point, then started again; the command."""

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests import private_session
from tests.data import make_legacy_database as legacy
from tests.e2e.nacre import Home
from tests.effort import one_in
from tests.fakes.messages_api import MessagesServer, reply, text

if sys.platform != "linux":
    pytest.skip("the Secret Service is of Linux", allow_module_level=True)

ROOT = Path(__file__).parents[2]


@pytest.fixture
def own_keyring() -> Iterator[dict[str, str]]:
    """A keyring of this test's own: what it leaves there must not meet another test."""
    try:
        with private_session.secret_service() as environment:
            yield environment
    except private_session.NotAvailable as reason:
        pytest.skip(str(reason))


def _decoded(value: str) -> set[str]:
    """A keyring's entry as the bytes that it may stand for, in hex."""
    found = {value}
    try:
        found.add(base64.b64decode(bytes.fromhex(value), validate=True).hex())
    except ValueError:
        pass
    return found


@pytest.mark.keyring
@pytest.mark.timeout(900)
def test_k01_a_kill_at_any_point_leaves_each_secret_somewhere_and_finally_none_in_a_file(
    tmp_path: Path,
) -> None:
    """PLATFORM §3.3, K01, C01, R15: SIGKILL at each named point against a real gnome-keyring."""
    from tests.e2e.killed_starts import CANARY, POINTS, fingerprint

    try:
        private_session.require("dbus-daemon", "gnome-keyring-daemon")
    except private_session.NotAvailable as reason:
        pytest.skip(str(reason))

    step = one_in(2)
    done = subprocess.run(
        [sys.executable, "-m", "tests.e2e.killed_starts", str(tmp_path), str(step)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["point"] for one in reports] == list(POINTS)[::step]
    wanted = {value.hex() for value in legacy.SECRETS}
    found = legacy.rows(tmp_path / "original" / "nacre.db")
    original = fingerprint(legacy.without_secrets(found))
    for report in reports:
        point, killed, end = report["point"], report["after the kill"], report["in the end"]
        assert report["killed"], point
        assert killed["sound"], point
        assert not killed["half migrated"], point
        assert killed["rows"] == original, point
        in_keyring = set[str]().union(*map(_decoded, killed["in keyring"].values()), set())
        assert set(killed["in rows"]) | in_keyring >= wanted, point

        assert report["second start"] == 0, point
        assert end["sound"], point
        assert end["rows"] == original, point
        assert end["in rows"] == [], point
        assert end["in files"] == [], point
        assert end["unfinished"] == [], point
        assert end["journal"] == [], point
        assert not set(end["host"]) & set(legacy.JOURNAL_FILES), point
        in_keyring = set[str]().union(*map(_decoded, end["in keyring"].values()))
        assert in_keyring >= wanted, point
        assert not [one for one in end["in keyring"] if one.startswith(CANARY)], point
        assert len(end["in keyring"]) == len(wanted), point


@pytest.mark.keyring
def test_k01_a_legacy_key_is_in_force_from_the_first_start_with_a_keyring(
    home: Home, own_keyring: dict[str, str]
) -> None:
    """Without a keyring the command says so and goes on; with one the key is there, in no file."""
    home.data.mkdir()
    legacy.make(home.data, messages=20, huge=0)
    alone = replace(home, key="").nacre("doctor", "--json")
    assert json.loads(alone.out)["log"]["legacy"]["secretsInDatabase"] == len(legacy.SECRETS)
    assert f"{len(legacy.SECRETS)} keys of an older database" in alone.err
    assert str(home.database) in alone.err
    assert "canary" not in alone.out + alone.err
    bus = {
        name: own_keyring[name]
        for name in ("DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR")
        if name in own_keyring
    }
    there = replace(home, key="", extra=bus)
    doctor = there.nacre("doctor", "--json")
    assert json.loads(doctor.out)["key"] == "keyring"
    assert json.loads(doctor.out)["log"]["legacy"]["secretsInDatabase"] == 0
    assert doctor.err == ""
    for path in home.data.rglob("*"):
        assert path.is_dir() or legacy.CANARY not in path.read_bytes(), path
    with MessagesServer([reply(text("Hello."))]) as server:
        # A key of the provider is for the provider, not for whatever server is asked instead.
        replace(there, base_url=server.base_url).run("hello")
    assert server.requests
    assert "canary" not in repr([one.headers for one in server.requests])
