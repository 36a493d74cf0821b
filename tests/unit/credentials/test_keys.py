"""One authoritative place for each key, whatever state the others are in (SPEC U34)."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from desktop.credentials import status
from desktop.credentials.key_file import KeyFile
from desktop.credentials.keys import Found, Keys, Place
from desktop.credentials.secret import Secret
from desktop.credentials.status import KeyRefused, KeyringError, Status
from desktop.credentials.store import WINDOWS_LIMIT, SecretStore
from desktop.diagnostics import Redaction
from tests.unit.credentials.keyrings import Door, MemoryKeyring, NullKeyring

ACCOUNT = "anthropic@api.anthropic.com"
KEY = Secret("key-Zq9xYw77aaBB")
OLDER = Secret("older-key-0123")
PASSPHRASE = Secret("four words and a dot")
QUICK = 2**10
PLACES: tuple[Place, ...] = ("session", "file", "keyring")


class Home:
    """A data folder and a keyring; each `start` is a new run of the program on them."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "keys.encrypted"
        self.keyring = MemoryKeyring()
        self.redaction = Redaction()
        self._runs: list[Keys] = []

    def start(self, **options: Any) -> Keys:
        store = SecretStore(open_backend=lambda: self.keyring, **options)
        self._runs.append(Keys(store, KeyFile(self.path, cost=QUICK), forget=self.redaction.forget))
        return self._runs[-1]

    def end(self) -> None:
        for keys in self._runs:
            keys.close()

    def in_keyring(self) -> list[str]:
        return self.keyring.of(ACCOUNT)

    def in_file(self) -> str | None:
        if not self.path.exists():
            return None
        reader = KeyFile(self.path, cost=QUICK)
        reader.open(PASSPHRASE)
        return reader.get(ACCOUNT)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path)
    yield home
    home.end()


async def failure(coroutine: Coroutine[Any, Any, object]) -> Status:
    with pytest.raises(KeyringError) as caught:
        await coroutine
    assert caught.value.sentence and caught.value.way_out
    return caught.value.status


async def in_file(keys: Keys, secret: Secret = KEY) -> None:
    await keys.unlock_file(PASSPHRASE)
    await keys.keep(ACCOUNT, secret, place="file")


class TestOnePlace:
    @pytest.mark.parametrize("first", PLACES)
    @pytest.mark.parametrize("then", PLACES)
    def test_the_last_word_counts_and_outlives_the_run_in_one_place(
        self, home: Home, first: Place, then: Place
    ) -> None:
        async def act() -> Found:
            keys = home.start()
            await keys.unlock_file(PASSPHRASE)
            await keys.keep(ACCOUNT, OLDER, place=first)
            await keys.keep(ACCOUNT, KEY, place=then)
            return await keys.find(ACCOUNT)

        assert asyncio.run(act()) == Found(then, KEY)
        kept = [one for one in (*home.in_keyring(), home.in_file()) if one is not None]
        match then:
            case "session":
                assert kept == ([] if first == "session" else [OLDER.reveal()])
            case _:
                assert kept == [KEY.reveal()]

    @pytest.mark.parametrize("place", ["file", "keyring"])
    def test_a_key_is_there_after_a_restart(self, home: Home, place: Place) -> None:
        async def act() -> Found:
            keys = home.start()
            await keys.unlock_file(PASSPHRASE)
            await keys.keep(ACCOUNT, KEY, place=place)
            again = home.start()
            if place == "file":
                assert (await again.find(ACCOUNT)).problem is not None
                await again.unlock_file(PASSPHRASE)
            return await again.find(ACCOUNT)

        assert asyncio.run(act()) == Found(place, KEY)

    def test_this_runs_key_is_gone_after_it(self, home: Home) -> None:
        async def act() -> Found:
            await home.start().keep(ACCOUNT, KEY, place="session")
            return await home.start().find(ACCOUNT)

        assert asyncio.run(act()) == Found()
        assert not home.path.exists()

    def test_while_the_file_is_locked_nothing_behind_it_is_used(self, home: Home) -> None:
        """It may hold the later word; and the keyring is not even asked."""
        home.keyring.entries = [(ACCOUNT, OLDER.reveal())]

        async def act() -> Found:
            keys = home.start()
            home.keyring.state = status.locked()
            await in_file(keys)
            home.keyring.state = status.READY
            home.keyring.actions.clear()
            return await home.start().find(ACCOUNT)

        found = asyncio.run(act())
        assert found.place is None
        assert found.problem is not None and found.problem.state == "locked"
        assert home.keyring.actions == []

    @pytest.mark.parametrize("data", [b"", b"something else", b"\0" * 500])
    def test_a_file_that_can_not_be_read_stands_in_the_way_and_is_left_alone(
        self, home: Home, data: bytes
    ) -> None:
        home.path.write_bytes(data)
        home.keyring.entries = [(ACCOUNT, OLDER.reveal())]

        async def act() -> None:
            keys = home.start()
            found = await keys.find(ACCOUNT)
            assert found.problem is not None and found.problem.state == "broken"
            assert keys.file_status == found.problem
            for place in ("file", "keyring"):
                assert (await failure(keys.keep(ACCOUNT, KEY, place=place))).state == "broken"
            await keys.keep(ACCOUNT, KEY, place="session")
            assert (await keys.find(ACCOUNT)).place == "session"

        asyncio.run(act())
        assert home.path.read_bytes() == data
        assert home.in_keyring() == [OLDER.reveal()]

    def test_a_key_for_another_server_is_in_a_place_of_its_own(self, home: Home) -> None:
        async def act() -> None:
            keys = home.start()
            await in_file(keys)
            await keys.keep("other", OLDER, place="keyring")
            assert await keys.find("other") == Found("keyring", OLDER)
            assert await keys.find(ACCOUNT) == Found("file", KEY)

        asyncio.run(act())


class TestMoving:
    def test_from_the_file_into_a_keyring_that_appeared(self, home: Home) -> None:
        async def act() -> None:
            keys = home.start()
            home.keyring.state = status.absent()
            await in_file(keys)
            assert (await failure(keys.move(ACCOUNT, place="keyring"))).state == "absent"
            assert home.in_file() == KEY.reveal()
            home.keyring.state = status.READY
            await keys.move(ACCOUNT, place="keyring")
            assert await keys.find(ACCOUNT) == Found("keyring", KEY)

        asyncio.run(act())
        assert home.in_keyring() == [KEY.reveal()]
        assert not home.path.exists()

    @pytest.mark.parametrize("failing", ["look", "set", "get", "delete"])
    def test_a_keyring_that_fails_on_the_way_costs_nothing(self, home: Home, failing: str) -> None:
        """Written, read back and compared before it is removed from where it was."""

        def fail(action: str, account: str) -> None:
            if action == failing:
                raise OSError

        async def act() -> Found:
            keys = home.start()
            home.keyring.state = status.absent()
            await in_file(keys)
            home.keyring.state = status.READY
            home.keyring.before = fail
            await failure(keys.move(ACCOUNT, place="keyring"))
            return await keys.find(ACCOUNT)

        assert asyncio.run(act()) == Found("file", KEY)

    def test_a_keyring_that_keeps_nothing_does_not_get_the_only_copy(self, home: Home) -> None:
        """F-C01"""
        home.keyring = NullKeyring()

        async def act() -> Found:
            keys = home.start()
            await in_file(keys)
            assert (await failure(keys.move(ACCOUNT, place="keyring"))).state == "broken"
            return await keys.find(ACCOUNT)

        assert asyncio.run(act()) == Found("file", KEY)

    def test_a_new_key_does_not_go_behind_a_locked_file(self, home: Home) -> None:
        async def act() -> Status:
            await in_file(home.start(), OLDER)
            return await failure(home.start().keep(ACCOUNT, KEY, place="keyring"))

        told = asyncio.run(act())
        assert "would be used before" in told.sentence
        assert home.in_keyring() == []

    def test_moving_what_is_already_there_changes_nothing(self, home: Home) -> None:
        async def act() -> None:
            keys = home.start()
            await keys.keep(ACCOUNT, KEY, place="keyring")
            home.keyring.actions.clear()
            await keys.move(ACCOUNT, place="keyring")
            await keys.move("nobody", place="keyring")

        asyncio.run(act())
        assert "set" not in home.keyring.actions


class TestRemoving:
    def test_it_goes_from_every_place(self, home: Home) -> None:
        """K02"""

        async def act() -> Found:
            keys = home.start()
            await in_file(keys)
            home.keyring.entries = [(ACCOUNT, "one"), (ACCOUNT, "two"), ("other", "stays")]
            await keys.keep(ACCOUNT, KEY, place="session")
            await keys.remove(ACCOUNT)
            return await keys.find(ACCOUNT)

        assert asyncio.run(act()) == Found()
        assert home.keyring.entries == [("other", "stays")]
        assert not home.path.exists()

    def test_without_a_keyring_there_is_nothing_more_to_do(self, home: Home) -> None:
        home.keyring.state = status.absent()

        async def act() -> None:
            keys = home.start()
            await keys.keep(ACCOUNT, KEY, place="session")
            await keys.remove(ACCOUNT)
            assert (await keys.find(ACCOUNT)).place is None

        asyncio.run(act())

    def test_a_locked_keyring_may_still_hold_one_and_that_is_told(self, home: Home) -> None:
        home.keyring.state = status.locked()

        async def act() -> None:
            keys = home.start()
            assert await failure(keys.remove(ACCOUNT)) == status.locked()
            await keys.keep(ACCOUNT, KEY, place="session")
            told = await failure(keys.remove(ACCOUNT))
            assert "may still be in it" in told.sentence
            assert (await keys.find(ACCOUNT)).place is None

        asyncio.run(act())

    def test_a_forgotten_passphrase_costs_the_file_and_no_more(self, home: Home) -> None:
        async def act() -> None:
            await in_file(home.start())
            keys = home.start()
            assert (await failure(keys.remove(ACCOUNT))).state == "locked"
            await keys.remove_file()
            assert keys.file_status is None
            await keys.keep(ACCOUNT, KEY, place="keyring")
            assert await keys.find(ACCOUNT) == Found("keyring", KEY)

        asyncio.run(act())
        assert not home.path.exists()


class TestPassphrase:
    def test_a_new_one_must_protect_something(self, home: Home) -> None:
        with pytest.raises(KeyRefused) as caught:
            asyncio.run(home.start().unlock_file(Secret("seven77")))
        assert "8 characters" in caught.value.sentence
        assert not home.path.exists()

    def test_a_wrong_one_is_told_once_and_the_file_stays_locked(self, home: Home) -> None:
        async def act() -> None:
            await in_file(home.start())
            keys = home.start()
            told = await failure(keys.unlock_file(Secret("short")))
            assert "does not open" in told.sentence
            assert keys.file_status is not None
            assert (keys.file_status.state, "does not" in keys.file_status.sentence) == (
                "locked",
                False,
            )
            await keys.unlock_file(PASSPHRASE)
            assert await keys.find(ACCOUNT) == Found("file", KEY)

        asyncio.run(act())

    def test_neither_passphrase_nor_key_is_seen_in_the_log_or_in_a_value(self, home: Home) -> None:
        """K01"""

        async def act() -> Keys:
            keys = home.start()
            await in_file(keys)
            return keys

        keys = asyncio.run(act())
        shown = home.redaction.clean(f"{PASSPHRASE.reveal()} {KEY.reveal()}")
        assert "words" not in shown and "Zq9" not in shown
        assert "Zq9" not in repr((keys, asyncio.run(keys.find(ACCOUNT))))

    def test_a_key_longer_than_windows_keeps_goes_into_the_file(self, home: Home) -> None:
        """K02"""
        long = Secret("x" * 3000)

        async def act() -> Found:
            keys = home.start(limit=WINDOWS_LIMIT)
            with pytest.raises(KeyRefused):
                await keys.keep(ACCOUNT, long, place="keyring")
            await in_file(keys, long)
            return await keys.find(ACCOUNT)

        assert asyncio.run(act()) == Found("file", long)


class TestKeyringTrouble:
    @pytest.mark.parametrize(
        "told",
        [
            status.locked(),
            status.not_set_up(),
            status.absent(),
            status.broken("x"),
            status.refused("y"),
        ],
        ids=lambda told: told.state,
    )
    def test_in_every_state_the_other_places_work(self, home: Home, told: Status) -> None:
        """K02, U34: no back end, locked, denied, broken."""
        home.keyring.state = told

        async def act() -> None:
            keys = home.start()
            assert await keys.find(ACCOUNT) == Found(problem=told)
            assert await failure(keys.keep(ACCOUNT, KEY, place="keyring")) == told
            await keys.keep(ACCOUNT, KEY, place="session")
            assert await keys.find(ACCOUNT) == Found("session", KEY)
            await in_file(keys)
            assert await keys.find(ACCOUNT) == Found("file", KEY)

        asyncio.run(act())
        assert home.in_file() == KEY.reveal()

    def test_a_stuck_keyring_does_not_hold_up_the_file(self, home: Home) -> None:
        door = Door()
        home.keyring.before = lambda action, account: door()

        async def act() -> None:
            keys = home.start(call_seconds=0.2)
            found = await keys.find(ACCOUNT)
            assert found.problem is not None and found.problem.state == "stuck"
            await in_file(keys)
            assert await keys.find(ACCOUNT) == Found("file", KEY)
            assert keys.keyring_status is not None and keys.keyring_status.state == "stuck"
            assert keys.file_status is not None and keys.file_status.state == "ready"

        try:
            asyncio.run(act())
        finally:
            door.open()
            home.end()
        for thread in threading.enumerate():
            if thread.name == "nacre-keyring":
                thread.join(5)
