"""A real process of the program, and what befalls it at a chosen moment: mostly its death."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[3]
PATIENCE = 60.0  # seconds after which a process counts as stuck
GLANCE = 0.001


@dataclass(frozen=True, slots=True)
class Moment:
    """`seconds` after the process has printed so many lines, or `seconds` after `begun` is true."""

    lines: int = 0
    seconds: float = 0.0
    begun: Callable[[], bool] | None = None


@dataclass(frozen=True, slots=True)
class Left:
    """What a process left behind. `was_hit` is whether it was alive when its moment came."""

    was_hit: bool
    code: int
    out: tuple[str, ...]
    err: str


def ended(
    arguments: Sequence[str],
    *,
    environment: Mapping[str, str],
    notes: Path,
    at: Moment | None,
    deed: Callable[[], None] | None = None,
) -> Left:
    """Runs a command of this Python until it ends or is killed `at` its moment, with its group.

    A `deed` is done then instead of killing it. Only whole lines count: the last one may have
    been cut off.
    """
    with notes.open("wb") as err:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=err,
            cwd=ROOT,
            start_new_session=True,
        )
    blow = _Blow(process, at, deed)
    lines: list[str] = []
    assert process.stdout is not None
    with process.stdout as out:
        blow.seen(0)
        for line in out:
            if line.endswith(b"\n"):
                lines.append(line.decode())
                blow.seen(len(lines))
    code = process.wait()
    blow.over()
    return Left(blow.has_hit, code, tuple(lines), notes.read_text("utf-8", "replace"))


class _Blow:
    """Strikes once; a process that gets stuck is struck as well, and told by its exit code."""

    def __init__(
        self,
        process: "subprocess.Popen[bytes]",
        at: Moment | None,
        deed: Callable[[], None] | None,
    ) -> None:
        self._process = process
        self._at = at
        self._deed = deed
        self._over = threading.Event()
        self._due = threading.Event()
        self._thread = threading.Thread(target=self._strike, name="blow", daemon=True)
        self._thread.start()
        self.has_hit = False

    def seen(self, lines: int) -> None:
        if self._at is not None and lines >= self._at.lines:
            self._due.set()

    def over(self) -> None:
        self._over.set()
        self._due.set()
        self._thread.join()

    def _strike(self) -> None:
        if not self._due.wait(PATIENCE):
            self._kill()
            return
        at = self._at
        if at is None:
            return
        while at.begun is not None and not self._over.is_set() and not at.begun():
            time.sleep(GLANCE)
        if self._over.wait(at.seconds):
            return
        if self._deed is None:
            self.has_hit = self._kill()
            return
        self.has_hit = self._process.poll() is None
        self._deed()

    def _kill(self) -> bool:
        """Whether it was alive."""
        if self._process.poll() is not None:
            return False
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        return True


def quiet(folder: Path) -> bool:
    """Waits until nothing runs in a folder any more: what tools had started is over."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if not any(_works_in(process, folder) for process in psutil.process_iter()):
            return True
        time.sleep(0.01)
    return False


def _works_in(process: psutil.Process, folder: Path) -> bool:
    try:
        return Path(process.cwd()).is_relative_to(folder)
    except (psutil.Error, OSError):
        return False
