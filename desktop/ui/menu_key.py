"""Shift+F10 opens the menu of what has the keyboard, as the menu key does.

Many keyboards have no menu key, and on X11 and Wayland Qt makes no more of these keys than of any
other; on Windows it does, and macOS has no such key.
"""

import sys

from PySide6.QtGui import QContextMenuEvent, QShortcut
from PySide6.QtWidgets import QApplication, QWidget

KEYS = "Shift+F10"


def hear_menu_key(window: QWidget) -> None:
    if sys.platform == "linux":
        QShortcut(KEYS, window).activated.connect(_ask_for_menu)


def _ask_for_menu() -> None:
    part = QApplication.focusWidget()
    if part is not None:
        middle = part.rect().center()
        reason = QContextMenuEvent.Reason.Keyboard
        event = QContextMenuEvent(reason, middle, part.mapToGlobal(middle))
        QApplication.sendEvent(part, event)
