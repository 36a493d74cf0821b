"""A list of plugins in memory, for the page that shows it."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from desktop.core.errors import PluginError
from desktop.core.plugins import PluginOffer, PluginView


class MemoryPlugins:
    """Implements `core.plugins.PluginList`; `did` holds what was asked, in order.

    `refusal` is raised instead of what is asked; a test lets an examination through by `let_go`.
    """

    def __init__(self, *views: PluginView, is_sandboxed: bool | None = True) -> None:
        self.now = views
        self.is_sandboxed = is_sandboxed
        self.did: list[tuple[object, ...]] = []
        self.refusal: PluginError | None = None
        self.offered = PluginOffer("", "", "", (), frozenset(), (), "")
        self.let_go = asyncio.Event()
        self.let_go.set()
        self._hearers: list[Callable[[], None]] = []

    def show(self, *views: PluginView) -> None:
        self.now = views
        for hear in list(self._hearers):
            hear()

    def view(self) -> tuple[PluginView, ...]:
        return self.now

    def on_change(self, changed: Callable[[], None]) -> Callable[[], None]:
        self._hearers.append(changed)
        return lambda: self._hearers.remove(changed)

    async def look(self) -> None: ...

    async def examine(self, folder: Path) -> PluginOffer | None:
        self._do("examine", folder)
        await self.let_go.wait()
        return None if self.did[-1] == ("stop",) else self.offered

    def stop_examining(self) -> None:
        self._do("stop")
        self.let_go.set()

    async def discard(self, offer: PluginOffer) -> None:
        self._do("discard", offer.id)

    async def install(self, offer: PluginOffer) -> None:
        self._do("install", offer.id)
        self.show(*self.now, PluginView(offer.id, offer.name, offer.version, "resting"))

    async def offer(self, id_: str) -> PluginOffer:
        return self.offered

    async def turn_on(self, offer: PluginOffer) -> None:
        self._do("turn on", offer.id)

    async def turn_off(self, id_: str) -> None:
        self._do("turn off", id_)
        self.show(*(replace(one, phase="off") if one.id == id_ else one for one in self.now))

    async def take_back(self, id_: str) -> None:
        self._do("take back", id_)

    async def reload(self, id_: str) -> None:
        self._do("reload", id_)

    async def uninstall(self, id_: str, *, with_data: bool) -> None:
        self._do("uninstall", id_, with_data)
        self.show(*(one for one in self.now if one.id != id_))

    def _do(self, *what: object) -> None:
        self.did.append(what)
        if self.refusal is not None:
            raise self.refusal
