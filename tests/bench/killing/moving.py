"""A migration of a legacy database that is killed: the file is old or new, never between.

The five kept tables are row-identical in either (SPEC C01), and the next start finishes: then the
obsolete journal is gone, its files too, and nothing beside them.
"""

import random
import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from tests.bench._corpus import until_the_end
from tests.bench.killing.found import copy, unsound
from tests.bench.killing.tally import Tally
from tests.bench.killing.victim import Left, Moment, ended
from tests.data import make_legacy_database as legacy
from tests.e2e.nacre import Home

MESSAGES = 12_000
# A table that only this installation has, with references to messages.
NOT_OURS = ("attachments",)
# The latest kill after the copy of the old file has appeared.
SECONDS = 0.8


@dataclass(frozen=True, slots=True)
class _State:
    """What a database file is. `old` counts what only the legacy one has."""

    is_new: bool
    tabs: int
    old: dict[str, int]
    kept: dict[str, Any]
    faults: tuple[str, ...]

    @property
    def kept_rows(self) -> int:
        return sum(map(len, self.kept.values()))


def killed_migration(folder: Path, *, seed: str, tally: Tally) -> None:
    """One kill, what it left, and the next start."""
    home = Home(folder)
    shutil.copytree(_legacy_folder(), home.data)
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
    tally.add("found.new" if found.is_new else "found.old")
    _judge(before, found, seed, tally)
    again = _start(home, None)
    tally.check(again.code == 0, seed, f"the next start failed: {again.err}")
    after = _state(home.database, folder / "copy")
    tally.check(after.is_new, seed, "the next start did not finish the migration")
    tally.check(not after.old, seed, f"the next start left {after.old}")
    _judge(before, after, seed, tally)
    _judge_files(home.data / ".host", seed, tally)


@cache
def _legacy_folder() -> Path:
    """Made once; every run takes a copy."""
    folder = until_the_end(Path(mkdtemp(prefix="nacre-legacy-")))
    legacy.make(folder, messages=MESSAGES)
    return folder


def _start(home: Home, at: Moment | None) -> Left:
    words = ["-m", "desktop", "--data-dir", str(home.data), "tabs"]
    return ended(words, environment=home.environment(), notes=home.root / "notes.txt", at=at)


def _judge(before: _State, found: _State, seed: str, tally: Tally) -> None:
    tally.add("kept_rows", found.kept_rows)
    tally.check(found.kept == before.kept, seed, "a kept table has changed")
    tally.check(not found.faults, seed, f"the file is {found.faults}")
    if found.is_new:
        tally.check(found.tabs == 0, seed, "old tabs are in the new file")
    else:
        tally.check(found == before, seed, "the old file is not as it was")


def _judge_files(host: Path, seed: str, tally: Tally) -> None:
    left = [name for name in legacy.JOURNAL_FILES if (host / name).exists()]
    tally.check(not left, seed, f"the next start left {left}")
    gone = [name for name in legacy.OTHER_HOST_FILES if not (host / name).exists()]
    tally.check(not gone, seed, f"files that are nobody's business are gone: {gone}")


def _state(database: Path, scratch: Path) -> _State:
    copied = copy(database, scratch)
    assert copied is not None
    with closing(sqlite3.connect(copied)) as plain:
        names = {row[0] for row in plain.execute("SELECT name FROM sqlite_master")}
        faults = unsound(plain, beside=NOT_OURS)
        is_new = "chunks" in names
        if is_new == ("messages" in names):
            faults.append("between old and new")
        old = {
            table: int(plain.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
            for table in ("messages", *legacy.JOURNAL)
            if table in names
        }
        tabs = int(plain.execute("SELECT count(*) FROM tabs").fetchone()[0])
    return _State(is_new, tabs, old, legacy.rows(copied), tuple(faults))
