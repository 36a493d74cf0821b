"""The composition root of the window: one loop, one window, everything else loaded behind it.

What is imported before the first paint is Qt, qasync and the window's own modules; the log, the
network side and the pages of conversations are loaded on a thread after it (DESIGN.md §3).
"""

import builtins
import gc
import importlib
from collections.abc import Callable


def run_window(
    data_dir: str | None,
    *,
    selftest: str | None = None,
    on_first_paint: Callable[[], None] | None = None,
) -> int:
    """Opens the window and returns the exit code when the program is over.

    `selftest` is the file for the picture of the last conversation (DESIGN.md §8). Raises
    DataFolderError when no data folder can be named at all.
    """
    # Collecting garbage before the first paint only looks at what the imports made.
    gc.disable()
    restore_import()
    from desktop.app.start import open_window

    return open_window(data_dir, selftest=selftest, on_first_paint=on_first_paint)


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
