"""Keys that mean the same wherever one writes: a text field does not take them for itself.

Some platforms give fields keys of their own (on X11 Ctrl+K deletes to the end of the line), and a
field is asked before the actions of the window.
"""

from collections.abc import Collection

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QTextEdit, QWidget

_FIELDS = (QLineEdit, QPlainTextEdit, QTextEdit)


class FieldKeys(QObject):
    """Watches the field that has the focus, and no other."""

    def __init__(self, keys: Collection[str], app: QApplication, parent: QObject) -> None:
        super().__init__(parent)
        self.set_keys(keys)
        app.focusChanged.connect(self._watch)
        self._watch(None, app.focusWidget())

    def set_keys(self, keys: Collection[str]) -> None:
        self._keys = [QKeySequence(one) for one in keys]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """True where the field must not see the event: it would claim the key."""
        if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
            return False
        if QKeySequence(event.keyCombination()) not in self._keys:
            return False
        event.ignore()
        return True

    def _watch(self, before: QWidget | None, now: QWidget | None) -> None:
        if isinstance(before, _FIELDS):
            before.removeEventFilter(self)
        if isinstance(now, _FIELDS):
            now.installEventFilter(self)
