"""A data folder made of one archive, whole or not at all.

A restored database gets its name last, after its blobs: until then it can be repeated. Blocking:
for a thread or a command.
"""

import os
from collections.abc import Collection, Generator
from contextlib import contextmanager
from pathlib import Path

from desktop.core.backups import Tell
from desktop.core.errors import NewerSchema, StoreDamaged, StoreError
from desktop.paths import sync_folder
from desktop.store import archive, failures
from desktop.store.archive import (
    DATABASE,
    ArchiveReader,
    Manifest,
    NewerArchive,
    Unsound,
    open_archive,
)
from desktop.store.backup_check import check_database, read_all
from desktop.store.plain import SCHEMA
from desktop.store.unfinished import give_name, working_folder

_LEFT_OVER = ("", "-wal", "-journal")


def look(path: Path) -> Manifest:
    """The manifest of an archive that this version can restore; reads no other member.

    Raises NewerSchema, StoreDamaged, StoreError.
    """
    with _restorable(path) as reader:
        return reader.manifest


def restore(path: Path, database: Path, *, blobs: Path, tell: Tell) -> Manifest:
    """Brings an archive back into a data folder that has no database, or changes nothing there.

    The folder exists. Raises StoreError, StoreDamaged (naming the member), NewerSchema.
    """
    with _restorable(path) as reader, failures.told(database):
        _refuse_database(database)
        with working_folder(database.parent) as working:
            taken = read_all(reader, tell, lambda name: _place(working, name))
            check_database(working / DATABASE, reader.manifest, tell)
            for name in sorted(taken):
                if name != DATABASE:
                    _settle_blob(working / name, blobs, keep=reader.manifest.damaged)
            # The database's name is the last thing to appear: until then this can be repeated.
            _refuse_database(database)
            give_name(working / DATABASE, database)
            sync_folder(database.parent)
        return reader.manifest


@contextmanager
def _restorable(path: Path) -> Generator[ArchiveReader]:
    """The archive, open; everything that is wrong with it is told about its file."""
    if not os.path.isfile(path):  # noqa: PTH113 (never raises)
        raise StoreError(
            f"There is no backup {path}.",
            way_out="Give the file that `nacre backup` made.",
        )
    try:
        with _reading(path) as reader:
            if reader.manifest.schema > SCHEMA:
                raise _newer(path, f"schema {reader.manifest.schema}; this one knows {SCHEMA}")
            yield reader
    except NewerArchive as error:
        raise _newer(path, f"this one knows format {archive.VERSION}") from error
    except Unsound as error:
        raise StoreDamaged(
            f"{path} can't be restored: {error.member}: {error.why}.",
            way_out="Nothing was changed. Take another backup.",
            detail=str(error),
        ) from error


@contextmanager
def _reading(path: Path) -> Generator[ArchiveReader]:
    with failures.told(path), open_archive(path) as reader:
        yield reader


def _newer(path: Path, why: str) -> NewerSchema:
    return NewerSchema(
        f"{path} was made by a newer Nacre ({why}). Nothing was changed.",
        way_out="Restore it with the newer Nacre.",
    )


def _refuse_database(database: Path) -> None:
    for end in _LEFT_OVER:
        there = database.with_name(database.name + end)
        if os.path.lexists(there):
            raise StoreError(
                f"There is a database already: {there}. It was not touched.",
                way_out=(
                    "Restore into an empty folder with --data-dir FOLDER, or move the old"
                    " database and its -wal file away first."
                ),
            )


def _place(working: Path, name: str) -> Path:
    place = working / name
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return place


def _settle_blob(file: Path, blobs: Path, *, keep: Collection[str]) -> None:
    """Puts a blob in its place; one that may be better already (`keep`) stays."""
    place = blobs / file.name[:2] / file.name
    if file.name in keep and place.is_file():
        return
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.replace(place)
    sync_folder(place.parent)
