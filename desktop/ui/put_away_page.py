"""The pages Archived and Bin: what was put away, and the ways back (SPEC P06, U13).

A page shows rows and emits wishes; it never deletes anything itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from PySide6.QtCore import QItemSelectionModel, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QStackedLayout, QVBoxLayout, QWidget

from desktop.ui.controls import act_button
from desktop.ui.put_away_list import PutAwayDelegate, PutAwayList, PutAwayModel
from desktop.ui.put_away_rows import AwayRow
from desktop.ui.theme import Theme

Which = Literal["archived", "bin"]


class PutAwayPage(QWidget):
    """`back_wanted(rows)` brings rows back, `open_wanted(tab_id)` only looks at one; the bin's
    `purge_wanted(tab ids)`, `empty_wanted` and `cancel_wanted`; `closed` to leave the page."""

    back_wanted = Signal(list)
    open_wanted = Signal(str)
    purge_wanted = Signal(list)
    empty_wanted = Signal()
    cancel_wanted = Signal()
    closed = Signal()

    def __init__(
        self, which: Which, theme: Callable[[], Theme], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName(f"{which}Page")
        self.which: Which = which
        is_bin = which == "bin"
        gone = self.tr("in the bin since {when}") if is_bin else self.tr("archived {when}")
        self.rows = PutAwayModel(gone, self)
        self.list = PutAwayList(self)
        self.list.setAccessibleName(self.tr("Bin") if is_bin else self.tr("Archived"))
        self.setAccessibleName(self.list.accessibleName())
        self.list.setModel(self.rows)
        self.list.setItemDelegate(PutAwayDelegate(theme, self.list))
        self._build(theme())
        self.list.open_chosen.connect(self._open)
        self.list.purge_chosen.connect(self._purge)
        self.list.selectionModel().selectionChanged.connect(lambda *_: self._refresh())
        self._lead_in()
        self._refresh()

    def show_rows(self, rows: Sequence[AwayRow]) -> None:
        """What is put away now. The keyboard stays where it was in the list."""
        at = self.list.currentIndex().row()
        self.rows.set_rows(rows)
        count = self.rows.rowCount()
        self._stack.setCurrentIndex(0 if count else 1)
        self._lead_in()
        if count and not self.list.selectionModel().hasSelection():
            index = self.rows.index(min(max(at, 0), count - 1))
            select = QItemSelectionModel.SelectionFlag.ClearAndSelect
            self.list.selectionModel().setCurrentIndex(index, select)
        self._refresh()

    def choose(self, tab_id: str) -> None:
        """Chooses the row of a conversation, where it is here."""
        for at in range(self.rows.rowCount()):
            if (self.rows.row(at).kind, self.rows.row(at).id) == ("tab", tab_id):
                select = QItemSelectionModel.SelectionFlag.ClearAndSelect
                self.list.selectionModel().setCurrentIndex(self.rows.index(at), select)

    def _lead_in(self) -> None:
        """Who comes to the page is in its list; a list that is not seen would catch the Tab key."""
        self.setFocusProxy(self.list if self.rows.rowCount() else self._close)

    def show_progress(self, words: str) -> None:
        """What a long deletion is at; "" when it is over."""
        self._progress.setText(words)
        for part in (self._progress, self._cancel):
            part.setVisible(bool(words))
        self._refresh()

    def chosen(self) -> list[AwayRow]:
        indexes = sorted(self.list.selectionModel().selectedIndexes(), key=lambda one: one.row())
        return [self.rows.row(index.row()) for index in indexes]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and not event.modifiers():
            self.closed.emit()
            return
        super().keyPressEvent(event)

    # -- what the person does -----------------------------------------------------------------

    def _back(self) -> None:
        if self.chosen():
            self.back_wanted.emit(self.chosen())

    def _open(self) -> None:
        rows = self.chosen()
        if self.which == "archived" and len(rows) == 1 and rows[0].kind == "tab":
            self.open_wanted.emit(rows[0].id)

    def _purge(self) -> None:
        if self.which == "bin" and self.chosen() and self._purge_button.isEnabled():
            self.purge_wanted.emit([row.id for row in self.chosen()])

    def _refresh(self) -> None:
        rows, busy = self.chosen(), bool(self._progress.text())
        self._back_button.setEnabled(bool(rows))
        self._open_button.setEnabled(len(rows) == 1 and rows[0].kind == "tab")
        self._purge_button.setEnabled(bool(rows) and not busy)
        self._empty_button.setEnabled(self.rows.rowCount() > 0 and not busy)

    # -- building -----------------------------------------------------------------------------

    def _build(self, theme: Theme) -> None:
        is_bin = self.which == "bin"
        outer = QHBoxLayout(self)
        middle = QWidget(self)
        # Alone in its row it stands in the middle, and has all of it where there is no more.
        middle.setMaximumWidth(theme.column)
        outer.addWidget(middle)
        column = QVBoxLayout(middle)
        column.setContentsMargins(theme.space_8, theme.space_16, theme.space_8, theme.space_8)
        column.setSpacing(theme.space_8)
        column.addLayout(self._top(theme, middle))
        self._empty = QLabel(
            self.tr("The bin is empty.") if is_bin else self.tr("Nothing is archived."), middle
        )
        self._empty.setProperty("muted", True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._stack = QStackedLayout()
        self._stack.addWidget(self.list)
        self._stack.addWidget(self._empty)
        column.addLayout(self._stack, 1)
        self._progress = QLabel(middle)
        self._progress.setObjectName("purgeProgress")
        self._progress.setTextFormat(Qt.TextFormat.PlainText)
        self._progress.setWordWrap(True)
        self._cancel = self._button(self.tr("Cancel"), "cancelPurge", self.cancel_wanted.emit)
        row = QHBoxLayout()
        row.addWidget(self._progress, 1)
        row.addWidget(self._cancel)
        column.addLayout(row)
        column.addLayout(self._buttons(theme))
        for part in (self._progress, self._cancel):
            part.hide()

    def _top(self, theme: Theme, middle: QWidget) -> QVBoxLayout:
        is_bin = self.which == "bin"
        title = QLabel(self.tr("Bin") if is_bin else self.tr("Archived"), middle)
        title.setProperty("title", True)
        self._close = self._button(self.tr("Close"), "closePutAway", self.closed.emit)
        self._close.setToolTip(self.tr("Back to the conversations (Esc)"))
        row = QHBoxLayout()
        row.addWidget(title, 1)
        row.addWidget(self._close)
        words = (
            self.tr("Conversations stay here until you restore them or delete them for good.")
            if is_bin
            else self.tr("Out of the way, with every message; the search finds them too.")
        )
        about = QLabel(words, middle)
        about.setProperty("muted", True)
        about.setWordWrap(True)
        top = QVBoxLayout()
        top.setSpacing(theme.space_4)
        top.addLayout(row)
        top.addWidget(about)
        return top

    def _buttons(self, theme: Theme) -> QHBoxLayout:
        is_bin = self.which == "bin"
        row = QHBoxLayout()
        row.setSpacing(theme.space_8)
        back = self.tr("Restore") if is_bin else self.tr("Unarchive")
        self._back_button = self._button(back, "bringBack", self._back)
        self._open_button = self._button(self.tr("Open"), "openPutAway", self._open)
        self._purge_button = self._button(self.tr("Delete for good…"), "purge", self._purge)
        self._empty_button = self._button(self.tr("Empty bin…"), "emptyBin", self.empty_wanted.emit)
        self._open_button.setVisible(not is_bin)
        for button in (self._purge_button, self._empty_button):
            button.setVisible(is_bin)
        for button in (self._back_button, self._open_button, self._purge_button):
            row.addWidget(button)
        row.addStretch(1)
        row.addWidget(self._empty_button)
        return row

    def _button(self, words: str, name: str, act: Callable[[], object]) -> QPushButton:
        return act_button(self, words, name, act)
