"""A tool tip that ends with the keys of an action, as they are at the moment it is looked at."""

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

_LOOKED_AT = (QEvent.Type.Show, QEvent.Type.Enter, QEvent.Type.FocusIn)


class KeyHint(QObject):
    """Asks the window of `part` for its action, so the part knows none."""

    def __init__(self, part: QWidget, words: str, action: str) -> None:
        super().__init__(part)
        self._part = part
        self._words = words
        self._action = f"action.{action}"
        part.setToolTip(words)
        part.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _LOOKED_AT:
            action = self._part.window().findChild(QAction, self._action)
            written = _written(action) if action is not None else ""
            self._part.setToolTip(f"{self._words} ({written})" if written else self._words)
        return False


def _written(action: QAction) -> str:
    keys = action.shortcut()
    return keys.toString(keys.SequenceFormat.NativeText)
