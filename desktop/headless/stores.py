"""Which store a conversation is kept in: the database, nothing at all, or a file (`--store`).

The catalogue (title, folder, choice of model) is in the database whatever the choice.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path

from desktop.core.errors import StoreError
from desktop.core.protocols import TurnStore
from desktop.headless.opening import now_ms
from desktop.store.jsonl import FSJSONLStore
from desktop.store.log import Log
from desktop.store.null import NullStore


class Stores:
    """The stores of one run by conversation; `choice` is `sql`, `null` or `jsonl:DIR`.

    `report` gets a sentence about each damage found in a file, on a thread of the store's.
    """

    def __init__(self, choice: str, *, log: Log, report: Callable[[str], None]) -> None:
        self._choice = choice
        self._log = log
        self._report = report
        self._nulls: dict[str, NullStore] = {}
        self._files: dict[str, FSJSONLStore] = {}

    def store_for(self, tab_id: str) -> TurnStore:
        """The same store for the same conversation, for as long as the process lives."""
        if self._choice == "sql":
            return self._log.session(tab_id)
        if self._choice == "null":
            return self._nulls.setdefault(tab_id, NullStore(tab_id, now_ms=now_ms))
        if tab_id not in self._files:
            self._files[tab_id] = self._open_file(tab_id)
        return self._files[tab_id]

    async def close(self) -> None:
        await asyncio.gather(*(store.close() for store in self._files.values()))

    def _open_file(self, tab_id: str) -> FSJSONLStore:
        kind, _, folder = self._choice.partition(":")
        if kind != "jsonl" or not folder:
            raise StoreError(f"There is no store named {self._choice}.")
        where = Path(folder).expanduser().absolute()
        return FSJSONLStore(where, tab_id, now_ms=now_ms, report=self._report)
