"""What each action of the window does, on whatever is in view or has the keyboard."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QMainWindow, QSplitter, QWidget

from desktop.core.ways import WAYS
from desktop.settings import TRANSCRIPT_ZOOM
from desktop.ui.conversation_area import ConversationArea
from desktop.ui.notice_bar import NoticeBar
from desktop.ui.preferences import LivePreferences
from desktop.ui.sidebar import Sidebar
from desktop.ui.tab_strip import PLACES

if TYPE_CHECKING:
    from PySide6.QtGui import QAction

    from desktop.ui.desk import Desk
    from desktop.ui.right_side import RightSide
    from desktop.ui.transcript.acts import Act

Slots = dict[str, Callable[[], object]]
ZOOM_STEP = 10


class WindowActs(QObject):
    """`own`: what the window does itself. `actions` by their names, once there are menus; `right`
    once the right pane was wanted."""

    def __init__(
        self,
        window: QMainWindow,
        *,
        area: ConversationArea,
        sidebar: Sidebar,
        splitter: QSplitter,
        preferences: LivePreferences,
        desk: Callable[[], Desk | None],
        undo_bar: NoticeBar,
        own: Slots,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._area = area
        self._sidebar = sidebar
        self._splitter = splitter
        self._preferences = preferences
        self._desk = desk
        self._undo_bar = undo_bar
        self._own = own
        self.actions: dict[str, QAction] = {}
        self.right: RightSide | None = None

    def _at_desk(self, act: Callable[[Desk], object]) -> Callable[[], object]:
        """An action that needs the log to be open."""

        def acting() -> object:
            desk = self._desk()
            return act(desk) if desk is not None else None

        return acting

    def _current_id(self) -> str:
        return self._area.current.tab_id if self._area.current else ""

    def _chosen_id(self) -> str:
        """What the keyboard is on in the sidebar, else what is in view."""
        chosen = self._sidebar.conversations.chosen_tab if self._sidebar.conversations else ""
        return chosen or self._current_id()

    def slots(self) -> Slots:
        """What each declared action does."""
        return {
            **self._own,
            "new": self._area.show_new,
            "open_folder": self._at_desk(lambda desk: desk.open_folder()),
            "close_tab": self._at_desk(lambda desk: desk.close_tab(self._current_id())),
            "reopen_tab": self._at_desk(lambda desk: desk.reopen_tab()),
            "copy": partial(self._to_focus, "copy"),
            "copy_markdown": partial(self._to_focus, "copy_markdown"),
            "select_all": partial(self._to_focus, "selectAll"),
            "find": lambda: self._area.current and self._area.current.find_bar.begin(),
            "find_next": lambda: self._area.current and self._area.current.finding.step(1),
            "find_previous": lambda: self._area.current and self._area.current.finding.step(-1),
            "search": self._at_desk(lambda desk: desk.searching.begin()),
            "find_conversation": self._focus_search,
            "sidebar": lambda: self._sidebar.setVisible(self._sidebar.isHidden()),
            "zoom_in": lambda: self._zoom(ZOOM_STEP),
            "zoom_out": lambda: self._zoom(-ZOOM_STEP),
            "zoom_reset": lambda: self._zoom(None),
            "stop": lambda: self._area.current and self._area.current.stop(),
            "stop_all": self._at_desk(lambda desk: desk.stop_all()),
            "retry": lambda: self._area.current and self._area.current.take("retry"),
            "go_on": lambda: self._area.current and self._area.current.take("go_on"),
            "compact": self._at_desk(lambda desk: desk.compact(self._current_id())),
            "rename": self._at_desk(lambda desk: desk.rename(self._chosen_id())),
            "edit_message": lambda: self._in_view("edit"),
            "regenerate": lambda: self._in_view("regenerate"),
            "fork": lambda: self._in_view("fork"),
            "quote": lambda: self._in_view("quote"),
            "bookmark": lambda: self._in_view("bookmark"),
            "wait_less": lambda: self._area.current and self._area.current.queue_bar.step(-1),
            "wait_more": lambda: self._area.current and self._area.current.queue_bar.step(1),
            "right_pane": self._at_desk(lambda desk: self.right_side(desk).toggle()),
            "palette": self._at_desk(self._show_palette),
            "previous_prompt": lambda: self._step_prompt(-1),
            "next_prompt": lambda: self._step_prompt(1),
            **{f"tab_{at}": partial(self._show_place, at) for at in PLACES},
            "previous_branch": lambda: self._step_branch(-1),
            "next_branch": lambda: self._step_branch(1),
            "usage": self._at_desk(self._show_usage),
            "archive": self._at_desk(lambda desk: desk.putting_away.archive_tab(self._chosen_id())),
            "trash": self._at_desk(lambda desk: desk.putting_away.trash_tab(self._chosen_id())),
            "undo_put_away": self._at_desk(lambda desk: desk.putting_away.undo()),
            "archived": self._at_desk(lambda desk: desk.putting_away.show_page("archived")),
            "bin": self._at_desk(lambda desk: desk.putting_away.show_page("bin")),
            "write": self._focus_composer,
            "next_tab": lambda: self._area.step(1),
            "previous_tab": lambda: self._area.step(-1),
            "next_region": self._next_region,
            "to_end": lambda: self._area.current and self._area.current.pane.follow(),
            "shortcuts": self._at_desk(lambda desk: desk.doors.show_shortcuts(self._window)),
            "tour": self._at_desk(lambda desk: desk.play_tour()),
            "about": self._at_desk(lambda desk: desk.doors.show_about(self._window)),
        }

    def right_side(self, desk: Desk) -> RightSide:
        """Made when it is first wanted."""
        if self.right is None:
            self.right = desk.right_side(self._splitter)
        return self.right

    def _step_prompt(self, by: int) -> None:
        if self._area.current is not None:
            self._area.current.stepping.step(by)

    def _show_place(self, at: int) -> None:
        """The conversation at a place of the strip, from 1."""
        tab_ids = self._area.strip.tab_ids()
        if at <= len(tab_ids):
            self._area.show_tab(tab_ids[at - 1])

    def _show_usage(self, desk: Desk) -> None:
        if self._area.current is not None:
            desk.doors.show_usage(self._window, self._area.current.tab_id)

    def _in_view(self, act: Act) -> None:
        if self._area.current is not None:
            self._area.current.pane.view.act(act)

    def offer_ways(self) -> None:
        """The menu offers what can be done about the last answer in view, and no more."""
        ways = self._area.current.ways_on if self._area.current is not None else ()
        for way in WAYS:
            self.actions[way].setEnabled(way in ways)

    def hear_ways(self) -> None:
        for way in WAYS:
            self.actions[way].setEnabled(self._desk() is not None)

    def _step_branch(self, step: int) -> None:
        if self._area.current is not None:
            self._area.current.pane.view.step_branch(step)

    def _to_focus(self, name: str) -> None:
        """Edit actions act on what has the focus, as the platform's own menus do."""
        # Right after the palette nothing has the focus yet: what had it in this window gets it.
        act = getattr(QApplication.focusWidget() or self._window.focusWidget(), name, None)
        if act is not None:
            act()

    def _show_palette(self, desk: Desk) -> None:
        self.offer_ways()
        desk.doors.show_palette(self._window, self.actions, desk.recent_tabs(), desk.open_tab)
        self.hear_ways()

    def _focus_search(self) -> None:
        self._sidebar.show()
        self._sidebar.search.setFocus()

    def _focus_composer(self) -> None:
        composer = self._area.composer
        if composer is not None:
            composer.field.setFocus()

    def _next_region(self) -> None:
        """F6: sidebar, transcript, question, composer (or the page in their place), and around."""
        page, composer = self._area.current, self._area.composer
        regions: list[QWidget] = [self._sidebar.search]
        if page is not None:
            regions += [page.pane.view, page.permission_bar]
        regions.append(composer.field if composer is not None else self._area.in_view)
        if self.right is not None:
            regions += self.right.regions
        regions.append(self._undo_bar.button)
        regions = [one for one in regions if one.isVisible()]
        focus = QGuiApplication.focusObject()
        inside = [
            at
            for at, one in enumerate(regions)
            if one is focus or (isinstance(focus, QWidget) and one.isAncestorOf(focus))
        ]
        if regions:
            regions[(inside[0] + 1) % len(regions) if inside else 0].setFocus()

    def _zoom(self, by: int | None) -> None:
        now = self._preferences.value(TRANSCRIPT_ZOOM)
        low, high = TRANSCRIPT_ZOOM.minimum or 50, TRANSCRIPT_ZOOM.maximum or 300
        zoom = 100 if by is None else min(high, max(low, now + by))
        self._preferences.change(TRANSCRIPT_ZOOM.key, zoom)
