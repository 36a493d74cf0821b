"""What a campaign has seen: counts, and every promise that was found broken, in words."""

import threading
from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class Tally:
    """Counts by name; scenarios on several threads share one."""

    counts: Counter[str] = field(default_factory=Counter[str])
    violations: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, name: str, count: int = 1) -> None:
        with self._lock:
            self.counts[name] += count

    def broken(self, where: str, what: str) -> None:
        """A promise was not kept; the campaign goes on."""
        with self._lock:
            self.violations.append(f"{where}: {what}")

    def note(self, what: str) -> None:
        """Something that this machine does not offer."""
        with self._lock:
            self.notes.append(what)

    def check(self, holds: bool, where: str, what: str) -> None:
        if not holds:
            self.broken(where, what)
