"""The piece of a conversation that a view holds, as a value: grow, shrink and evict are functions.

A window is contiguous: its rows have consecutive seqs. It never holds more rows than its limit
(SPEC C19); rows go a quarter of the limit at a time, from the end that the person is not at. Pure:
no Qt, no asyncio, no store.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from desktop.core.groups import Row, SealedRow

DEFAULT_LIMIT = 256
SMALLEST_LIMIT = 8

End = Literal["oldest", "newest"]


@dataclass(frozen=True, slots=True)
class Limits:
    """`limit` rows at most; `quarter` rows are evicted at a time and paged in at a time."""

    limit: int = DEFAULT_LIMIT

    @property
    def quarter(self) -> int:
        return self.limit // 4

    @property
    def page(self) -> int:
        return self.quarter

    @property
    def initial(self) -> int:
        """Rows of the first read: the limit less a quarter, so that growth has room."""
        return self.limit - self.quarter


DEFAULT_LIMITS = Limits()


def limits_for(limit: object) -> Limits:
    """Limits of a configured number; what is no usable number gives the default (SPEC C19)."""
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < SMALLEST_LIMIT:
        return DEFAULT_LIMITS
    return Limits(limit)


@dataclass(frozen=True, slots=True)
class Inserted:
    """Rows came in: the first of them stands at `at` now."""

    at: int
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Removed:
    """`count` rows from `at` on went out."""

    at: int
    count: int


@dataclass(frozen=True, slots=True)
class Moved:
    """The row at `at` stands at `to` now, before the others."""

    at: int
    to: int


@dataclass(frozen=True, slots=True)
class Window:
    """Sealed rows, oldest first, and whether the log goes on at either end."""

    rows: tuple[SealedRow, ...] = ()
    has_older: bool = False
    has_newer: bool = False
    limits: Limits = DEFAULT_LIMITS

    @property
    def first_seq(self) -> int | None:
        return self.rows[0].seq if self.rows else None

    @property
    def last_seq(self) -> int | None:
        return self.rows[-1].seq if self.rows else None

    def holds(self, seq: int) -> bool:
        return bool(self.rows) and self.rows[0].seq <= seq <= self.rows[-1].seq


Step = tuple[Window, tuple[Inserted | Removed, ...]]


def appended(window: Window, rows: Sequence[SealedRow], *, has_newer: bool) -> Step | None:
    """The window with newer rows at its end; rows that it already holds are left out.

    None when there is a hole between the window and the rows: then it must be read again.
    """
    last = window.last_seq
    fresh = [row for row in rows if last is None or row.seq > last]
    if fresh and last is not None and fresh[0].seq != last + 1:
        return None
    grown = replace(window, rows=window.rows + tuple(fresh), has_newer=has_newer)
    return grown, (Inserted(len(window.rows), tuple(fresh)),) if fresh else ()


def prepended(window: Window, rows: Sequence[SealedRow], *, has_older: bool) -> Step | None:
    """The window with older rows before its first; None when there is a hole between."""
    first = window.first_seq
    fresh = [row for row in rows if first is None or row.seq < first]
    if fresh and first is not None and fresh[-1].seq != first - 1:
        return None
    grown = replace(window, rows=tuple(fresh) + window.rows, has_older=has_older)
    return grown, (Inserted(0, tuple(fresh)),) if fresh else ()


def trimmed(window: Window, pins: frozenset[str], *, end: End) -> Step:
    """Within the limit again: whole quarters go from `end`, in one removal.

    A pinned row stays; what then still has to go is taken from the other end. Where pinned rows
    stand at both ends the window stays larger until they are let go.
    """
    if len(window.rows) <= window.limits.limit:
        return window, ()
    window, first = _evicted(window, pins, end)
    if len(window.rows) <= window.limits.limit:
        return window, first
    window, second = _evicted(window, pins, "newest" if end == "oldest" else "oldest")
    return window, first + second


def _evicted(window: Window, pins: frozenset[str], end: End) -> Step:
    over = len(window.rows) - window.limits.limit
    quarter = window.limits.quarter
    wanted = -(-over // quarter) * quarter
    count = min(wanted, _unpinned(window.rows, pins, end))
    if count <= 0:
        return window, ()
    if end == "oldest":
        return replace(window, rows=window.rows[count:], has_older=True), (Removed(0, count),)
    kept = len(window.rows) - count
    return replace(window, rows=window.rows[:kept], has_newer=True), (Removed(kept, count),)


def _unpinned(rows: tuple[SealedRow, ...], pins: frozenset[str], end: End) -> int:
    """How many rows may go from this end before the first pinned one."""
    for count, row in enumerate(rows if end == "oldest" else reversed(rows)):
        if row.id in pins:
            return count
    return len(rows)
