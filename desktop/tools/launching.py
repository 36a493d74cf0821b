"""How a process is started, with a sandbox around it or without, and what a sandbox reports."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from desktop.tools.sandbox_root import Root, read_root


@dataclass(frozen=True, slots=True)
class Launch:
    """How something is started: its words, its environment, its folder (None: Nacre's own).

    `report_at` is where among the words of bubblewrap it is told to report its first process;
    None where there is no sandbox.
    """

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    folder: Path | None
    report_at: int | None = None

    def reporting_to(self, descriptor: int) -> tuple[str, ...]:
        """The words with which it reports to a descriptor that it inherits."""
        at = self.report_at
        if at is None:
            return self.argv
        return (*self.argv[:at], "--info-fd", str(descriptor), *self.argv[at:])


class Reporting:
    """A pipe on which a sandbox that starts reports its first process; closed at the end."""

    def __init__(self, launch: Launch) -> None:
        self._read = self._write = -1
        self.argv: Sequence[str] = launch.argv
        self.inherited: tuple[int, ...] = ()
        if launch.report_at is not None:
            self._read, self._write = os.pipe()
            self.argv = launch.reporting_to(self._write)
            self.inherited = (self._write,)

    def __enter__(self) -> "Reporting":
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor in (self._read, self._write):
            if descriptor >= 0:
                os.close(descriptor)
        self._read = self._write = -1

    def root(self) -> Root | None:
        """Once it was started: waits for the report, a moment. None outside of a sandbox."""
        if self._read < 0:
            return None
        os.close(self._write)
        self._write = -1
        return read_root(self._read)
