"""The network side of an opened data folder: who answers as a model, with which key, at what price.

Nothing is asked, and the library for it is not loaded, before something is to be sent.
"""

import asyncio
import importlib
import os
import random
from collections.abc import Callable
from functools import partial
from types import ModuleType

from desktop.agent.spending import Tariff
from desktop.core.caching import CachePrices
from desktop.core.catalogue import Catalogue
from desktop.core.errors import FeedError
from desktop.core.loading import at_rest
from desktop.core.records import RequestRecord
from desktop.core.releases import Release
from desktop.credentials.keys import Keys
from desktop.headless.access import LiveAccess
from desktop.headless.opening import now_ms
from desktop.headless.releases import newest_of
from desktop.headless.shipped import Shipped
from desktop.headless.warmth import cache_prices
from desktop.wire.models import ModelTable
from desktop.wire.pictures import Read
from desktop.wire.prices import PriceTable
from desktop.wire.replay import MODEL as TOUR_MODEL
from desktop.wire.replay import ReplayModel
from desktop.wire.transport import Transport
from desktop.wire.usage import usage_of


class Network:
    """`access` gives the models, `tariff` what their answers cost; `close` ends the keys too.

    `content` and `threads` as of `LiveAccess`.
    """

    def __init__(
        self,
        keys: Keys,
        catalogue: Catalogue,
        *,
        shipped: Shipped,
        content: Read,
        threads: Callable[[], bool],
    ) -> None:
        self._keys = keys
        self._transport = Transport(_load_sdk)
        self.access = LiveAccess(
            environment=os.environ,
            keys=keys,
            catalogue=catalogue,
            transport=self._transport,
            table=ModelTable.from_json(shipped.models),
            tour=ReplayModel(shipped.tour),
            jitter=random.random,
            threads=threads,
            content=content,
        )
        self.tariff = _tariff(PriceTable.from_json(shipped.models))

    def cache_prices(self, model: str) -> CachePrices | None:
        """What a model's cache costs now; None where a price is unknown."""
        info = self.access.model_info(model)
        return cache_prices(self.tariff, model, info.name if info else model, at=now_ms())

    async def newest_release(self, address: str) -> Release:
        """The newest release that a feed names. Raises FeedError."""
        try:
            asked = self._transport.run(partial(newest_of, address))
        except RuntimeError as error:  # the program is ending
            raise FeedError("The feed was not asked.") from error
        return await asyncio.wrap_future(asked)

    async def close(self) -> None:
        """Ends all requests."""
        await self._transport.close()
        self._keys.close()


def _load_sdk() -> ModuleType:
    with at_rest():
        return importlib.import_module("desktop.wire.sdk")


def _tariff(prices: PriceTable) -> Tariff:
    return Tariff(
        usage=usage_of,
        dollars=partial(_dollars, prices),
        tokens=lambda model, tokens, at: prices.of_tokens(model, tokens, at=at),
    )


def _dollars(prices: PriceTable, record: RequestRecord) -> float | None:
    """What a request cost; a recording costs nothing."""
    return 0.0 if record.model == TOUR_MODEL else prices.of_record(record)
