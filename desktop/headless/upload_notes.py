"""What was learned of servers: which take compressed requests. Kept as one row of the settings.

The row is no setting: nobody chooses it, and losing it costs one request that goes out twice.
"""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import cast

from desktop.core.catalogue import Catalogue
from desktop.core.errors import StoreError

KEY = "note.uploads"
MANNERS = frozenset({"gzip", "plain"})
SERVERS = 32


class UploadNotes:
    """By the server's name (host and port). `learn` may be called on any thread after `read`."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._known: dict[str, str] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._saving: set[asyncio.Task[None]] = set()

    def read(self, rows: Mapping[str, str]) -> None:
        """On the loop that writes the notes. What can't be read is nothing."""
        self._loop = asyncio.get_running_loop()
        try:
            found = json.loads(rows.get(KEY, "{}"))
        except (ValueError, RecursionError):
            found = None
        pairs = cast("dict[str, object]", found).items() if isinstance(found, dict) else ()
        stored = {name: manner for name, manner in pairs if isinstance(manner, str)}
        kept = {name: manner for name, manner in stored.items() if manner in MANNERS}
        self._known = {**kept, **self._known}

    async def saved(self) -> None:
        """Returns when everything that was learned is written."""
        if self._saving:
            await asyncio.wait(self._saving)

    def known(self, server: str) -> str:
        return self._known.get(server, "")

    def learn(self, server: str, manner: str) -> None:
        if self._loop is not None:
            with suppress(RuntimeError):  # the program is ending
                self._loop.call_soon_threadsafe(self._keep, server, manner)

    def _keep(self, server: str, manner: str) -> None:
        self._known.pop(server, None)
        self._known[server] = manner
        while len(self._known) > SERVERS:
            self._known.pop(next(iter(self._known)))
        task = asyncio.create_task(self._save(), name="keep what was learned of a server")
        self._saving.add(task)
        task.add_done_callback(self._saving.discard)

    async def _save(self) -> None:
        with suppress(StoreError):
            await self._catalogue.save_setting(KEY, json.dumps(self._known))
