"""Keys of a legacy database on their way into the keyring: never nowhere, finally in no file."""

import asyncio
import logging
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from desktop.credentials.key_file import KeyFile
from desktop.credentials.keys import Found, Keys
from desktop.credentials.secret import Secret
from desktop.credentials.status import Status, absent, locked
from desktop.credentials.store import WINDOWS_LIMIT, SecretStore
from desktop.diagnostics import Redaction
from desktop.headless import moving_keys
from desktop.headless import runtime as runtimes
from desktop.headless.moving_keys import LIVE, FindKey, move_keys
from desktop.paths import DataFolder
from desktop.store import legacy_secrets
from tests.data import make_legacy_database as legacy
from tests.unit.credentials.keyrings import Door, MemoryKeyring, NullKeyring
from tests.unit.store.builders import open_log, run
from tests.unit.store.failing import failing_at
from tests.unit.store.test_legacy_migration import copy_of, hashes

Start = Callable[..., str]


def only_in(secrets: SecretStore) -> FindKey:
    """Says of the key in use what this store says."""

    async def find(account: str) -> Found:
        kept = await secrets.get(account)
        return Found() if kept is None else Found("keyring", kept)

    return find


@pytest.fixture
def keyring() -> MemoryKeyring:
    return MemoryKeyring()


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return legacy.make(tmp_path / "data", messages=50, huge=0)


@pytest.fixture
def told() -> list[str]:
    """What the person was told while the start went on."""
    return []


@pytest.fixture
def start(database: Path, keyring: MemoryKeyring, told: list[str]) -> Iterator[Start]:
    """One start of the program on the database: the checks before the log opens, its close."""
    stores: list[SecretStore] = []

    def start(
        keyring: MemoryKeyring = keyring,
        *,
        seconds: float = 60.0,
        limit: int = 0,
        find: FindKey | None = None,
    ) -> str:
        secrets = SecretStore(open_backend=lambda: keyring, call_seconds=1.0, limit=limit)
        stores.append(secrets)
        with open_log(database.parent):
            return asyncio.run(
                move_keys(
                    database,
                    secrets,
                    find=find or only_in(secrets),
                    tell=told.append,
                    seconds=seconds,
                    busy_ms=500,
                )
            )

    yield start
    for one in stores:
        one.close()


def kept(keyring: MemoryKeyring) -> set[str]:
    return {secret for _, secret in keyring.entries}


def as_kept(value: bytes) -> str:
    """A secret as a keyring holds it."""
    return legacy_secrets.LegacySecret(
        table="api_keys", column="api_key", provider="", account="", label="", key=b"", value=value
    ).kept


ALL = {as_kept(value) for value in legacy.SECRETS}


def in_database(database: Path) -> set[str]:
    """The plaintexts that rows of the file still hold."""
    with closing(sqlite3.connect(database)) as plain:
        plain.text_factory = bytes
        rows = plain.execute(
            "SELECT CAST(access_token AS BLOB) FROM credentials UNION"
            " SELECT CAST(refresh_token AS BLOB) FROM credentials UNION"
            " SELECT CAST(api_key AS BLOB) FROM api_keys"
        )
        return {as_kept(value) for (value,) in rows if value and value.startswith(legacy.CANARY)}


def with_plaintext(folder: Path) -> list[str]:
    return [
        path.name
        for path in sorted(folder.rglob("*"))
        if path.is_file() and legacy.CANARY in path.read_bytes()
    ]


def change(database: Path, sql: str, *values: object) -> None:
    with closing(sqlite3.connect(database)) as plain:
        plain.execute(sql, values)
        plain.commit()


def test_k01_every_secret_moves_and_no_file_holds_one_in_the_end(
    database: Path, keyring: MemoryKeyring, start: Start, told: list[str]
) -> None:
    """K01, C01: only the secret columns change; old pages, the log and the copy are clean."""
    before = legacy.rows(database)
    assert start() == ""
    assert told == []
    assert kept(keyring) == ALL
    assert with_plaintext(database.parent) == []
    assert legacy.without_secrets(legacy.rows(database)) == legacy.without_secrets(before)
    with closing(sqlite3.connect(database)) as plain:
        assert plain.execute("PRAGMA auto_vacuum").fetchone() == (2,)
        assert plain.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert plain.execute("SELECT count(*) FROM audit WHERE what = 'api_keys'").fetchone() == (
            0,
        )
        references = plain.execute("SELECT api_key FROM api_keys WHERE api_key <> ''").fetchall()
        triggers = plain.execute("SELECT name FROM sqlite_master WHERE name = 'touch_key'")
        assert triggers.fetchone() is not None
    assert all(reference.startswith("keyring:") for (reference,) in references)
    accounts = {account for account, _ in keyring.entries} | {"moved-before"}
    assert {reference.removeprefix("keyring:") for (reference,) in references} <= accounts
    with closing(sqlite3.connect(copy_of(database))) as plain:
        assert plain.execute("SELECT count(*) FROM messages").fetchone() == (50,)


def test_a_second_start_asks_no_keyring_and_changes_no_byte(
    database: Path, keyring: MemoryKeyring, start: Start
) -> None:
    start()
    keyring.actions.clear()
    before = hashes(database.parent)
    assert start() == ""
    assert keyring.actions == []
    assert hashes(database.parent) == before


def test_a_database_without_secrets_asks_no_keyring(
    database: Path, keyring: MemoryKeyring, start: Start
) -> None:
    change(database, "DELETE FROM api_keys")
    change(database, "DELETE FROM credentials")
    assert start() == ""
    assert keyring.actions == []


@pytest.mark.parametrize(("state", "way_out"), [(absent(), "Install"), (locked(), "Unlock it")])
def test_k02_without_a_keyring_everything_stays_and_the_person_is_told_once(
    database: Path, keyring: MemoryKeyring, start: Start, state: Status, way_out: str
) -> None:
    keyring.state = state
    before = legacy.rows(database)
    for _ in range(2):
        notice = start()
        assert str(database) in notice
        assert f"{len(ALL)} keys" in notice
        assert state.sentence in notice
        assert way_out in notice
        assert "canary" not in notice
    assert legacy.rows(database) == before
    keyring.state = MemoryKeyring().state
    assert start() == ""
    assert kept(keyring) == ALL
    assert with_plaintext(database.parent) == []


def test_a_keyring_that_does_not_answer_costs_one_time_limit(
    database: Path, keyring: MemoryKeyring, start: Start
) -> None:
    door = Door()
    keyring.before = lambda _action, _account: door()
    try:
        began = time.monotonic()
        told = start()
        assert "does not answer" in told
        assert time.monotonic() - began < 10  # one second of waiting, and a busy machine
        assert len(in_database(database)) == len(ALL)
    finally:
        door.open()
    keyring.before = lambda _action, _account: None
    assert start() == ""
    assert with_plaintext(database.parent) == []


def test_a_slow_keyring_gets_the_rest_at_the_next_starts(
    database: Path, keyring: MemoryKeyring, start: Start
) -> None:
    told = start(seconds=0.0)
    assert "slow" in told
    assert f"{len(ALL)} keys" in told
    count = 0
    while told := start(seconds=0.01):
        count += 1
        assert kept(keyring) | in_database(database) == ALL
        assert count < 30
    assert with_plaintext(database.parent) == []


def test_a_keyring_that_forgets_moves_nothing(database: Path, start: Start) -> None:
    before = legacy.rows(database)
    assert "did not give back" in start(NullKeyring())
    assert legacy.rows(database) == before


@pytest.mark.parametrize("broken_at", range(1, 60, 4))
def test_a_keyring_that_breaks_at_any_action_leaves_each_secret_somewhere(
    database: Path, keyring: MemoryKeyring, start: Start, broken_at: int
) -> None:
    count = 0

    def break_down(action: str, account: str) -> None:
        nonlocal count
        count += 1
        if count == broken_at:
            raise RuntimeError(f"{action} {account}")

    keyring.before = break_down
    start()
    assert kept(keyring) | in_database(database) >= ALL
    assert start() == ""
    assert kept(keyring) == ALL
    assert with_plaintext(database.parent) == []


def test_a_failure_at_any_statement_leaves_each_secret_somewhere_and_finally_none_in_a_file(
    database: Path,
) -> None:
    change(database, "DELETE FROM credentials")
    change(database, "DELETE FROM api_keys WHERE key_id IS NOT 'work'")
    with open_log(database.parent):
        pass
    wanted = in_database(database)
    assert wanted == {"canary-key-work"}
    saved = {path: path.read_bytes() for path in database.parent.iterdir() if path.is_file()}

    def move(keyring: MemoryKeyring) -> str:
        secrets = SecretStore(open_backend=lambda: keyring)
        try:
            return asyncio.run(
                move_keys(database, secrets, find=only_in(secrets), tell=print, busy_ms=500)
            )
        finally:
            secrets.close()

    number = 0
    while True:
        number += 1
        for path, content in saved.items():
            path.write_bytes(content)
        keyring = MemoryKeyring()
        with failing_at(number, database) as statements:
            move(keyring)
        if not statements.failed:
            break
        assert kept(keyring) | in_database(database) == wanted, f"statement {number}"
        assert move(keyring) == ""
        assert kept(keyring) == wanted
        assert with_plaintext(database.parent) == [], f"statement {number}"
    assert number > 30


def test_a_legacy_key_becomes_the_one_that_nacre_uses_if_there_is_none(
    database: Path, keyring: MemoryKeyring, start: Start
) -> None:
    """The latest of the provider's keys that can be a key at all."""
    start()
    assert keyring.of(LIVE) == ["canary-key-work"]
    assert keyring.of("legacy.api_keys.api_key.work") == []
    assert keyring.of("legacy.api_keys.api_key.old") == ["canary-key-old"]


def test_a_key_that_the_person_has_entered_since_stays(
    database: Path, keyring: MemoryKeyring, start: Start
) -> None:
    keyring.set(LIVE, "entered in Nacre")
    start()
    assert keyring.of(LIVE) == ["entered in Nacre"]
    assert keyring.of("legacy.api_keys.api_key.work") == ["canary-key-work"]


@pytest.mark.parametrize("is_open", [True, False])
def test_a_key_in_the_encrypted_file_stays_the_one_in_use(
    database: Path, keyring: MemoryKeyring, start: Start, is_open: bool
) -> None:
    """Behind it a legacy key would never be used, and go when the other one moves."""
    path = database.parent / "keys"

    async def keep() -> None:
        await keys.unlock_file(Secret("a long passphrase"))
        await keys.keep(LIVE, Secret("in-the-file"), place="file")

    unused = SecretStore(open_backend=MemoryKeyring)
    keys = Keys(unused, KeyFile(path, cost=2**10))
    asyncio.run(keep())
    other = Keys(unused, KeyFile(path, cost=2**10))
    assert start(find=(keys if is_open else other).find) == ""
    keys.close()
    other.close()
    assert keyring.of(LIVE) == []
    assert keyring.of("legacy.api_keys.api_key.work") == ["canary-key-work"]


def test_the_legacy_value_is_the_last_word_while_no_reference_stands_in_its_place(
    database: Path, keyring: MemoryKeyring, start: Start
) -> None:
    keyring.set("legacy.api_keys.api_key.old", "from an earlier try")
    keyring.set("moved-before", "what the keyring holds")
    start()
    assert keyring.of("legacy.api_keys.api_key.old")[-1] == "canary-key-old"
    assert keyring.of("moved-before") == ["what the keyring holds"]


def test_k02_what_windows_can_not_keep_stays_and_is_named(
    database: Path, keyring: MemoryKeyring, start: Start
) -> None:
    told = start(limit=WINDOWS_LIMIT)
    assert "the API key “kkkk" in told
    assert "1200 characters" in told
    assert str(database) in told
    assert {value[:12] for value in in_database(database)} == {"canary-long-"}
    assert len(kept(keyring)) == len(ALL) - 1
    change(database, "DELETE FROM api_keys WHERE key_id LIKE 'kkkk%'")
    # The long one is in the copy too, and there the person has to decide.
    told = start(limit=WINDOWS_LIMIT)
    assert str(copy_of(database)) in told
    assert "delete it" in told
    copy_of(database).unlink()
    assert start(limit=WINDOWS_LIMIT) == ""
    assert with_plaintext(database.parent) == []


def test_a_copy_that_can_not_be_cleaned_is_named_until_it_is_gone(
    database: Path, start: Start
) -> None:
    odd = database.with_name("nacre.db.before-by-hand")
    odd.write_bytes(b"no database, but " + legacy.SECRETS[0])
    told = start()
    assert str(odd) in told
    assert with_plaintext(database.parent) == [odd.name]
    size = database.stat().st_mtime_ns
    assert str(odd) in start()
    odd.unlink()
    assert start() == ""
    assert database.stat().st_mtime_ns >= size
    with closing(sqlite3.connect(database)) as plain:
        assert plain.execute("PRAGMA application_id").fetchone() == (0,)


def test_an_older_value_in_a_copy_is_kept_under_a_name_of_its_own(
    database: Path, keyring: MemoryKeyring, start: Start
) -> None:
    with open_log(database.parent):
        pass
    change(database, "UPDATE api_keys SET api_key = 'canary-newer' WHERE key_id = 'other'")
    change(database, "DELETE FROM audit")  # a trigger of the old installation has kept it there
    start()
    account = "legacy.api_keys.api_key.other"
    assert keyring.of(account) == ["canary-newer"]
    assert keyring.of(f"{account}.{copy_of(database).name}") == ["canary-key-other"]
    assert with_plaintext(database.parent) == []


def test_while_another_process_reads_an_old_state_the_pages_wait_for_the_next_start(
    database: Path, start: Start
) -> None:
    with open_log(database.parent):
        pass
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM api_keys").fetchone()
        assert start() == ""
        assert in_database(database) == set()
        other.execute("ROLLBACK")
    assert with_plaintext(database.parent) != []
    assert start() == ""
    assert with_plaintext(database.parent) == []


def test_two_processes_that_move_at_once_both_end_well(
    database: Path, keyring: MemoryKeyring, start: Start
) -> None:
    with open_log(database.parent):
        pass
    both = [SecretStore(open_backend=lambda: keyring) for _ in range(2)]

    async def move() -> None:
        moves = (
            move_keys(database, one, find=only_in(one), tell=print, seconds=60) for one in both
        )
        await asyncio.gather(*moves)

    asyncio.run(move())
    for one in both:
        one.close()
    assert start() == ""
    assert kept(keyring) == ALL
    assert with_plaintext(database.parent) == []
    assert not [account for account, _ in keyring.entries if account.startswith("self-test")]


def test_the_person_is_told_before_a_large_file_is_cleaned(
    database: Path, start: Start, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moving_keys, "LARGE", 1000)
    assert start() == ""
    assert len(told) == 1
    assert str(database) in told[0]
    start()
    assert len(told) == 1


def test_a_row_that_changed_meanwhile_is_left_alone(database: Path) -> None:
    with open_log(database.parent):
        pass
    secret = legacy_secrets.look(database, busy_ms=500).waiting[-1]
    change(database, "UPDATE api_keys SET api_key = 'canary-newer'")
    before = legacy.rows(database)
    assert not legacy_secrets.refer(database, secret, "account", busy_ms=500)
    assert legacy.rows(database) == before


def test_the_doctor_counts_the_secrets_that_wait(database: Path, start: Start) -> None:
    with open_log(database.parent) as log:
        assert run(log.doctor())["legacy"]["secretsInDatabase"] == len(ALL)
    start()
    with open_log(database.parent) as log:
        assert run(log.doctor())["legacy"]["secretsInDatabase"] == 0


def test_k01_the_log_tells_of_the_move_and_of_no_secret(
    start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        start()
    assert f"moved {len(ALL)} keys into the keyring in " in caplog.text
    assert "cleaned the pages of " in caplog.text
    assert "canary" not in caplog.text


def test_a_whole_start_waits_once_for_a_keyring_that_does_not_answer(
    database: Path, keyring: MemoryKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The move and the reading of the key together: one time limit, and the log is open."""
    door = Door()
    keyring.before = lambda _action, _account: door()
    monkeypatch.setattr("desktop.credentials.system.open_system_keyring", lambda _service: keyring)

    async def act() -> None:
        folder = DataFolder(database.parent)
        folder.prepare()
        runtime = await runtimes.start(folder, redaction=Redaction(), has_person=False)
        try:
            await runtime.find_key()
            assert "does not answer" in runtime.notice
            assert runtime.access.state().keyring == "stuck"
            assert (await runtime.catalogue.view()).tabs == ()
        finally:
            await runtime.close()

    try:
        asyncio.run(act())
        assert keyring.actions == ["look"]
    finally:
        door.open()
