"""Looks now and then whether scopes miss anything: every five seconds, for those that there are.

A look asks for revisions only, in bounded queries, and asks again who may read. Without a scope
nothing is asked (SPEC R12, R14).
"""

import logging
from collections.abc import Callable
from typing import Protocol

from desktop.core.errors import NacreError
from desktop.core.sources import SourceReader
from desktop.feed.faults import FeedError, NotFound, Unauthenticated
from desktop.feed.source import Access, Query
from desktop.feed.timing import Cancellable, Later, Start

_LOG = logging.getLogger(__name__)

CHECK_SECONDS = 5.0


class Watched(Protocol):
    """Who follows a conversation: a scope, or a line to a reader in another process."""

    @property
    def revision(self) -> int | None: ...

    def when_over(self, call: Callable[[], None]) -> None: ...

    def observe(self, epoch: str, revision: int, *, since: int | None = None) -> None: ...

    def end(self, error: FeedError) -> None: ...


class Checks:
    """Watches who follows a conversation, from `watch` until it is over."""

    def __init__(
        self, reader: SourceReader, access: Access, *, epoch: str, start: Start, later: Later
    ) -> None:
        self._reader = reader
        self._access = access
        self._epoch = epoch
        self._start = start
        self._later = later
        self._watched: dict[Watched, Query] = {}
        self._timer: Cancellable | None = None
        self._is_looking = False

    def watch(self, scope: Watched, query: Query) -> None:
        self._watched[scope] = query
        scope.when_over(lambda: self._forget(scope))
        self._schedule()

    def _forget(self, scope: Watched) -> None:
        self._watched.pop(scope, None)
        if not self._watched and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _schedule(self) -> None:
        if self._watched and self._timer is None and not self._is_looking:
            self._timer = self._later(CHECK_SECONDS, self._begin)

    def _begin(self) -> None:
        self._timer, self._is_looking = None, True
        self._start(self._check(), "check of scopes")

    async def _check(self) -> None:
        try:
            await self._look()
        except NacreError:
            _LOG.warning("revisions could not be read", exc_info=True)
        finally:
            self._is_looking = False
            self._schedule()

    async def _look(self) -> None:
        watched = {scope: (query, scope.revision) for scope, query in self._watched.items()}
        names = sorted({query.session_id for query, _ in watched.values()})
        found = await self._reader.revisions(names)
        for scope, (query, since) in watched.items():
            self._tell(scope, query, found.get(query.session_id), since)

    def _tell(self, scope: Watched, query: Query, revision: int | None, since: int | None) -> None:
        match self._access(query.reader, query.session_id):
            case "unauthenticated":
                scope.end(Unauthenticated())
            case "granted" if revision is not None:
                scope.observe(self._epoch, revision, since=since)
            case _:
                scope.end(NotFound())
