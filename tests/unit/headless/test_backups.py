"""The schedule: when it makes a backup, when it waits, and what the person is told."""

import asyncio
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from desktop.core.backups import DAY_MS, KeptBackup
from desktop.core.errors import StoreError, StoreFull
from desktop.headless import backups
from desktop.headless.backups import Around, Backups
from desktop.paths import DataFolder
from desktop.settings import Preferences
from desktop.store import backup, restoring
from desktop.store.log import Log
from desktop.store.plain import connect
from tests.unit.store.builders import chunk, new_tab, open_log, run, tool_turn

NOW = 1_700_000_000_000
HOUR_MS = 3_600_000


@dataclass(slots=True)
class Desk:
    """A data folder with a conversation, its backups, and what was told about them."""

    folder: DataFolder
    log: Log
    now: int = NOW
    busy: bool = False
    preferences: Preferences = field(default_factory=Preferences)
    told: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    least_free: int = 0

    def backups(self) -> Backups:
        return Backups(
            self.folder,
            Around(
                notes=self.log.backup_notes,
                preferences=lambda: self.preferences,
                is_busy=lambda: self.busy,
                stand=lambda key, sentence, _detail: self.told.append((key, sentence)),
                now_ms=lambda: self.now,
                least_free=self.least_free,
            ),
        )

    def wish(self, key: str, value: str | int) -> None:
        self.preferences = self.preferences.changed(key, value)

    def files(self) -> list[str]:
        place = self.folder.backups
        return sorted(one.name for one in place.iterdir()) if place.is_dir() else []


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    folder = DataFolder(tmp_path / "data")
    folder.prepare()
    with open_log(folder.root) as log:
        run(log.session(new_tab(log, tmp_path)).append(tool_turn()))
        yield Desk(folder, log)


def _look(schedule: Backups) -> KeptBackup | None:
    return run(schedule.look())


def test_a_scheduled_backup_is_made_when_it_is_due_and_then_not_again(desk: Desk) -> None:
    schedule = desk.backups()
    made = _look(schedule)
    assert made is not None
    assert restoring.look(Path(made.file)).scheduled_for == str(desk.folder.root)
    assert _look(schedule) is None
    desk.now += DAY_MS - 1
    assert _look(schedule) is None
    desk.now += 1
    assert _look(schedule) is not None
    assert len(desk.files()) == 2
    assert desk.told == []


def test_only_as_many_scheduled_backups_stay_as_the_person_wants(desk: Desk) -> None:
    desk.wish("backup.keep", 2)
    schedule = desk.backups()
    made: list[str] = []
    for _ in range(4):
        found = _look(schedule)
        assert found is not None
        made.append(Path(found.file).name)
        desk.now += DAY_MS
    assert desk.files() == made[2:]


def test_older_backups_stay_while_the_new_one_fails(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC U17: an old backup goes only after the new one was found good."""
    desk.wish("backup.keep", 1)
    schedule = desk.backups()
    assert _look(schedule) is not None
    before = desk.files()
    desk.now += DAY_MS

    def damaging(*arguments: object, **others: object) -> None:
        raise StoreError("It did not come back as it was written.")

    monkeypatch.setattr(backup, "_check_written", damaging)
    assert _look(schedule) is None
    assert desk.files() == before
    monkeypatch.undo()
    desk.now += HOUR_MS
    assert _look(schedule) is not None
    assert len(desk.files()) == 1
    assert desk.files() != before


@pytest.mark.parametrize(("interval", "wait"), [("daily", DAY_MS), ("weekly", 7 * DAY_MS)])
def test_the_person_says_how_often(desk: Desk, interval: str, wait: int) -> None:
    desk.wish("backup.interval", interval)
    schedule = desk.backups()
    assert _look(schedule) is not None
    desk.now += wait - 1
    assert _look(schedule) is None
    desk.now += 1
    assert _look(schedule) is not None


def test_with_the_schedule_off_nothing_is_made(desk: Desk) -> None:
    desk.wish("backup.interval", "off")
    assert _look(desk.backups()) is None
    assert desk.files() == []


def test_an_empty_log_is_not_backed_up(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "data")
    folder.prepare()
    with open_log(folder.root) as log:
        assert _look(Desk(folder, log).backups()) is None


def test_it_waits_while_a_turn_runs_but_not_longer_than_a_day(desk: Desk) -> None:
    schedule = desk.backups()
    desk.busy = True
    assert _look(schedule) is None
    desk.now += DAY_MS - 1
    assert _look(schedule) is None
    desk.now += 1
    assert _look(schedule) is not None


def test_after_a_pause_of_weeks_a_running_turn_is_not_waited_for(desk: Desk) -> None:
    assert _look(desk.backups()) is not None
    desk.now += 20 * DAY_MS
    desk.busy = True
    assert _look(desk.backups()) is not None


def test_only_one_of_two_processes_makes_it(desk: Desk) -> None:
    """Both find it due; one has the lock, and afterwards it is not due any more."""
    script = (
        "import sys; from filelock import FileLock; lock = FileLock(sys.argv[1]); lock.acquire();"
        " print('held', flush=True); sys.stdin.read()"
    )
    lock = desk.folder.run / "scheduled-backup.lock"
    with subprocess.Popen(
        [sys.executable, "-c", script, str(lock)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        assert _look(desk.backups()) is None
        assert desk.told == []
        other.communicate("")
    assert _look(desk.backups()) is not None


def test_two_schedules_at_the_same_moment_make_one_backup(desk: Desk) -> None:
    async def both() -> list[KeptBackup | None]:
        return [*await asyncio.gather(desk.backups().look(), desk.backups().look())]

    assert sorted(made is None for made in run(both())) == [False, True]
    assert len(desk.files()) == 1


def test_u17_a_failure_is_told_once_a_day_and_taken_back_by_a_good_one(desk: Desk) -> None:
    unplugged = desk.folder.root.parent / "unplugged"
    desk.wish("backup.folder", str(unplugged))
    schedule = desk.backups()
    for _ in range(30):
        assert _look(schedule) is None
        desk.now += 300_000
    assert len(desk.told) == 1
    key, sentence = desk.told[0]
    assert key == "backup"
    assert sentence.startswith("The scheduled backup was not made.")
    assert str(unplugged) in sentence
    desk.now += DAY_MS
    assert _look(schedule) is None
    assert len(desk.told) == 2
    assert not unplugged.exists()
    unplugged.mkdir()
    desk.now += HOUR_MS
    assert _look(schedule) is not None
    assert desk.told[2:] == [("backup", "")]


def test_after_a_failure_it_waits_an_hour_unless_the_person_changes_something(desk: Desk) -> None:
    place = desk.folder.root.parent / "elsewhere"
    desk.wish("backup.folder", str(place))
    schedule = desk.backups()
    assert _look(schedule) is None
    place.mkdir()
    desk.now += HOUR_MS - 1
    assert _look(schedule) is None
    schedule.plan_changed()
    assert _look(schedule) is not None
    assert len(list(place.iterdir())) == 1


def test_a_backup_by_hand_takes_the_notice_away_too(desk: Desk, tmp_path: Path) -> None:
    desk.wish("backup.folder", str(tmp_path / "unplugged"))
    schedule = desk.backups()
    assert _look(schedule) is None
    run(schedule.back_up(tmp_path / "b.zip", lambda *_: None))
    assert [sentence for _, sentence in desk.told][1:] == [""]


def test_f_s04_a_disk_without_room_is_told_before_anything_is_written(desk: Desk) -> None:
    desk.least_free = shutil.disk_usage(desk.folder.root).total
    schedule = desk.backups()
    assert _look(schedule) is None
    assert desk.files() == []
    ((_, sentence),) = desk.told
    assert "A backup needs about" in sentence
    assert "Free some space there, or choose a folder on another disk." in sentence
    with pytest.raises(StoreFull):
        run(schedule.back_up(desk.folder.root / "b.zip", lambda *_: None))


def test_a_backup_by_hand_goes_to_the_file_or_into_the_folder_and_says_how_far_it_is(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []
    there = threading.Event()
    monkeypatch.setattr(backup, "sync_folder", lambda _: there.wait(5))

    def tell(words: str, _done: int, _total: int) -> None:
        heard.append(words)
        there.set()

    schedule = desk.backups()
    made = run(schedule.back_up(tmp_path / "mine.zip", tell))
    assert made.file == str(tmp_path / "mine.zip")
    assert heard
    other = run(schedule.back_up(tmp_path, lambda *_: None))
    assert Path(other.file).parent == tmp_path
    assert restoring.look(Path(other.file)).scheduled_for == ""
    default = run(schedule.back_up(desk.folder.backups, lambda *_: None))
    assert Path(default.file).parent == desk.folder.backups


def test_a_backup_that_is_cancelled_stops_and_leaves_nothing(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    going, on = threading.Event(), threading.Event()
    really = backup._copy  # pyright: ignore[reportPrivateUsage]

    def held(*arguments: object, **others: object) -> int:
        going.set()
        on.wait(5)
        return really(*arguments, **others)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(backup, "_copy", held)
    monkeypatch.setattr(backups, "STOP_SECONDS", 5.0)

    async def cancel() -> None:
        making = asyncio.ensure_future(desk.backups().back_up(place / "b.zip", lambda *_: None))
        await asyncio.to_thread(going.wait, 5)
        making.cancel()
        await asyncio.sleep(0)
        on.set()
        with pytest.raises(asyncio.CancelledError):
            await making

    run(cancel())
    assert list(place.iterdir()) == []
    assert run(desk.log.backup_notes()).last is None


def test_u17_the_last_good_backup_and_where_the_next_goes_can_be_seen(desk: Desk) -> None:
    schedule = desk.backups()
    state = run(schedule.state())
    assert (state.last, state.is_stale, state.is_same_disk) == (None, False, True)
    assert (state.folder, state.is_folder_there) == (str(desk.folder.backups), True)
    made = _look(schedule)
    assert made is not None
    desk.now += 3 * DAY_MS + 1
    state = run(schedule.state())
    assert state.last == made
    assert state.is_stale
    assert state.is_there
    Path(made.file).unlink()
    desk.wish("backup.folder", "/no/such/place")
    state = run(schedule.state())
    assert (state.is_there, state.is_folder_there) == (False, False)


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="no second disk here")
def test_a_folder_on_another_disk_is_seen_as_such(desk: Desk) -> None:
    desk.wish("backup.folder", "/dev/shm")
    assert not run(desk.backups().state()).is_same_disk


def test_the_schedule_looks_once_the_window_has_settled_and_then_now_and_then(
    desk: Desk,
) -> None:
    waits: list[tuple[float, Callable[[], None]]] = []
    looks: list[int] = []
    schedule = desk.backups()

    async def twice() -> None:
        started: list[asyncio.Task[None]] = []
        schedule.watch(
            lambda seconds, call: waits.append((seconds, call)),
            lambda coroutine, _name: started.append(asyncio.ensure_future(coroutine)),
        )
        assert desk.files() == []
        end = schedule.on_look(lambda: looks.append(len(desk.files())))
        waits[0][1]()
        await asyncio.gather(*started)
        end()
        waits[1][1]()
        await asyncio.gather(*started)

    run(twice())
    assert looks == [1], "who shows backups hears of it once it is made"
    del waits[2:]
    assert [seconds for seconds, _ in waits] == [backups.SETTLE_SECONDS, backups.LOOK_SECONDS]
    assert backups.SETTLE_SECONDS >= 60
    assert len(desk.files()) == 1


def test_a_damaged_log_is_no_reason_for_a_backup_that_replaces_a_good_one(desk: Desk) -> None:
    desk.wish("backup.keep", 1)
    schedule = desk.backups()
    good = _look(schedule)
    assert good is not None
    run(desk.log.session(new_tab(desk.log, desk.folder.root)).append([chunk("x", "y" * 100)]))
    run(desk.log.close())
    with closing(connect(desk.folder.database, "write", busy_ms=0)) as plain:
        page = int(plain.execute("PRAGMA page_size").fetchone()[0])
        root = int(
            plain.execute("SELECT rootpage FROM sqlite_master WHERE name = 'chunks'").fetchone()[0]
        )
    with desk.folder.database.open("r+b") as file:
        file.seek((root - 1) * page + page // 2)
        file.write(b"\xff" * (page // 2))
    with open_log(desk.folder.root, prefix="again") as log:
        again = replace(desk, log=log, now=desk.now + DAY_MS)
        assert _look(again.backups()) is None
    assert desk.files() == [Path(good.file).name]
    assert "damaged" in desk.told[-1][1]
