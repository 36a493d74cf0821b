"""The first process of a sandbox: when it ends, the system ends every other one in there.

A process in a sandbox can leave its group and its environment, and can make the first one do so;
it can't change that one's number nor when it was born. bubblewrap reports the number once.
"""

import json
import os
import select
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

REPORT_SECONDS = 5.0
_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Root:
    """`born` is the start in ticks of the machine: the number may later be somebody else's."""

    pid: int
    born: str

    def is_alive(self) -> bool:
        state, born = look(self.pid)
        return born == self.born and state not in ("Z", "X")

    def kill(self) -> None:
        if self.is_alive():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(self.pid, signal.SIGKILL)


def read_root(descriptor: int) -> Root | None:
    """What bubblewrap reports; None when it ended before that, or does not say."""
    data = b""
    until = time.monotonic() + REPORT_SECONDS
    while True:
        left = until - time.monotonic()
        if left <= 0 or not select.select([descriptor], [], [], left)[0]:
            return None
        piece = os.read(descriptor, 4096)
        data += piece
        with suppress(ValueError):
            told = json.loads(data)
            pid = told.get("child-pid") if isinstance(told, dict) else None
            if not isinstance(pid, int) or pid < 2:
                return None
            born = look(pid)[1]
            return Root(pid, born) if born else None
        if not piece:
            return None


def look(pid: int) -> tuple[str, str]:
    """The state letter of a process and when it was born; empty where there is none."""
    try:
        text = (_PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return "", ""
    # Its name, the second word, can hold anything.
    words = text.rpartition(b")")[2].decode("ascii", "replace").split()
    return (words[0], words[19]) if len(words) > 19 else ("", "")
