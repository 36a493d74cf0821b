"""The sandbox with the real program and a real keyring (PLATFORM.md §4.3.9)."""

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests import private_session
from tests.architecture.source import ROOT
from tests.e2e.nacre import Ended, Home
from tests.fakes.messages_api import MessagesServer, reply, text, tool_use
from tests.guards import home_environment
from tests.unit.tools.sandboxed import Desk, a_desk, needs_sandbox

if sys.platform != "linux":
    pytest.skip("the sandbox is of Linux", allow_module_level=True)

import secretstorage

# What a thief does: the address by heart, since the variable is not there.
THIEF = """
import secretstorage
bus = secretstorage.dbus_init()
for item in secretstorage.get_default_collection(bus).get_all_items():
    print(item.get_secret().decode())
"""


@pytest.fixture
def bus(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a session bus whose keyring holds a key, not among the temporary files."""
    try:
        private_session.require("dbus-daemon", "gnome-keyring-daemon")
    except private_session.NotAvailable as reason:
        pytest.skip(str(reason))
    with tempfile.TemporaryDirectory(prefix=".bus-", dir=ROOT, ignore_cleanup_errors=True) as name:
        environment = {**os.environ, **home_environment(Path(name))}
        for unwanted in ("DISPLAY", "WAYLAND_DISPLAY", "PYTHON_KEYRING_BACKEND"):
            environment.pop(unwanted, None)
        with private_session.session_bus(Path(name), environment) as address:
            environment["DBUS_SESSION_BUS_ADDRESS"] = address
            with private_session.keyring_daemon(environment):
                monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
                with closing(secretstorage.dbus_init()) as connection:
                    keyring = secretstorage.get_default_collection(connection)
                    keyring.create_item("nacre", {"service": "nacre"}, b"sk-STOLEN")
                yield address


@pytest.fixture
def desk() -> Iterator[Desk]:
    with a_desk("me") as made:
        yield made


@pytest.mark.keyring
@pytest.mark.parametrize("network", [False, True])
def test_u34_the_keyring_does_not_answer_a_command(bus: str, desk: Desk, *, network: bool) -> None:
    """PLATFORM §0.2: the bus is found by its file, without any variable."""
    file = bus.partition("unix:path=")[2].partition(",")[0]
    desk.extra |= {"DBUS_SESSION_BUS_ADDRESS": bus, "XDG_RUNTIME_DIR": str(Path(file).parent)}
    thief = f"{sys.executable} -c {shlex.quote(THIEF)}"
    stolen = f"{thief}; DBUS_SESSION_BUS_ADDRESS={shlex.quote(bus)} {thief}; ls {file}"
    # Without a sandbox it works, so it is not the test that is broken.
    assert "sk-STOLEN" in desk.text(stolen, bare=True)
    text = desk.text(stolen, network=network)
    assert "sk-STOLEN" not in text
    assert "No such file or directory" in text


def ran(home: Home, command: str, *arguments: str) -> Ended:
    steps = [
        reply(tool_use("shell", {"command": command}), stop_reason="tool_use"),
        reply(text("Done.")),
    ]
    with MessagesServer(steps) as server:
        return replace(home, base_url=server.base_url).run("go", *arguments)


def result_of(ended: Ended) -> str:
    seals = [one["data"] for one in ended.named("chunk-seal")]
    return next(str(one["result"]) for one in seals if "result" in one)


def bare_path(folder: Path) -> str:
    """A search path with all that a command needs and without bubblewrap."""
    tools = folder / "bin"
    tools.mkdir(exist_ok=True)
    for name in ("bash", "sh", "cat", "grep", "sleep", "echo"):
        found = Path("/bin") / name
        if found.exists():
            (tools / name).symlink_to(found)
    return str(tools)


def test_u34_a_command_reads_neither_the_database_nor_the_key(home: Home) -> None:
    needs_sandbox()
    found = ran(
        home,
        f"cat {home.database} | head -c 15; cat /proc/*/environ | grep -ac {home.key}; "
        "ls /run /tmp; echo end",
        "--permission",
        "auto",
    )
    assert found.code == 0, found.err
    assert "SQLite" not in result_of(found)
    assert home.key not in result_of(found)
    assert "end" in result_of(found)
    assert "sandbox" not in found.err


def test_without_bubblewrap_auto_runs_and_says_so_once(home: Home, tmp_path: Path) -> None:
    """DESIGN.md §8: the chosen mode is the consent."""
    bare = replace(home, extra={"PATH": bare_path(tmp_path)})
    found = ran(bare, "echo one; echo two", "--permission", "auto")
    assert found.code == 0, found.err
    assert result_of(found) == "one\ntwo\n"
    (said,) = [line for line in found.err.splitlines() if "sandbox" in line]
    assert said.startswith("nacre: Commands run without asking and without a sandbox.")
    assert "bubblewrap" in said


def test_without_bubblewrap_and_a_person_nothing_runs_in_the_mode_that_asks(
    home: Home, tmp_path: Path
) -> None:
    bare = replace(home, extra={"PATH": bare_path(tmp_path)})
    found = ran(bare, "echo x > ran", "--permission", "ask")
    assert "Not allowed" in result_of(found)
    assert not (home.workspace / "ran").exists()


def test_the_doctor_says_whether_there_is_a_sandbox(home: Home, tmp_path: Path) -> None:
    told = json.loads(home.nacre("doctor", "--json").out)["sandbox"]
    assert told["state"] in ("sandboxed", "not sandboxed")
    bare = replace(home, extra={"PATH": bare_path(tmp_path)})
    told = json.loads(bare.nacre("doctor", "--json").out)["sandbox"]
    assert told["state"] == "not sandboxed"
    assert "not installed" in told["why"]
    assert "bubblewrap" in told["wayOut"]
    assert "state: not sandboxed" in bare.nacre("doctor").out


def test_u32_a_killed_program_leaves_no_command(home: Home) -> None:
    """The same from the outside: the real program, and a command that ran away in it."""
    needs_sandbox()
    away = "setsid env -i /bin/bash -c 'exec -a nacre-e2e-runaway sleep 600' & echo up; sleep 600"
    steps = [reply(tool_use("shell", {"command": away}), stop_reason="tool_use")]
    with MessagesServer(steps) as server:
        process = replace(home, base_url=server.base_url).start(
            "run", "--json", "--workspace", str(home.workspace), "--permission", "auto", "go"
        )
        assert process.stdout is not None
        while '"up\\n"' not in process.stdout.readline():
            pass
        process.kill()
        process.communicate()
    for _ in range(100):
        found = subprocess.run(["pgrep", "-f", "^nacre-e2e-runaway"], check=False)
        if found.returncode == 1:
            return
        subprocess.run(["sleep", "0.05"], check=True)
    raise AssertionError("it is left")
