"""What a person sees first: the last conversation, the page to begin one, or how to get a key."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from desktop.settings import EFFORT, MODEL, PERMISSION_MODE
from desktop.ui.conversation_area import ConversationArea
from desktop.ui.preferences import LivePreferences

if TYPE_CHECKING:
    from desktop.ui.desk import Desk


class Beginning(QObject):
    """`awaits_key`: nobody knows yet whether there is a key, and that decides what is shown."""

    def __init__(
        self,
        area: ConversationArea,
        preferences: LivePreferences,
        desk: Callable[[], Desk | None],
    ) -> None:
        super().__init__(area)
        self._area = area
        self._preferences = preferences
        self._desk = desk
        self.awaits_key = False

    def begin_with(self, desk: Desk, last_tab: str) -> None:
        """The last conversation, unless the person has begun to write already."""
        if self._area.early is not None:
            self._area.complete_early()
            return
        composer = self._area.composer
        if composer is not None and composer.text():
            return
        open_ids = self._area.strip.tab_ids()
        if last_tab in open_ids:
            self._area.show_tab(last_tab)
        elif open_ids:
            self._area.show_tab(open_ids[0])
        elif desk.doors.access.state().key_source == "asking":
            self.awaits_key = True
        else:
            self._offer_welcome(desk)

    def _offer_welcome(self, desk: Desk) -> None:
        """Without a key the first page; keys that are only locked are unlocked where one writes."""
        state = desk.doors.access.state()
        if not state.ready and state.locked != "file":
            self._area.show_welcome()

    def show_reachable(self) -> None:
        """A model can be reached, or can't any more."""
        self.show_ready()
        for page in self._area.pages():
            page.refresh_ready()
        desk = self._desk()
        if desk is None or desk.doors.access.state().key_source == "asking":
            return
        awaited, self.awaits_key = self.awaits_key, False
        composer = self._area.new_page.composer
        if awaited and self._area.composer is composer and not composer.text():
            self._offer_welcome(desk)

    def show_ready(self) -> None:
        """Whether a first message could go out, and why not."""
        desk, composer = self._desk(), self._area.new_page.composer
        if desk is None:
            composer.show_ready(False, self.tr("Nacre is still starting"))
            return
        doors = desk.doors
        state = doors.access.state()
        is_fine = state.ready and not state.locked
        composer.show_key(None if is_fine else state, waiting=doors.unlocking.waiting)
        composer.show_ready(state.ready, self.tr("No key can be used now"))

    def show_choice(self) -> None:
        """Model, effort and permission mode as they are preferred."""
        effort = self._preferences.value(EFFORT)
        self._area.new_page.composer.show_choice(
            self._preferences.value(MODEL),
            "" if effort == "default" else effort,
            self._preferences.value(PERMISSION_MODE),
        )
