"""The conversations in the sidebar: what was heard, how the person looks at it, what they want.

Loaded once the catalogue can be read. Everything comes from metadata and the running statuses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, time, timedelta
from itertools import islice
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent
from PySide6.QtWidgets import QListView, QMenu, QWidget

from desktop.ui.lines import calm
from desktop.ui.marks import mark_of
from desktop.ui.sidebar_model import SidebarModel
from desktop.ui.sidebar_paint import SidebarDelegate
from desktop.ui.sidebar_rows import (
    BranchesRow,
    ConversationRow,
    FolderRow,
    Look,
    Phrases,
    SidebarRow,
    sidebar_rows,
)
from desktop.ui.theme import Theme

if TYPE_CHECKING:
    from desktop.core.records import CatalogueView
    from desktop.core.status import TabStatus

AT_ONCE = 2_000
_OPENING = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class SidebarView(QListView):
    """Enter or a click opens a conversation or folds; ←, → fold and unfold; Del throws away."""

    chosen = Signal(QModelIndex)
    fold_wanted = Signal(QModelIndex, bool)
    trash_chosen = Signal(QModelIndex)
    menu_wanted = Signal(QModelIndex, QPoint)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        calm(self)
        # With one height for all, thousands of rows are laid out without asking for each.
        self.setUniformItemSizes(True)
        self.clicked.connect(self.chosen)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index, key = self.currentIndex(), event.key()
        if not index.isValid():
            super().keyPressEvent(event)
        elif key in _OPENING:
            self.chosen.emit(index)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self.fold_wanted.emit(index, key == Qt.Key.Key_Left)
        elif key == Qt.Key.Key_Delete:
            self.trash_chosen.emit(index)
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Of the row under the mouse; of the current one when a key asked for it."""
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if by_key else self.indexAt(event.pos())
        if not index.isValid():
            return
        place = self.visualRect(index).center() if by_key else event.pos()
        self.menu_wanted.emit(index, self.viewport().mapToGlobal(place))


class ConversationList(SidebarView):
    """Emits what the person wants of a conversation (its id), a folder or a project (its number).

    `filled(bool)` says whether there is a row to show.
    """

    open_wanted = Signal(str)
    window_wanted = Signal(str)
    new_wanted = Signal(int)
    rename_wanted = Signal(str)
    archive_wanted = Signal(str)
    unarchive_wanted = Signal(str)
    trash_wanted = Signal(str)
    stop_wanted = Signal(str)
    stop_all_wanted = Signal()
    archive_folder_wanted = Signal(int)
    unarchive_folder_wanted = Signal(int)
    archive_project_wanted = Signal(int)
    filled = Signal(bool)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("conversationList")
        self.setAccessibleName(self.tr("Conversations"))
        self._view_data: CatalogueView | None = None
        self._statuses: dict[str, TabStatus] = {}
        self._unseen: frozenset[str] = frozenset()
        self._folded: frozenset[int] = frozenset()
        self._unfolded: frozenset[str] = frozenset()
        self._current = ""
        self._words = ""
        self._phrases = Phrases(
            spans=self._spans,
            branches=self._branches_words,
            subagents=self._subagents_words,
            untitled=self.tr("New conversation"),
        )
        self.rows = SidebarModel(self)
        self._delegate = SidebarDelegate(theme, self)
        self.setModel(self.rows)
        self.setItemDelegate(self._delegate)
        self.chosen.connect(self._choose)
        self.fold_wanted.connect(self._fold)
        self.trash_chosen.connect(self._trash)
        self.menu_wanted.connect(self._open_menu)
        # One rebuild for a burst of changes; nothing ticks while nothing changes.
        self._soon = QTimer(self, singleShot=True, interval=30)
        self._soon.timeout.connect(self._rebuild)
        # Rows are made some at a time, so that no key waits for ten thousand of them.
        self._making: Iterator[SidebarRow] | None = None
        self._made: list[SidebarRow] = []
        self._next = QTimer(self, singleShot=True, interval=0)
        self._next.timeout.connect(self._make)

    @property
    def chosen_tab(self) -> str:
        """The conversation whose row the keyboard is on, "" where it is not on one."""
        index = self.currentIndex()
        if not self.hasFocus() or not index.isValid():
            return ""
        row = self.rows.row(index.row())
        return row.tab_id if isinstance(row, ConversationRow) else ""

    def show_catalogue(self, view: CatalogueView) -> None:
        self._view_data = view
        self._change()

    def show_status(self, status: TabStatus) -> None:
        before = self._statuses.get(status.tab_id)
        self._statuses[status.tab_id] = status
        # Most of what a turn tells changes no mark, and the list may be of thousands.
        if mark_of(before, unseen=False) != mark_of(status, unseen=False):
            self._change()

    def show_unseen(self, tab_ids: frozenset[str]) -> None:
        changed, self._unseen = tab_ids != self._unseen, tab_ids
        if changed:
            self._change()

    def show_words(self, words: str) -> None:
        """Only conversations that hold every word are listed."""
        self._words = words
        self._change()

    def show_current(self, tab_id: str) -> None:
        """The conversation in view is the selected one, also when its row comes later."""
        changed, self._current = tab_id != self._current, tab_id
        self._select_current()
        if changed:
            self._change()

    def _select_current(self) -> None:
        index = self.rows.index_of(self._current)
        if index.isValid():
            self.setCurrentIndex(index)
        else:
            self.clearSelection()

    def set_theme(self, theme: Theme) -> None:
        self._delegate.theme = theme
        self.viewport().update()

    def _change(self) -> None:
        if not self._soon.isActive():
            self._soon.start()

    def _rebuild(self) -> None:
        if self._view_data is None:
            return
        if self._making is not None:  # shown first, or a list that never rests would show nothing
            self._change()
            return
        self._making = sidebar_rows(
            self._view_data,
            Look(self._words, self._folded, self._unfolded, self._current),
            self._phrases,
            statuses=self._statuses,
            unseen=self._unseen,
        )
        self._make()

    def _make(self) -> None:
        assert self._making is not None
        fresh = list(islice(self._making, AT_ONCE))
        self._made += fresh
        if len(fresh) == AT_ONCE:
            self._next.start()
            return
        made, self._making, self._made = self._made, None, []
        self._show(made)

    def _show(self, rows: Sequence[SidebarRow]) -> None:
        index = self.currentIndex()
        # Who walks through the list by keys stays where they are.
        at_row = index.row()
        kept = self.rows.row(at_row).key if index.isValid() and self.hasFocus() else ""
        self.rows.set_rows(rows)
        place = self.rows.index_of(kept) if kept else QModelIndex()
        if kept and not place.isValid():
            # What they were on is gone: to the row that stands there now.
            place = self.rows.index(min(at_row, self.rows.rowCount() - 1))
        if place.isValid():
            self.setCurrentIndex(place)
        else:
            self._select_current()
        self.filled.emit(self.rows.rowCount() > 0)

    def _spans(self) -> list[tuple[int, str]]:
        """In the days of this place, of which not all have 24 hours."""
        today = datetime.now().astimezone().date()

        def since(days: int) -> int:
            begin = datetime.combine(today - timedelta(days=days), time()).astimezone()
            return round(begin.timestamp() * 1000)

        return [
            (since(0), self.tr("Today")),
            (since(1), self.tr("Yesterday")),
            (since(6), self.tr("7 days")),
            (0, self.tr("Older")),
        ]

    def _branches_words(self, count: int) -> str:
        if count == 1:
            return self.tr("1 other branch")
        return self.tr("{count} other branches").format(count=count)

    def _subagents_words(self, count: int) -> str:
        if count == 1:
            return self.tr("1 subagent")
        return self.tr("{count} subagents").format(count=count)

    def _choose(self, index: QModelIndex) -> None:
        row = self.rows.row(index.row())
        if isinstance(row, ConversationRow):
            self.open_wanted.emit(row.tab_id)
        elif isinstance(row, FolderRow | BranchesRow):
            self._fold(index, not row.folded)

    def _fold(self, index: QModelIndex, folded: bool) -> None:
        row = self.rows.row(index.row())
        if isinstance(row, FolderRow):
            others = self._folded - {row.workspace_id}
            self._folded = others | {row.workspace_id} if folded else others
        elif isinstance(row, BranchesRow):
            others_ = self._unfolded - {row.root}
            self._unfolded = others_ if folded else others_ | {row.root}
        self._rebuild()

    def _trash(self, index: QModelIndex) -> None:
        row = self.rows.row(index.row())
        if isinstance(row, ConversationRow):
            self.trash_wanted.emit(row.tab_id)

    def _open_menu(self, index: QModelIndex, place: QPoint) -> None:
        menu = QMenu(self)
        menu.setObjectName("sidebarMenu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._fill_menu(menu, self.rows.row(index.row()))
        if not menu.isEmpty():
            menu.popup(place)

    def _fill_menu(self, menu: QMenu, row: SidebarRow) -> None:
        if isinstance(row, ConversationRow):
            id_ = row.tab_id
            menu.addAction(self.tr("Open"), lambda: self.open_wanted.emit(id_))
            menu.addAction(self.tr("Open in another window"), lambda: self.window_wanted.emit(id_))
            menu.addAction(self.tr("Rename…"), lambda: self.rename_wanted.emit(id_))
            if self._is_running(id_):
                menu.addSeparator()
                menu.addAction(self.tr("Stop"), lambda: self.stop_wanted.emit(id_))
                menu.addAction(self.tr("Stop everything"), self.stop_all_wanted.emit)
            menu.addSeparator()
            if row.archived:
                menu.addAction(self.tr("Unarchive"), lambda: self.unarchive_wanted.emit(id_))
            else:
                menu.addAction(self.tr("Archive"), lambda: self.archive_wanted.emit(id_))
            menu.addAction(self.tr("Move to bin"), lambda: self.trash_wanted.emit(id_))
        elif isinstance(row, FolderRow):
            self._fill_folder_menu(menu, row)

    def _is_running(self, tab_id: str) -> bool:
        status = self._statuses.get(tab_id)
        return status is not None and status.phase == "running"

    def _fill_folder_menu(self, menu: QMenu, row: FolderRow) -> None:
        number, project = row.workspace_id, row.project_id
        if row.archived:
            menu.addAction(
                self.tr("Unarchive this folder"), lambda: self.unarchive_folder_wanted.emit(number)
            )
            return
        menu.addAction(self.tr("New conversation here"), lambda: self.new_wanted.emit(number))
        menu.addSeparator()
        menu.addAction(
            self.tr("Archive this folder"), lambda: self.archive_folder_wanted.emit(number)
        )
        if row.project:
            words = self.tr("Archive “{project}” with all its folders").format(project=row.project)
            words = words.replace("&", "&&")
            menu.addAction(words, lambda: self.archive_project_wanted.emit(project))
