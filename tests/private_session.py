"""The services of a desktop session, each private to the tests: a bus, a keyring, an X server.

None of them is shared with whoever runs the suite, none listens beyond this machine, and each is
gone when its `with` block ends.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from jeepney import DBusAddress, new_method_call
from jeepney.io.blocking import open_dbus_connection
from secretstorage import Collection, ItemNotFoundException, SecretServiceNotAvailableException
from secretstorage.util import format_secret, open_session

from tests.guards import home_environment

START_TIMEOUT = 20.0  # seconds
BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path={socket}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""
KEYRING_PASSWORD = b"tests"


class NotAvailable(Exception):
    """A program that the service needs is not on this machine; the text names it."""


@contextmanager
def secret_service() -> Generator[dict[str, str]]:
    """A session bus with an unlocked gnome-keyring on it; yields the environment to reach both.

    There is no DISPLAY in it, so a prompt fails at once instead of waiting for nobody. The
    environment is whole: hand it to a process as it is.
    """
    require("dbus-daemon", "gnome-keyring-daemon")
    # Socket paths are limited to about 100 bytes, hence not pytest's long folders.
    with tempfile.TemporaryDirectory(prefix="nacre-bus-", ignore_cleanup_errors=True) as folder:
        environment = {**os.environ, **home_environment(Path(folder))}
        for name in ("DISPLAY", "WAYLAND_DISPLAY", "PYTHON_KEYRING_BACKEND"):
            environment.pop(name, None)
        with session_bus(Path(folder), environment) as address:
            environment["DBUS_SESSION_BUS_ADDRESS"] = address
            with keyring_daemon(environment):
                yield environment


@contextmanager
def session_bus(folder: Path, environment: dict[str, str]) -> Generator[str]:
    """A D-Bus daemon of its own that starts no service by itself; its address.

    A bus that activates services would start a second, locked keyring for the first question that
    comes before ours is there.
    """
    config = folder / "bus.conf"
    config.write_text(BUS.format(socket=folder / "run" / "bus"), "utf-8")
    command = ["dbus-daemon", f"--config-file={config}", "--nofork", "--nopidfile"]
    command.append("--print-address")
    with running(command, environment, stdout=subprocess.PIPE) as daemon:
        assert daemon.stdout is not None
        address = daemon.stdout.readline().decode().strip()
        if not address:
            raise RuntimeError("dbus-daemon did not start")
        yield address


@contextmanager
def keyring_daemon(environment: dict[str, str]) -> Generator["subprocess.Popen[bytes]"]:
    """An unlocked gnome-keyring on the environment's bus; a test may stop or kill it."""
    command = ["gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets"]
    with running(command, environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as daemon:
        assert daemon.stdin is not None
        daemon.stdin.write(KEYRING_PASSWORD)
        daemon.stdin.close()
        wait_until_unlocked(environment["DBUS_SESSION_BUS_ADDRESS"])
        try:
            yield daemon
        finally:
            if daemon.poll() is None:
                daemon.send_signal(signal.SIGCONT)


def unlock(address: str) -> None:
    """Unlocks the bus's keyring as its own window does, without the window."""
    keyring = DBusAddress(
        "/org/freedesktop/secrets",
        "org.freedesktop.secrets",
        "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface",
    )
    with open_dbus_connection(bus=address) as connection:
        session = open_session(connection)
        password = format_secret(session, KEYRING_PASSWORD, "text/plain")
        path = Collection(connection).collection_path
        connection.send_and_get_reply(
            new_method_call(keyring, "UnlockWithMasterPassword", "o(oayays)", (path, password))
        )
    wait_until_unlocked(address)


def wait_until_unlocked(address: str) -> None:
    """Return once the service answers with an unlocked default collection."""
    deadline = time.monotonic() + START_TIMEOUT
    while True:
        try:
            with open_dbus_connection(bus=address) as connection:
                # Asking for the default collection in the usual way would make one, and prompt.
                if not Collection(connection).is_locked():
                    return
        except (SecretServiceNotAvailableException, ItemNotFoundException):
            pass
        if time.monotonic() > deadline:
            raise RuntimeError("the keyring daemon did not unlock")
        time.sleep(0.05)


@contextmanager
def x_server() -> Generator[str]:
    """An X server without a screen, on a display nobody uses; yields the display's name."""
    require("Xvfb")
    reading, writing = os.pipe()
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1400x1000x24"]
    command += ["-nolisten", "tcp", "-noreset"]
    try:
        with running(command, dict(os.environ), pass_fds=(writing,)):
            os.close(writing)
            writing = -1
            with os.fdopen(reading) as numbers:
                number = numbers.readline().strip()
            if not number:
                raise RuntimeError("Xvfb did not start")
            yield f":{number}"
    finally:
        if writing != -1:
            os.close(writing)


@contextmanager
def running(
    command: list[str],
    environment: dict[str, str],
    *,
    stdin: int = subprocess.DEVNULL,
    stdout: int = subprocess.DEVNULL,
    pass_fds: tuple[int, ...] = (),
) -> Generator[subprocess.Popen[bytes]]:
    """A process that is ended, by force if need be, when the block ends."""
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.DEVNULL,
        pass_fds=pass_fds,
    )
    with process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()


def require(*programs: str) -> None:
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        raise NotAvailable(f"not on this machine: {', '.join(missing)}")
