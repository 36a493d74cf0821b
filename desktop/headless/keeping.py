"""The commands that keep and bring back: `backup` and `restore`; each returns its exit code."""

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TextIO

from desktop import paths
from desktop.diagnostics import program_version
from desktop.headless.opening import now_ms
from desktop.headless.printing import printable
from desktop.store import backup, restoring
from desktop.store.archive import DATABASE, Manifest
from desktop.store.home_notes import Home
from desktop.store.homes import read_elsewhere

DONE = 0
# Seconds before the first word about the progress, and between two of them.
PATIENCE, PAUSE = 2.0, 1.0


def make_backup(data_dir: str | None, file: str | None, *, as_json: bool) -> int:
    """One checked archive at `file`, in the folder `file`, or in the data folder's `backups`."""
    choice = paths.choose(data_dir)
    _say_all(choice.notices)
    folder = choice.folder
    made = backup.write(
        folder.database,
        _target(folder, file),
        blobs=folder.blobs,
        program=program_version(),
        now_ms=now_ms,
        tell=Progress(sys.stderr, time.monotonic),
    )
    _say_all(_doubts(made.manifest))
    elsewhere = read_elsewhere(folder.database)
    _say_all(_not_in_it(elsewhere, "are not in this backup: back that folder up yourself"))
    if not made.noted:
        _say("the backup is good, but its time could not be noted in the database.")
    found = {
        "file": str(made.file),
        "bytes": made.size,
        "checkedAt": made.checked_at,
        **_in_json(made.manifest),
        "keptElsewhere": _by_folder(elsewhere),
    }
    words = f"backed up and checked: {made.file} ({_size(made.size)}; {_contents(made.manifest)})"
    _print(found, words, as_json=as_json)
    return DONE


def restore(data_dir: str | None, file: str, *, as_json: bool) -> int:
    """Brings an archive back into a data folder that has no database yet."""
    choice = paths.choose(data_dir)
    archive = _path(file)
    # Before anything is made: a backup that is refused leaves no folder behind.
    restoring.look(archive)
    _say_all((*choice.notices, *choice.folder.prepare()))
    manifest = restoring.restore(
        archive,
        choice.folder.database,
        blobs=choice.folder.blobs,
        tell=Progress(sys.stderr, time.monotonic),
    )
    _say_all(_doubts(manifest))
    elsewhere = read_elsewhere(choice.folder.database)
    _say_all(_not_in_it(elsewhere, "did not come back with the backup: they are read from there"))
    found = {
        "file": str(archive),
        "dataFolder": str(choice.folder.root),
        **_in_json(manifest),
        "keptElsewhere": _by_folder(elsewhere),
    }
    _print(found, f"restored to {choice.folder.root} ({_contents(manifest)})", as_json=as_json)
    return DONE


class Progress:
    """Says how far a long piece of work is, at most once a second; silent about a short one."""

    def __init__(self, out: TextIO, clock: Callable[[], float]) -> None:
        self._out = out
        self._clock = clock
        self._next = clock() + PATIENCE

    def __call__(self, words: str, done: int, total: int) -> None:
        now = self._clock()
        if now < self._next:
            return
        self._next = now + PAUSE
        share = f": {min(done * 100 // total, 100)} % of {_size(total)}" if total else ""
        self._out.write(f"nacre: {words}{share}\n")
        self._out.flush()


def _target(folder: paths.DataFolder, file: str | None) -> Path:
    """Where the archive goes. The data folder's own place is made, if there is a database."""
    if file is None:
        if os.path.isfile(folder.database):  # noqa: PTH113 (never raises)
            try:
                folder.backups.mkdir(mode=paths.PRIVATE, exist_ok=True)
            except OSError as error:
                raise paths.unusable(folder.root, error) from error
        return backup.free_name(folder.backups, now_ms())
    path = _path(file)
    return backup.free_name(path, now_ms()) if os.path.isdir(path) else path  # noqa: PTH112 (never raises)


def _path(file: str) -> Path:
    return Path(file).absolute()


def _doubts(manifest: Manifest) -> tuple[str, ...]:
    """What the person should know about a backup that is good otherwise."""
    found: list[str] = []
    if manifest.missing:
        found.append(
            f"{len(manifest.missing)} large results or attachments were gone already when the"
            " backup was made, so it does not have them."
        )
    if manifest.damaged:
        found.append(
            f"{len(manifest.damaged)} large results or attachments were damaged already when the"
            " backup was made; they are kept as they were."
        )
    if manifest.keys_left_out:
        found.append("the keys in the old database are not part of the backup: enter them again.")
    return tuple(found)


def _not_in_it(elsewhere: Mapping[str, Home], words: str) -> tuple[str, ...]:
    """What is said of the conversations that are kept as files of other folders."""
    return tuple(
        f"conversations that are kept as files in {folder} ({count}) {words}."
        for folder, count in _by_folder(elsewhere).items()
    )


def _by_folder(elsewhere: Mapping[str, Home]) -> dict[str, int]:
    return dict(Counter(str(home.folder) for home in elsewhere.values()))


def _in_json(manifest: Manifest) -> dict[str, Any]:
    return {
        "program": manifest.program,
        "schema": manifest.schema,
        "createdAt": manifest.created_at,
        "counts": dict(manifest.counts),
        "blobs": _blob_count(manifest),
        "missingBlobs": list(manifest.missing),
        "damagedBlobs": list(manifest.damaged),
        "keysLeftOut": manifest.keys_left_out,
    }


def _contents(manifest: Manifest) -> str:
    tabs, rows = manifest.counts.get("tabs", 0), manifest.counts.get("chunks", 0)
    return f"conversations {tabs}, rows {rows}, large results and files {_blob_count(manifest)}"


def _blob_count(manifest: Manifest) -> int:
    return sum(name != DATABASE for name in manifest.members)


def _size(count: int) -> str:
    if count < 1_000_000:
        return f"{count / 1000:.0f} kB"
    return f"{count / 1_000_000:.1f} MB"


def _print(found: dict[str, Any], words: str, *, as_json: bool) -> None:
    print(json.dumps(found) if as_json else printable(words))


def _say_all(sentences: tuple[str, ...]) -> None:
    for sentence in sentences:
        _say(sentence)


def _say(sentence: str) -> None:
    print(f"nacre: {printable(sentence)}", file=sys.stderr)
