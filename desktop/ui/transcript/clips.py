"""Where marked text goes: the clipboard, a middle click, a drag out of the window."""

from collections.abc import Callable

from PySide6.QtCore import QMimeData, QObject, Qt, Signal
from PySide6.QtGui import QDrag, QGuiApplication

from desktop.ui.transcript.copying import Copying, Form, Target, marked_at_hand, put
from desktop.ui.transcript.page import Page


class Clips(QObject):
    """Copies from the page that is shown. `wanted(Copying)`: its rows must be read for it."""

    wanted = Signal(object)

    def __init__(self, page: Callable[[], Page | None], parent: QObject) -> None:
        super().__init__(parent)
        self._page = page
        self._source = parent

    def text(self, form: Form) -> str:
        """What is marked, where it is at hand; else nothing."""
        page = self._page()
        return marked_at_hand(page, form) if page is not None else ""

    def copy(self, form: Form, target: Target = "clipboard") -> None:
        copying = self._copying(form, target)
        if copying is None:
            return
        if copying.at_hand:
            put(copying.text, target)
        else:
            self.wanted.emit(copying)

    def offer(self) -> None:
        """A middle click pastes what was marked last, where the desktop has that."""
        if QGuiApplication.clipboard().supportsSelection():
            self.copy("plain", "primary")

    def pull_away(self) -> None:
        """Lets it be dropped elsewhere, where it is at hand."""
        text = self.text("plain")
        if text:
            data = QMimeData()
            data.setText(text)
            drag = QDrag(self._source)
            drag.setMimeData(data)
            drag.exec(Qt.DropAction.CopyAction)

    def _copying(self, form: Form, target: Target) -> Copying | None:
        page = self._page()
        stretch = page.marking.stretch if page is not None else None
        return Copying(page, stretch, form, target) if page is not None and stretch else None
