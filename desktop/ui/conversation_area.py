"""The open conversations: the tab strip, a page for each that was looked at, the page to begin one.

Tabs are the catalogue's open conversations; a page is made when its tab is first shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from desktop.core.errors import StoreError
from desktop.ui.new_page import NewPage
from desktop.ui.other_windows import NoOthers, OtherWindows
from desktop.ui.tab_strip import TabStrip
from desktop.ui.theme import Theme

if TYPE_CHECKING:
    from desktop.core.model import ModelInfo
    from desktop.core.records import CatalogueView, Tab, ViewState
    from desktop.core.status import TabStatus
    from desktop.ui.composer import Composer
    from desktop.ui.conversation_page import ConversationPage
    from desktop.ui.early_page import EarlyPage
    from desktop.ui.welcome import WelcomePage

MakePage = Callable[[str, "EarlyPage | None"], "ConversationPage"]
MakeWelcome = Callable[[], "WelcomePage"]


class ConversationArea(QWidget):
    """Emits what happens to tabs; the window carries it out. `shown(tab_id)`, '' for no tab.

    `moved(old, new, ViewState)`, `forked(old, new)` and `working` as a page's `Branching`;
    `action_wanted(name)` when an action of the window was typed as a command.
    """

    shown = Signal(str)
    closed = Signal(str)
    reordered = Signal(list)
    attach_wanted = Signal(object, object)
    unarchive_wanted = Signal(str)
    moved = Signal(str, str, object)
    forked = Signal(str, str)
    working = Signal(bool)
    key_wanted = Signal(str)
    models_wanted = Signal()
    open_wanted = Signal(str)
    action_wanted = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pages: dict[str, ConversationPage] = {}
        self._make_page: MakePage | None = None
        self._others: OtherWindows = NoOthers()
        self._models: tuple[ModelInfo, ...] = ()
        self._early: EarlyPage | None = None
        self._wished = ""
        self._current = ""
        self._last = ""
        self._archived: frozenset[str] = frozenset()
        self.strip = TabStrip(self)
        self.new_page = NewPage(theme, self)
        self.welcome: WelcomePage | None = None
        self._make_welcome: MakeWelcome | None = None
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self.new_page)
        self._row = QFrame(self)
        self._row.setObjectName("tabRow")
        row = QHBoxLayout(self._row)
        row.setContentsMargins(0, 0, theme.space_8, 0)
        self._plus = QToolButton(self._row)
        self._plus.setText("+")
        self._plus.setAccessibleName(self.tr("New conversation"))
        self._plus.setToolTip(self.tr("New conversation"))
        self._plus.clicked.connect(self.show_new)
        row.addWidget(self.strip, 1)
        row.addWidget(self._plus)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._row)
        column.addWidget(self._stack, 1)
        self._row.hide()
        self.strip.shown.connect(self.show_tab)
        self.strip.closed.connect(self.closed)
        self.strip.reordered.connect(self.reordered)
        self.new_page.composer.key_wanted.connect(self.key_wanted)
        self.new_page.composer.models_wanted.connect(self.models_wanted)
        self.new_page.composer.attach_wanted.connect(
            lambda what: self.attach_wanted.emit(self.new_page.composer, what)
        )

    # -- what is shown ------------------------------------------------------------------------

    @property
    def current(self) -> ConversationPage | None:
        return self._pages.get(self._current)

    @property
    def in_view(self) -> QWidget:
        """What fills the place of a conversation."""
        return self._stack.currentWidget() or self.new_page

    @property
    def composer(self) -> Composer | None:
        """The composer in view."""
        if self._stack.currentWidget() is self.new_page:
            return self.new_page.composer
        if self._early is not None:
            return self._early.composer
        return self.current.composer if self.current else None

    @property
    def current_id(self) -> str:
        """The conversation in view, also while its page is not whole; "" for none."""
        return self._current

    @property
    def early(self) -> EarlyPage | None:
        """What is shown of a conversation before its page could be made."""
        return self._early

    def show_early(self, page: EarlyPage, tabs: Sequence[Tab]) -> None:
        """The log is not open yet: the conversation that was in view last, among these."""
        typed_in = cast("QWidget | None", self.window().focusWidget())
        is_here = typed_in is None or self.isAncestorOf(typed_in)
        self._early, self._current = page, page.tab_id
        self.show_tabs(tabs)
        self._stack.addWidget(page)
        self._stack.setCurrentWidget(page)
        if is_here:
            page.composer.field.setFocus()

    def complete_early(self) -> None:
        """Pages can be made: the early one becomes a whole one. If its conversation is gone
        meanwhile, what was written there stands on the page for a new one."""
        early = self._early
        if early is None:
            return
        is_seen = self._stack.currentWidget() is early
        typed_in = cast("QWidget | None", self.window().focusWidget())
        is_elsewhere = typed_in is not None and not self.isAncestorOf(typed_in)
        if self.show_tab(early.tab_id) is None:
            self._lose(early)
        elif not is_seen:
            self.show_new()
        elif self._wished:
            self.show_tab(self._wished)
        if typed_in is not None and is_elsewhere:  # who looks for something goes on
            typed_in.setFocus()

    def _lose(self, early: EarlyPage) -> None:
        written = early.composer.text()
        early.pane.leave()
        self._take(early)
        if written:
            self.new_page.composer.set_text(written)
        if written or self.current is None:
            self.show_new()

    def _take(self, early: EarlyPage) -> EarlyPage:
        """It stands here no longer; its parts are whoever's who takes them."""
        self._early = None
        self._stack.removeWidget(early)
        early.deleteLater()
        return early

    def connect_pages(self, make_page: MakePage, others: OtherWindows) -> None:
        """The doors are there: pages can be made."""
        self._make_page = make_page
        self._others = others

    def connect_welcome(self, make_welcome: MakeWelcome) -> None:
        """How the welcome page is made, should it be needed."""
        self._make_welcome = make_welcome

    def show_tabs(self, tabs: Sequence[Tab]) -> None:
        """The open conversations in the order of the strip."""
        self._archived = frozenset(tab.id for tab in tabs if tab.archived_at is not None)
        for page in self._pages.values():
            page.show_archived(page.tab_id in self._archived)
        self.strip.blockSignals(True)
        self.strip.show_tabs(tabs)
        self.strip.blockSignals(False)
        self._row.setVisible(bool(tabs))
        present = {tab.id for tab in tabs}
        for tab_id in [one for one in self._pages if one not in present]:
            self._drop(tab_id)
        if self._current and self._current not in present:
            self._current = ""
            following = self.strip.current()
            if following and self._others.showing(following) is None:
                self.show_tab(following)
            else:
                self.show_new()
        self._strip_shows(self._current)

    def step(self, by: int) -> None:
        """To the next or previous conversation, around the ends; from another page on from the one
        that was in view last."""
        ids, before = self.strip.tab_ids(), self._current or self._last
        if before in ids:
            self.show_tab(ids[(ids.index(before) + by) % len(ids)])
        elif ids:
            self.show_tab(ids[0 if by > 0 else -1])

    def show_tab(self, tab_id: str) -> ConversationPage | None:
        """Brings a conversation into view, in the window that shows it already or in this one.

        Returns its page, None where there is no such tab.
        """
        if self._make_page is None:
            self._wished = tab_id
            return None
        if tab_id not in self.strip.tab_ids():
            return None
        other = self._others.showing(tab_id)
        if other is not None:
            self._strip_shows(self._current)
            self._others.go_to(other)
            return other
        self._others.let_go(tab_id)
        page = self._page_of(tab_id, self._make_page)
        if self._current != tab_id:
            self._leave_current()
        self._current = self._last = tab_id
        self._strip_shows(tab_id)
        self._stack.setCurrentWidget(page)
        page.enter()
        page.composer.field.setFocus()
        self.shown.emit(tab_id)
        return page

    def let_go(self, tab_id: str) -> None:
        """Another window is going to show this conversation: what is kept of it here ends."""
        if tab_id in self._pages and tab_id != self._current:
            self._drop(tab_id)

    def _strip_shows(self, tab_id: str) -> None:
        page = self._stack.currentWidget()
        self.strip.blockSignals(True)
        self.strip.show_current(tab_id, page.accessibleName() if page is not None else "")
        self.strip.blockSignals(False)

    def _page_of(self, tab_id: str, make_page: MakePage) -> ConversationPage:
        page = self._pages.get(tab_id)
        if page is None:
            early = self._early
            page = make_page(
                tab_id, self._take(early) if early is not None and early.tab_id == tab_id else None
            )
            page.show_models(self._models)
            page.show_archived(tab_id in self._archived)
            page.attach_wanted.connect(
                lambda what, page=page: self.attach_wanted.emit(page.composer, what)
            )
            page.composer.key_wanted.connect(self.key_wanted)
            page.composer.models_wanted.connect(self.models_wanted)
            page.unarchive_wanted.connect(lambda: self.unarchive_wanted.emit(tab_id))
            page.open_wanted.connect(self.open_wanted)
            page.commanding.action_wanted.connect(self.action_wanted)
            page.branching.working.connect(self.working)
            page.branching.moved.connect(lambda other, state: self.moved.emit(tab_id, other, state))
            page.branching.forked.connect(lambda other: self.forked.emit(tab_id, other))
            self._pages[tab_id] = page
            self._stack.addWidget(page)
        return page

    async def take_place(self, old: str, tab: Tab, state: ViewState) -> None:
        """Shows a conversation in the place of another, in the strip and on the screen.

        The picture stands still until the rows of the new one are there.
        """
        before = self._pages.get(old)
        if self._make_page is None or before is None:
            return
        reading = before.pane.view.hasFocus()
        self._stack.setUpdatesEnabled(False)
        try:
            self.strip.blockSignals(True)
            self.strip.replace(old, tab)
            self.strip.blockSignals(False)
            if tab.id in self._pages:
                self._drop(tab.id)
            self._others.let_go(tab.id)
            page = self._page_of(tab.id, self._make_page)
            page.pane.stand_at(state)
            self.show_tab(tab.id)
            self._drop(old)
            if reading:
                page.pane.view.setFocus()
            await page.pane.until_placed()
        finally:
            self._stack.setUpdatesEnabled(True)

    def show_last(self) -> None:
        """Back to the conversation that was in view before."""
        if self._last in self.strip.tab_ids():
            self.show_tab(self._last)
        else:
            self.show_new()

    def show_other(self, page: QWidget) -> None:
        """A page that is no conversation, until one is looked at again."""
        if self._stack.indexOf(page) < 0:
            self._stack.addWidget(page)
        self._show_no_tab(page)
        page.setFocus()

    def show_new(self, workspace_id: int | None = None) -> None:
        """The page where a conversation begins."""
        if workspace_id:
            self.new_page.choose_workspace(int(workspace_id))
        self._show_no_tab(self.new_page)
        self.new_page.composer.field.setFocus()

    def show_welcome(self) -> None:
        if self.welcome is None and self._make_welcome is not None:
            self.welcome = self._make_welcome()
            self._stack.addWidget(self.welcome)
        if self.welcome is None:
            return
        self._show_no_tab(self.welcome)
        self.welcome.begin()

    def _show_no_tab(self, page: QWidget) -> None:
        self._leave_current()
        self._current = ""
        self._stack.setCurrentWidget(page)
        self._strip_shows("")
        self.shown.emit("")

    def show_status(self, status: TabStatus) -> None:
        self.strip.show_status(status)

    def show_models(self, models: Sequence[ModelInfo]) -> None:
        self._models = tuple(models)
        self.new_page.composer.show_models(self._models)
        for page in self._pages.values():
            page.show_models(self._models)

    def show_workspaces(self, view: CatalogueView, scratch: Path) -> None:
        self.new_page.show_workspaces(view.workspaces, str(scratch))

    def pages(self) -> list[ConversationPage]:
        return list(self._pages.values())

    async def close_pages(self) -> None:
        """The window ends: places and drafts are kept, scopes closed. Raises StoreError at the end
        when a draft could not be kept."""
        trouble: StoreError | None = None
        for tab_id, page in list(self._pages.items()):
            if tab_id in self._pages:  # another window may take one meanwhile
                page.close_page()
                await page.place_keeping.keep()
            if tab_id in self._pages:
                try:
                    await page.keep_draft()
                except StoreError as error:
                    trouble = trouble or error
        if trouble is not None:
            raise trouble

    def _leave_current(self) -> None:
        page = self._pages.get(self._current)
        if page is not None:
            page.leave()

    def _drop(self, tab_id: str) -> None:
        page = self._pages.pop(tab_id)
        page.close_page()
        page.save_draft()
        self._stack.removeWidget(page)
        page.deleteLater()
