"""What keeps a test away from the real world, and what finds the things a test leaves behind.

The home, the keyring, the display and the credentials of whoever runs the suite are out of reach;
the network ends at loopback. A thread, a process or an asyncio error that outlives its test fails
that test, not the next one.
"""

import ipaddress
import logging
import os
import socket
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import psutil

PROXIES = {"http_proxy", "https_proxy", "all_proxy", "ftp_proxy", "no_proxy"}
OWN_SESSION = {"DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK", "XDG_SESSION_ID"}
DISPLAYS = {"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"}
REPOSITORY = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"}
# A server for the tests that want a real model, looked up before the environment is emptied.
LOCAL_MODEL_SERVER = os.environ.get("NACRE_LOCAL_MODEL_SERVER", "")
PATIENCE = 2.0  # seconds for a thread or a process that is just ending


def isolate_environment(home: Path) -> None:
    """Point this process, and every child of it, at an empty home, and take the real one away."""
    for name in list(os.environ):
        if (
            name.startswith(("ANTHROPIC_", "NACRE_"))
            or name.lower() in PROXIES
            or name in OWN_SESSION | REPOSITORY
        ):
            del os.environ[name]
    if "QT_QPA_PLATFORM" not in os.environ:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
        for name in DISPLAYS:
            os.environ.pop(name, None)
    os.environ.update(home_environment(home))
    # A backend that refuses: a test that wants a keyring asks for the `secret_service` fixture.
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"


def home_environment(home: Path) -> dict[str, str]:
    """The variables of an empty home, its folders made; the runtime folder is private (0700)."""
    folders = {
        "HOME": home,
        "USERPROFILE": home,
        "APPDATA": home / "AppData" / "Roaming",
        "LOCALAPPDATA": home / "AppData" / "Local",
        "XDG_CONFIG_HOME": home / ".config",
        "XDG_DATA_HOME": home / ".local" / "share",
        "XDG_STATE_HOME": home / ".local" / "state",
        "XDG_CACHE_HOME": home / ".cache",
        "XDG_RUNTIME_DIR": home / "run",
    }
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    folders["XDG_RUNTIME_DIR"].chmod(0o700)
    return {name: str(folder) for name, folder in folders.items()}


class NetworkGuard:
    """Refuses every connection that leaves this machine, and remembers the attempt.

    Product code may catch what is raised here, so the test that tried fails at its end too. Names
    under `.invalid` answer "no such host" without asking anyone: that is how a test has no network.
    """

    def __init__(self) -> None:
        self.attempts: list[str] = []

    def install(self) -> None:
        """For the life of this process: an audit hook can't be taken out again."""
        sys.addaudithook(self._audit)

    def take(self) -> list[str]:
        """The attempts since the last call."""
        taken, self.attempts = self.attempts, []
        return taken

    def _audit(self, event: str, arguments: tuple[object, ...]) -> None:
        if event in {"socket.connect", "socket.sendto", "socket.sendmsg"}:
            address = arguments[1]
            # Unix sockets have text or bytes here, netlink has numbers.
            if isinstance(address, tuple) and isinstance(address[0], str):
                self._judge(address[0])
        elif event in {"socket.getaddrinfo", "socket.gethostbyname"}:
            host = arguments[0]
            self._judge(host.decode() if isinstance(host, bytes) else host)

    def _judge(self, host: object) -> None:
        if not isinstance(host, str) or is_loopback(host):
            return
        if host.endswith(".invalid"):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        self.attempts.append(host)
        raise RuntimeError(f"a test tried to reach {host}")


def is_loopback(host: str) -> bool:
    """Whether a host is this machine; the empty name is 'any address', for listening."""
    if host in {"", "localhost"} or host == socket.gethostname():
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


@contextmanager
def no_stray_threads() -> Generator[None]:
    """Fail when a thread that was started inside is alive at the end."""
    before = set(threading.enumerate())
    yield
    deadline = time.monotonic() + PATIENCE
    left: list[str] = []
    for thread in set(threading.enumerate()) - before:
        # Threads of Qt that once called Python stay listed for ever; the time-out has its own.
        if thread.name.startswith(("Dummy-", "pytest_timeout")):
            continue
        thread.join(max(0.0, deadline - time.monotonic()))
        if thread.is_alive():
            left.append(thread.name)
    if left:
        raise AssertionError(f"the test left threads running: {', '.join(sorted(left))}")


@contextmanager
def no_stray_processes() -> Generator[None]:
    """Fail when a process that was started inside is alive at the end, and end it."""
    before = {child.pid for child in _children()}
    yield
    # Only the leftovers cost a second look.
    started = [child for child in _children() if child.pid not in before]
    if not started:
        return
    _, alive = psutil.wait_procs(started, timeout=PATIENCE)
    names: list[str] = []
    for process in alive:
        try:
            if process.status() != psutil.STATUS_ZOMBIE:
                names.append(f"{process.name()} ({process.pid})")
                process.kill()
        except psutil.NoSuchProcess:
            continue
    if names:
        raise AssertionError(f"the test left processes running: {', '.join(sorted(names))}")


def _children() -> list[psutil.Process]:
    """This process's children and theirs. Most tests have none, and the kernel says so at once;
    psutil reads through all processes of the machine."""
    if sys.platform != "win32":
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return []
    return psutil.Process().children(recursive=True)


class LoopErrors(logging.Handler):
    """Collects what asyncio only logs: exceptions nobody fetched, tasks destroyed while pending."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(f"{record.name}: {self.format(record)}")


@contextmanager
def no_loop_errors() -> Generator[None]:
    """Fail when asyncio or qasync logs an error inside."""
    errors = LoopErrors()
    loggers = [logging.getLogger(name) for name in ("asyncio", "qasync")]
    for logger in loggers:
        logger.addHandler(errors)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(errors)
    if errors.texts:
        raise AssertionError("the event loop logged errors:\n" + "\n".join(errors.texts))
