"""A migration of a legacy database that is killed: the file is old or new, never between.

The five kept tables are row-identical in either (SPEC C01), and the next start finishes.
"""

import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.bench.killing.found import copy, unsound
from tests.bench.killing.tally import Tally
from tests.bench.killing.victim import Left, Moment, ended
from tests.e2e.nacre import Home

MESSAGES = 20_000
# The latest kill after the copy of the old file has appeared.
SECONDS = 0.8
KEPT = ("settings", "usage_cache", "wake_schedule", "credentials", "api_keys")
_LEGACY = """
CREATE TABLE messages(id TEXT PRIMARY KEY, tab_id TEXT, seq INTEGER, role TEXT, content_json TEXT,
    created_at INTEGER);
CREATE TABLE tabs(id TEXT PRIMARY KEY, title TEXT, key_id TEXT, model_id TEXT, parent_tab_id TEXT,
    status TEXT, is_open INTEGER, position INTEGER, created_at INTEGER, updated_at INTEGER);
CREATE TABLE settings(key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE usage_cache(key_id TEXT PRIMARY KEY, provider TEXT, cached_at INTEGER,
    report_json TEXT);
CREATE TABLE wake_schedule(hour INTEGER PRIMARY KEY, next_wake_at INTEGER);
CREATE TABLE credentials(key_id TEXT PRIMARY KEY, provider TEXT, access_token TEXT,
    refresh_token TEXT, expires_at INTEGER, subscription_type TEXT, source_file TEXT,
    imported_at INTEGER, updated_at INTEGER);
CREATE TABLE api_keys(key_id TEXT PRIMARY KEY, provider TEXT, api_key TEXT, imported_at INTEGER,
    updated_at INTEGER);
"""


def make_legacy(database: Path) -> None:
    """A legacy database with many messages and some rows in each kept table; no secrets."""
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.executescript(_LEGACY)
        connection.executemany(
            "INSERT INTO messages VALUES (?, ?, ?, 'user', ?, ?)",
            ((f"m{n}", f"t{n % 50}", n, '{"text": "old words"}' * 8, n) for n in range(MESSAGES)),
        )
        connection.executemany(
            "INSERT INTO tabs VALUES (?, 'old', 'k', 'm', NULL, 'idle', 1, ?, 1, 1)",
            ((f"t{n}", n) for n in range(50)),
        )
        connection.executemany(
            "INSERT INTO settings VALUES (?, ?)",
            ((f"key.{n}", "x\\u0000é😀" * (n % 7) if n % 5 else None) for n in range(500)),
        )
        connection.executemany(
            "INSERT INTO usage_cache VALUES (?, 'p', ?, '{}')", ((f"k{n}", n) for n in range(300))
        )
        connection.executemany("INSERT INTO wake_schedule VALUES (?, ?)", enumerate(range(24)))
        connection.executemany(
            "INSERT INTO credentials VALUES (?, 'p', NULL, '', NULL, 'pro', '/f', ?, NULL)",
            ((f"k{n}", n) for n in range(40)),
        )
        connection.executemany(
            "INSERT INTO api_keys VALUES (?, 'p', NULL, ?, 7)", ((f"a{n}", n) for n in range(40))
        )


def killed_migration(folder: Path, *, seed: str, tally: Tally) -> None:
    """One kill, what it left, and the next start."""
    home = Home(folder)
    home.data.mkdir(parents=True)
    make_legacy(home.database)
    before = _state(home.database, folder / "copy")
    dice = random.Random(seed)
    at = Moment(
        seconds=dice.uniform(0.0, SECONDS),
        begun=lambda: any(home.data.glob(f"{home.database.name}.before-*")),
    )
    left = _start(home, at)
    tally.add("runs.migration")
    tally.add("hits.migration", left.was_hit)
    tally.check(left.was_hit or left.code == 0, seed, f"the migration failed: {left.err}")
    found = _state(home.database, folder / "copy")
    tally.add("found.new" if found["is_new"] else "found.old")
    _judge(before, found, seed, tally)
    again = _start(home, None)
    tally.check(again.code == 0, seed, f"the next start failed: {again.err}")
    after = _state(home.database, folder / "copy")
    tally.check(after["is_new"], seed, "the next start did not finish the migration")
    _judge(before, after, seed, tally)


def _start(home: Home, at: Moment | None) -> Left:
    words = ["-m", "desktop", "--data-dir", str(home.data), "tabs"]
    return ended(words, environment=home.environment(), notes=home.root / "notes.txt", at=at)


def _judge(before: dict[str, Any], found: dict[str, Any], seed: str, tally: Tally) -> None:
    tally.add("kept_rows", sum(map(len, found["kept"].values())))
    tally.check(found["kept"] == before["kept"], seed, "a kept table has changed")
    tally.check(not found["faults"], seed, f"the file is {found['faults']}")
    if found["is_new"]:
        tally.check(found["tabs"] == 0, seed, "old tabs are in the new file")
    else:
        tally.check(found == before, seed, "the old file is not as it was")


def _state(database: Path, scratch: Path) -> dict[str, Any]:
    copied = copy(database, scratch)
    assert copied is not None
    with closing(sqlite3.connect(copied)) as connection:
        names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
        has_old, has_new = "messages" in names, "chunks" in names
        faults = unsound(connection)
        if has_old == has_new:
            faults.append("between old and new")
        return {
            "is_new": has_new,
            "faults": faults,
            "tabs": connection.execute("SELECT count(*) FROM tabs").fetchone()[0],
            "messages": connection.execute("SELECT * FROM messages").fetchall() if has_old else [],
            "kept": {
                table: connection.execute(f"SELECT rowid, * FROM {table}").fetchall()
                for table in KEPT
            },
        }
