"""Conversations whose processes meet with a full disk or with a lock, at a random moment."""

import random
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.bench.killing.conversation import Conversation, Trouble
from tests.bench.killing.tally import Tally
from tests.e2e.disk import fill, small_disk

DISK = "32m"
# A writer waits for five seconds; so some locks outlast it.
LOCKED_SECONDS = (0.2, 8.0)


def on_a_full_disk(folder: Path, kills: int, *, seed: str, tally: Tally) -> None:
    """The disk of the data folder has no byte left from then on, until the process has ended."""
    folder.mkdir()
    data = folder / "data"
    filler = data / "filler"
    try:
        with small_disk(data, DISK):
            trouble = Trouble("full", lambda: fill(filler), lambda: filler.unlink(missing_ok=True))
            Conversation(folder, seed=seed, tally=tally, trouble=trouble).run(kills)
    except pytest.skip.Exception as reason:
        tally.note(f"no full disk: {reason}")


def under_a_lock(folder: Path, kills: int, *, seed: str, tally: Tally) -> None:
    """Another program holds the database for writing, shorter or longer than a writer waits."""
    dice = random.Random(seed)
    database = folder / "data" / "nacre.db"

    def hold() -> None:
        if not database.is_file():
            return
        with closing(sqlite3.connect(database, isolation_level=None, timeout=60)) as other:
            try:
                other.execute("BEGIN IMMEDIATE")
            except sqlite3.Error:
                return  # it has no table yet, or is being made
            time.sleep(dice.choice(LOCKED_SECONDS))
            other.execute("ROLLBACK")

    trouble = Trouble("lock", hold, lambda: None)
    Conversation(folder, seed=seed, tally=tally, trouble=trouble).run(kills)
