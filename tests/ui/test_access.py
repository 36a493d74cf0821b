"""A person and their key, where the keyring is missing, locked or stuck (U34, F-C01).

The whole program is real, and so is gnome-keyring; a key must never be found in a file afterwards.
"""

import os
import signal
import subprocess
import tempfile
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel, QLineEdit

from desktop.credentials import api_key
from tests import private_session
from tests.e2e.nacre import Home
from tests.fakes.messages_api import MessagesServer, reply
from tests.guards import home_environment
from tests.ui.conftest import Enter
from tests.ui.program import Person

pytestmark = pytest.mark.timeout(300)

KEY = "kept-key-Zq9xYw77"
PASSPHRASE = "four words and a dot"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """An empty home without a key; at the end no file of it may hold one, or the passphrase."""
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    home = Home(tmp_path)
    yield home
    for path in home.root.rglob("*"):
        if path.is_file():
            for secret in (KEY, PASSPHRASE):
                assert secret.encode() not in path.read_bytes(), path


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[MessagesServer]:
    """The provider, on loopback for once: a key is asked for at the provider only."""
    with MessagesServer([reply("First."), reply("Second."), reply("Third.")]) as server:
        monkeypatch.setattr(api_key, "PROVIDER_URL", server.base_url)
        yield server


def type_passphrase(person: Person, *words: str) -> None:
    """Into the dialog's fields, and Enter."""
    person.wait(lambda: person.shows("passphraseDialog"))
    for name, text in zip(("passphrase", "passphraseAgain"), words, strict=False):
        person.type_into(name, text)
    person.click("passphraseGo")


def keep_in_file(person: Person) -> None:
    """From the first page into a new encrypted file."""
    person.wait(lambda: person.shows("welcomePage") and person.shows("fileKey"))
    person.type_into("keyField", KEY)
    person.click("fileKey")
    type_passphrase(person, PASSPHRASE, PASSPHRASE)
    person.wait(lambda: person.shows("newPage"))


def line(person: Person) -> str:
    """What stands over the message field about a missing key."""
    return "".join(one.text() for one in person.parts(QLabel, "keyLineText"))


def settings(person: Person) -> None:
    person.do("settings")
    person.wait(lambda: person.shows("accessPage"))


def ask(person: Person, answer: str) -> None:
    person.begin("hello")
    person.wait(lambda: person.reads(answer) and person.idle())


class TestEncryptedFile:
    def test_a_key_in_the_encrypted_file_is_there_after_a_restart_for_its_passphrase(
        self, home: Home, enter: Enter, server: MessagesServer
    ) -> None:
        """SPEC U34, K01, F-C01: no keyring; on explicit choice only, and named plainly."""
        person = enter()
        person.wait(lambda: person.shows("welcomePage"))
        person.wait(lambda: "does not keep secrets safe" in person.labels())
        assert not person.part_enabled("saveKey"), "there is no keyring to keep it in"
        person.type_into("keyField", KEY)
        person.click("fileKey")
        person.wait(lambda: "Nobody can recover a forgotten passphrase" in person.labels())
        type_passphrase(person, PASSPHRASE, "another one")
        person.wait(lambda: "not the same" in person.labels())
        type_passphrase(person, "short", "short")
        person.wait(lambda: "shorter than 8 characters" in person.labels())
        assert not (home.data / "keys.encrypted").exists()
        type_passphrase(person, PASSPHRASE, PASSPHRASE)
        person.wait(lambda: person.shows("newPage"))
        assert line(person) == ""
        ask(person, "First.")
        assert person.leave() == 0

        again = enter()
        again.wait(lambda: again.reads("First."))
        again.wait(lambda: line(again) == "Your keys are locked.")
        again.write("and now?")
        assert not again.part_enabled("sendButton")
        again.click("keyLineButton")
        type_passphrase(again, "not this one")
        again.wait(lambda: "does not open" in again.labels())
        type_passphrase(again, PASSPHRASE)
        again.wait(lambda: again.part_enabled("sendButton"))
        assert line(again) == ""
        again.click("sendButton")
        again.wait(lambda: again.reads("Second.") and again.idle())
        settings(again)
        again.wait(lambda: "The key comes from your encrypted file." in again.labels())
        again.click("forgetKey")
        again.wait(lambda: "No key is set." in again.labels())
        assert again.leave() == 0
        assert not (home.data / "keys.encrypted").exists()
        assert {one.headers["authorization"] for one in server.requests} == {f"Bearer {KEY}"}

    def test_a_forgotten_passphrase_has_a_way_out(
        self, home: Home, enter: Enter, server: MessagesServer
    ) -> None:
        person = enter()
        keep_in_file(person)
        assert person.leave() == 0

        again = enter()
        again.wait(lambda: line(again) == "Your keys are locked.")
        settings(again)
        again.click("removeFile")
        again.answer_box("Keep it")
        assert (home.data / "keys.encrypted").exists()
        again.click("removeFile")
        again.answer_box("Remove the file")
        again.wait(lambda: "The encrypted file is gone." in again.labels())
        again.type_into("settingsKey", KEY)
        again.click("useForThisRun")
        again.wait(lambda: "The key is kept for this run only." in again.labels())
        assert again.part(QLineEdit, "settingsKey").text() == ""
        again.close_dialog("settingsDialog")
        ask(again, "First.")
        assert again.leave() == 0
        assert not (home.data / "keys.encrypted").exists()

    def test_a_damaged_file_is_named_and_left_alone_and_the_program_usable(
        self, home: Home, enter: Enter, server: MessagesServer
    ) -> None:
        person = enter()
        keep_in_file(person)
        assert person.leave() == 0
        path = home.data / "keys.encrypted"
        damaged = path.read_bytes()[:-40]
        path.write_bytes(damaged)

        again = enter()
        again.wait(lambda: again.shows("welcomePage"))
        settings(again)
        again.wait(lambda: "is damaged" in again.labels() and str(path) in again.labels())
        again.type_into("settingsKey", KEY)
        again.click("useForThisRun")
        again.wait(lambda: "The key is kept for this run only." in again.labels())
        again.close_dialog("settingsDialog")
        ask(again, "First.")
        assert again.leave() == 0
        assert path.read_bytes() == damaged

    def test_giving_the_passphrase_up_loses_nothing(
        self, home: Home, enter: Enter, server: MessagesServer
    ) -> None:
        """F-C01: the typed key is not lost."""
        person = enter()
        person.wait(lambda: person.shows("welcomePage") and person.shows("fileKey"))
        person.type_into("keyField", KEY)
        person.click("fileKey")
        person.wait(lambda: person.shows("passphraseDialog"))
        person.close_dialog("passphraseDialog")
        assert person.part(QLineEdit, "keyField").text() == KEY
        person.click("sessionKey")
        person.wait(lambda: person.shows("newPage"))
        assert server.log and len(server.log) == 1
        assert person.leave() == 0


class TestEnvironment:
    def test_a_variable_is_named_as_the_source_and_comes_before_a_kept_key(
        self, home: Home, enter: Enter, server: MessagesServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """F-C01: ANTHROPIC_API_KEY is set as well."""
        monkeypatch.setenv("ANTHROPIC_API_KEY", "from-the-environment-1")
        person = enter()
        settings(person)
        person.wait(lambda: "environment variable ANTHROPIC_API_KEY" in person.labels())
        person.wait(lambda: "does not keep secrets safe" in person.labels())
        person.type_into("settingsKey", KEY)
        person.click("keepInFile")
        type_passphrase(person, PASSPHRASE, PASSPHRASE)
        person.wait(lambda: "kept in the encrypted file" in person.labels())
        assert "environment variable ANTHROPIC_API_KEY" in person.labels()
        person.close_dialog("settingsDialog")
        ask(person, "First.")
        assert person.leave() == 0
        assert server.requests[-1].headers["authorization"] == "Bearer from-the-environment-1"


# -- a real keyring ---------------------------------------------------------------------------


@pytest.fixture
def bus(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """A session bus of this test's own, for this process too; no keyring on it yet."""
    secretstorage = pytest.importorskip("secretstorage")
    del secretstorage
    try:
        private_session.require("dbus-daemon", "gnome-keyring-daemon")
    except private_session.NotAvailable as reason:
        pytest.skip(str(reason))
    with tempfile.TemporaryDirectory(prefix="nacre-bus-", ignore_cleanup_errors=True) as name:
        for key, value in home_environment(Path(name)).items():
            monkeypatch.setenv(key, value)
        for key in ("PYTHON_KEYRING_BACKEND", "DISPLAY", "WAYLAND_DISPLAY"):
            monkeypatch.delenv(key, raising=False)
        with private_session.session_bus(Path(name), dict(os.environ)) as address:
            monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
            yield dict(os.environ)


@contextmanager
def kept_in_keyring(bus: dict[str, str], enter: Enter) -> Generator["subprocess.Popen[bytes]"]:
    """A keyring with the key in it, put there by the program itself."""
    with private_session.keyring_daemon(bus) as daemon:
        person = enter()
        person.wait(lambda: person.shows("welcomePage"))
        person.type_into("keyField", KEY)
        person.click("saveKey")
        person.wait(lambda: person.shows("newPage"))
        assert person.leave() == 0
        yield daemon


def lock_keyring() -> None:
    import secretstorage

    with closing(secretstorage.dbus_init()) as connection:
        secretstorage.get_default_collection(connection).lock()


@pytest.mark.keyring
class TestKeyring:
    def test_a_locked_keyring_that_is_not_unlocked_is_told_and_can_be_tried_again(
        self, home: Home, enter: Enter, server: MessagesServer, bus: dict[str, str]
    ) -> None:
        """SPEC U34: locked, denied (there is no display for the window), unlocked elsewhere."""
        with kept_in_keyring(bus, enter):
            lock_keyring()
            person = enter()
            person.wait(lambda: person.shows("welcomePage"))
            person.wait(lambda: "The system keyring is locked." in person.labels())
            person.click("unlockKeyring")
            person.wait(lambda: "Waiting for your keyring" not in person.labels())
            assert "The system keyring is locked." in person.labels()
            settings(person)
            person.wait(lambda: "No key can be read while" in person.labels())
            assert not person.part_enabled("keepInKeyring")
            private_session.unlock(bus["DBUS_SESSION_BUS_ADDRESS"])
            person.click("tryAgain")
            person.wait(lambda: "The key comes from the system's keyring." in person.labels())
            person.close_dialog("settingsDialog")
            person.wait(lambda: person.shows("newPage"))
            ask(person, "First.")
            assert person.leave() == 0

    @pytest.mark.leaves_threads(reason="the call that a stopped daemon never answers")
    def test_a_keyring_that_does_not_answer_holds_up_nothing_but_the_key(
        self, home: Home, enter: Enter, server: MessagesServer, bus: dict[str, str]
    ) -> None:
        """SPEC U34: stuck, told in a sentence, and used again once it answers."""
        with kept_in_keyring(bus, enter) as daemon:
            daemon.send_signal(signal.SIGSTOP)
            person = enter()  # returns once the window can be worked with
            person.write("while it is silent")
            person.wait(lambda: line(person) == "Looking for your key…")
            person.wait(lambda: line(person) == "The system keyring does not answer.")
            assert person.composer.toPlainText() == "while it is silent"
            person.click("keyLineButton")
            person.wait(lambda: person.shows("accessPage"))
            assert "Look for a window that asks for your password" in person.labels()
            daemon.send_signal(signal.SIGCONT)
            person.click("tryAgain")
            person.wait(lambda: "The key comes from the system's keyring." in person.labels())
            person.close_dialog("settingsDialog")
            assert line(person) == ""
            person.click("sendButton")
            person.wait(lambda: person.reads("First.") and person.idle())
            assert person.leave() == 0

    @pytest.mark.leaves_threads(reason="the call that a stopped daemon never answers")
    def test_waiting_for_the_keyring_can_be_given_up(
        self, home: Home, enter: Enter, server: MessagesServer, bus: dict[str, str]
    ) -> None:
        with kept_in_keyring(bus, enter) as daemon:
            lock_keyring()
            person = enter()
            person.wait(lambda: "The system keyring is locked." in person.labels())
            daemon.send_signal(signal.SIGSTOP)
            person.click("unlockKeyring")
            person.wait(lambda: "Waiting for your keyring…" in person.labels())
            person.click("unlockKeyring")  # it is the Cancel now
            person.wait(lambda: "Waiting for your keyring…" not in person.labels())
            person.type_into("keyField", KEY)
            person.click("sessionKey")
            person.wait(lambda: person.shows("newPage"))
            ask(person, "First.")
            daemon.send_signal(signal.SIGCONT)
            assert person.leave() == 0

    def test_a_key_moves_from_the_file_into_a_keyring_that_appeared(
        self, home: Home, enter: Enter, server: MessagesServer, bus: dict[str, str]
    ) -> None:
        """SPEC U34: written, read back, and only then gone from the file."""
        person = enter()
        keep_in_file(person)
        with private_session.keyring_daemon(bus):
            settings(person)
            person.click("tryAgain")
            person.click("moveToKeyring")
            person.wait(lambda: "The key comes from the system's keyring." in person.labels())
            assert not (home.data / "keys.encrypted").exists()
            assert person.leave() == 0
            again = enter()
            again.wait(lambda: again.shows("newPage") and line(again) == "")
            ask(again, "First.")
            assert again.leave() == 0
