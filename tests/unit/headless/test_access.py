"""The key and server in force: checked once, kept where it was chosen, told as it is (K02, U34)."""

import asyncio
import importlib
import itertools
import json
from collections.abc import Coroutine, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest

from desktop import paths
from desktop.core.access import KeyPlace
from desktop.core.errors import ModelUnavailable
from desktop.credentials import api_key, status
from desktop.credentials.key_file import KeyFile
from desktop.credentials.keys import Keys
from desktop.credentials.status import KeyRefused, KeyringError
from desktop.credentials.store import SecretStore
from desktop.headless.access import LiveAccess
from desktop.wire.models import ModelTable
from desktop.wire.replay import ReplayModel
from desktop.wire.transport import Transport
from tests.fakes.messages_api import MessagesServer
from tests.fakes.stores import MemoryLog
from tests.unit.credentials.keyrings import Door, MemoryKeyring, NullKeyring

KEY = "key-Zq9xYw77aaBB"
PASSPHRASE = "four words and a dot"
QUICK = 2**10
T = TypeVar("T")


class Stage:
    """One data folder and one keyring; every run of the program on them is a `start`."""

    def __init__(self, folder: Path, server: MessagesServer) -> None:
        self.path = folder / "keys.encrypted"
        self.server = server
        self.keyring = MemoryKeyring()
        self.environment: dict[str, str] = {}
        ids = itertools.count()
        self.log = MemoryLog(now_ms=lambda: 1, new_id=lambda: f"id{next(ids)}")
        self._models = json.loads((paths.resources() / "models.json").read_text("utf-8"))
        self._transports: list[Transport] = []
        self._keys: list[Keys] = []

    def start(self, *, call_seconds: float = 5.0) -> LiveAccess:
        transport = Transport(partial(importlib.import_module, "desktop.wire.sdk"))
        store = SecretStore(open_backend=lambda: self.keyring, call_seconds=call_seconds)
        keys = Keys(store, KeyFile(self.path, cost=QUICK))
        self._transports.append(transport)
        self._keys.append(keys)
        return LiveAccess(
            environment=self.environment,
            keys=keys,
            catalogue=self.log.catalogue,
            transport=transport,
            table=ModelTable.from_json(self._models),
            tour=ReplayModel(()),
            jitter=lambda: 0.0,
        )

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run(asyncio.wait_for(coroutine, 60))

    def end(self) -> None:
        for keys in self._keys:
            keys.close()
        for transport in self._transports:
            asyncio.run(transport.close(seconds=5))


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    with MessagesServer() as server:
        # The provider stands on loopback for once: a key is asked for at the provider only.
        monkeypatch.setattr(api_key, "PROVIDER_URL", server.base_url)
        stage = Stage(tmp_path, server)
        yield stage
        stage.end()


class TestEntering:
    @pytest.mark.parametrize(
        "text", [f" {KEY}", f"{KEY}😀", f"{KEY}\nmore", f"NAME={KEY}", f"export A={KEY}", ""]
    )
    def test_k01_what_can_not_be_a_key_is_refused_before_any_request(
        self, stage: Stage, text: str
    ) -> None:
        async def act() -> str:
            access = stage.start()
            await access.load()
            with pytest.raises(KeyRefused) as caught:
                await access.enter_key(text)
            return f"{caught.value!r} {caught.value} {caught.value.detail}"

        assert "Zq9" not in stage.run(act())
        assert stage.server.log == []
        assert "set" not in stage.keyring.actions
        assert not stage.path.exists()

    def test_k02_a_second_try_after_the_keyring_failed_does_not_check_again(
        self, stage: Stage
    ) -> None:
        """The check costs a call; the same key is known to work."""

        async def act() -> None:
            access = stage.start()
            await access.load()
            good, stage.keyring = stage.keyring, NullKeyring()
            with pytest.raises(KeyringError):
                await access.enter_key(KEY)
            assert len(stage.server.log) == 1
            stage.keyring = good
            assert await access.enter_key(KEY) is None
            assert len(stage.server.log) == 1
            assert access.state().key_source == "keyring"
            # Another key, and the same one again later, are checked as ever.
            assert await access.enter_key(f"{KEY}-2", keep="session") is None
            assert await access.enter_key(KEY, keep="session") is None
            assert len(stage.server.log) == 3

        stage.run(act())
        assert stage.keyring.of("anthropic@" + stage.server.base_url.split("//")[1]) == [KEY]

    @pytest.mark.parametrize("place", ["keyring", "file"])
    def test_u34_a_key_that_was_set_is_readable_after_a_restart(
        self, stage: Stage, place: KeyPlace
    ) -> None:
        async def act() -> tuple[str, str]:
            access = stage.start()
            await access.load()
            if place == "file":
                await access.unlock_file(PASSPHRASE)
            assert await access.enter_key(KEY, keep=place) is None
            first = access.state().key_source
            again = stage.start()
            await again.load()
            if place == "file":
                assert again.state().locked == "file"
                assert not again.state().ready
                await again.unlock_file(PASSPHRASE)
            return first, again.state().key_source

        assert stage.run(act()) == (place, place)

    def test_a_variable_is_the_source_whatever_else_is_kept(self, stage: Stage) -> None:
        """F-C01"""
        stage.environment["ANTHROPIC_API_KEY"] = "from-the-environment-1"

        async def act() -> str:
            access = stage.start()
            await access.load()
            assert await access.enter_key(KEY) is None
            return access.state().key_source

        assert stage.run(act()) == "environment"


class TestState:
    def test_before_it_was_looked_for_the_key_is_being_asked_for(self, stage: Stage) -> None:
        access = stage.start()
        assert access.state().key_source == "asking"
        assert not access.state().ready
        with pytest.raises(ModelUnavailable) as caught:
            access.model_for("claude-opus-4-6")
        assert "has not answered" in caught.value.sentence

    @pytest.mark.parametrize(
        ("told", "locked", "words"),
        [
            (status.locked(), "keyring", "keyring is locked"),
            (status.not_set_up(), "keyring", "keyring is locked"),
            (status.absent(), "", "No key is set"),
            (status.broken(), "", "No key is set"),
        ],
    )
    def test_u34_every_state_has_its_sentence_and_a_way_out(
        self, stage: Stage, told: status.Status, locked: str, words: str
    ) -> None:
        stage.keyring.state = told

        async def act() -> None:
            access = stage.start()
            await access.load()
            state = access.state()
            assert (state.key_source, state.keyring, state.locked) == ("none", told.state, locked)
            assert state.keyring_sentence == told.sentence
            assert state.keyring_way_out == told.way_out
            with pytest.raises(ModelUnavailable) as caught:
                access.model_for("claude-opus-4-6")
            assert words in caught.value.sentence
            assert caught.value.way_out

        stage.run(act())

    def test_a_file_that_is_locked_is_asked_before_the_keyring(self, stage: Stage) -> None:
        async def act() -> str:
            access = stage.start()
            await access.load()
            await access.unlock_file(PASSPHRASE)
            await access.enter_key(KEY, keep="file")
            stage.keyring.state = status.locked()
            again = stage.start()
            await again.look()
            return again.state().locked

        assert stage.run(act()) == "file"

    def test_whoever_listens_hears_of_every_change(self, stage: Stage) -> None:
        heard: list[str] = []

        async def act() -> None:
            access = stage.start()
            ends = access.on_change(lambda: heard.append(access.state().key_source))
            await access.load()
            await access.enter_key(KEY, keep="session")
            await access.forget_key()
            ends()
            await access.load()

        stage.run(act())
        assert heard == ["none", "session", "none"]

    def test_u34_an_answer_that_comes_late_does_not_undo_what_the_person_did_meanwhile(
        self, stage: Stage
    ) -> None:
        door = Door()
        stage.keyring.before = lambda action, account: door() if action == "get" else None

        async def act() -> str:
            access = stage.start()
            slow = asyncio.ensure_future(access.load())
            await asyncio.to_thread(door.reached.wait, 5)
            assert await access.enter_key(KEY, keep="session") is None
            door.open()
            await slow
            return access.state().key_source

        try:
            assert stage.run(act()) == "session"
        finally:
            door.open()

    def test_u34_a_slow_keyring_costs_its_time_limit_and_is_used_when_it_answers(
        self, stage: Stage
    ) -> None:
        door = Door()
        stage.keyring.entries = [("anthropic@" + stage.server.base_url.split("//")[1], KEY)]
        stage.keyring.before = lambda action, account: door()

        async def act() -> None:
            access = stage.start(call_seconds=0.2)
            await access.load()
            assert (access.state().key_source, access.state().keyring) == ("none", "stuck")
            door.open()
            await access.look()
            assert access.state().key_source == "keyring"

        try:
            stage.run(act())
        finally:
            door.open()
