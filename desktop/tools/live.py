"""What a person sees of a command while it runs, at a cost that a flood does not raise.

What is printed goes through a terminal (`core.growing`) on the thread that reads it. More than a
person could follow is not looked at: of that the newest few KB are shown, and how many lines were
left out.
"""

import threading
import time

from desktop.core.growing import Telling
from desktop.core.printed import Growth
from desktop.tools.output import from_line_start

# Bytes that are shown whole at once, bytes that may follow each second, and the newest of a flood.
BURST = 131_072
RATE = 32_768
NEWEST = 4_096
FLOOD_EVERY = 1.0
_STEP = 1_024  # bytes between two chances for who takes


class Live:
    """Fed by the thread that reads, from anything; taken from by the loop, which never waits."""

    def __init__(self) -> None:
        self._telling = Telling()
        self._allowance = float(BURST)
        self._held = bytearray()
        self._lost = False
        self._lines = 0
        self._shown = float("-inf")
        self._looked: float | None = None
        self._lock = threading.Lock()

    def feed(self, chunk: bytes) -> None:
        """Prints more."""
        with self._lock:
            if self._held or len(chunk) > self._allowance:
                self._hold(chunk)
                return
            self._allowance -= len(chunk)
        for start in range(0, len(chunk), _STEP):
            with self._lock:
                self._telling.feed(chunk[start : start + _STEP])
            time.sleep(0)  # lets the loop's thread go on: this one alone would keep it for 5 ms

    def _hold(self, chunk: bytes) -> None:
        self._held += chunk
        over = len(self._held) - NEWEST
        if over > 0:
            self._lost = True
            self._lines += self._held.count(b"\n", 0, over)
            del self._held[:over]

    def take(self, now: float, *, final: bool = False) -> Growth | None:
        """What has come since the last call; `now` is in seconds of any clock that never steps.

        None also while the other thread is at it: the next call has it. The `final` one waits.
        """
        if not self._lock.acquire(blocking=final):
            return None
        try:
            spent = now - self._looked if self._looked is not None else 0.0
            self._looked = now
            self._allowance = min(BURST, self._allowance + RATE * spent)
            self._take_held(now, final=final)
            if final:
                self._telling.feed(b"", final=True)
            return self._telling.take()
        finally:
            self._lock.release()

    def _take_held(self, now: float, *, final: bool) -> None:
        goes_on = not self._lost and len(self._held) <= self._allowance
        if not self._held or not (goes_on or final or now - self._shown >= FLOOD_EVERY):
            return
        held, self._shown = bytes(self._held), now
        self._held.clear()
        if self._lost:
            rest = from_line_start(held)
            self._telling.skip(self._lines + held.count(b"\n", 0, len(held) - len(rest)))
            held, self._lost, self._lines = rest, False, 0
        self._allowance = max(0.0, self._allowance - len(held))
        self._telling.feed(held)
