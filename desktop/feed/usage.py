"""What conversations used, followed request by request: one's own, and those of its subagents.

Each conversation keeps a line of its own; which ones there are is the catalogue's to say. Rows of
conversations are no requests: however many come, nothing is read for them (SPEC R07).
"""

import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TypeVar

from desktop.core.caching import RequestUsage
from desktop.core.catalogue import Catalogue
from desktop.core.errors import UnknownConversation
from desktop.core.protocols import RequestReader
from desktop.core.records import CatalogueView, Receipt, RequestRecord, family
from desktop.feed import following
from desktop.feed.batches import Operation, Record, Upsert
from desktop.feed.catalogue import FollowedCatalogue
from desktop.feed.faults import InvalidQuery, NotFound
from desktop.feed.hub import Hub
from desktop.feed.kinds import FRAME_BYTES
from desktop.feed.loaded import Loaded
from desktop.feed.source import Snapshot
from desktop.feed.source_scope import SourceScope
from desktop.feed.timing import Clock, Later, Start

T = TypeVar("T")

REQUEST = "request"

Line = Callable[[RequestRecord], RequestUsage]
"""A request as a person reads it."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The requests of a conversation and of all below it, the oldest first. `problem` says why the
    newest state could not be read; what is here stays."""

    own: tuple[RequestUsage, ...] = ()
    below: tuple[RequestUsage, ...] = ()
    problem: str = ""


class RequestSource:
    """The Source of one conversation's requests. It has no pages."""

    paged = REQUEST

    def __init__(self, tab_id: str, reader: RequestReader, line: Line) -> None:
        self._tab_id = tab_id
        self._reader = reader
        self._line = line

    async def read(self, loaded: Loaded | None) -> Snapshot:
        found = await self._asked(self._reader.requests)
        records = sorted(map(self.record, found.records), key=lambda one: (one.place, one.id))
        ranges = {REQUEST: Loaded("ascending", tuple(records))}
        return Snapshot(following.EPOCH, found.revision, ranges)

    async def more(self, cursor: str, *, expected: int) -> Snapshot:
        raise InvalidQuery("requests have no pages")

    async def revision(self) -> tuple[str, int]:
        return following.EPOCH, await self._asked(self._reader.revision)

    async def _asked(self, read: Callable[[str], Awaitable[T]]) -> T:
        try:
            return await read(self._tab_id)
        except UnknownConversation as error:
            raise NotFound from error

    def operations(self, receipt: Receipt) -> Iterable[Operation]:
        return (Upsert(self.record(one)) for one in receipt.requests)

    def record(self, request: RequestRecord) -> Record:
        return Record(REQUEST, request.id, request.started_at, self._line(request), FRAME_BYTES)


class FollowedUsage:
    """`follow` it once, then `close` it; `show` says whether anybody looks."""

    def __init__(
        self,
        tab_id: str,
        reader: RequestReader,
        catalogue: Catalogue,
        hub: Hub,
        *,
        line: Line,
        start: Start,
        later: Later,
        clock: Clock = time.monotonic,
    ) -> None:
        self._tab_id = tab_id
        self._reader = reader
        self._hub = hub
        self._line = line
        self._start, self._later, self._clock = start, later, clock
        self._catalogue = FollowedCatalogue(catalogue, hub, start=start, later=later, clock=clock)
        self._scopes: dict[str, SourceScope] = {}
        self._changed: Callable[[Usage], None] = lambda _: None
        self._told: Usage | None = None
        self._is_seen = True

    @property
    def is_fresh(self) -> bool:
        """Whether nothing is known that is not told."""
        return self._catalogue.is_fresh and all(one.is_fresh for one in self._scopes.values())

    def follow(self, changed: Callable[[Usage], None]) -> None:
        """Calls back with the usage whenever it is another, and when all was read at first."""
        self._changed = changed
        self._open(self._tab_id)
        self._catalogue.follow(self._take_family)

    def show(self, is_seen: bool) -> None:
        """Out of sight nothing is read; back in sight what was missed is."""
        self._is_seen = is_seen
        self._catalogue.show(is_seen)
        for scope in self._scopes.values():
            scope.show(is_seen)

    def close(self) -> None:
        self._changed = lambda _: None
        self._catalogue.close()
        for scope in self._scopes.values():
            scope.close()

    def _open(self, tab_id: str) -> None:
        source = RequestSource(tab_id, self._reader, self._line)
        scope = SourceScope(source, start=self._start, later=self._later, clock=self._clock)
        self._scopes[tab_id] = scope
        scope.listen(partial(self._hear, tab_id))
        following.follow(scope, tab_id, self._hub, source.operations)
        scope.show(self._is_seen)
        scope.open()

    def _take_family(self, view: CatalogueView) -> None:
        members = family(view.tabs, self._tab_id)
        for gone in self._scopes.keys() - set(members):
            self._scopes.pop(gone).close()
        for one in members:
            if one not in self._scopes:
                self._open(one)
        self._tell()

    def _hear(self, tab_id: str, operations: tuple[Operation, ...] | None) -> None:
        if tab_id in self._scopes and (operations != () or self._scopes[tab_id].error is not None):
            self._tell()

    def _tell(self) -> None:
        """Nothing before everything was read once: a part of a sum would be taken for the sum."""
        scopes = self._scopes.values()
        error = next((one.error for one in scopes if one.error is not None), None)
        if self._catalogue.is_loaded and all(one.is_loaded or one.error for one in scopes):
            below = [self._of(one) for one in self._scopes if one != self._tab_id]
            usage = Usage(self._of(self._tab_id), tuple(chain(*below)), str(error or ""))
            if usage != self._told:
                self._told = usage
                self._changed(usage)

    def _of(self, tab_id: str) -> tuple[RequestUsage, ...]:
        values = (one.value for one in self._scopes[tab_id].records(REQUEST))
        return tuple(one for one in values if isinstance(one, RequestUsage))
