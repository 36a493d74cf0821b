"""One reader's subscription to one conversation: a bounded window that follows the log.

A scope subscribes before it reads, so that nothing falls between. `line` keeps to the revisions,
`shown` has the rows; here is what is read, and when. All state changes on the loop's thread;
listeners get simple values, in order. No Qt.
"""

import time
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from typing import Any

from desktop.core.errors import NacreError
from desktop.core.groups import Row
from desktop.core.protocols import LogReader
from desktop.core.records import Page, Receipt
from desktop.core.reducer import BlockOp
from desktop.core.status import TabStatus
from desktop.feed import kinds
from desktop.feed.following import EPOCH, follow
from desktop.feed.hub import Hub
from desktop.feed.line import Line, Operations
from desktop.feed.shown import Change, Failed, Shown, Status
from desktop.feed.timing import Clock, Later, Start
from desktop.feed.window import DEFAULT_LIMITS, Limits, Window


@dataclass(frozen=True, slots=True)
class Rows:
    """What a repair read: the tail, or the place that the scope was opened at."""

    page: Page
    around: int | None = None
    epoch: str = EPOCH

    @property
    def revision(self) -> int:
        return self.page.revision


class Scope:
    """A window on one conversation. `open` it, `listen` to it, `close` it."""

    def __init__(
        self,
        tab_id: str,
        reader: LogReader,
        hub: Hub,
        *,
        start: Start,
        later: Later,
        clock: Clock = time.monotonic,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self.tab_id = tab_id
        self._reader = reader
        self._hub = hub
        self._start = start
        self._listener: Callable[[Change], None] | None = None
        self._line = Line(self, start=start, later=later, clock=clock, what=f"rows of {tab_id}")
        self._shown = Shown(limits, self._emit)
        self._status = TabStatus(tab_id)
        self._around: int | None = None
        self._generation = 0
        self._is_open = False
        self._is_reading = False
        self._reads_older = False
        self._reads_newer = False

    # What a view reads

    @property
    def rows(self) -> tuple[Row, ...]:
        """Sealed rows, then (at the log's end) the open ones."""
        return self._shown.rows

    @property
    def window(self) -> Window:
        return self._shown.window

    @property
    def status_now(self) -> TabStatus:
        return self._status

    @property
    def loaded(self) -> bool:
        """Whether the first rows have been read."""
        return self._shown.is_loaded

    @property
    def revision(self) -> int | None:
        """What the rows stand at."""
        return self._line.revision

    @property
    def is_fresh(self) -> bool:
        """Whether nothing is known that is not shown or counted."""
        return self._line.is_fresh

    @property
    def at_tail(self) -> bool:
        return self._shown.at_tail

    @property
    def has_older(self) -> bool:
        return self.window.has_older

    @property
    def has_newer(self) -> bool:
        return self.window.has_newer

    @property
    def newer(self) -> int:
        """How many rows that one would see have come since the person left the end."""
        return self._shown.newer

    @property
    def last_known(self) -> int:
        """The newest seq of the log that this scope heard of."""
        return self._shown.last_known

    # What a view asks for

    def listen(self, listener: Callable[[Change], None] | None) -> None:
        """Who hears the changes from now on; a scope has one listener."""
        self._listener = listener

    def open(self, around: int | None = None) -> None:
        """Subscribes, then reads the tail, or a place to begin at. Opening twice is harmless."""
        if self._is_open:
            return
        self._is_open = True
        self._line.when_over(self._hub.subscribe(self, tab_id=self.tab_id))
        follow(self._line, self.tab_id, self._hub, kinds.rows_of)
        self._shown.begin(self._hub.open_blocks(self.tab_id))
        status = self._hub.last_status(self.tab_id)
        if status is not None:
            self.status(status)
        self._shown.is_following = around is None
        self._read_anew(around)

    def close(self) -> None:
        """Ends the subscription; reads on the way are ignored when they come."""
        self._generation += 1
        self._line.close()

    def follow(self, following: bool) -> None:
        """Whether new rows come in as they arrive. Following begins only at the log's end."""
        self._shown.follow(following)

    def pin(self, ids: Iterable[str]) -> None:
        """The rows that must stay: what is on the screen.

        Changes no row by itself, so a view may pin while it hears of a change.
        """
        self._shown.pin(ids)

    def fetch_older(self) -> bool:
        """Reads a page before the window; False when there is none or one is on its way."""
        first = self.window.first_seq
        if self._reads_older or self._is_reading or not self.has_older or first is None:
            return False
        self._reads_older = True
        self._begin(self._fetch_older(first, self._generation), "older rows")
        return True

    def fetch_newer(self) -> bool:
        """Reads a page after the window; False when there is none or one is on its way."""
        if self._reads_newer or self._is_reading or not self.has_newer:
            return False
        self._reads_newer = True
        last = self.window.last_seq or 0
        self._begin(self._fetch_newer(last, self._generation), "newer rows")
        return True

    def jump(self, seq: int) -> None:
        """Makes the window hold this place; a Reset says when it had to be read."""
        if not self.window.holds(seq):
            self._shown.is_following = False
            self._read_anew(seq)

    def to_tail(self) -> None:
        """To the log's end, and following."""
        if self.at_tail and self.loaded:
            self.follow(True)
            return
        self._shown.is_following = True
        self._read_anew(None)

    # What the hub tells beside (a scope is a Publisher)

    def receipt(self, receipt: Receipt) -> None:
        """The line has it by itself; here for what a read brought before its receipt."""
        self._shown.seal(receipt.chunks)

    def live(self, tab_id: str, op: BlockOp) -> None:
        if tab_id == self.tab_id:
            self._shown.live(op)

    def status(self, status: TabStatus) -> None:
        self._status = status
        self._emit(Status(status))

    # What the line asks for

    async def read(self) -> Rows:
        """The tail; before anything was read, the place to begin at."""
        around = None if self.loaded else self._around
        page = await self._page(limit=self.window.limits.initial, around=around)
        return Rows(page, around)

    async def look(self) -> tuple[str, int]:
        return EPOCH, await self._reader.revision(self.tab_id)

    def put(self, found: Rows) -> None:
        if not self.loaded or not self._shown.catch_up(found.page):
            self._reset(found.page, found.around)

    def apply(self, operations: Operations) -> None:
        if not self._shown.take(kinds.rows_in(operations)):
            self._read_anew(None)

    def told(self, operations: Operations | None) -> None:
        """What changed was told as it happened."""

    # Reads

    def _begin(self, coroutine: Coroutine[Any, Any, None], what: str) -> None:
        self._start(coroutine, f"{what} of {self.tab_id}")

    def _emit(self, change: Change) -> None:
        if self._listener is not None:
            self._listener(change)

    def _reset(self, page: Page, around: int | None) -> None:
        self._shown.reset(page, self._hub.open_blocks(self.tab_id), around=around)

    def _read_anew(self, around: int | None) -> None:
        """Reads the tail or a place. A read that is on its way is overtaken."""
        self._generation += 1
        self._around = around
        self._is_reading = True
        self._reads_older = self._reads_newer = False
        self._line.hold(is_whole=True)
        self._begin(self._load(around, self._generation), "rows")

    async def _load(self, around: int | None, generation: int) -> None:
        try:
            page = await self._reader.page(
                self.tab_id, limit=self.window.limits.initial, around=around
            )
        except NacreError as error:
            if generation == self._generation:
                self._is_reading = False
                self._emit(Failed(error))
                self._line.fail(error)
            return
        if generation != self._generation:
            return
        self._is_reading = False
        self._reset(page, around)
        self._line.stand_at(EPOCH, page.revision)

    async def _fetch_older(self, first: int, generation: int) -> None:
        page = await self._next_page(generation, before=first)
        if generation == self._generation:
            self._reads_older = False
            if page is not None:
                self._shown.join_older(page, first)

    async def _fetch_newer(self, last: int, generation: int) -> None:
        page = await self._next_page(generation, after=last)
        if generation == self._generation:
            self._reads_newer = False
            if page is not None and not self._shown.join_newer(page, last):
                self._line.want()

    async def _next_page(self, generation: int, **where: int) -> Page | None:
        try:
            return await self._reader.page(self.tab_id, limit=self.window.limits.page, **where)
        except NacreError as error:
            if generation == self._generation:
                self._emit(Failed(error))
            return None

    async def _page(self, *, limit: int, around: int | None) -> Page:
        """For a repair; why it failed is told at once."""
        generation = self._generation
        try:
            return await self._reader.page(self.tab_id, limit=limit, around=around)
        except NacreError as error:
            if generation == self._generation:
                self._emit(Failed(error))
            raise
