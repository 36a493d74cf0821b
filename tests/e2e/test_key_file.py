"""`nacre` with keys in an encrypted file: its passphrase is typed at a terminal only."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from desktop.credentials.key_file import KeyFile
from desktop.credentials.secret import Secret
from tests.e2e.nacre import SECONDS, Home
from tests.fakes.messages_api import MessagesServer, reply

KEY = "kept-key-Zq9xYw77"
PASSPHRASE = "four words and a dot"
PROMPT = "Passphrase of your encrypted keys: "
QUICK = 2**10


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with MessagesServer([reply("Here."), reply("Again.")]) as server:
        yield server


def with_file(home: Home, host: str) -> Home:
    """The home without a key in the environment, and with one for `host` in the file."""
    home.data.mkdir(mode=0o700)
    key_file = KeyFile(home.data / "keys.encrypted", cost=QUICK)
    key_file.open(Secret(PASSPHRASE))
    key_file.set(f"anthropic@{host}", KEY)
    return replace(home, key="", extra={"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"})


def test_without_a_terminal_nothing_is_asked_and_the_exit_code_says_so(home: Home) -> None:
    """SPEC U34, DESIGN 8: exit 3 and a sentence; no variable could hold the passphrase."""
    there = with_file(home, "api.anthropic.com")
    found = there.run("hello")
    assert found.code == 3
    assert "its passphrase can only be typed at a terminal" in found.err
    assert "ANTHROPIC_API_KEY" in found.err
    assert found.out == ""
    piped = there.nacre("run", "--workspace", str(there.workspace), "-", text=PASSPHRASE)
    assert piped.code == 3
    assert there.rows("select * from tabs") == []


def test_the_environments_key_goes_without_the_file(home: Home, server: MessagesServer) -> None:
    """F-C01: a key in the environment as well."""
    there = replace(with_file(home, "api.anthropic.com"), key="from-the-environment-1")
    there = replace(there, base_url=server.base_url)
    found = there.run("hello")
    assert found.code == 0, found.err
    assert server.requests[-1].headers["authorization"] == "Bearer from-the-environment-1"


def test_doctor_tells_the_state_of_the_file_and_asks_nothing(home: Home) -> None:
    there = with_file(home, "api.anthropic.com")
    report = there.nacre("doctor", "--json").out
    assert '"key": "none"' in report
    assert '"keyFile": "locked"' in report
    assert KEY not in report and PASSPHRASE not in report


@pytest.mark.skipif(sys.platform != "linux", reason="needs setsid --ctty")
class TestTerminal:
    def test_the_passphrase_is_asked_once_and_not_shown(
        self, home: Home, server: MessagesServer
    ) -> None:
        there = replace(with_file(home, urlsplit(server.base_url).netloc), base_url=server.base_url)
        code, screen = at_terminal(there, "not this one", PASSPHRASE)
        assert code == 0, screen
        assert screen.count(PROMPT) == 2
        assert "does not open the encrypted file" in screen
        assert PASSPHRASE not in screen and "not this one" not in screen
        assert server.requests[-1].headers["authorization"] == f"Bearer {KEY}"

    def test_three_wrong_ones_are_enough(self, home: Home) -> None:
        there = with_file(home, "api.anthropic.com")
        code, screen = at_terminal(there, "wrong one", "wrong two", "wrong three")
        assert code == 3, screen
        assert screen.count(PROMPT) == 3
        assert "which is locked" in screen

    def test_ctrl_c_gives_it_up(self, home: Home) -> None:
        code, screen = at_terminal(with_file(home, "api.anthropic.com"), "\x03")
        assert code == 3, screen
        assert "Traceback" not in screen


def at_terminal(home: Home, *answers: str) -> tuple[int, str]:
    """`nacre run` at a terminal of its own, each prompt answered; its exit code and its screen."""
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "desktop", "--data-dir", str(home.data)]
    command += ["run", "--json", "--workspace", str(home.workspace), "hello"]
    with subprocess.Popen(
        ["setsid", "--ctty", "--wait", *command],
        env=home.environment(),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=Path(__file__).parents[2],
    ) as process:
        os.close(theirs)
        screen = ""
        try:
            for number, answer in enumerate(answers, 1):
                while screen.count(PROMPT) < number:
                    more = read(ours)
                    assert more, screen
                    screen += more
                os.write(ours, f"{answer}\n".encode() if answer.isprintable() else answer.encode())
            while more := read(ours):
                screen += more
            return process.wait(SECONDS), screen
        finally:
            os.close(ours)


def read(terminal: int) -> str:
    """What comes next, '' at the end."""
    try:
        return os.read(terminal, 4096).decode("utf-8", "replace")
    except OSError:  # the other side is gone
        return ""
