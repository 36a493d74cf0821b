"""The catalogue as a scope: projects, workspaces and conversations, followed record by record.

It is read whole at first and where a receipt is missing; what the program itself changes comes by
id, and what another process changes is found by its revision (DESIGN.md §7).
"""

import time
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import cast

from desktop.core.catalogue import Catalogue
from desktop.core.errors import NacreError
from desktop.core.protocols import Unsubscribe
from desktop.core.records import CatalogueReceipt, CatalogueView, Project, Tab, Workspace
from desktop.feed.batches import Batch, Operation, Record, Removal, Upsert
from desktop.feed.faults import InvalidQuery, UpstreamFailure
from desktop.feed.hub import CatalogueNews, Hub
from desktop.feed.loaded import Loaded
from desktop.feed.source import Snapshot
from desktop.feed.source_scope import SourceScope
from desktop.feed.timing import Later, Start

PROJECTS, WORKSPACES, TABS = "projects", "workspaces", "tabs"
EPOCH = "catalogue"
_PLACE = attrgetter("place", "id")


class CatalogueSource:
    """The Source of the whole catalogue. It has no pages."""

    paged = TABS

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    async def read(self, loaded: Loaded | None) -> Snapshot:
        try:
            view = await self._catalogue.view()
        except NacreError as error:
            raise UpstreamFailure(str(error)) from error
        return _snapshot(view)

    async def more(self, cursor: str, *, expected: int) -> Snapshot:
        raise InvalidQuery("the catalogue has no pages")

    async def revision(self) -> tuple[str, int]:
        return EPOCH, await self._catalogue.revision()


class FollowedCatalogue:
    """What lists of conversations show: `follow` it, or ask for its `view` at this moment."""

    def __init__(
        self,
        catalogue: Catalogue,
        hub: Hub,
        *,
        start: Start,
        later: Later,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._catalogue = catalogue
        self._hub = hub
        self._scope = SourceScope(CatalogueSource(catalogue), start=start, later=later, clock=clock)

    def follow(
        self, changed: Callable[[CatalogueView], None], known: CatalogueView | None = None
    ) -> Unsubscribe:
        """Calls back with the catalogue now, and whenever it is another; the returned call ends it.

        `known` is what was just read: then nothing is read, and it is told at once.
        """

        def hear(operations: tuple[Operation, ...] | None) -> None:
            if operations != ():
                changed(self._view())

        self._scope.listen(hear)
        self._scope.when_over(self._hub.on_catalogue(self._hear))
        self._scope.open(_snapshot(known) if known is not None else None)
        return self.close

    @property
    def is_loaded(self) -> bool:
        return self._scope.is_loaded

    @property
    def is_fresh(self) -> bool:
        """Whether nothing is known of the catalogue that is not told."""
        return self._scope.is_fresh

    def show(self, is_seen: bool) -> None:
        """Out of sight nothing is read; back in sight what was missed is."""
        self._scope.show(is_seen)

    def close(self) -> None:
        self._scope.close()

    async def view(self) -> CatalogueView:
        """The catalogue now; it is read only where what is known is of another revision."""
        revision = await self._catalogue.revision()
        if self._scope.revision == revision:
            return self._view()
        return await self._catalogue.view()

    def _hear(self, news: CatalogueNews) -> None:
        if isinstance(news, int):
            self._scope.observe(EPOCH, news)
            return
        batch = projected(news)
        if batch is not None:
            self._scope.batch(batch)

    def _view(self) -> CatalogueView:
        return CatalogueView(
            cast("tuple[Project, ...]", self._values(PROJECTS)),
            cast("tuple[Workspace, ...]", self._values(WORKSPACES)),
            cast("tuple[Tab, ...]", self._values(TABS)),
            self._scope.revision or 0,
        )

    def _values(self, kind: str) -> tuple[object, ...]:
        return tuple(one.value for one in self._scope.records(kind))


def projected(receipt: CatalogueReceipt) -> Batch | None:
    """The batch of a receipt: what is in the bin leaves the lists."""
    base, revision = receipt.base_revision, receipt.revision
    if base == revision:
        return None
    if receipt.is_partial:
        return Batch(EPOCH, base, revision, is_reset=True)
    operations: list[Operation] = [
        *(Upsert(_of_project(one)) for one in receipt.projects),
        *(Upsert(_of_workspace(one)) for one in receipt.workspaces),
    ]
    for tab in receipt.tabs:
        record = _of_tab(tab)
        operations.append(Upsert(record) if tab.trashed_at is None else Removal(*record.key))
    operations += [Removal(kind, id_) for kind, id_ in receipt.gone]
    return Batch(EPOCH, base, revision, tuple(operations))


def _snapshot(view: CatalogueView) -> Snapshot:
    ranges = {
        PROJECTS: _ranged(map(_of_project, view.projects)),
        WORKSPACES: _ranged(map(_of_workspace, view.workspaces)),
        TABS: _ranged(map(_of_tab, view.tabs)),
    }
    return Snapshot(EPOCH, view.revision, ranges)


def _ranged(records: Iterable[Record]) -> Loaded:
    return Loaded("ascending", tuple(sorted(records, key=_PLACE)))


def _of_project(project: Project) -> Record:
    return Record(PROJECTS, str(project.id), project.id, project)


def _of_workspace(workspace: Workspace) -> Record:
    return Record(WORKSPACES, str(workspace.id), workspace.id, workspace)


def _of_tab(tab: Tab) -> Record:
    return Record(TABS, tab.id, tab.position, tab)
