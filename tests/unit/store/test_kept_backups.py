"""What is remembered of backups, and which scheduled ones go again."""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from desktop.core.backups import DAY_MS, BackupNotes, KeptBackup
from desktop.core.errors import StoreError
from desktop.store import backup, backup_check, kept_backups
from tests.unit.store.builders import new_tab, open_log, run, tool_turn

NOW = 1_700_000_000_000
MINE = "/data/mine"


def _quiet(_words: str, _done: int, _total: int) -> None:
    pass


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    (folder / "backups").mkdir(parents=True)
    with open_log(folder) as log:
        run(log.session(new_tab(log, tmp_path)).append(tool_turn()))
    return folder


def _make(data: Path, target: Path, *, now: int = NOW, scheduled_for: str = MINE) -> Path:
    return backup.write(
        data / "nacre.db",
        target,
        blobs=data / "blobs",
        program="1",
        now_ms=lambda: now,
        tell=_quiet,
        scheduled_for=scheduled_for,
    ).file


def _scheduled(data: Path, now: int, *, scheduled_for: str = MINE) -> Path:
    name = kept_backups.scheduled_name(data / "backups", now)
    return _make(data, name, now=now, scheduled_for=scheduled_for)


def _left(data: Path) -> set[Path]:
    return set((data / "backups").iterdir())


def _notes(data: Path) -> BackupNotes:
    with open_log(data) as log:
        return run(log.backup_notes())


def test_the_oldest_scheduled_backups_go_and_the_newest_stay(data: Path) -> None:
    made = [_scheduled(data, NOW + day * DAY_MS) for day in range(5)]
    gone = kept_backups.drop_older(made[-1], scheduled_for=MINE, keep=3)
    assert set(gone) == set(made[:2])
    assert _left(data) == set(made[2:])


def test_the_one_that_was_just_made_stays_though_the_clock_went_back(data: Path) -> None:
    older = [_scheduled(data, NOW + day * DAY_MS) for day in range(3)]
    made = _scheduled(data, NOW - 300 * DAY_MS)
    kept_backups.drop_older(made, scheduled_for=MINE, keep=2)
    assert _left(data) == {made, older[-1]}


def test_what_a_person_made_named_or_linked_is_never_deleted(data: Path, tmp_path: Path) -> None:
    """SPEC U13: nothing goes but what the schedule itself made."""
    place = data / "backups"
    old = _scheduled(data, NOW)
    renamed = _scheduled(data, NOW + 1_000).rename(place / "before the move.zip")
    by_hand = _make(data, backup.free_name(place, NOW), scheduled_for="")
    in_disguise = _make(data, kept_backups.scheduled_name(place, NOW + 2_000), scheduled_for="")
    elsewhere = _scheduled(data, NOW + 3_000, scheduled_for="/data/other")
    damaged = kept_backups.scheduled_name(place, NOW + 4_000)
    damaged.write_bytes(old.read_bytes()[:2_000])
    linked = kept_backups.scheduled_name(place, NOW + 5_000)
    outside = Path(shutil.copyfile(old, tmp_path / "outside.zip"))
    linked.symlink_to(outside)
    folder = kept_backups.scheduled_name(place, NOW + 6_000)
    folder.mkdir()
    made = _scheduled(data, NOW + DAY_MS)
    assert kept_backups.drop_older(made, scheduled_for=MINE, keep=1) == (old,)
    assert _left(data) == {renamed, by_hand, in_disguise, elsewhere, damaged, linked, folder, made}
    assert outside.exists()


def test_one_that_can_not_be_deleted_does_not_keep_the_others(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [_scheduled(data, NOW + day * DAY_MS) for day in range(3)]
    really = Path.unlink

    def unlink(path: Path, missing_ok: bool = False) -> None:
        if path == made[1]:
            raise PermissionError(1, "not permitted", str(path))
        really(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", unlink)
    assert kept_backups.drop_older(made[-1], scheduled_for=MINE, keep=1) == (made[0],)
    assert _left(data) == {made[1], made[2]}


def test_the_notes_tell_the_last_good_one_and_the_last_scheduled_one(data: Path) -> None:
    """SPEC U17: the last good backup can be shown."""
    assert _notes(data) == BackupNotes()
    scheduled = _scheduled(data, NOW)
    by_hand = _make(data, data / "backups" / "kept.zip", now=NOW + 5_000, scheduled_for="")
    with closing(sqlite3.connect(data / "nacre.db")) as plain, plain:
        plain.execute("INSERT INTO backups(file, size, created_at) VALUES ('not checked', 1, 1)")
    found = _notes(data)
    assert found.last == KeptBackup(str(by_hand), by_hand.stat().st_size, NOW + 5_000)
    assert found.scheduled_at == NOW
    assert scheduled.name.startswith("nacre-scheduled-")


def test_a_log_without_a_row_has_nothing_to_keep(tmp_path: Path) -> None:
    assert _notes(tmp_path).is_empty


class Stop(Exception):
    """What the one who watches raises to end it."""


@pytest.mark.parametrize(
    "at", ["copying the database", "writing the archive", "reading the archive", "checking"]
)
def test_a_backup_that_is_stopped_leaves_nothing_behind(
    data: Path, at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup_check, "_STEPS", 100)

    def tell(words: str, _done: int, _total: int) -> None:
        if words.startswith(at):
            raise Stop

    with pytest.raises(Stop):
        backup.write(
            data / "nacre.db",
            data / "backups" / "b.zip",
            blobs=data / "blobs",
            program="1",
            now_ms=lambda: NOW,
            tell=tell,
        )
    assert _left(data) == set()
    assert _notes(data).last is None


def test_u16_a_backup_holds_no_write_lock_at_any_step(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between any two steps of every stage another connection begins to write at once."""
    monkeypatch.setattr(backup_check, "_STEPS", 100)
    monkeypatch.setattr(backup, "_PAGES", 4)
    stages: set[str] = set()
    with closing(sqlite3.connect(data / "nacre.db", isolation_level=None, timeout=0)) as writer:

        def tell(words: str, _done: int, _total: int) -> None:
            stages.add(words)
            writer.execute("BEGIN IMMEDIATE")
            writer.execute("INSERT INTO settings VALUES (?, 'x')", (f"written {len(stages)}",))
            writer.execute("ROLLBACK")

        backup.write(
            data / "nacre.db",
            data / "backups" / "b.zip",
            blobs=data / "blobs",
            program="1",
            now_ms=lambda: NOW,
            tell=tell,
        )
    assert len(stages) == 4


def test_a_folder_that_is_not_there_is_named_and_not_made(data: Path) -> None:
    """A disk that is not plugged in must not be written to beside itself."""
    gone = data / "unplugged"
    with pytest.raises(StoreError) as told:
        _make(data, kept_backups.scheduled_name(gone, NOW))
    assert str(gone) in str(told.value)
    assert not os.path.lexists(gone)
