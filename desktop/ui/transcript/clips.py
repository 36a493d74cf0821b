"""Where marked text goes: the clipboard, a middle click, a drag out of the window."""

from PySide6.QtCore import QMimeData, QObject, Qt, Signal
from PySide6.QtGui import QDrag, QGuiApplication

from desktop.ui.transcript.copying import Copying, Form, Target, marked_at_hand, put
from desktop.ui.transcript.page import Page


class Clips(QObject):
    """Copies from a page. `wanted(Copying)`: its rows must be read for it."""

    wanted = Signal(object)

    def __init__(self, source: QObject) -> None:
        super().__init__(source)
        self._source = source

    def copy(self, page: Page, form: Form, target: Target = "clipboard") -> None:
        stretch = page.marking.stretch
        if stretch is None:
            return
        copying = Copying(page, stretch, form, target)
        if copying.at_hand:
            put(copying.text, target)
        else:
            self.wanted.emit(copying)

    def offer(self, page: Page) -> None:
        """A middle click pastes what was marked last, where the desktop has that."""
        if QGuiApplication.clipboard().supportsSelection():
            self.copy(page, "plain", "primary")

    def pull_away(self, page: Page) -> None:
        """Lets it be dropped elsewhere, where it is at hand."""
        text = marked_at_hand(page)
        if text:
            data = QMimeData()
            data.setText(text)
            drag = QDrag(self._source)
            drag.setMimeData(data)
            drag.exec(Qt.DropAction.CopyAction)
