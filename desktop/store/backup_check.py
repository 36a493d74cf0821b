"""What an archive of a backup has to be: every member as it was put in, the database whole.

Asked of each archive before it is called a backup, and before anything is brought back from it.
Blocking.
"""

import os
import sqlite3
from collections.abc import Callable, Collection
from contextlib import closing
from pathlib import Path

from desktop.core.backups import Tell
from desktop.store.archive import DATABASE, ArchiveReader, Manifest, Unsound, blob_name
from desktop.store.plain import connect
from desktop.store.unfinished import Progress, create

# Instructions of SQLite between two words about a check.
_STEPS = 1_000_000
_CHECKING = "checking the database"


class UnsoundDatabase(Unsound):
    """The archive is as it was written: it is the database in it that is not sound."""

    def __init__(self, why: str) -> None:
        super().__init__(DATABASE, f"the database in it {why}")


def read_all(
    reader: ArchiveReader, tell: Tell, place_of: Callable[[str], Path | None]
) -> Collection[str]:
    """Reads every member and checks it; those with a place are written there and synced."""
    progress = Progress("reading the archive", reader.manifest.size, tell)
    for name in reader.manifest.members:
        place = place_of(name)
        if place is None:
            reader.read_out(name, len, progress.add)
            continue
        with create(place) as out:
            reader.read_out(name, out.write, progress.add)
            out.flush()
            os.fsync(out.fileno())
    return reader.manifest.members


def check_database(file: Path, manifest: Manifest, tell: Tell) -> None:
    """The database read out of an archive is whole and has the promised rows; raises Unsound."""
    try:
        with closing(sealed(file)) as copy:
            copy.set_progress_handler(lambda: tell(_CHECKING, 0, 0), _STEPS)
            found = [str(row[0]) for row in copy.execute("PRAGMA integrity_check(20)")]
            if found != ["ok"]:
                raise UnsoundDatabase(f"is not whole ({found[0]})")
            if int(copy.execute("PRAGMA user_version").fetchone()[0]) != manifest.schema:
                raise UnsoundDatabase("has another schema than the manifest says")
            counts, named = counts_of(copy), blobs_of(copy)
    except sqlite3.Error as error:
        # A check that `tell` stopped looks like an error of SQLite: let it say so itself.
        tell(_CHECKING, 0, 0)
        raise UnsoundDatabase(f"can't be read ({error})") from error
    for table in {*counts, *manifest.counts}:
        if counts.get(table) != manifest.counts.get(table):
            raise UnsoundDatabase(
                f"has {counts.get(table, 'no')} rows in {ascii(table)[1:-1]}, the"
                f" manifest says {manifest.counts.get(table, 'none')}"
            )
    known_missing = frozenset(manifest.missing)
    for sha256 in named:
        if blob_name(sha256) not in manifest.members and sha256 not in known_missing:
            raise Unsound(blob_name(sha256), "it is not there")


def counts_of(copy: sqlite3.Connection) -> dict[str, int]:
    """Rows by table, without those that an index keeps for itself."""
    names = copy.execute(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
        " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
    ).fetchall()
    return {
        str(name): int(copy.execute(f'SELECT count(*) FROM "{_quoted(name)}"').fetchone()[0])
        for (name,) in names
    }


def _quoted(name: object) -> str:
    return str(name).replace('"', '""')


def blobs_of(copy: sqlite3.Connection) -> list[str]:
    found = copy.execute("SELECT 1 FROM sqlite_master WHERE name = 'blobs' AND type = 'table'")
    if found.fetchone() is None:
        return []
    return [str(row[0]) for row in copy.execute("SELECT sha256 FROM blobs ORDER BY sha256")]


def sealed(file: Path) -> sqlite3.Connection:
    """A copy of our own, which nobody writes to: nothing appears beside it."""
    return connect(file, "sealed", busy_ms=0)
