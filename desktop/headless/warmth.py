"""What the keeping of caches hears of the program around it, and what it costs."""

from collections.abc import Callable

from desktop.agent.spending import Tariff
from desktop.core.caching import CachePrices
from desktop.core.catalogue import Catalogue
from desktop.core.errors import StoreError
from desktop.core.events import Usage
from desktop.core.status import TabStatus

SAMPLE = 100_000  # tokens


class Restful:
    """A listener that tells when a conversation is not running."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell = tell

    def receipt(self, receipt: object) -> None: ...

    def live(self, tab_id: str, op: object) -> None: ...

    def status(self, status: TabStatus) -> None:
        if status.phase != "running":
            self._tell()


async def is_shown(catalogue: Catalogue, tab_id: str) -> bool:
    """Whether a conversation stands open and is not put away."""
    try:
        tab = await catalogue.tab(tab_id)
    except StoreError:
        return False
    return tab.is_open and tab.archived_at is None and tab.trashed_at is None


def cache_prices(tariff: Tariff, model: str, name: str, *, at: int) -> CachePrices | None:
    """The prices of a moment (ms UTC); None where one is unknown."""
    read, short, long = (
        tariff.tokens(model, usage, at)
        for usage in (
            Usage(cache_read=SAMPLE),
            Usage(cache_write=SAMPLE),
            Usage(cache_write=SAMPLE, cache_write_1h=SAMPLE),
        )
    )
    if read is None or short is None or long is None:
        return None
    return CachePrices(name, read, short, long)
