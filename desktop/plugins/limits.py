"""What a plugin may cost: how long a line, how many, how fast, how late. See PROTOCOL.md."""

from collections.abc import Callable
from dataclasses import dataclass, field

LINE_BYTES = 1_048_576
MOST_OUTSTANDING = 16
MOST_SUBSCRIPTIONS = 100
MOST_UNREAD = 160  # all subscriptions may end in the same moment
MOST_GARBAGE = 20
ANSWER_SECONDS = 10.0
PING_SECONDS = 15.0
LEAVE_SECONDS = 5.0
# A page of a hundred of these fits into one line, whatever characters they are of.
TEXT_CHARACTERS = 1_600

_BURST_BYTES, _BYTES_A_SECOND = 2 * LINE_BYTES, LINE_BYTES / 2
_BURST_LINES, _LINES_A_SECOND = 400.0, 100.0


class Abuse(Exception):
    """What a plugin may not do; the text says what it did, after its name."""


@dataclass
class Lines:
    """Bytes as they come, cut into lines. Raises Abuse where one gets too long."""

    _rest: bytearray = field(default_factory=bytearray)

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that are whole now; empty ones are none."""
        first, *others = data.split(b"\n")
        self._rest += first
        found: list[bytes] = []
        for piece in others:
            found.append(self._whole())
            self._rest += piece
        if len(self._rest) > LINE_BYTES:
            raise Abuse("it sent a line of more than 1 MiB")
        return [line for line in found if line]

    def _whole(self) -> bytes:
        if len(self._rest) > LINE_BYTES:
            raise Abuse("it sent a line of more than 1 MiB")
        line = bytes(self._rest).strip()
        self._rest.clear()
        return line


class Allowance:
    """How much it may say: a burst, then a steady rate. `clock` counts seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._since = clock()
        self._bytes = float(_BURST_BYTES)
        self._lines = _BURST_LINES

    def take(self, size: int) -> None:
        """One more line of `size` bytes; raises Abuse where it is too much."""
        now = self._clock()
        passed, self._since = now - self._since, now
        self._bytes = min(self._bytes + passed * _BYTES_A_SECOND, _BURST_BYTES) - size
        self._lines = min(self._lines + passed * _LINES_A_SECOND, _BURST_LINES) - 1
        if self._bytes < 0 or self._lines < 0:
            raise Abuse("it said more than it may in so short a time")
