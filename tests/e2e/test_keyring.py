"""Keys in a real Secret Service on a private session bus: kept, locked, stuck, gone, back again."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import pytest

from desktop.credentials.secret import Secret
from desktop.credentials.status import KeyringError
from desktop.credentials.store import SecretStore
from tests import private_session
from tests.guards import home_environment

if sys.platform != "linux":
    pytest.skip("the Secret Service is of Linux", allow_module_level=True)

import secretstorage

pytestmark = pytest.mark.keyring

KEY = "key-Zq9xYw77aaBB"
ACCOUNT = "anthropic@api.anthropic.com"

Daemon = AbstractContextManager["subprocess.Popen[bytes]"]


@pytest.fixture
def bare_bus(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A session bus without any service, and the folder of its empty home; for this process too."""
    try:
        private_session.require("dbus-daemon", "gnome-keyring-daemon")
    except private_session.NotAvailable as reason:
        pytest.skip(str(reason))
    with tempfile.TemporaryDirectory(prefix="nacre-bus-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        for key, value in home_environment(folder).items():
            monkeypatch.setenv(key, value)
        monkeypatch.delenv("PYTHON_KEYRING_BACKEND", raising=False)
        monkeypatch.delenv("DISPLAY", raising=False)
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
        with private_session.session_bus(folder, dict(os.environ)) as address:
            monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
            yield folder


@pytest.fixture
def start_daemon(bare_bus: Path) -> Callable[[], Daemon]:
    """Starts an unlocked gnome-keyring on the bus of this process's environment."""
    return lambda: private_session.keyring_daemon(dict(os.environ))


@pytest.fixture
def store() -> Iterator[SecretStore]:
    store = SecretStore()
    yield store
    store.close()


@contextmanager
def default_collection() -> Generator[secretstorage.Collection]:
    with closing(secretstorage.dbus_init()) as connection:
        yield secretstorage.get_default_collection(connection)


async def state_of(call: object) -> str:
    """The state with which a call fails."""
    with pytest.raises(KeyringError) as caught:
        await call  # pyright: ignore[reportGeneralTypeIssues]
    assert "Zq9" not in f"{caught.value} {caught.value.detail}"
    return caught.value.status.state


def test_a_key_is_kept_read_replaced_and_deleted(
    in_secret_service: dict[str, str], store: SecretStore
) -> None:
    async def act() -> None:
        assert (await store.check()).state == "ready"
        assert await store.get(ACCOUNT) is None
        await store.put(ACCOUNT, Secret(KEY))
        assert await store.get(ACCOUNT) == Secret(KEY)
        await store.put(ACCOUNT, Secret("another"))
        assert await store.get(ACCOUNT) == Secret("another")
        await store.delete(ACCOUNT)
        assert await store.get(ACCOUNT) is None

    asyncio.run(act())
    with default_collection() as collection:
        assert [item.get_label() for item in collection.get_all_items()] == []


def test_a_key_is_there_for_the_next_process(
    in_secret_service: dict[str, str], store: SecretStore
) -> None:
    """U34"""
    program = f"""
import asyncio
from desktop.credentials.secret import Secret
from desktop.credentials.store import SecretStore
store = SecretStore()
asyncio.run(store.put({ACCOUNT!r}, Secret({KEY!r})))
"""
    subprocess.run([sys.executable, "-c", program], env=in_secret_service, check=True)

    async def act() -> None:
        assert await store.get(ACCOUNT) == Secret(KEY)
        await store.delete(ACCOUNT)

    asyncio.run(act())


def test_an_entry_that_another_program_left_does_not_hide_the_key(
    in_secret_service: dict[str, str], store: SecretStore
) -> None:
    """PLATFORM 0.5"""
    with default_collection() as collection:
        foreign = {"service": "nacre", "username": ACCOUNT, "application": "another program"}
        collection.create_item("foreign", foreign, b"foreign")

    async def act() -> None:
        await store.put(ACCOUNT, Secret(KEY))
        assert await store.get(ACCOUNT) == Secret(KEY)
        await store.delete(ACCOUNT)
        assert await store.get(ACCOUNT) is None

    asyncio.run(act())


def test_a_locked_keyring_is_told_without_a_prompt(
    start_daemon: Callable[[], Daemon], store: SecretStore
) -> None:
    async def act() -> None:
        await store.put(ACCOUNT, Secret(KEY))
        with default_collection() as collection:
            collection.lock()
        assert (await store.check()).state == "locked"
        assert await state_of(store.get(ACCOUNT)) == "locked"
        assert await state_of(store.put(ACCOUNT, Secret("x"))) == "locked"
        assert await state_of(store.delete(ACCOUNT)) == "locked"
        # There is nobody to show a window to: the person could not unlock it, and that is all.
        assert (await store.unlock()).state == "locked"

    with start_daemon():
        asyncio.run(act())


def test_a_keyring_that_was_never_set_up_is_told_without_a_prompt(
    bare_bus: Path, store: SecretStore
) -> None:
    command = ["gnome-keyring-daemon", "--foreground", "--start", "--components=secrets"]

    with private_session.running(command, dict(os.environ)):
        deadline = time.monotonic() + private_session.START_TIMEOUT
        while (told := asyncio.run(store.check())).state == "absent":
            assert time.monotonic() < deadline, "the daemon did not start"
            time.sleep(0.02)
        assert told.state == "locked"
        assert "set up" in told.sentence


def test_a_daemon_that_does_not_answer_costs_a_time_limit_and_not_the_loop(
    start_daemon: Callable[[], Daemon], store: SecretStore
) -> None:
    """U34, PLATFORM 3.1: with the daemon stopped a call blocks for ever."""

    async def act(daemon: "subprocess.Popen[bytes]") -> None:
        await store.put(ACCOUNT, Secret(KEY))
        daemon.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        call = asyncio.ensure_future(state_of(store.get(ACCOUNT)))
        gaps: list[float] = []
        while not call.done():
            before = time.monotonic()
            await asyncio.sleep(0.02)
            gaps.append(time.monotonic() - before)
        assert await call == "stuck"
        assert 4.5 < time.monotonic() - began < 20
        assert len(gaps) > 20
        assert max(gaps) < 4  # a call that held the loop would hold it for five seconds
        # Asked again it says so at once, and does not pile up threads.
        began = time.monotonic()
        assert await state_of(store.get(ACCOUNT)) == "stuck"
        assert time.monotonic() - began < 4
        daemon.send_signal(signal.SIGCONT)
        assert (await store.check()).state == "ready"
        assert await store.get(ACCOUNT) == Secret(KEY)

    with start_daemon() as daemon:
        asyncio.run(act(daemon))


def test_the_program_ends_while_the_daemon_does_not_answer(
    start_daemon: Callable[[], Daemon],
) -> None:
    program = """
import asyncio
from desktop.credentials.store import SecretStore
store = SecretStore(call_seconds=2)
print(asyncio.run(store.check()).state)
store.close()
"""
    with start_daemon() as daemon:
        daemon.send_signal(signal.SIGSTOP)
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "stuck\n", "")


def test_a_daemon_that_dies_and_comes_back_is_seen(
    start_daemon: Callable[[], Daemon], store: SecretStore
) -> None:
    async def state() -> str:
        return (await store.check()).state

    assert asyncio.run(state()) == "absent"  # none was started yet
    with start_daemon() as daemon:
        assert asyncio.run(state()) == "ready"
        asyncio.run(store.put(ACCOUNT, Secret(KEY)))
        daemon.kill()
        daemon.wait()
        assert asyncio.run(state()) == "absent"
    with start_daemon():
        assert asyncio.run(state()) == "ready"
        assert asyncio.run(store.get(ACCOUNT)) == Secret(KEY)
