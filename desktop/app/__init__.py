"""The composition root of the window: one loop, one window, everything else loaded behind it.

What is imported before the first paint is Qt, qasync and the window's own modules; the log, the
network side and the pages of conversations are loaded on a thread after it (DESIGN.md §3).
"""

import builtins
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from desktop import paths
from desktop.app.front_door import FrontDoor
from desktop.core.links import parse_place

if TYPE_CHECKING:
    from desktop.app.selftest import Errand


def run_window(
    data_dir: str | None,
    *,
    place: str = "",
    selftest: str | None = None,
    on_first_paint: Callable[[], None] | None = None,
) -> int:
    """Opens the window and returns the exit code when the program is over.

    Where a window is open on this data folder already, that one comes to the front instead and goes
    to `place`, a folder or a link (decisions/0038). `selftest` is the file for the picture of the
    last conversation (DESIGN.md §8). Raises NacreError when no data folder can be named at all, and
    when the window that is open does not answer.
    """
    restore_import()
    choice = paths.choose(data_dir)
    door = FrontDoor(choice.folder, parse_place(place) if place else None)
    if selftest is None and not door.enter():
        return 0
    try:
        from desktop.app.start import open_window

        errand = None if selftest is None else _picture_to(selftest)
        return open_window(choice, door, errand=errand, on_first_paint=on_first_paint)
    finally:
        door.leave()


def _picture_to(file: str) -> "Errand":
    from desktop.app.selftest import picture_to

    return picture_to(file)


def restore_import() -> None:
    """Undoes a change that PySide makes to every import of the process.

    It reads the source of each module that is imported, to look for a feature switch that Nacre
    does not use; that costs a fifth of the start-up, and a third of loading the provider's library
    (desktop/decisions/0004-plain-imports.md). Without PySide's names there is nothing to undo.
    """
    importlib.import_module("PySide6.QtCore")
    original = getattr(builtins, "__orig_import__", None)
    if original is not None:
        builtins.__import__ = original
