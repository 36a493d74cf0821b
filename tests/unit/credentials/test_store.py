"""The store never blocks its caller, keeps nothing in silence, proves what it keeps (K02, U34)."""

import asyncio
import logging
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from desktop.credentials import status
from desktop.credentials.secret import Secret
from desktop.credentials.status import KeyRefused, KeyringError, Status
from desktop.credentials.store import DELETE_LIMIT, WINDOWS_LIMIT, SecretStore
from desktop.diagnostics import Hooks, LogFile, Redaction
from tests.unit.credentials.keyrings import ClingingKeyring, Door, MemoryKeyring, NullKeyring

KEY = "key-Zq9xYw77aaBB"
ACCOUNT = "anthropic@api.anthropic.com"
SHORT = 0.2

T = TypeVar("T")
MakeStore = Callable[..., SecretStore]


@pytest.fixture
def make_store() -> Iterator[MakeStore]:
    stores: list[SecretStore] = []

    def make(backend: MemoryKeyring, **options: Any) -> SecretStore:
        stores.append(SecretStore(open_backend=lambda: backend, **options))
        return stores[-1]

    yield make
    for store in stores:
        store.close()


@pytest.fixture
def keyring() -> MemoryKeyring:
    return MemoryKeyring()


@pytest.fixture
def store(make_store: MakeStore, keyring: MemoryKeyring) -> SecretStore:
    return make_store(keyring)


async def failure(coroutine: Any) -> Status:
    with pytest.raises(KeyringError) as caught:
        await coroutine
    assert caught.value.sentence
    assert caught.value.way_out
    return caught.value.status


class TestKeeping:
    def test_a_key_comes_back_as_it_was_kept(self, store: SecretStore) -> None:
        async def act() -> Secret | None:
            await store.put(ACCOUNT, Secret(KEY))
            return await store.get(ACCOUNT)

        assert asyncio.run(act()) == Secret(KEY)
        assert store.status == status.READY

    def test_an_account_without_a_key_has_none(self, store: SecretStore) -> None:
        assert asyncio.run(store.get(ACCOUNT)) is None

    def test_the_store_works_from_one_loop_after_another(self, store: SecretStore) -> None:
        asyncio.run(store.put(ACCOUNT, Secret(KEY)))
        assert asyncio.run(store.get(ACCOUNT)) == Secret(KEY)

    def test_an_entry_of_another_program_does_not_hide_the_new_key(
        self, store: SecretStore, keyring: MemoryKeyring
    ) -> None:
        """PLATFORM 0.5: set succeeds and get returns the old one."""
        keyring.entries = [(ACCOUNT, "foreign"), (ACCOUNT, "foreign too")]
        asyncio.run(store.put(ACCOUNT, Secret(KEY)))
        assert keyring.of(ACCOUNT) == [KEY]

    def test_deleting_removes_every_entry(self, store: SecretStore, keyring: MemoryKeyring) -> None:
        keyring.entries = [(ACCOUNT, "one"), ("other", "stays"), (ACCOUNT, "two")]
        asyncio.run(store.delete(ACCOUNT))
        assert keyring.entries == [("other", "stays")]

    def test_deleting_what_is_not_there_is_no_error(self, store: SecretStore) -> None:
        asyncio.run(store.delete(ACCOUNT))

    def test_a_keyring_that_does_not_delete_is_named(self, make_store: MakeStore) -> None:
        keyring = ClingingKeyring()
        keyring.entries = [(ACCOUNT, KEY)]
        told = asyncio.run(failure(make_store(keyring).delete(ACCOUNT)))
        assert told == status.KEYRING.clinging
        assert keyring.actions.count("delete") == DELETE_LIMIT

    def test_a_keyring_that_gives_nothing_back_is_named_and_nothing_is_kept(
        self, make_store: MakeStore
    ) -> None:
        """F-C01: a backend whose set succeeds and whose get returns None."""
        store = make_store(NullKeyring())
        told = asyncio.run(failure(store.put(ACCOUNT, Secret(KEY))))
        assert told.sentence == status.KEYRING.forgetful.sentence

    def test_a_keyring_that_changes_what_it_is_given_is_named(
        self, store: SecretStore, keyring: MemoryKeyring
    ) -> None:
        def spoil(action: str, account: str) -> None:
            if action == "get":
                keyring.entries = [(name, f"{secret}?") for name, secret in keyring.entries]

        keyring.before = spoil
        assert asyncio.run(failure(store.put(ACCOUNT, Secret(KEY)))).state == "broken"

    def test_an_empty_key_is_not_kept(self, store: SecretStore, keyring: MemoryKeyring) -> None:
        with pytest.raises(KeyRefused):
            asyncio.run(store.put(ACCOUNT, Secret("")))
        assert keyring.actions == []

    def test_a_key_too_long_for_windows_is_refused_there_before_it_is_cut(
        self, make_store: MakeStore, keyring: MemoryKeyring
    ) -> None:
        """K02"""
        asyncio.run(make_store(keyring, limit=0).put(ACCOUNT, Secret("x" * 1201)))
        windows = make_store(keyring, limit=WINDOWS_LIMIT)
        asyncio.run(windows.put(ACCOUNT, Secret("x" * 1200)))
        with pytest.raises(KeyRefused) as caught:
            asyncio.run(windows.put(ACCOUNT, Secret("x" * 1201)))
        assert "1200" in caught.value.sentence


class TestState:
    @pytest.mark.parametrize("told", [status.locked(), status.absent(), status.not_set_up()])
    def test_a_keyring_that_is_not_ready_is_not_asked_for_anything(
        self, store: SecretStore, keyring: MemoryKeyring, told: Status
    ) -> None:
        keyring.state = told
        for act in (store.get(ACCOUNT), store.put(ACCOUNT, Secret(KEY)), store.delete(ACCOUNT)):
            assert asyncio.run(failure(act)) == told
        assert asyncio.run(store.check()) == told
        assert store.status == told
        assert set(keyring.actions) == {"look"}

    def test_no_keyring_at_all_is_a_state_and_not_a_crash(self, make_store: MakeStore) -> None:
        def nothing() -> MemoryKeyring:
            raise KeyringError(status.absent("none"))

        store = make_store(MemoryKeyring())
        store = SecretStore(open_backend=nothing)
        assert asyncio.run(store.check()) == status.absent("none")
        store.close()

    def test_a_library_that_can_not_be_loaded_is_a_state_too(self) -> None:
        def nothing() -> MemoryKeyring:
            raise ImportError(KEY)

        store = SecretStore(open_backend=nothing)
        told = asyncio.run(store.check())
        store.close()
        assert told.state == "broken"
        assert told.detail == "builtins.ImportError"

    @pytest.mark.parametrize("failing_call", [1, 2, 3, 4])
    def test_a_keyring_that_raises_at_its_nth_read_is_broken_and_can_be_tried_again(
        self, store: SecretStore, keyring: MemoryKeyring, failing_call: int
    ) -> None:
        """F-C01"""
        calls = 0

        def fail(action: str, account: str) -> None:
            nonlocal calls
            calls += action == "get"
            if action == "get" and calls == failing_call:
                raise OSError(f"D-Bus says {KEY}")

        keyring.before = fail

        async def act() -> Status | None:
            try:
                await store.put(ACCOUNT, Secret(KEY))
                await store.get(ACCOUNT)
            except KeyringError as error:
                return error.status
            return None

        assert asyncio.run(act()) == status.broken("OSError")
        assert asyncio.run(act()) is None

    def test_checking_leaves_no_test_entry(
        self, store: SecretStore, keyring: MemoryKeyring
    ) -> None:
        assert asyncio.run(store.check()) == status.READY
        assert keyring.entries == []
        assert "set" in keyring.actions

    def test_checking_leaves_no_test_entry_when_reading_it_back_fails(
        self, store: SecretStore, keyring: MemoryKeyring
    ) -> None:
        failed = False

        def fail(action: str, account: str) -> None:
            nonlocal failed
            if action == "get" and not failed:
                failed = True
                raise OSError

        keyring.before = fail
        assert asyncio.run(store.check()).state == "broken"
        assert keyring.entries == []

    def test_the_proof_is_asked_for_once_and_again_after_a_change_of_state(
        self, store: SecretStore, keyring: MemoryKeyring
    ) -> None:
        def proofs() -> int:
            asyncio.run(store.check())
            return keyring.actions.count("set")

        assert [proofs(), proofs()] == [1, 1]
        keyring.state = status.locked()
        assert proofs() == 1
        keyring.state = status.READY
        assert [proofs(), proofs()] == [2, 2]

    def test_unlocking_makes_it_ready(self, store: SecretStore, keyring: MemoryKeyring) -> None:
        keyring.state = status.locked()
        assert asyncio.run(store.check()).state == "locked"
        assert asyncio.run(store.unlock()) == status.READY
        assert store.status == status.READY

    def test_a_dismissed_prompt_leaves_it_locked(
        self, store: SecretStore, keyring: MemoryKeyring
    ) -> None:
        keyring.state = keyring.after_unlock = status.locked()
        assert asyncio.run(store.unlock()).state == "locked"

    def test_a_closed_store_says_so(self, store: SecretStore) -> None:
        asyncio.run(store.check())
        store.close()
        store.close()
        with pytest.raises(KeyringError):
            asyncio.run(store.get(ACCOUNT))


class TestStuck:
    """U34: a keyring without an answer costs a time limit, never the program."""

    def test_the_caller_is_told_within_the_limit_and_its_loop_goes_on(
        self, make_store: MakeStore, keyring: MemoryKeyring
    ) -> None:
        door = Door()
        keyring.before = lambda action, account: door()
        store = make_store(keyring, call_seconds=SHORT)

        async def act() -> int:
            call = asyncio.ensure_future(failure(store.get(ACCOUNT)))
            ticks = 0
            while not call.done():
                await asyncio.sleep(0.01)
                ticks += 1
            assert (await call).state == "stuck"
            return ticks

        try:
            assert asyncio.run(act()) >= 5
        finally:
            door.open()

    def test_a_stuck_keyring_is_not_asked_again_until_the_person_does(
        self, make_store: MakeStore, keyring: MemoryKeyring
    ) -> None:
        door = Door()
        keyring.before = lambda action, account: door()
        store = make_store(keyring, call_seconds=SHORT)

        async def act() -> None:
            await failure(store.get(ACCOUNT))
            keyring.before = lambda action, account: None
            asked = len(keyring.actions)
            assert (await failure(store.get(ACCOUNT))).state == "stuck"
            assert len(keyring.actions) == asked
            assert await store.check() == status.READY

        try:
            asyncio.run(act())
        finally:
            door.open()

    def test_once_the_old_call_has_ended_the_keyring_is_used_again(
        self, make_store: MakeStore, keyring: MemoryKeyring
    ) -> None:
        door = Door()
        keyring.before = lambda action, account: door()
        store = make_store(keyring, call_seconds=SHORT)

        async def act() -> None:
            await failure(store.get(ACCOUNT))
            door.open()
            while True:
                try:
                    assert await store.get(ACCOUNT) is None
                    return
                except KeyringError:
                    await asyncio.sleep(0.01)

        asyncio.run(asyncio.wait_for(act(), 10))
        assert store.status == status.READY

    def test_a_write_that_was_given_up_does_not_go_on_later(
        self, make_store: MakeStore, keyring: MemoryKeyring
    ) -> None:
        store = make_store(keyring, call_seconds=SHORT)
        door = Door()

        async def act() -> None:
            await store.check()
            keyring.before = lambda action, account: door() if action == "look" else None
            await failure(store.put(ACCOUNT, Secret("old word")))
            keyring.before = lambda action, account: None
            await store.check()
            await store.put(ACCOUNT, Secret("last word"))

        try:
            asyncio.run(act())
        finally:
            door.open()
            store.close()
        for thread in threading.enumerate():
            if thread.name == "nacre-keyring":
                thread.join(5)
        assert keyring.of(ACCOUNT) == ["last word"]

    def test_calls_that_wait_behind_a_stuck_one_are_told_with_it_and_not_one_limit_later(
        self, make_store: MakeStore, keyring: MemoryKeyring
    ) -> None:
        door = Door()
        keyring.before = lambda action, account: door()
        store = make_store(keyring, call_seconds=2)

        async def act() -> None:
            first = asyncio.ensure_future(failure(store.get(ACCOUNT)))
            await asyncio.sleep(1.8)
            second = asyncio.ensure_future(failure(store.get(ACCOUNT)))
            assert (await first).state == "stuck"
            assert (await asyncio.wait_for(second, 1)).state == "stuck"

        try:
            asyncio.run(act())
        finally:
            door.open()

    def test_cancelling_an_unlock_frees_the_store_at_once(
        self, make_store: MakeStore, keyring: MemoryKeyring
    ) -> None:
        door = Door()
        keyring.before = lambda action, account: door() if action == "unlock" else None
        store = make_store(keyring)

        async def act() -> None:
            unlocking = asyncio.ensure_future(store.unlock())
            await asyncio.to_thread(door.reached.wait, 5)
            assert (await failure(store.get(ACCOUNT))).state == "locked"
            unlocking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await unlocking
            assert await store.get(ACCOUNT) is None

        try:
            asyncio.run(asyncio.wait_for(act(), 10))
        finally:
            door.open()

    def test_closing_does_not_wait_for_it(
        self, make_store: MakeStore, keyring: MemoryKeyring
    ) -> None:
        door = Door()
        keyring.before = lambda action, account: door()
        store = make_store(keyring, call_seconds=SHORT)
        try:
            asyncio.run(failure(store.get(ACCOUNT)))
            store.close()
        finally:
            door.open()

    def test_the_process_ends_while_a_call_is_stuck(self) -> None:
        program = """
import asyncio, threading
from desktop.credentials.store import SecretStore
def blocks():
    threading.Event().wait()
store = SecretStore(open_backend=blocks, call_seconds=0.2)
print(asyncio.run(store.check()).state)
store.close()
"""
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "stuck\n", "")


class TestQtLoop:
    def test_it_works_on_the_loop_of_the_window_and_leaves_it_alive(self) -> None:
        program = """
import asyncio, threading, qasync
from PySide6.QtCore import QCoreApplication
from desktop.credentials.secret import Secret
from desktop.credentials.status import KeyringError
from desktop.credentials.store import SecretStore
from tests.unit.credentials.keyrings import MemoryKeyring
keyring = MemoryKeyring()
store = SecretStore(open_backend=lambda: keyring, call_seconds=0.3)
async def act():
    await store.put("a", Secret("b"))
    assert await store.get("a") == Secret("b")
    keyring.before = lambda action, account: threading.Event().wait()
    call = asyncio.ensure_future(store.get("a"))
    ticks = 0
    while not call.done():
        await asyncio.sleep(0.01)
        ticks += 1
    assert call.exception().status.state == "stuck"
    assert ticks > 5
    store.close()
    print("done")
application = QCoreApplication([])
with qasync.QEventLoop(application) as loop:
    loop.run_until_complete(act())
"""
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


class TestNothingLeaks:
    def test_after_failures_of_all_kinds_the_key_is_nowhere_to_be_read(
        self, make_store: MakeStore, tmp_path: Path
    ) -> None:
        """K01, U34: neither log, repr, exception text nor traceback, local values included."""
        redaction = Redaction()
        log = LogFile(tmp_path, redaction)
        told: list[tuple[str, str]] = []
        hooks = Hooks(lambda sentence, detail: told.append((sentence, detail)), redaction)
        seen: list[str] = []

        def spiteful(action: str, account: str) -> None:
            if action == failing_action:
                held_in_a_local = KEY
                raise ValueError(f"the backend says {held_in_a_local}")

        try:
            for failing_action in ("look", "set", "get", "delete"):
                keyring = MemoryKeyring()
                keyring.before = spiteful
                store = make_store(keyring, forget=redaction.forget)
                try:
                    asyncio.run(store.put(ACCOUNT, Secret(KEY)))
                    asyncio.run(store.delete(ACCOUNT))
                except KeyringError as error:
                    hooks.report(error, where="a test")
                    logging.getLogger("desktop.test").exception("failed")
                    shown = traceback.TracebackException.from_exception(error, capture_locals=True)
                    frames = [str(frame.locals) for frame in shown.stack if OWN in frame.filename]
                    seen += [*shown.format_exception_only(), repr(error), error.detail, *frames]
                    seen += [repr(error.__context__), repr(error.__cause__), repr(store)]
                    continue
                pytest.fail(f"{failing_action} did not fail")
            # The same when somebody logs the key itself, or an error from somewhere else with it.
            logging.getLogger("desktop.test").error("carelessly %s", KEY)
            hooks.report(RuntimeError(KEY), where="a test")
        finally:
            log.close()
        text = log.path.read_text("utf-8")
        assert text.count("failed") == 4
        assert "Zq9" not in text
        assert "Zq9" not in repr((seen, told))


OWN = str(Path("desktop", "credentials"))
