"""Starts of Nacre on a legacy folder that are killed at a named point, against a real keyring.

    python -m tests.e2e.killed_starts FOLDER STEP

For every point a fresh copy of the legacy folder is started beside a fresh gnome-keyring and killed
there, looked at, started again and looked at again; one JSON object a point is printed. Each start
is the program's own, in a process of its own (a fork, so that nothing is loaded twice).
"""

import asyncio
import hashlib
import json
import logging
import os
import re
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import secretstorage

from desktop.credentials import system
from desktop.credentials.backend import Backend
from desktop.credentials.store import SERVICE
from desktop.diagnostics import Redaction
from desktop.headless.runtime import start
from desktop.paths import DataFolder
from desktop.store.plain import SCHEMA
from tests import private_session
from tests.data import make_legacy_database as legacy

COPY = f"before-{SCHEMA}-was-0"
STARTS = 5  # until a slow keyring has all
CANARY = "self-test"


@dataclass(frozen=True, slots=True)
class Sql:
    """Just before a statement that begins so, on a connection to a file whose name ends so."""

    statement: str
    file: str = "nacre.db"
    occurrence: int = 1


@dataclass(frozen=True, slots=True)
class Keyring:
    """Just after an action of the keyring on an account that matches."""

    action: str
    account: str = ".*"
    occurrence: int = 1


@dataclass(frozen=True, slots=True)
class Removing:
    """Just before a file of this name is removed."""

    name: str


Point = Sql | Keyring | Removing | None

POINTS: dict[str, Point] = {
    "copied": Sql("PRAGMA quick_check", file=".part"),
    "locked": Sql("SELECT name FROM sqlite_master"),
    "dropping": Sql("DROP TABLE IF EXISTS tabs"),
    "creating": Sql("CREATE TABLE chunks"),
    "before the commit": Sql(f"PRAGMA user_version={SCHEMA}"),
    "migrated": Sql("SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('conv"),
    "journal dropping": Sql("DROP TABLE conversation_message_versions"),
    "journal dropped": Removing("session-events.sqlite"),
    "journal files": Removing("session-events.sqlite-wal"),
    "legacy read": Keyring("look"),
    "canary set": Keyring("set", CANARY),
    "canary verified": Keyring("get", CANARY),
    "canary deleted": Keyring("delete", CANARY),
    "secret set": Keyring("set", "legacy.*"),
    "secret verified": Keyring("get", "legacy.*", occurrence=2),
    "inside the scrub": Sql("UPDATE credentials"),
    "before the scrub's commit": Sql("PRAGMA application_id="),
    "scrub committed": Keyring("get", "legacy.*", occurrence=3),
    "own key set": Keyring("set", "anthropic@.*"),
    "last scrub": Sql("UPDATE api_keys", occurrence=10),
    "all moved": Sql("PRAGMA wal_checkpoint"),
    "checkpointed": Sql("VACUUM"),
    "vacuumed": Sql("PRAGMA wal_checkpoint", occurrence=2),
    "inside the copy's scrub": Sql("PRAGMA application_id=", file=COPY, occurrence=3),
    "copy checkpointed": Sql("VACUUM", file=COPY),
    "copy vacuumed": Sql("PRAGMA application_id=0", file=COPY),
    "finishing": Sql("PRAGMA application_id=0"),
    "done": None,
}


def main() -> None:
    """Arguments: a folder, and of how many points one is taken."""
    logging.getLogger().addHandler(logging.NullHandler())
    place = Path(sys.argv[1])
    original = place / "original"
    legacy.make(original, messages=20, huge=0)
    for name, point in list(POINTS.items())[:: int(sys.argv[2])]:
        folder = place / re.sub(r"\W", "-", name)
        shutil.copytree(original, folder)
        # A keyring for each point: gnome-keyring gives the numbers of removed items out again, says
        # so ("already registered"), and has been seen to end itself after a few rounds of that.
        with private_session.secret_service() as environment:
            os.environ.clear()
            os.environ.update(environment)
            print(
                json.dumps({"point": name, **_killed_and_started_again(folder, point)}), flush=True
            )
        shutil.rmtree(folder)


def _killed_and_started_again(folder: Path, point: Point) -> dict[str, Any]:
    ended = _forked(lambda: _start(folder, point))
    killed = _seen(folder)
    again = _forked(lambda: _start(folder, "to its end"))
    return {
        "killed": os.WIFSIGNALED(ended) and os.WTERMSIG(ended) == signal.SIGKILL,
        "after the kill": killed,
        "second start": os.waitstatus_to_exitcode(again),
        "in the end": _seen(folder),
    }


def _start(folder: Path, point: Point | str) -> None:
    """A start of the program; it is killed at `point`, or once it is done."""
    if isinstance(point, Sql):
        _watch_sql(point)
    elif isinstance(point, Keyring):
        _watch_keyring(point)
    elif isinstance(point, Removing):
        sys.addaudithook(
            lambda event, arguments: (
                _die() if event == "os.remove" and Path(arguments[0]).name == point.name else None
            )
        )

    async def run() -> None:
        data = DataFolder(folder)
        data.prepare()
        runtime = await start(data, redaction=Redaction(), has_person=False)
        for _ in range(STARTS):
            if "is slow" not in runtime.notice:
                break
            await runtime.close()  # a busy machine: the next start moves the rest
            runtime = await start(data, redaction=Redaction(), has_person=False)
        try:
            assert runtime.notice == "", runtime.notice
            await runtime.find_key()
            assert runtime.access.state().key_source == "keyring"
            if point is None:
                _die()
        finally:
            await runtime.close()

    asyncio.run(run())


def _watch_sql(point: Sql) -> None:
    connect: Callable[..., sqlite3.Connection] = sqlite3.connect
    count = 0

    def seen(statement: str) -> None:
        nonlocal count
        count += statement.lstrip().startswith(point.statement)
        if count == point.occurrence:
            _die()

    def watched(name: Any, *arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(name, *arguments, **options)
        if str(name).partition("?")[0].endswith(point.file):
            connection.set_trace_callback(seen)
        return connection

    sqlite3.connect = watched


class _Watched:
    """A keyring that dies with its process after an action."""

    def __init__(self, backend: Backend, point: Keyring) -> None:
        self._backend = backend
        self._point = point
        self._count = 0

    def __getattr__(self, action: str) -> Callable[..., Any]:
        def act(*arguments: Any) -> Any:
            result = getattr(self._backend, action)(*arguments)
            account = str(arguments[0]) if arguments else ""
            if action == self._point.action and re.match(self._point.account, account):
                self._count += 1
                if self._count == self._point.occurrence:
                    _die()
            return result

        return act


def _watch_keyring(point: Keyring) -> None:
    open_keyring = system.open_system_keyring
    watched: list[_Watched] = []

    def opened(service: str) -> Any:
        if not watched:  # one for all, so that it counts
            watched.append(_Watched(open_keyring(service), point))
        return watched[0]

    system.open_system_keyring = opened


def _die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("not reached")


def _forked(run: Callable[[], None]) -> int:
    """Runs in a child; its wait status."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    code = 1
    try:
        run()
        code = 0
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
    finally:
        sys.stderr.flush()
        os._exit(code)


def _seen(folder: Path) -> dict[str, Any]:
    """What lies where. The database is looked at in a copy: looking would fold its log in."""
    copy = folder.with_name("looked-at")
    shutil.copytree(folder, copy)
    with closing(sqlite3.connect(copy / "nacre.db")) as plain:
        plain.text_factory = bytes
        rows = plain.execute(
            "SELECT CAST(access_token AS BLOB) FROM credentials UNION"
            " SELECT CAST(refresh_token AS BLOB) FROM credentials UNION"
            " SELECT CAST(api_key AS BLOB) FROM api_keys"
        )
        in_rows = [row[0] for row in rows if row[0] and row[0].startswith(legacy.CANARY)]
        names = {row[0].decode() for row in plain.execute("SELECT name FROM sqlite_master")}
        sound = plain.execute("PRAGMA integrity_check").fetchone() == (b"ok",)
    kept = legacy.without_secrets(legacy.rows(copy / "nacre.db"))
    shutil.rmtree(copy)
    return {
        "in rows": sorted(value.hex() for value in in_rows),
        "in keyring": _in_keyring(),
        "in files": sorted(
            path.name
            for path in folder.rglob("*")
            if path.is_file() and legacy.CANARY in path.read_bytes()
        ),
        "sound": sound,
        "half migrated": "messages" in names and "chunks" in names,
        "journal": sorted(names & set(legacy.JOURNAL)),
        "host": sorted(path.name for path in (folder / ".host").rglob("*") if path.is_file()),
        "rows": fingerprint(kept),
        "unfinished": sorted(path.name for path in folder.glob("*.part*")),
    }


def fingerprint(found: object) -> str:
    return hashlib.sha256(repr(found).encode()).hexdigest()


def _in_keyring() -> dict[str, str]:
    with closing(secretstorage.dbus_init()) as connection:
        return {
            item.get_attributes()["username"]: item.get_secret().hex()
            for item in secretstorage.search_items(connection, {"service": SERVICE})
        }


if __name__ == "__main__":
    main()
