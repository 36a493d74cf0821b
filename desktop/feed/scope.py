"""One reader's subscription to one conversation: a bounded window that follows the log.

A scope subscribes before it reads, so that nothing falls between; it applies receipts only in an
unbroken line of revisions and reads again where one is missing (SPEC C23, C24). While the person
follows, new rows come in and the oldest go; while the person reads elsewhere, new rows are counted
and not loaded (SPEC C21). A block that is shown while it streams becomes its row in place.

All state changes on the loop's thread; listeners get simple values, in order. No Qt.
"""

import logging
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, assert_never

from desktop.core.errors import NacreError
from desktop.core.groups import OpenRow, Row, SealedRow, call_of, is_silent, relations
from desktop.core.protocols import LogReader, Unsubscribe
from desktop.core.records import Page, Receipt
from desktop.core.reducer import BlockOp, Dropped, Grew, OpenBlocks, Opened, Sealed
from desktop.core.status import TabStatus
from desktop.feed.hub import Hub
from desktop.feed.window import (
    DEFAULT_LIMITS,
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

_LOG = logging.getLogger(__name__)

CHECK_SECONDS = 5.0
REPAIR_SECONDS = 1.0
BUFFERED_RECEIPTS = 256


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


class Cancellable(Protocol):
    def cancel(self) -> None: ...


Start = Callable[[Coroutine[Any, Any, None], str], object]
"""Runs a coroutine on the loop and keeps it: `Tasks.start`."""

Later = Callable[[float, Callable[[], None]], Cancellable]
"""Calls back after so many seconds: the loop's `call_later`."""


class Scope:
    """A window on one conversation. `open` it, `listen` to it, `close` it.

    `start` runs the reads, `later` the check for rows that another process wrote.
    """

    def __init__(
        self,
        tab_id: str,
        reader: LogReader,
        hub: Hub,
        *,
        start: Start,
        later: Later,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self.tab_id = tab_id
        self._reader = reader
        self._hub = hub
        self._start = start
        self._later = later
        self._listener: Callable[[Change], None] | None = None
        self._unsubscribes: tuple[Unsubscribe, ...] = ()
        self._timer: Cancellable | None = None
        self._window = Window(limits=limits)
        self._open = OpenBlocks()
        self._shown: list[OpenRow] = []
        self._status = TabStatus(tab_id)
        self._revision: int | None = None
        self._seen = 0
        self._last_known = 0
        self._pending: list[Receipt] = []
        self._missed = False
        self._generation = 0
        self._reading = False
        self._older = False
        self._newer_read = False
        self._following = True
        self._newer = 0
        self._pins: frozenset[str] = frozenset()

    # What a view reads

    @property
    def rows(self) -> tuple[Row, ...]:
        """Sealed rows, then (at the log's end) the open ones."""
        return (*self._window.rows, *self._shown)

    @property
    def window(self) -> Window:
        return self._window

    @property
    def status_now(self) -> TabStatus:
        return self._status

    @property
    def loaded(self) -> bool:
        """Whether the first rows have been read."""
        return self._revision is not None

    @property
    def at_tail(self) -> bool:
        return not self._window.has_newer

    @property
    def has_older(self) -> bool:
        return self._window.has_older

    @property
    def has_newer(self) -> bool:
        return self._window.has_newer

    @property
    def newer(self) -> int:
        """How many rows that one would see have come since the person left the end."""
        return self._newer

    @property
    def last_known(self) -> int:
        """The newest seq of the log that this scope heard of."""
        return self._last_known

    # What a view asks for

    def listen(self, listener: Callable[[Change], None] | None) -> None:
        """Who hears the changes from now on; a scope has one listener."""
        self._listener = listener

    def open(self, around: int | None = None) -> None:
        """Subscribes, then reads the tail, or a place to begin at. Opening twice is harmless."""
        if self._unsubscribes:
            return
        self._unsubscribes = (
            self._hub.subscribe(self, tab_id=self.tab_id),
            self._hub.on_revision(self.tab_id, self._see),
        )
        self._open = self._hub.open_blocks(self.tab_id)
        status = self._hub.last_status(self.tab_id)
        if status is not None:
            self.status(status)
        self._following = around is None
        self._read_snapshot(around)
        self._schedule_check()

    def close(self) -> None:
        """Ends the subscription and the check; reads on the way are ignored when they come."""
        for unsubscribe in self._unsubscribes:
            unsubscribe()
        self._unsubscribes = ()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._generation += 1
        self._reading = self._older = self._newer_read = False
        self._pending.clear()

    def follow(self, following: bool) -> None:
        """Whether new rows come in as they arrive. Following begins only at the log's end."""
        self._following = following and self.at_tail
        if self._following:
            self._count(0)

    def pin(self, ids: Iterable[str]) -> None:
        """The rows that must stay: what is on the screen.

        Changes no row by itself, so a view may pin while it hears of a change.
        """
        self._pins = frozenset(ids)

    def fetch_older(self) -> bool:
        """Reads a page before the window; False when there is none or one is on its way."""
        first = self._window.first_seq
        if self._older or self._reading or not self.has_older or first is None:
            return False
        self._older = True
        self._begin(self._fetch_older(first, self._generation), "older rows")
        return True

    def fetch_newer(self) -> bool:
        """Reads a page after the window; False when there is none or one is on its way."""
        if self._newer_read or self._reading or not self.has_newer:
            return False
        self._newer_read = True
        last = self._window.last_seq or 0
        self._begin(self._fetch_newer(last, self._generation), "newer rows")
        return True

    def jump(self, seq: int) -> None:
        """Makes the window hold this place; a Reset says when it had to be read."""
        if not self._window.holds(seq):
            self._following = False
            self._read_snapshot(seq)

    def to_tail(self) -> None:
        """Makes the window hold the log's end, and follows."""
        if self.at_tail and self.loaded:
            self.follow(True)
            return
        self._following = True
        self._read_snapshot(None)

    # What the hub tells (a scope is a Publisher)

    def receipt(self, receipt: Receipt) -> None:
        if self._revision is None or self._reading:
            self._buffer(receipt)
            return
        self._apply_receipt(receipt)

    def live(self, tab_id: str, op: BlockOp) -> None:
        if tab_id != self.tab_id:
            return
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

    def status(self, status: TabStatus) -> None:
        self._status = status
        self._emit(Status(status))

    # Live blocks

    def _show_opened(self, op: Opened) -> None:
        block = self._open.get(op.id)
        if block is None or not self.loaded or self._shown_at(op.id) is not None:
            return
        row = OpenRow(block)
        if not self.at_tail or not (self._following or self._belongs(row)):
            if self.at_tail:
                self._window = replace(self._window, has_newer=True)
                self._hide_all_open()
            return
        self._shown.append(row)
        self._emit(Inserted(len(self._window.rows) + len(self._shown) - 1, (row,)))

    def _shown_at(self, id_: str) -> int | None:
        for place, row in enumerate(self._shown):
            if row.id == id_:
                return len(self._window.rows) + place
        return None

    def _hide(self, id_: str) -> None:
        at = self._shown_at(id_)
        if at is None:
            return
        del self._shown[at - len(self._window.rows)]
        self._emit(Removed(at, 1))

    def _hide_all_open(self) -> None:
        if self._shown:
            count = len(self._shown)
            self._shown.clear()
            self._emit(Removed(len(self._window.rows), count))

    def _show_open_blocks(self) -> None:
        """At the log's end the blocks that stream stand after the last row."""
        known = {row.id for row in self._window.rows} | {row.id for row in self._shown}
        rows = tuple(OpenRow(block) for block in self._open if block.opened.id not in known)
        if rows:
            at = len(self._window.rows) + len(self._shown)
            self._shown.extend(rows)
            self._emit(Inserted(at, rows))

    # Receipts

    def _buffer(self, receipt: Receipt) -> None:
        if len(self._pending) >= BUFFERED_RECEIPTS:
            self._pending.clear()
            self._missed = True
        self._pending.append(receipt)

    def _apply_receipt(self, receipt: Receipt) -> None:
        if self._revision is None:
            return
        if receipt.revision <= self._revision:
            # A read brought these rows before their receipt; what streamed is a row by now.
            for chunk in receipt.chunks:
                self._open.remove(chunk.id)
                self._hide(chunk.id)
            return
        if receipt.base_revision != self._revision:
            self._begin_repair()
            return
        self._revision = receipt.revision
        self._take(receipt.chunks)

    def _take(self, rows: Sequence[SealedRow]) -> None:
        """New rows of the log, in order: loaded, or counted."""
        for row in rows:
            self._open.remove(row.id)
            if row.seq <= self._last_known:
                continue
            self._last_known = row.seq
            if self.at_tail and (self._following or self._belongs(row)):
                self._append(row)
            else:
                self._fall_behind(row)
        self._trim("oldest")

    def _fall_behind(self, row: SealedRow) -> None:
        """The log goes on after the window: the row is counted, open blocks stand after it."""
        self._hide_all_open()
        self._window = replace(self._window, has_newer=True)
        self._count(self._newer + (0 if self._unseen(row) else 1))

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

    def _append(self, row: SealedRow) -> None:
        """At the end of the sealed rows; a row that streamed moves there and keeps its id."""
        step = appended(self._window, (row,), has_newer=False)
        if step is None:
            self._fall_behind(row)
            if self._following:
                self._read_snapshot(None)
            return
        at, place = self._shown_at(row.id), len(self._window.rows)
        if at is not None:
            del self._shown[at - place]
        self._window = step[0]
        if at is None:
            self._emit(*step[1])
            return
        if at != place:
            self._emit(Moved(at, place))
        self._emit(Changed(place, row))

    def _trim(self, end: End) -> None:
        pins = self._pins
        if any(row.id in pins for row in self._shown):
            # What streams stands after the last row: while it is seen, the end must stay.
            pins |= {row.id for row in self._window.rows[-1:]}
        window, removed = trimmed(self._window, pins, end=end)
        if window.has_newer and not self._window.has_newer:
            self._hide_all_open()
        self._window = window
        self._emit(*removed)

    def _count(self, newer: int) -> None:
        if newer != self._newer:
            self._newer = newer
            self._emit(Newer(newer))

    # Reads

    def _begin(self, coroutine: Coroutine[Any, Any, None], what: str) -> None:
        self._start(coroutine, f"{what} of {self.tab_id}")

    def _read_snapshot(self, around: int | None) -> None:
        """Reads the tail or a place anew. A read that is on its way is overtaken."""
        self._generation += 1
        self._reading = True
        self._older = self._newer_read = False
        self._begin(self._load_snapshot(around, self._generation), "rows")

    async def _load_snapshot(self, around: int | None, generation: int) -> None:
        try:
            page = await self._reader.page(
                self.tab_id, limit=self._window.limits.initial, around=around
            )
        except NacreError as error:
            if generation == self._generation:
                self._reading = False
                self._emit(Failed(error))
            return
        if generation != self._generation:
            return
        self._reset(page, around)
        self._finish_reading()

    def _reset(self, page: Page, around: int | None) -> None:
        self._revision = page.revision
        self._window = Window(page.rows, page.has_older, page.has_newer, limits=self._window.limits)
        self._open = self._hub.open_blocks(self.tab_id)
        for row in page.rows:
            self._open.remove(row.id)
        self._last_known = max(self._last_known, self._window.last_seq or 0)
        if not page.has_newer:
            self._last_known = self._window.last_seq or 0
        self._shown = [OpenRow(block) for block in self._open] if self.at_tail else []
        self._emit(Reset(self.rows, around))
        if self.at_tail:
            self._count(0)

    def _finish_reading(self) -> None:
        """Applies what was published meanwhile; a hole in it leads to one more read, and so does
        a look that found more than was read."""
        self._reading = False
        pending, self._pending = self._pending, []
        if self._missed:
            self._missed = False
            self._begin_repair()
            return
        for receipt in pending:
            self.receipt(receipt)
        seen, self._seen = self._seen, 0
        self._see(seen)

    async def _fetch_older(self, first: int, generation: int) -> None:
        page = await self._read_page(generation, before=first)
        if generation != self._generation:
            return
        self._older = False
        if page is None:
            return
        step = prepended(self._window, page.rows, has_older=page.has_older)
        if step is None or self._window.first_seq != first:
            # The oldest rows were evicted while this page was on its way: it no longer fits.
            return
        self._window = step[0]
        self._emit(*step[1])
        self._trim("oldest" if self._following else "newest")

    async def _fetch_newer(self, last: int, generation: int) -> None:
        page = await self._read_page(generation, after=last)
        if generation != self._generation:
            return
        self._newer_read = False
        if page is None or (self._window.last_seq or 0) != last:
            return
        end = page.rows[-1].seq if page.rows else last
        self._last_known = max(self._last_known, end)
        has_newer = page.has_newer or end < self._last_known
        step = appended(self._window, page.rows, has_newer=has_newer)
        if step is None:
            self._begin_repair()
            return
        self._window = step[0]
        self._emit(*step[1])
        self._trim("oldest")
        if self.at_tail:
            for row in page.rows:
                self._open.remove(row.id)
            self._show_open_blocks()
            self._count(0)

    async def _read_page(
        self, generation: int, *, before: int | None = None, after: int | None = None
    ) -> Page | None:
        try:
            return await self._reader.page(
                self.tab_id, limit=self._window.limits.page, before=before, after=after
            )
        except NacreError as error:
            if generation == self._generation:
                self._emit(Failed(error))
            return None

    # Repair: a revision was missed, or another process wrote

    def _begin_repair(self) -> None:
        if self._reading:
            return
        self._reading = True
        self._begin(self._repair(self._generation), "missed rows")

    async def _repair(self, generation: int) -> None:
        try:
            page = await self._reader.page(self.tab_id, limit=self._window.limits.initial)
        except NacreError as error:
            if generation == self._generation:
                self._reading = False
                self._emit(Failed(error))
            return
        if generation != self._generation:
            return
        self._catch_up(page)
        self._finish_reading()

    def _catch_up(self, page: Page) -> None:
        """Brings the window up to a fresh read of the tail."""
        last = page.rows[-1].seq if page.rows else 0
        missing = [row for row in page.rows if row.seq > self._last_known]
        shrunk = last < self._last_known
        hole = bool(missing) and missing[0].seq != self._last_known + 1
        if shrunk or (hole and self._following):
            self._last_known = 0
            self._reset(page, None)
            return
        self._revision = page.revision
        self._take(missing)

    def _see(self, revision: int) -> None:
        """A look found the log at this revision; a read that is on its way is waited for."""
        if self._reading:
            self._seen = max(self._seen, revision)
        elif self._revision is not None and revision > self._revision:
            self._begin_repair()

    def _schedule_check(self) -> None:
        self._timer = self._later(CHECK_SECONDS, self._begin_check)

    def _begin_check(self) -> None:
        self._begin(self._check(self._generation), "check")

    async def _check(self, generation: int) -> None:
        """Looks whether the log moved without a word: another process wrote, or a read failed."""
        try:
            revision = await self._reader.revision(self.tab_id)
        except NacreError:
            _LOG.warning("the revision of a conversation could not be read", exc_info=True)
            revision = self._revision
        if not self._unsubscribes:
            return
        self._schedule_check()
        if self._reading or generation != self._generation:
            return
        if self._revision is None:
            self._read_snapshot(None)
        elif revision != self._revision:
            self._begin_repair()

    def _emit(self, *changes: Change) -> None:
        if self._listener is None:
            return
        for change in changes:
            self._listener(change)
