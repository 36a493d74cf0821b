"""How a window comes to the front."""

import os

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

LEAVE = "XDG_ACTIVATION_TOKEN"  # Qt looks here for the desktop's leave to take the focus


def bring_to_front(window: QWidget, token: str = "") -> None:
    """Shows the window, wherever it was, and asks the desktop for the focus."""
    if token:
        os.environ[LEAVE] = token
    window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
    window.show()
    window.raise_()
    window.activateWindow()
    os.environ.pop(LEAVE, None)
