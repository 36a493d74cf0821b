"""Settings → Storage: the last good backup, what takes room, and the long work of its buttons."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
import qasync
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import (
    QAbstractButton,
    QDialog,
    QFileDialog,
    QLabel,
    QLineEdit,
    QProgressBar,
    QTreeView,
)
from pytestqt.qtbot import QtBot

from desktop.core.backups import DAY_MS, BackupState, KeptBackup, Tell
from desktop.core.errors import StoreError, StoreFull
from desktop.core.records import Storage, TabStorage
from desktop.ui.doors import StorageDoors
from desktop.ui.storage_jobs import StorageJobs
from desktop.ui.storage_model import StorageModel
from desktop.ui.storage_page import StoragePage
from desktop.ui.tasks import Tasks
from desktop.ui.theme import LIGHT, Theme
from tests.ui.on_screen import OnScreen

NOW = 1_700_000_000_000
KEPT = KeptBackup("/kept/nacre-1.zip", 12_900_000, NOW - 60_000)
STATE = BackupState(
    last=KEPT,
    is_there=True,
    is_stale=False,
    folder="/data/backups",
    is_folder_there=True,
    is_same_disk=True,
)
TABS = (
    TabStorage("a", "The large one", 1_204, 5_000_000, 3_000_000),
    TabStorage("b", "שיחה (v2)", 12, 2_000, 0),
    TabStorage("c", "", 3, 500, 0),
)
ROOM = Storage(TABS, 96_900_000, 72_500, 3_000_000, 780_000, 72_600_000_000)


@dataclass(slots=True)
class Log:
    """What stands behind the page: answers that a test sets, work that waits until it is let go."""

    state: BackupState = STATE
    room: Storage = ROOM
    failure: StoreError | None = None
    freed: int = 4_000_000
    let_go: asyncio.Event = field(default_factory=asyncio.Event)
    targets: list[Path] = field(default_factory=list[Path])
    told: list[str] = field(default_factory=list[str])
    asked: int = 0
    listeners: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])

    async def storage(self) -> Storage:
        self.asked += 1
        return self.room

    async def backups(self) -> BackupState:
        return self.state

    def on_look(self, looked: Callable[[], None]) -> Callable[[], None]:
        self.listeners.append(looked)
        return lambda: self.listeners.remove(looked)

    async def back_up(self, target: Path, tell: Tell) -> KeptBackup:
        self.targets.append(target)
        tell("copying the database", 4_000_000, 12_000_000)
        await self.let_go.wait()
        if self.failure is not None:
            raise self.failure
        return replace(KEPT, file=str(target))

    async def free_space(self, tell: Callable[[str, int], None]) -> int:
        tell("Giving pages back", 2_000_000)
        await self.let_go.wait()
        return self.freed


@dataclass(slots=True)
class Desk(OnScreen):
    """The page with what it shows."""

    page: StoragePage
    log: Log
    jobs: StorageJobs
    loop: qasync.QEventLoop
    qtbot: QtBot

    def label(self, name: str) -> str:
        label = self.page.findChild(QLabel, name)
        assert label is not None, name
        return label.text() if label.isVisible() else ""

    def button(self, name: str) -> QAbstractButton:
        button = self.page.findChild(QAbstractButton, name)
        assert button is not None, name
        return button

    def click(self, name: str) -> None:
        async def clicking() -> None:
            self.qtbot.mouseClick(self.button(name), Qt.MouseButton.LeftButton)

        self.run(clicking())

    def in_loop(self, act: Callable[[], object]) -> None:
        async def acting() -> None:
            act()

        self.run(acting())

    def show(self) -> None:
        self.in_loop(self.page.show)
        self.wait(lambda: self.label("lastBackup").startswith("Last good") and self.log.asked)


@pytest.fixture
def desk(loop: qasync.QEventLoop, qtbot: QtBot) -> Iterator[Desk]:
    log, tasks = Log(), Tasks()
    jobs = StorageJobs(
        tasks=tasks,
        back_up=log.back_up,
        free_space=log.free_space,
        tell=lambda sentence, _detail: log.told.append(sentence),
    )
    made = _page(log, jobs, tasks)
    qtbot.addWidget(made)
    there = Desk(made, log, jobs, loop, qtbot)
    yield there
    there.run(tasks.close())


def _page(log: Log, jobs: StorageJobs, tasks: Tasks) -> StoragePage:
    doors = StorageDoors(
        storage=log.storage,
        backups=log.backups,
        on_backup_look=log.on_look,
        jobs=jobs,
        now_ms=lambda: NOW,
        data_folder="/data",
    )
    page = StoragePage(Theme("light", LIGHT), doors, tasks)
    page.resize(600, 900)
    return page


def test_u17_the_last_good_backup_is_seen_with_its_time_size_and_place(desk: Desk) -> None:
    desk.show()
    words = desk.label("lastBackup")
    assert words.startswith("Last good backup: today ")
    assert words.endswith("12.3 MB")
    assert desk.label("lastBackupFile") == KEPT.file
    assert desk.label("backupWarning") == ""
    assert "another disk is better" in desk.label("backupPlace")


def test_u17_a_backup_that_the_schedule_makes_while_the_page_is_open_is_seen(desk: Desk) -> None:
    desk.log.state = replace(STATE, last=None, is_there=False)
    desk.show()
    asked = desk.log.asked
    desk.in_loop(desk.log.listeners[0])
    desk.log.state = STATE
    desk.in_loop(desk.log.listeners[0])
    desk.wait(lambda: desk.label("lastBackupFile") == KEPT.file)
    desk.wait(lambda: desk.log.asked == asked + 1)
    assert desk.label("lastBackup").startswith("Last good backup: today ")
    desk.in_loop(desk.page.hide)
    assert desk.log.listeners == []


def test_where_none_was_made_it_says_never(desk: Desk) -> None:
    desk.log.state = replace(STATE, last=None, is_there=False)
    desk.show()
    assert desk.label("lastBackup") == "Last good backup: never"
    assert desk.label("backupWarning") == ""


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (replace(STATE, is_stale=True), "longer ago than you want"),
        (replace(STATE, is_there=False), "no longer where it was made"),
        (replace(STATE, folder="/media/stick", is_folder_there=False), "/media/stick is not there"),
    ],
)
def test_u17_what_is_doubtful_about_the_backups_is_said(
    desk: Desk, state: BackupState, words: str
) -> None:
    desk.log.state = state
    desk.show()
    assert words in desk.label("backupWarning")


def test_a_folder_on_another_disk_is_not_argued_with(desk: Desk) -> None:
    desk.log.state = replace(STATE, is_same_disk=False)
    desk.show()
    assert desk.label("backupPlace") == ""


def test_u08_the_sizes_are_seen_by_conversation_and_in_all(desk: Desk) -> None:
    desk.show()
    table = desk.page.findChild(QTreeView, "storageTable")
    assert table is not None
    desk.wait(table.isVisible)
    model = table.model()
    rows = [
        [str(model.index(row, column).data()).strip("\u2068\u2069") for column in range(3)]
        for row in range(model.rowCount())
    ]
    assert rows == [
        ["The large one", "1204", "7.6 MB"],
        ["שיחה (v2)", "12", "2.0 kB"],
        ["(no title)", "3", "500 bytes"],
    ]
    shown = [label.text() for label in desk.page.findChildren(QLabel) if label.isVisible()]
    assert {"92.4 MB", "70.8 kB", "2.9 MB", "761.7 kB", "67.6 GB"} <= set(shown)


def test_nothing_is_asked_before_the_page_is_seen(desk: Desk) -> None:
    desk.in_loop(lambda: None)
    assert desk.log.asked == 0


def test_an_empty_log_says_so_in_place_of_a_table(desk: Desk) -> None:
    desk.log.room = replace(ROOM, tabs=())
    desk.show()
    desk.wait(lambda: desk.label("storageEmpty") == "There is no conversation yet.")
    table = desk.page.findChild(QTreeView, "storageTable")
    assert table is not None
    assert not table.isVisible()


def test_ten_thousand_conversations_are_shown_and_walked_with_the_keyboard(desk: Desk) -> None:
    desk.log.room = replace(
        ROOM,
        tabs=tuple(TabStorage(f"t{n}", f"Title {n} " * 30, n, n, 0) for n in range(10_000, 0, -1)),
    )
    desk.show()
    table = desk.page.findChild(QTreeView, "storageTable")
    assert table is not None
    desk.wait(table.isVisible)
    table.setFocus()
    desk.in_loop(lambda: desk.qtbot.keyClick(table, Qt.Key.Key_End))
    assert table.currentIndex().row() == 9_999
    desk.in_loop(lambda: desk.qtbot.keyClick(table, Qt.Key.Key_Home))
    assert table.currentIndex().row() == 0
    assert table.textElideMode() is Qt.TextElideMode.ElideMiddle
    assert table.horizontalScrollBar().maximum() == 0


def test_the_table_is_a_sound_model_and_speaks_whole_rows(qtbot: QtBot) -> None:
    model = StorageModel()
    tester = QAbstractItemModelTester(
        model, QAbstractItemModelTester.FailureReportingMode.Warning, model
    )
    for tabs in (TABS, (), TABS[:1]):
        model.show(tabs)
    assert tester.model() is model
    spoken = model.index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "The large one, 7.6 MB, 1204 entries"
    assert "large results and attachments 2.9 MB" in str(
        model.index(0, 1).data(Qt.ItemDataRole.ToolTipRole)
    )


def test_every_button_and_field_has_a_name_for_a_screen_reader(desk: Desk) -> None:
    desk.show()
    for button in desk.page.findChildren(QAbstractButton):
        assert button.text() or button.accessibleName()
    for part in (QTreeView, QProgressBar):
        for one in desk.page.findChildren(part):
            assert one.accessibleName()


def _choose_file(desk: Desk, name: str) -> None:
    desk.click("backUpNow")
    desk.wait(lambda: desk.page.findChildren(QFileDialog))
    dialog = desk.page.findChildren(QFileDialog)[-1]
    field = dialog.findChild(QLineEdit, "fileNameEdit")
    assert field is not None
    assert field.text().startswith("nacre-2023111")
    field.setText(name)
    desk.in_loop(lambda: desk.qtbot.keyClick(field, Qt.Key.Key_Return))


def test_a_backup_is_made_where_the_person_says_and_shows_how_far_it_is(
    desk: Desk, tmp_path: Path
) -> None:
    desk.show()
    _choose_file(desk, str(tmp_path / "mine"))
    desk.wait(lambda: desk.label("storageWork"))
    assert desk.log.targets == [tmp_path / "mine.zip"]
    assert desk.label("storageWork") == "Copying the database: 3.8 MB of 11.4 MB"
    assert not desk.button("backUpNow").isEnabled()
    assert not desk.button("freeSpace").isEnabled()
    assert desk.button("stopStorageWork").isVisible()
    before = desk.log.asked
    desk.in_loop(desk.log.let_go.set)
    desk.wait(lambda: "Backed up and checked" in desk.label("storageAnswer"))
    assert str(tmp_path / "mine.zip") in desk.label("storageAnswer")
    assert desk.button("backUpNow").isEnabled()
    assert desk.label("storageWork") == ""
    desk.wait(lambda: desk.log.asked == before + 1)
    assert desk.log.told == []


def test_the_dialog_can_be_closed_without_a_backup(desk: Desk) -> None:
    desk.show()
    desk.click("backUpNow")
    desk.wait(lambda: desk.page.findChildren(QFileDialog))
    desk.in_loop(desk.page.findChildren(QFileDialog)[-1].reject)
    desk.in_loop(lambda: None)
    assert desk.log.targets == []
    assert not desk.jobs.is_running


def test_cancel_stops_the_work_and_says_that_nothing_is_left(desk: Desk, tmp_path: Path) -> None:
    desk.show()
    desk.in_loop(lambda: desk.jobs.back_up(tmp_path / "b.zip"))
    desk.wait(lambda: desk.label("storageWork"))
    desk.click("stopStorageWork")
    desk.wait(lambda: desk.label("storageAnswer") == "Stopped. Nothing of it was left behind.")
    assert not desk.jobs.is_running
    desk.in_loop(desk.log.let_go.set)
    desk.in_loop(desk.jobs.free_space)
    desk.wait(lambda: "given back" in desk.label("storageAnswer"))


def test_u17_a_failure_is_told_in_words_where_the_button_is(desk: Desk, tmp_path: Path) -> None:
    desk.log.failure = StoreFull("There is no room left for x.", way_out="Free some space.")
    desk.show()
    desk.log.let_go.set()
    desk.in_loop(lambda: desk.jobs.back_up(tmp_path / "b.zip"))
    desk.wait(lambda: desk.label("storageAnswer"))
    assert desk.label("storageAnswer") == "There is no room left for x. Free some space."
    answer = desk.page.findChild(QLabel, "storageAnswer")
    assert answer is not None
    assert answer.property("danger") is True


def test_u08_freeing_space_says_what_it_gave_back_under_its_button(desk: Desk) -> None:
    desk.show()
    desk.click("freeSpace")
    desk.wait(lambda: desk.label("storageWork") == "Giving pages back: 1.9 MB so far")
    bar = desk.page.findChild(QProgressBar)
    assert bar is not None
    assert (bar.minimum(), bar.maximum()) == (0, 0)
    desk.in_loop(desk.log.let_go.set)
    desk.wait(lambda: desk.label("storageAnswer") == "3.8 MB were given back to the disk.")
    answer = desk.page.findChild(QLabel, "storageAnswer")
    assert answer is not None
    place = answer.mapTo(desk.page, answer.rect().topLeft()).y()
    assert desk.button("freeSpace").geometry().bottom() < place
    assert place < desk.button("freeSpace").geometry().bottom() + 60


def test_with_nothing_to_give_back_it_says_so(desk: Desk) -> None:
    desk.log.freed = 0
    desk.log.let_go.set()
    desk.show()
    desk.click("freeSpace")
    desk.wait(lambda: desk.label("storageAnswer") == "There was nothing to give back.")


def test_the_work_goes_on_when_the_page_is_gone_and_the_window_is_told(
    desk: Desk, tmp_path: Path, qtbot: QtBot
) -> None:
    # Not given to qtbot, which would close it after its end.
    other = Desk(_page(desk.log, desk.jobs, Tasks()), desk.log, desk.jobs, desk.loop, qtbot)
    other.show()
    other.in_loop(lambda: desk.jobs.back_up(tmp_path / "b.zip"))
    other.wait(lambda: other.label("storageWork"))
    gone: list[bool] = []
    other.page.destroyed.connect(lambda: gone.append(True))
    other.in_loop(other.page.hide)
    other.in_loop(other.page.deleteLater)
    desk.wait(lambda: gone)
    desk.in_loop(desk.log.let_go.set)
    desk.wait(lambda: desk.log.told)
    assert desk.log.told[0].startswith("Backed up and checked")


def test_a_page_that_opens_while_work_runs_shows_it(
    desk: Desk, tmp_path: Path, qtbot: QtBot
) -> None:
    desk.in_loop(lambda: desk.jobs.back_up(tmp_path / "b.zip"))
    desk.wait(lambda: desk.log.targets)
    other = Desk(_page(desk.log, desk.jobs, Tasks()), desk.log, desk.jobs, desk.loop, qtbot)
    qtbot.addWidget(other.page)
    other.show()
    assert other.label("storageWork").startswith("Copying the database")
    assert not other.button("backUpNow").isEnabled()
    desk.in_loop(desk.log.let_go.set)
    other.wait(lambda: "Backed up" in other.label("storageAnswer"))


def test_how_to_restore_is_explained_with_a_command_to_copy(desk: Desk) -> None:
    desk.log.state = replace(STATE, last=replace(KEPT, file="/kept/my backup.zip"))
    desk.show()
    desk.click("restoreBackup")
    box = desk.page.findChild(QDialog, "restoreBox")
    assert box is not None
    line = box.findChild(QLineEdit, "restoreCommand")
    assert line is not None
    assert line.text() == "nacre restore '/kept/my backup.zip' --data-dir NacreRestored"
    copies = [one for one in box.findChildren(QAbstractButton) if one.text() == "Copy"]
    copies[0].click()
    assert QGuiApplication.clipboard().text() == line.text()
    QGuiApplication.clipboard().clear()
    assert any("/data" in label.text() for label in box.findChildren(QLabel))
    gone: list[bool] = []
    box.destroyed.connect(lambda: gone.append(True))
    box.close()
    desk.wait(lambda: gone)


@pytest.mark.parametrize(
    ("ago", "words"), [(0, "today "), (DAY_MS, "yesterday "), (40 * DAY_MS, "")]
)
def test_the_time_of_a_backup_reads_as_a_person_says_it(desk: Desk, ago: int, words: str) -> None:
    desk.log.state = replace(STATE, last=replace(KEPT, created_at=NOW - ago))
    desk.show()
    shown = desk.label("lastBackup").removeprefix("Last good backup: ")
    assert shown.startswith(words)
    assert words or not shown.startswith(("today", "yesterday"))
