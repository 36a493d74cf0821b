"""Runs the script of a plugin inside of a frozen program, as `python -I` would run it.

What the program brings beside Python's own modules is not there for it: neither Nacre nor the
libraries. What the script itself puts into `sys.path` is.
"""

import runpy
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType


class OnlyPythons(MetaPathFinder):
    """Lets through what is Python's own, or lies where the script said."""

    def __init__(self, bundled: Sequence[str]) -> None:
        self._bundled = frozenset(bundled)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if path is not None or fullname in sys.stdlib_module_names:
            return None  # the finders behind this one know
        own = [one for one in sys.path if one not in self._bundled]
        found = PathFinder.find_spec(fullname, own, target)
        if found is None:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return found


def run(words: Sequence[str]) -> None:
    """Runs the file that the first word names, with the others as its arguments."""
    sys.argv = list(words)
    sys.meta_path.insert(0, OnlyPythons(sys.path))
    for name in list(sys.modules):
        if name.partition(".")[0] not in sys.stdlib_module_names and name != "__main__":
            del sys.modules[name]
    runpy.run_path(words[0], run_name="__main__")
