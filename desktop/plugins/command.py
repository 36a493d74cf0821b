"""Which words start a plugin: its command, with this program's Python where it asks for that.

A frozen program has no Python to hand out, so it starts itself in another mode, `isolated`. Either
way a script runs alone: no environment of the person's, no packages but Python's own.
"""

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from desktop.core.scripts import SCRIPT
from desktop.plugins.manifest import PYTHON, Manifest


def is_frozen() -> bool:
    """Whether this program brings its Python inside of itself."""
    return bool(getattr(sys, "frozen", False))


def program_places() -> tuple[Path, ...]:
    """The folder of a frozen program, which may lie where a sandbox has nothing: an AppImage is
    mounted below `/tmp`."""
    return (Path(sys.executable).parent,) if is_frozen() else ()


def python_words() -> tuple[str, ...]:
    """What stands before the name of a script."""
    return (sys.executable, SCRIPT if is_frozen() else "-I")


def command_of(manifest: Manifest, folder: Path, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The exact words. Looks at the disk; raises FileNotFoundError where the program is not there.

    A name with a slash is one of the plugin's folder, another is looked for in `PATH`.
    """
    first, *rest = manifest.command
    if first == PYTHON:
        return (*python_words(), *rest)
    if "/" in first or os.sep in first:
        program = shutil.which(str(folder / first))
    else:
        program = shutil.which(first, path=environment.get("PATH"))
    if not program:
        raise FileNotFoundError(2, f"its program “{first}” was not found")
    return (program, *rest)
