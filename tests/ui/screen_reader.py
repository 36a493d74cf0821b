"""A screen reader, for tests: it hears what Qt hands to the platform's accessibility.

PySide6 leaves out `QAccessible::installUpdateHandler`, so it is called in Qt's library itself.
"""

import ctypes
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import PySide6
import pytest
import shiboken6
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAccessibleEvent

_INSTALL = "_ZN11QAccessible20installUpdateHandlerEPFvP16QAccessibleEventE"
_LIBRARIES = {"linux": "Qt/lib/libQt6Gui.so.6", "darwin": "Qt/lib/QtGui.framework/QtGui"}
_HANDLER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class ScreenReader:
    """`heard` is what was announced, in order; `pressing` those of it that interrupt."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.pressing: list[str] = []

    def hear(self, address: int) -> None:
        event = cast("QAccessibleEvent", shiboken6.wrapInstance(address, QAccessibleEvent))
        if event.type() != QAccessible.Event.Announcement:
            return
        made = shiboken6.wrapInstance(address, QAccessibleAnnouncementEvent)
        said = cast("QAccessibleAnnouncementEvent", made)
        self.heard.append(said.message())
        if said.politeness() == QAccessible.AnnouncementPoliteness.Assertive:
            self.pressing.append(said.message())


@contextmanager
def listening() -> Generator[ScreenReader]:
    """Hears everything until the end of the block."""
    reader = ScreenReader()
    handler = _HANDLER(reader.hear)
    install = _install()
    before = install(ctypes.cast(handler, ctypes.c_void_p))
    try:
        yield reader
    finally:
        install(before)


def _install() -> Callable[[object], int | None]:
    library = _LIBRARIES.get(sys.platform)
    path = Path(PySide6.__file__).parent / library if library else None
    if path is None or not path.exists():
        pytest.skip("Qt's own library is not where it can be called")
    call = ctypes.CDLL(str(path))[_INSTALL]
    call.argtypes, call.restype = [ctypes.c_void_p], ctypes.c_void_p
    return call
