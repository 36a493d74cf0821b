"""One look at what other processes did: what moved, and who works where (DESIGN.md §7).

No row of a conversation is read; the look is one transaction, whose size is that of the question.
"""

from collections.abc import Sequence

from sqlalchemy import Connection

from desktop.core.sources import Sight
from desktop.store.catalogue import read_catalogue_revision
from desktop.store.lanes import Lanes
from desktop.store.leases import Leases
from desktop.store.reads import newest_ordinal
from desktop.store.sources import read_revisions


class LogLookout:
    """The Lookout of a database."""

    def __init__(self, lanes: Lanes, leases: Leases) -> None:
        self._lanes = lanes
        self._leases = leases

    async def moved(self) -> int:
        return await self._lanes.moved()

    async def look(self, tab_ids: Sequence[str]) -> Sight:
        names = tuple(tab_ids)

        def job(connection: Connection) -> Sight:
            return Sight(
                catalogue=read_catalogue_revision(connection),
                revisions=read_revisions(connection, tab_ids=names),
                elsewhere=self._leases.elsewhere(connection),
                newest=newest_ordinal(connection),
            )

        return await self._lanes.read(job)
