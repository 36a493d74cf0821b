"""A backup that is killed: the archive is either not there or good, and the log is as it was."""

import hashlib
import random
import sqlite3
from contextlib import closing
from pathlib import Path

from desktop.core.errors import StoreError
from desktop.store import restoring
from tests.bench._corpus import Corpus
from tests.bench.killing.found import Rows, look
from tests.bench.killing.tally import Tally
from tests.bench.killing.victim import Left, Moment, ended
from tests.e2e.nacre import Home

ROWS = 8_000
BLOBS = 3
BLOB_BYTES = 400_000
# The latest kill after the first sign of work.
SECONDS = 1.0
WORKING = ".nacre-working-*"


def killed_backup(corpus: Corpus, folder: Path, *, seed: str, tally: Tally) -> None:
    """One kill, what it left, and a second backup that is left in peace."""
    home = Home(folder)
    corpus.copy(home.data)
    _keep_blobs(home)
    archive = folder / "kept" / "kept.zip"
    archive.parent.mkdir()
    before = look(home.database, folder / "copy")
    seconds = random.Random(seed).uniform(0.0, SECONDS)
    at = Moment(seconds=seconds, begun=lambda: any(archive.parent.glob(WORKING)))
    left = _backup(home, archive, at)
    tally.add("runs.backup")
    tally.add("hits.backup", left.was_hit)
    tally.check(left.was_hit or left.code == 0, seed, f"the backup failed: {left.err}")
    if archive.exists():
        _judge_archive(archive, folder / "one", before.rows, seed, tally)
    found = look(home.database, folder / "copy")
    tally.check(found.rows == before.rows, seed, "a killed backup changed the log")
    tally.check(not found.faults, seed, f"a killed backup left: {found.faults}")
    again = archive.with_name("again.zip")
    second = _backup(home, again, None)
    tally.check(second.code == 0, seed, f"after a killed backup none could be made: {second.err}")
    # One that was killed before it put anything there is swept when it is old.
    litter = [one for one in archive.parent.glob(WORKING) if any(one.iterdir())]
    tally.check(not litter, seed, f"a killed backup left {litter}")
    if again.exists():
        _judge_archive(again, folder / "two", before.rows, seed, tally)


def _backup(home: Home, archive: Path, at: Moment | None) -> Left:
    words = ["-m", "desktop", "--data-dir", str(home.data), "backup", str(archive)]
    return ended(words, environment=home.environment(), notes=home.root / "notes.txt", at=at)


def _keep_blobs(home: Home) -> None:
    """Blobs as the store keeps them; their rows are written by a plain connection."""
    dice = random.Random(7)
    with closing(sqlite3.connect(home.database)) as connection, connection:
        for _ in range(BLOBS):
            content = dice.randbytes(BLOB_BYTES)
            sha256 = hashlib.sha256(content).hexdigest()
            place = home.data / "blobs" / sha256[:2] / sha256
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
            connection.execute(
                "INSERT INTO blobs(sha256, size, media_type) VALUES (?, ?, 'text/plain')",
                (sha256, len(content)),
            )


def _judge_archive(archive: Path, folder: Path, rows: Rows, seed: str, tally: Tally) -> None:
    """An archive that has its name brings everything back."""
    folder.mkdir()
    database = folder / "nacre.db"
    tally.add("archives")
    try:
        restoring.restore(archive, database, blobs=folder / "blobs", tell=lambda *_: None)
    except StoreError as error:
        tally.broken(seed, f"the archive is no backup: {error}: {error.detail}")
        return
    found = look(database, folder / "copy")
    tally.check(found.rows == rows, seed, "the archive has other rows")
    tally.check(not found.faults, seed, f"the archive has {found.faults}")
    blobs = [path for path in (folder / "blobs").rglob("*") if path.is_file()]
    whole = [hashlib.sha256(one.read_bytes()).hexdigest() == one.name for one in blobs]
    tally.check(len(blobs) == BLOBS and all(whole), seed, "the archive has other blobs")
