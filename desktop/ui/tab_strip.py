"""The open conversations side by side. Closing one hides it and does nothing else (SPEC P06).

Qt's bar always has a current tab. While something else than a conversation is in view that is one
without a width, behind the others, with the name of what is in view: nothing looks chosen, and a
screen reader hears what is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QTabBar, QToolButton, QWidget

from desktop.ui.key_hint import KeyHint
from desktop.ui.marks import MARK_WORDS, MARKS, mark_of
from desktop.ui.visible import apart, in_order

if TYPE_CHECKING:
    from desktop.core.records import Tab
    from desktop.core.status import TabStatus


# The conversations that a number leads to (Ctrl+1 …).
PLACES = range(1, 10)


class TabStrip(QTabBar):
    """`shown(tab_id)`, `closed(tab_id)`, `reordered(list of tab ids)`."""

    shown = Signal(str)
    closed = Signal(str)
    reordered = Signal(list)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("tabStrip")
        self.setAccessibleName(self.tr("Open conversations"))
        self.setDocumentMode(True)
        self.setMovable(True)
        self.setExpanding(False)
        self.setElideMode(Qt.TextElideMode.ElideRight)
        self.setUsesScrollButtons(True)
        self.setDrawBase(False)
        self._titles: dict[str, str] = {}
        self._statuses: dict[str, TabStatus] = {}
        self.currentChanged.connect(self._changed)
        self.tabMoved.connect(lambda *_: self.reordered.emit(self.tab_ids()))

    def tab_ids(self) -> list[str]:
        return [tab_id for at in range(self.count()) if (tab_id := self.tab_id(at))]

    def tab_id(self, at: int) -> str:
        return str(self.tabData(at) or "")

    def current(self) -> str:
        return self.tab_id(self.currentIndex())

    def show_tabs(self, tabs: Sequence[Tab]) -> None:
        """Makes the strip hold just these; ones that stay keep their place."""
        wanted = {tab.id: tab for tab in tabs}
        present = set(self.tab_ids())
        for tab_id in present - wanted.keys():
            self.removeTab(self.tab_ids().index(tab_id))
        for place, tab in enumerate(tabs):
            self._titles[tab.id] = in_order(tab.title) or self.tr("New conversation")
            if tab.id not in present:
                self.blockSignals(True)
                # Where it belongs: one that comes back stands where it stood.
                at = self.insertTab(place, "")
                self.setTabData(at, tab.id)
                self.setTabButton(at, QTabBar.ButtonPosition.RightSide, self._close_button(tab.id))
                self.blockSignals(False)
            self._label(tab.id)

    def replace(self, old: str, new: Tab) -> None:
        """Another conversation takes the place of one in the strip."""
        if new.id in self.tab_ids():
            self.removeTab(self.tab_ids().index(new.id))
        at = self.tab_ids().index(old)
        self._titles[new.id] = in_order(new.title) or self.tr("New conversation")
        self.setTabData(at, new.id)
        self.setTabButton(at, QTabBar.ButtonPosition.RightSide, self._close_button(new.id))
        self._label(new.id)

    def show_status(self, status: TabStatus) -> None:
        self._statuses[status.tab_id] = status
        self._label(status.tab_id)

    def show_current(self, tab_id: str, other: str = "") -> None:
        """Which of them is in view; where none is, `other` names what is."""
        nowhere = next((at for at in range(self.count()) if not self.tab_id(at)), None)
        if tab_id in self.tab_ids():
            self.setCurrentIndex(self.tab_ids().index(tab_id))
            if nowhere is not None:
                self.removeTab(nowhere)
            return
        if nowhere is None:
            nowhere = self.addTab("")
        self.setAccessibleTabName(nowhere, other)
        self.setCurrentIndex(nowhere)

    def tabSizeHint(self, index: int) -> QSize:
        size = super().tabSizeHint(index)
        return size if self.tab_id(index) else QSize(0, size.height())

    def _changed(self, at: int) -> None:
        tab_id = self.tab_id(at)
        if tab_id:
            self.shown.emit(tab_id)

    def _close_button(self, tab_id: str) -> QToolButton:
        button = QToolButton(self)
        button.setText("✕")
        button.setAutoRaise(True)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.setAccessibleName(self.tr("Close this conversation"))
        KeyHint(button, self.tr("Close"), "close_tab")
        button.clicked.connect(lambda: self.closed.emit(tab_id))
        return button

    def _label(self, tab_id: str) -> None:
        if tab_id not in self.tab_ids():
            return
        at = self.tab_ids().index(tab_id)
        title = self._titles.get(tab_id, "")
        mark = mark_of(self._statuses.get(tab_id), unseen=False)
        short = title if len(title) <= 32 else title[:31] + "…"
        text = f"{MARKS[mark]} {apart(short)}".strip().replace("&", "&&")
        if text != self.tabText(at):
            self.setTabText(at, text)
        whole = f"{title} ({MARK_WORDS[mark]})" if mark else title
        self.setTabToolTip(at, whole)
        self.setAccessibleTabName(at, whole)
