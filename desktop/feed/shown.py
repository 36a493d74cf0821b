"""The rows that one reader is shown of a conversation: the window, and the blocks that stream.

While the person follows, new rows come in and the oldest go; while the person reads elsewhere, new
rows are counted and not loaded (SPEC C21). A block that is shown while it streams becomes its row
in place. Reads nothing; what changed is told as it happens.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from desktop.core.errors import NacreError
from desktop.core.groups import OpenRow, Row, SealedRow, call_of, is_silent, relations
from desktop.core.records import Page
from desktop.core.reducer import BlockOp, Dropped, Grew, OpenBlocks, Opened, Sealed
from desktop.core.status import TabStatus
from desktop.feed.window import (
    End,
    Inserted,
    Limits,
    Moved,
    Removed,
    Window,
    appended,
    prepended,
    trimmed,
)


@dataclass(frozen=True, slots=True)
class Changed:
    """The row at `at` is another value now; a block that sealed keeps its id."""

    at: int
    row: Row


@dataclass(frozen=True, slots=True)
class Grown:
    """More text in the open row at `at`."""

    at: int


@dataclass(frozen=True, slots=True)
class Reset:
    """All rows are others now. `around` is the seq that was jumped to."""

    rows: tuple[Row, ...]
    around: int | None = None


@dataclass(frozen=True, slots=True)
class Status:
    status: TabStatus


@dataclass(frozen=True, slots=True)
class Newer:
    """How many rows that one would see have come since the person left the end."""

    count: int


@dataclass(frozen=True, slots=True)
class Failed:
    """Rows could not be read; what is loaded stays, and it is tried again."""

    error: NacreError


Change = Inserted | Removed | Moved | Changed | Grown | Reset | Status | Newer | Failed


class Shown:
    """`emit` hears each change. `last_known` is the newest seq that was heard of, `newer` how many
    rows that one would see have come since the person left the end."""

    def __init__(self, limits: Limits, emit: Callable[[Change], None]) -> None:
        self._tell = emit
        self._open = OpenBlocks()
        self._shown: list[OpenRow] = []
        self._pins: frozenset[str] = frozenset()
        self.window = Window(limits=limits)
        self.is_loaded = False
        self.is_following = True
        self.last_known = 0
        self.newer = 0

    @property
    def rows(self) -> tuple[Row, ...]:
        """Sealed rows, then (at the log's end) the open ones."""
        return (*self.window.rows, *self._shown)

    @property
    def at_tail(self) -> bool:
        return not self.window.has_newer

    def follow(self, following: bool) -> None:
        """Following begins only at the log's end."""
        self.is_following = following and self.at_tail
        if self.is_following:
            self._count(0)

    def pin(self, ids: Iterable[str]) -> None:
        """The rows that must stay."""
        self._pins = frozenset(ids)

    # What was read

    def begin(self, streaming: OpenBlocks) -> None:
        """What streams before a row was read."""
        self._open = streaming

    def reset(self, page: Page, streaming: OpenBlocks, *, around: int | None) -> None:
        """These rows and no others, and what streams behind them."""
        self.is_loaded = True
        self.window = Window(page.rows, page.has_older, page.has_newer, limits=self.window.limits)
        self._open = streaming
        for row in page.rows:
            self._open.remove(row.id)
        last = self.window.last_seq or 0
        self.last_known = last if self.at_tail else max(self.last_known, last)
        self._shown = [OpenRow(block) for block in self._open] if self.at_tail else []
        self._emit(Reset(self.rows, around))
        if self.at_tail:
            self._count(0)

    def catch_up(self, page: Page) -> bool:
        """Goes on to a fresh read of the tail; False where only `reset` can."""
        last = page.rows[-1].seq if page.rows else 0
        missing = [row for row in page.rows if row.seq > self.last_known]
        hole = bool(missing) and missing[0].seq != self.last_known + 1
        if last < self.last_known or (hole and self.is_following):
            self.last_known = 0
            return False
        return self.take(missing)

    def join_older(self, page: Page, first: int) -> None:
        """A page that was read before `first`; left out where the window begins elsewhere now."""
        step = prepended(self.window, page.rows, has_older=page.has_older)
        if step is None or self.window.first_seq != first:
            # The oldest rows were evicted while this page was on its way: it no longer fits.
            return
        self.window = step[0]
        self._emit(*step[1])
        self._trim("oldest" if self.is_following else "newest")

    def join_newer(self, page: Page, last: int) -> bool:
        """A page that was read after `last`; False where it leaves a hole."""
        if (self.window.last_seq or 0) != last:
            return True
        end = page.rows[-1].seq if page.rows else last
        self.last_known = max(self.last_known, end)
        has_newer = page.has_newer or end < self.last_known
        step = appended(self.window, page.rows, has_newer=has_newer)
        if step is None:
            return False
        self.window = step[0]
        self._emit(*step[1])
        self._trim("oldest")
        if self.at_tail:
            for row in page.rows:
                self._open.remove(row.id)
            self._show_open_blocks()
            self._count(0)
        return True

    # What was laid down

    def take(self, rows: Sequence[SealedRow]) -> bool:
        """New rows of the log, in order: loaded, or counted. False where the person follows and
        only a read of the tail can."""
        fits = True
        for row in rows:
            self._open.remove(row.id)
            if row.seq <= self.last_known:
                continue
            self.last_known = row.seq
            if self.at_tail and (self.is_following or self._belongs(row)):
                fits = self._append(row) and fits
            else:
                self._fall_behind(row)
        self._trim("oldest")
        return fits

    def seal(self, rows: Iterable[SealedRow]) -> None:
        """These are known to be laid down: those that a read brought already stream no more."""
        for row in rows:
            if row.seq <= self.last_known:
                self._open.remove(row.id)
                self._hide(row.id)

    def _append(self, row: SealedRow) -> bool:
        """At the end of the sealed rows; a row that streamed moves there and keeps its id."""
        step = appended(self.window, (row,), has_newer=False)
        if step is None:
            self._fall_behind(row)
            return not self.is_following
        at, place = self._shown_at(row.id), len(self.window.rows)
        if at is not None:
            del self._shown[at - place]
        self.window = step[0]
        if at is None:
            self._emit(*step[1])
            return True
        if at != place:
            self._emit(Moved(at, place))
        self._emit(Changed(place, row))
        return True

    def _fall_behind(self, row: SealedRow) -> None:
        """The log goes on after the window: the row is counted, open blocks stand after it."""
        self._hide_all_open()
        self.window = replace(self.window, has_newer=True)
        self._count(self.newer + (0 if self._unseen(row) else 1))

    def _belongs(self, row: Row) -> bool:
        """Whether a row continues what is shown: it is loaded even while the person reads."""
        if self._shown:
            return True
        call = call_of(row)
        if call is not None:
            return call in relations(self.rows).calls
        return is_silent(row)

    def _unseen(self, row: Row) -> bool:
        return call_of(row) is not None or is_silent(row)

    # What streams

    def live(self, op: BlockOp) -> None:
        self._open.apply(op)
        match op:
            case Opened():
                self._show_opened(op)
            case Grew():
                at = self._shown_at(op.id)
                if at is not None:
                    self._emit(Grown(at))
            case Dropped():
                self._hide(op.id)
            case Sealed():
                pass
            case _:
                assert_never(op)

    def _show_opened(self, op: Opened) -> None:
        block = self._open.get(op.id)
        if block is None or not self.is_loaded or self._shown_at(op.id) is not None:
            return
        row = OpenRow(block)
        if not self.at_tail or not (self.is_following or self._belongs(row)):
            if self.at_tail:
                self.window = replace(self.window, has_newer=True)
                self._hide_all_open()
            return
        self._shown.append(row)
        self._emit(Inserted(len(self.window.rows) + len(self._shown) - 1, (row,)))

    def _shown_at(self, id_: str) -> int | None:
        for place, row in enumerate(self._shown):
            if row.id == id_:
                return len(self.window.rows) + place
        return None

    def _hide(self, id_: str) -> None:
        at = self._shown_at(id_)
        if at is None:
            return
        del self._shown[at - len(self.window.rows)]
        self._emit(Removed(at, 1))

    def _hide_all_open(self) -> None:
        if self._shown:
            count = len(self._shown)
            self._shown.clear()
            self._emit(Removed(len(self.window.rows), count))

    def _show_open_blocks(self) -> None:
        """At the log's end the blocks that stream stand after the last row."""
        known = {row.id for row in self.window.rows} | {row.id for row in self._shown}
        rows = tuple(OpenRow(block) for block in self._open if block.opened.id not in known)
        if rows:
            at = len(self.window.rows) + len(self._shown)
            self._shown.extend(rows)
            self._emit(Inserted(at, rows))

    # Bounds

    def _trim(self, end: End) -> None:
        pins = self._pins
        if any(row.id in pins for row in self._shown):
            # What streams stands after the last row: while it is seen, the end must stay.
            pins |= {row.id for row in self.window.rows[-1:]}
        window, removed = trimmed(self.window, pins, end=end)
        if window.has_newer and not self.window.has_newer:
            self._hide_all_open()
        self.window = window
        self._emit(*removed)

    def _count(self, newer: int) -> None:
        if newer != self.newer:
            self.newer = newer
            self._emit(Newer(newer))

    def _emit(self, *changes: Change) -> None:
        for change in changes:
            self._tell(change)
