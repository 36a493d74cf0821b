"""Settings → Storage: when the last good backup was made, and what takes room on the disk.

It asks only once it is seen, for adding everything up takes a while where there is much. Long work
is the jobs'; the page shows how far it is and can be closed meanwhile.
"""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QDateTime, Qt
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QFormLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QTreeView,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from desktop.core.backups import BackupState
from desktop.core.errors import NacreError
from desktop.core.records import Storage
from desktop.settings import BACKUP_FOLDER
from desktop.ui import asking
from desktop.ui.controls import act_button, text_label
from desktop.ui.doors import StorageDoors
from desktop.ui.restore_box import RestoreBox
from desktop.ui.storage_jobs import Kind
from desktop.ui.storage_model import ENTRIES, SIZE, TITLE, StorageModel
from desktop.ui.tables import plain_table
from desktop.ui.tall_page import TallPage
from desktop.ui.tasks import Tasks
from desktop.ui.theme import Theme
from desktop.ui.words import day_and_time, size

ROWS_SEEN = 8


class StoragePage(TallPage):
    """`form` is where the dialog puts the settings that belong here."""

    def __init__(
        self, theme: Theme, doors: StorageDoors, tasks: Tasks, parent: QWidget | None = None
    ) -> None:
        super().__init__(theme, "storagePage", parent)
        self._doors = doors
        self._tasks = tasks
        self._state: BackupState | None = None
        self._unhear: Callable[[], None] | None = None
        self._under: dict[Kind, QVBoxLayout] = {}
        self._build_backups()
        self.form = self._add_form()
        self._build_room()
        self._box = self._build_work()
        doors.jobs.moved.connect(self._show_work)
        doors.jobs.ended.connect(self._show_end)
        self._show_running(doors.jobs.is_running)

    def look_again(self) -> None:
        """The settings of backups were changed, or the schedule has done what was due."""
        self._tasks.start(self._look_again(), "look at the backups")

    async def _look_again(self) -> None:
        before = self._state
        await self._look_at_backups()
        # To add up takes a while: only where a backup has taken room since.
        if before is not None and self._state is not None and before.last != self._state.last:
            await self._look_at_room()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._doors.jobs.is_attended = True
        if self._doors.jobs.is_running:
            self._show_work(self._doors.jobs.now, 0, 0)
        self._look()
        if self._unhear is None:
            self._unhear = self._doors.on_backup_look(self.look_again)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._doors.jobs.is_attended = False
        if self._unhear is not None:
            self._unhear()
            self._unhear = None

    # -- building ---------------------------------------------------------------------------------

    def _build_backups(self) -> None:
        self._column.addWidget(self._heading(self.tr("Backups")))
        self._last = self._label("lastBackup", self.tr("Looking for the last good backup…"))
        self._file = self._label("lastBackupFile", "", tone="muted")
        self._file.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._warning = self._label("backupWarning", "", tone="warning")
        self._now = self._button("backUpNow", self.tr("Back up now…"), self._ask_where)
        self._restore = self._button("restoreBackup", self.tr("Restore…"), self._explain_restore)
        self._column.addLayout(self._row(self._now, self._restore))
        self._under["backup"] = self._spot()

    def _build_work(self) -> QWidget:
        """How far the work is, and its end; stands under the button that began it."""
        box = QWidget(self)
        column = QVBoxLayout(box)
        column.setContentsMargins(0, 0, 0, 0)
        self._work = QLabel(box)
        self._work.setObjectName("storageWork")
        self._bar = QProgressBar(box)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(self.tr("Progress"))
        self._stop = self._button("stopStorageWork", self.tr("Cancel"), self._doors.jobs.stop)
        row = QHBoxLayout()
        row.setSpacing(self._theme.space_8)
        row.addWidget(self._bar, 1)
        row.addWidget(self._stop)
        column.addWidget(self._work)
        column.addLayout(row)
        self._answer = self._label("storageAnswer", "", column=column)
        return box

    def lead_on_from(self, last: QWidget) -> None:
        """Tab goes from the last field that was put into `form` to what stands below it."""
        QWidget.setTabOrder(last, self._free)
        QWidget.setTabOrder(self._free, self._table)

    def _spot(self) -> QVBoxLayout:
        spot = QVBoxLayout()
        self._column.addLayout(spot)
        return spot

    def _add_form(self) -> QFormLayout:
        form = QFormLayout()
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapAllRows)
        form.setVerticalSpacing(self._theme.space_8)
        self._column.addSpacing(self._theme.space_8)
        self._column.addLayout(form)
        self._where = self._label("backupPlace", "", tone="muted")
        return form

    def _build_room(self) -> None:
        self._column.addSpacing(self._theme.space_12)
        self._column.addWidget(self._heading(self.tr("Room on the disk")))
        self._totals = self._label("storageTotals", self.tr("Adding up…"), tone="muted")
        self._sizes = self._add_sizes()
        self._free = self._button(
            "freeSpace", self.tr("Free up space"), self._doors.jobs.free_space
        )
        self._column.addLayout(self._row(self._free))
        self._under["space"] = self._spot()
        self._label(
            "freeSpaceHelp",
            self.tr(
                "Gives back to the disk what holds nothing any more. No conversation is touched:"
                " Nacre never deletes one by itself."
            ),
            tone="muted",
        )
        self._empty = self._label("storageEmpty", "", tone="muted")
        self._model = StorageModel(self)
        self._table = self._make_table()
        self._column.addWidget(self._table, 1)

    def _add_sizes(self) -> tuple[QLabel, ...]:
        """A line for each size; the values, which come later."""
        form = QFormLayout()
        form.setVerticalSpacing(self._theme.space_4)
        form.setHorizontalSpacing(self._theme.space_24)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        values: list[QLabel] = []
        for words in (
            self.tr("Conversations"),
            self.tr("Write-ahead log"),
            self.tr("Large results and attachments"),
            self.tr("Empty pages"),
            self.tr("Free on this disk"),
        ):
            value = QLabel("–", self)
            value.setAlignment(Qt.AlignmentFlag.AlignRight)
            form.addRow(QLabel(words, self), value)
            values.append(value)
        self._column.addLayout(form)
        return tuple(values)

    def _make_table(self) -> QTreeView:
        told = self.tr("Conversations by size, the largest first")
        table = plain_table(self, "storageTable", self._model, told=told, lines=ROWS_SEEN + 1)
        table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        header = table.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(TITLE, QHeaderView.ResizeMode.Stretch)
        metrics = table.fontMetrics()
        for column, widest in ((ENTRIES, "9,999,999"), (SIZE, "9,999.9 MB")):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
            header.resizeSection(column, metrics.horizontalAdvance(widest) + self._theme.space_24)
        table.hide()
        return table

    def _heading(self, text: str) -> QLabel:
        label = QLabel(text, self)
        label.setProperty("heading", True)
        return label

    def _label(
        self, name: str, text: str, *, tone: str = "", column: QVBoxLayout | None = None
    ) -> QLabel:
        label = text_label(self, name)
        if tone:
            label.setProperty(tone, True)
        (column or self._column).addWidget(label)
        _say(label, text)
        return label

    def _button(self, name: str, text: str, act: Callable[[], object]) -> QPushButton:
        return act_button(self, text, name, act)

    def _row(self, *buttons: QPushButton) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(self._theme.space_8)
        for button in buttons:
            row.addWidget(button)
        row.addStretch(1)
        return row

    # -- looking ----------------------------------------------------------------------------------

    def _look(self) -> None:
        self._tasks.start(self._look_at_backups(), "look at the backups")
        self._tasks.start(self._look_at_room(), "add up what takes room")

    async def _look_at_backups(self) -> None:
        try:
            state = await self._doors.backups()
        except NacreError as error:
            if isValid(self):
                _say(self._last, str(error))
            return
        if isValid(self):
            self._show_backups(state)

    async def _look_at_room(self) -> None:
        try:
            found = await self._doors.storage()
        except NacreError as error:
            if isValid(self):
                _say(self._totals, str(error))
            return
        if isValid(self):
            self._show_room(found)

    def _show_backups(self, state: BackupState) -> None:
        self._state = state
        _say(self._last, self._last_words(state))
        _say(self._file, state.last.file if state.last is not None else "")
        _say(self._warning, self._warning_words(state))
        _say(self._where, self._place_words(state))
        line = self.findChild(QLineEdit, BACKUP_FOLDER.key)
        if line is not None:
            line.setPlaceholderText(state.folder)

    def _last_words(self, state: BackupState) -> str:
        if state.last is None:
            return self.tr("Last good backup: never")
        return self.tr("Last good backup: {when}, {size}").format(
            when=day_and_time(state.last.created_at, self._doors.now_ms()),
            size=size(state.last.size),
        )

    def _warning_words(self, state: BackupState) -> str:
        if not state.is_folder_there:
            return self.tr(
                "The folder {folder} is not there now, so scheduled backups can't be made. Connect"
                " its disk, or choose another folder."
            ).format(folder=state.folder)
        if state.last is not None and not state.is_there:
            return self.tr("Its file is no longer where it was made.")
        if state.is_stale:
            return self.tr("That is longer ago than you want. Make one now, or look what fails.")
        return ""

    def _place_words(self, state: BackupState) -> str:
        if not state.is_folder_there or not state.is_same_disk:
            return ""
        return self.tr(
            "This folder is on the same disk as your conversations. One on another disk is better:"
            " it outlives this one."
        )

    def _show_room(self, found: Storage) -> None:
        _say(self._totals, "")
        counts = (
            found.database_bytes,
            found.wal_bytes,
            found.blob_bytes,
            found.free_bytes,
            found.disk_free_bytes,
        )
        for label, count in zip(self._sizes, counts, strict=True):
            label.setText(size(count))
        self._model.show(found.tabs)
        self._table.setVisible(bool(found.tabs))
        _say(self._empty, "" if found.tabs else self.tr("There is no conversation yet."))

    # -- doing ------------------------------------------------------------------------------------

    def _ask_where(self) -> None:
        self._tasks.start(self._back_up(), "back up")

    async def _back_up(self) -> None:
        now = QDateTime.fromMSecsSinceEpoch(self._doors.now_ms())
        name = f"nacre-{now.toString('yyyyMMdd-HHmmss')}.zip"
        title = self.tr("Keep a backup as")
        target = await asking.choose_new_file(self, title, Path.home() / name)
        if target is not None:
            self._doors.jobs.back_up(target)

    def _explain_restore(self) -> None:
        last = self._state.last if self._state is not None else None
        RestoreBox(
            self._theme,
            archive=last.file if last is not None else "",
            data_folder=self._doors.data_folder,
            parent=self,
        ).open()

    def _show_running(self, on: bool) -> None:
        for spot in self._under.values():
            spot.removeWidget(self._box)
        self._under[self._doors.jobs.kind].addWidget(self._box)
        for part in (self._work, self._bar, self._stop):
            part.setVisible(on)
        for button in (self._now, self._free):
            button.setEnabled(not on)

    def _show_work(self, words: str, done: int, total: int) -> None:
        if self._work.isHidden():
            _say(self._answer, "")
            self._show_running(True)
        if total:
            words = self.tr("{words}: {done} of {total}").format(
                words=words, done=size(min(done, total)), total=size(total)
            )
        self._work.setText(words)
        # In thousandths: bytes may be more than a bar can count. No total: it only shows that.
        self._bar.setRange(0, 1000 if total else 0)
        self._bar.setValue(min(1000, done * 1000 // total) if total else 0)

    def _show_end(self, sentence: str, is_good: bool) -> None:
        self._show_running(False)
        self._answer.setProperty("danger", not is_good)
        self._answer.style().polish(self._answer)
        _say(self._answer, sentence)
        if self.isVisible():
            self._look()


def _say(label: QLabel, text: str) -> None:
    label.setText(text)
    label.setVisible(bool(text))
