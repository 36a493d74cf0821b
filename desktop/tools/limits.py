"""Caps on what one command may take, set by a small program in front of it.

`prlimit` becomes the command itself, so the caps hold for all that it starts and nothing has to
run in Nacre between fork and exec, which a program with threads must not do.
"""

import shutil
import sys
from collections.abc import Sequence

FILE_BYTES = 17_179_869_184
_SYSTEM_PATH = "/usr/bin:/bin:/run/current-system/sw/bin"


def limited(
    argv: Sequence[str],
    *,
    memory: int,
    file_size: int = FILE_BYTES,
    path: str = _SYSTEM_PATH,
) -> tuple[str, ...]:
    """The command with caps in bytes and without core dumps; `memory` 0 means as much as there is.

    Where there is no `prlimit` (it is of Linux) the command stays as it is. It is looked for in the
    system's folders only: it runs outside of every sandbox.
    """
    program = shutil.which("prlimit", path=path) if sys.platform == "linux" else None
    if program is None:
        return tuple(argv)
    caps = [f"--fsize={file_size}", "--core=0", *([f"--as={memory}"] if memory else [])]
    return (program, *caps, "--", *argv)
