"""Which keyring is trusted: the system's own, judged by class, and no other (F-C01)."""

import subprocess
import sys
from pathlib import Path

import pytest
from keyring.backends import SecretService, chainer

from desktop.credentials import status
from desktop.credentials.status import KeyringError, Status
from desktop.credentials.system import open_system_keyring
from tests.unit.credentials.keyrings import PlainTextKeyring

PLAIN = f"{PlainTextKeyring.__module__}.{PlainTextKeyring.__qualname__}"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the Secret Service is of Linux")


@pytest.fixture(autouse=True)
def no_bus(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PYTHON_KEYRING_BACKEND", raising=False)
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    PlainTextKeyring.used.clear()


def refusal() -> Status:
    with pytest.raises(KeyringError) as caught:
        open_system_keyring("nacre")
    return caught.value.status


@pytest.mark.parametrize(
    "name",
    [
        "keyring.backends.fail.Keyring",
        "keyring.backends.null.Keyring",
        "keyring.backends.libsecret.Keyring",
        "keyrings.alt.file.PlaintextKeyring",
        "no.such.Module",
        "nonsense",
        PLAIN,
    ],
)
def test_a_backend_that_is_not_the_systems_own_is_refused_in_words(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", name)
    told = refusal()
    assert told.state == "absent"
    assert told.sentence
    assert PlainTextKeyring.used == []


def test_a_configuration_file_is_judged_like_the_variable(tmp_path: Path) -> None:
    (tmp_path / "python_keyring").mkdir()
    config = tmp_path / "python_keyring" / "keyringrc.cfg"
    config.write_text(f"[backend]\ndefault-keyring={PLAIN}\n", "utf-8")
    assert refusal().sentence == status.refused("").sentence
    assert PLAIN in refusal().detail


@pytest.mark.parametrize("text", ["\0", "[backend", "[backend]\nkeyring-path=/nowhere\n"])
def test_a_configuration_file_that_can_not_be_read_does_no_harm(tmp_path: Path, text: str) -> None:
    (tmp_path / "python_keyring").mkdir()
    (tmp_path / "python_keyring" / "keyringrc.cfg").write_text(text, "utf-8")
    try:
        open_system_keyring("nacre")
    except KeyringError as error:
        assert error.status.state == "absent"


@pytest.mark.parametrize(
    ("members", "trusted"),
    [
        ([], False),
        ([PlainTextKeyring()], False),
        ([PlainTextKeyring(), SecretService.Keyring()], False),
        ([SecretService.Keyring(), PlainTextKeyring()], True),
    ],
    ids=["none", "plain", "plain first", "system first"],
)
def test_a_chain_is_trusted_only_if_its_first_member_is(
    monkeypatch: pytest.MonkeyPatch, members: list[object], trusted: bool
) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.chainer.ChainerBackend")
    monkeypatch.setattr(chainer.ChainerBackend, "backends", members)
    if not trusted:
        assert refusal().sentence == status.refused("").sentence
        return
    # Only the first member is ever used: the state is that of the Secret Service.
    assert open_system_keyring("nacre").look().state == "absent"
    assert PlainTextKeyring.used == []


@pytest.mark.parametrize(
    "address",
    [None, "", "nonsense", "unix:path=/nowhere/at/all", "tcp:host=localhost,port=1", "unix:"],
)
def test_a_session_bus_that_is_not_there_is_a_state_and_not_a_crash(
    monkeypatch: pytest.MonkeyPatch, address: str | None
) -> None:
    """F-C01: DBUS_SESSION_BUS_ADDRESS unset, or leading nowhere."""
    if address is not None:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
    told = open_system_keyring("nacre").look()
    assert told.state in ("absent", "broken")
    assert told.sentence and told.way_out


def test_the_store_loads_the_keyring_libraries_only_when_it_is_first_used() -> None:
    program = """
import asyncio, sys
from desktop.credentials import api_key, store
heavy = {"keyring", "secretstorage", "jeepney", "cryptography", "desktop.credentials.system"}
print(sorted(heavy & set(sys.modules)))
secrets = store.SecretStore()
print(secrets.status, sorted(heavy & set(sys.modules)))
print(asyncio.run(secrets.check()).state, "keyring" in sys.modules)
secrets.close()
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("[]\nNone []\nabsent True\n", "")
