"""The windows of one program: the one that is looked at, and what each has to know of the others.

All show the same strip, each another conversation of it. The first is made before anything is
loaded; the others when the person asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject

from desktop.app.front import bring_to_front
from desktop.ui.main_window import MainWindow
from desktop.ui.window_cache import MOST_WINDOWS

if TYPE_CHECKING:
    from desktop.ui.conversation_area import ConversationArea
    from desktop.ui.conversation_page import ConversationPage


class Windows(QObject):
    """`front` is the window that was active last."""

    def __init__(self) -> None:
        super().__init__()
        self._windows: list[MainWindow] = []
        self._others: dict[MainWindow, Others] = {}

    @property
    def all(self) -> tuple[MainWindow, ...]:
        """The one that was active last at the front."""
        return tuple(self._windows)

    @property
    def front(self) -> MainWindow:
        return self._windows[0]

    def add(self, window: MainWindow) -> None:
        self._windows.insert(0, window)
        window.installEventFilter(self)

    def remove(self, window: MainWindow) -> None:
        """It ends; what it had to tell is told in the next one. The last stays to the end."""
        self._windows.remove(window)
        self._others.pop(window, None)
        window.removeEventFilter(self)
        for key, (sentence, detail) in window.banner.notices.items():
            self.front.stand(key, sentence, detail)

    @property
    def are_away(self) -> bool:
        return all(window.isHidden() for window in self._windows)

    def put_away(self) -> None:
        """None is seen, all are there."""
        for window in self._windows:
            window.hide()

    def come_back(self, token: str = "") -> None:
        """All are seen again; the one that was active last comes to the front."""
        for window in reversed(self._windows[1:]):
            if window.isHidden():
                window.show()
        bring_to_front(self.front, token)

    def say(self, sentence: str, detail: str = "") -> None:
        """A message where the person is."""
        self.front.say(sentence, detail)

    def stand(self, key: str, sentence: str, detail: str = "") -> None:
        """A notice, in place of the one with the same key; an empty one takes it away."""
        there = [one for one in self._windows if key in one.banner.notices]
        for window in there or [self.front]:
            window.stand(key, sentence, detail)

    def leave(self, tab_id: str) -> None:
        """The window that has this conversation in view shows the page for a new one."""
        for window in self._windows:
            current = window.area.current
            if current is not None and current.tab_id == tab_id:
                window.area.show_new()

    def beside(self, window: MainWindow) -> Others:
        """`window` was added. It keeps its number, from one start to the next, unless another has
        it; those of windows that are gone are free."""
        taken = {one.number for one in self._others.values()}
        free = next(n for n in range(len(taken) + 1) if n not in taken)
        is_its_own = window.number in range(MOST_WINDOWS) and window.number not in taken
        number = window.number if is_its_own else free
        self._others[window] = Others(window, self, number)
        return self._others[window]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.WindowActivate and watched in self._windows:
            self._windows.sort(key=lambda window: window is not watched)
        return False


class Others:
    """The `OtherWindows` of one."""

    def __init__(self, window: MainWindow, windows: Windows, number: int) -> None:
        self.number = number
        self._window = window
        self._windows = windows

    @property
    def is_front(self) -> bool:
        return self._windows.front is self._window

    def showing(self, tab_id: str) -> ConversationPage | None:
        in_view = (area.current for area in self._areas())
        return next((page for page in in_view if page and page.tab_id == tab_id), None)

    def go_to(self, page: ConversationPage) -> None:
        bring_to_front(page.window())

    def let_go(self, tab_id: str) -> None:
        for area in self._areas():
            area.let_go(tab_id)

    def _areas(self) -> list[ConversationArea]:
        return [one.area for one in self._windows.all if one is not self._window]
