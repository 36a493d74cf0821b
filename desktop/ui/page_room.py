"""How the parts of a conversation's page share a height that is not enough for all of them.

A small screen or large letters: what has to be there (a question with its buttons, a line to write
in, the button that sends) has its room first. Long lists and words scroll in theirs.
"""

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QHBoxLayout, QWidget

from desktop.ui.composer import Composer
from desktop.ui.permission_bar import PermissionBar
from desktop.ui.queue_bar import QueueBar
from desktop.ui.theme import Theme


class PageRoom(QObject):
    """Looks at `page` whenever it is resized or laid out anew. `rows` is its transcript, `foot` the
    row of what stands below that."""

    def __init__(
        self,
        page: QWidget,
        theme: Theme,
        *,
        rows: QWidget,
        foot: QHBoxLayout,
        composer: Composer,
        permission_bar: PermissionBar,
        queue_bar: QueueBar,
    ) -> None:
        super().__init__(page)
        self._page = page
        self._rows = rows
        self._foot = foot
        self._composer = composer
        self._permission_bar = permission_bar
        self._queue_bar = queue_bar
        self._least_rows = theme.space_24
        self._below = (theme.space_12, theme.space_4)  # roomy, low
        self._is_low = False
        page.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._permission_bar.show_room(self._page.height())
            self._queue_bar.show_room(self._page.height())
            self._share()
        elif event.type() == QEvent.Type.LayoutRequest:
            self._share()
        return super().eventFilter(watched, event)

    def _share(self) -> None:
        is_low = self._wanted() > self._page.height()
        if is_low == self._is_low:
            return
        self._is_low = is_low
        self._composer.show_low(is_low)
        # 0 is what the transcript wants itself.
        self._rows.setMinimumHeight(self._least_rows if is_low else 0)
        sides = self._foot.contentsMargins()
        sides.setBottom(self._below[is_low])
        self._foot.setContentsMargins(sides)

    def _wanted(self) -> int:
        """The height of all parts with nothing left out, whatever is left out now."""
        layout = self._page.layout()
        if layout is None:
            return 0
        others = layout.totalMinimumSize().height() - self._composer.minimumSizeHint().height()
        if self._is_low:
            others += self._rows.minimumSizeHint().height() - self._least_rows
            others += self._below[False] - self._below[True]
        asked = self._permission_bar
        if not asked.isHidden():  # what is asked is read before anything is chosen
            others += asked.sizeHint().height() - asked.minimumSizeHint().height()
        return others + self._composer.least_with_choices()
