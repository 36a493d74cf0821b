"""What a search found, followed: rows that are laid down later join by themselves.

The rows of all conversations are one line, which counts them. A row that is told is matched as it
is, so nothing is read for it, whether it is found or not; what another process laid down, or what
was lost, is found by one search for what is newer (SPEC R05, R07). Nobody looks: nothing is done.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from desktop.core.chunks import LogChunk
from desktop.core.errors import NacreError
from desktop.core.protocols import Search
from desktop.core.records import EVERYTHING, SearchFilter, SearchHit, SearchPage
from desktop.feed import kinds
from desktop.feed.batches import Upsert
from desktop.feed.following import EPOCH, follow_log
from desktop.feed.hub import Hub
from desktop.feed.line import Line, Operations
from desktop.feed.timing import Clock, Later, Start

PAGE = 50
MOST_PAGES = 10
MOST_ROWS = 256
"""That wait while nobody looks; more are looked for in the log."""

Heard = Callable[[tuple[SearchHit, ...]], None]


@dataclass(frozen=True, slots=True)
class Newer:
    """The hits that a repair found behind the row that the others reach to."""

    hits: tuple[SearchHit, ...]
    revision: int
    epoch: str = EPOCH


class FollowedSearch:
    """`begin` it with the search, `stand` when its first page is there, `end` it with the next.

    `heard` gets hits that are new, the newest first, and none where only the `error` is another;
    what a hit's conversation is called and where it is may be empty.
    """

    def __init__(
        self,
        search: Search,
        hub: Hub,
        heard: Heard,
        *,
        start: Start,
        later: Later,
        clock: Clock = time.monotonic,
    ) -> None:
        self._search = search
        self._hub = hub
        self._heard = heard
        self._start, self._later, self._clock = start, later, clock
        self._line: Line[Newer] | None = None
        self._text = ""
        self._only = EVERYTHING
        self._floor = 0
        self._known: set[int] = set()
        self._rows: list[tuple[int, LogChunk]] = []
        self._is_seen = True

    @property
    def is_fresh(self) -> bool:
        """Whether nothing is known of the log that was not looked at."""
        return self._line is not None and self._line.is_fresh and not self._rows

    @property
    def error(self) -> NacreError | None:
        return None if self._line is None else self._line.error

    def begin(self, text: str, only: SearchFilter) -> None:
        """These words are being looked for; what comes meanwhile waits."""
        self.end()
        self._text, self._only = text, only
        line = Line(self, start=self._start, later=self._later, clock=self._clock, what="a search")
        self._line = line
        follow_log(line, self._hub, kinds.numbered_rows_of)
        line.hold(is_whole=True)
        line.show(self._is_seen)

    def stand(self, page: SearchPage) -> None:
        """Its first page is there."""
        if self._line is not None:
            self._floor = page.newest
            self._line.stand_at(EPOCH, page.newest)

    def show(self, is_seen: bool) -> None:
        """Out of sight nothing is done; back in sight what came and what was missed is."""
        self._is_seen = is_seen
        if self._line is not None:
            self._line.show(is_seen)
            self._match_soon()

    def end(self) -> None:
        """Nothing of these words is heard any more."""
        line, self._line = self._line, None
        self._known.clear()
        self._rows.clear()
        if line is not None:
            line.close()

    # What the line asks for

    async def read(self) -> Newer:
        """All hits behind the floor, page by page."""
        found = await self._search.find(self._text, limit=PAGE, only=self._only)
        hits, newest = found.hits, found.newest
        for _ in range(MOST_PAGES):
            is_deep = any(hit.ordinal <= self._floor for hit in hits)
            is_done = found.next is None or found.next.file or found.next.ordinal <= self._floor
            if is_deep or is_done:
                break
            found = await self._search.find(
                self._text, limit=PAGE, place=found.next, only=self._only
            )
            hits += found.hits
        return Newer(tuple(hit for hit in hits if hit.ordinal > self._floor), newest)

    async def look(self) -> tuple[str, int]:
        return EPOCH, await self._search.newest()

    def put(self, found: Newer) -> None:
        self._tell(found.hits)

    def apply(self, operations: Operations) -> None:
        rows = (one.record for one in operations if isinstance(one, Upsert))
        self._rows += [(one.place, one.value) for one in rows if isinstance(one.value, LogChunk)]
        if len(self._rows) > MOST_ROWS and not self._is_seen and self._line is not None:
            self._rows.clear()
            self._line.lost()
        self._match_soon()

    def told(self, operations: Operations | None) -> None:
        """What is new was told as it was found; here, whether more may be missing."""
        if not operations:
            self._heard(())

    # Rows that were told

    def _match_soon(self) -> None:
        if self._rows and self._is_seen and self._line is not None:
            rows, self._rows = self._rows, []
            self._start(self._match(self._line, rows), "match new rows")

    async def _match(self, line: Line[Newer], rows: list[tuple[int, LogChunk]]) -> None:
        try:
            hits = await self._search.among(rows, self._text, only=self._only)
        except NacreError:
            line.lost()  # they are found by the repair
            return
        if line is self._line:
            self._tell(hits)

    def _tell(self, hits: tuple[SearchHit, ...]) -> None:
        new = tuple(hit for hit in hits if hit.ordinal not in self._known)
        self._known |= {hit.ordinal for hit in new}
        if new:
            self._heard(new)
