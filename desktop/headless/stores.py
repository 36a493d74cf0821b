"""Which store a conversation is kept in: the database, a file of lines, or nothing at all.

Chosen when it begins (`--store`) and noted in the catalogue; from then on it is opened there
without being told. Title, folder and choice of model are in the database for all that are kept.
"""

import asyncio
from functools import partial
from pathlib import Path
from typing import Literal, cast

from desktop.core.catalogue import Catalogue
from desktop.core.errors import StoreError
from desktop.core.protocols import TurnStore
from desktop.core.records import Snapshot, Tab
from desktop.headless.finding import Finder
from desktop.headless.opening import new_id, now_ms
from desktop.headless.reading import Pages
from desktop.headless.unlisted import Unlisted
from desktop.store.home_notes import DATABASE, Home
from desktop.store.jsonl import FSJSONLStore, Report
from desktop.store.log import Log
from desktop.store.null import NullStore

Choice = Literal["null"] | Home | None


def choice_of(words: str | None) -> Choice:
    """What `--store` asks for: `sql`, `null` or `jsonl:DIR`; None where nothing is asked."""
    kind, _, folder = (words or "").partition(":")
    if words is None or words == "null":
        return words
    if words == "sql":
        return DATABASE
    if kind == "jsonl" and folder:
        # As it is called now: a name from another working folder would be another's.
        try:
            return Home(Path(folder).expanduser().resolve())
        except (OSError, RuntimeError) as error:
            raise StoreError(
                f"{folder} is no name of a folder that can be used.",
                way_out="Choose another folder.",
                detail=str(error),
            ) from error
    raise StoreError(f"There is no store named {words}.")


class Stores:
    """The stores of one process by conversation; `reader`, `search` and `catalogue` know those of
    all.

    `report` gets a sentence about each damage found in a file, on a thread of the store's.
    """

    def __init__(self, log: Log, *, choice: Choice, report: Report) -> None:
        self._choice: Choice = choice
        self._log = log
        self._report = report
        self._nulls: dict[str, NullStore] = {}
        self._files: dict[str, FSJSONLStore] = {}
        self.reader = Pages(log, is_unkept=self._nulls.__contains__)
        self.search = Finder(log, report=report)
        self.catalogue: Catalogue = log.catalogue
        if not self.keeps:
            # It hands on whatever it does not do itself, which a checker of types can't see.
            self.catalogue = cast(
                "Catalogue", Unlisted(log.catalogue, new_id=new_id, now_ms=now_ms)
            )

    @property
    def keeps(self) -> bool:
        """Whether the conversations of this process are kept at all (SPEC S06)."""
        return self._choice != "null"

    @property
    def makes_files(self) -> bool:
        """Whether a new conversation of this process becomes a file: then `begin` makes it."""
        return isinstance(self._choice, Home) and self._choice.folder is not None

    async def begin(self, snapshot: Snapshot) -> Tab:
        """A new conversation in the folder asked for. Raises StoreError: nothing is in the list."""
        assert isinstance(self._choice, Home)
        await self._file(snapshot.tab_id, self._choice, is_new=True).make()
        return await self._log.homes.begin(snapshot, self._choice, now=now_ms())

    async def begin_below(self, parent: str, snapshot: Snapshot, *, title: str) -> Tab:
        """A subagent's conversation, kept where that of its parent is. Raises as `begin`."""
        home = await self._log.homes.of(parent)
        if home.folder is not None:
            await self._file(snapshot.tab_id, home, is_new=True).make()
        return await self._log.homes.begin(snapshot, home, now=now_ms(), title=title, parent=parent)

    async def go_on(self, tab_id: str) -> None:
        """Compares what was asked for with where the conversation is; raises StoreError.

        A file that was moved, or was never noted, is noted where it was found.
        """
        if self._choice is None:
            return
        noted = await self._log.homes.of(tab_id)
        asked = self._choice
        if asked == noted:
            return
        if isinstance(asked, Home) and await self._was_moved(tab_id, noted, asked):
            await self._log.homes.note(tab_id, asked)
            return
        raise StoreError(
            f"This conversation is kept in {_words(noted)}, not in {_words(asked)}.",
            way_out="Go on without --store, or begin another one with --workspace.",
        )

    async def store_for(self, tab_id: str) -> TurnStore:
        """The same store for the same conversation, for as long as the process lives."""
        if not self.keeps:
            return self._nulls.setdefault(tab_id, NullStore(tab_id, now_ms=now_ms))
        home = await self._log.homes.of(tab_id)
        return self._log.session(tab_id) if home.folder is None else self._file(tab_id, home)

    async def content(self, sha256: str) -> bytes | None:
        """The bytes of a picture or document that is shown to a model; None where they are gone."""
        for store in self._nulls.values():
            if (found := store.content(sha256)) is not None:
                return found
        try:
            path = await self.reader.blob_path(sha256)
            return None if path is None else await asyncio.to_thread(path.read_bytes)
        except (StoreError, OSError):
            return None

    async def close(self) -> None:
        await asyncio.gather(*(store.close() for store in self._files.values()))
        self.reader.close()
        self.search.close()

    def _file(self, tab_id: str, home: Home, *, is_new: bool = False) -> FSJSONLStore:
        assert home.folder is not None
        if tab_id not in self._files:
            self._files[tab_id] = FSJSONLStore(
                home.folder,
                tab_id,
                now_ms=now_ms,
                must_exist=not is_new,
                report=self._report,
                said=partial(self._log.homes.said, tab_id),
                lease=self._log.session(tab_id),
            )
        return self._files[tab_id]

    async def _was_moved(self, tab_id: str, noted: Home, asked: Home) -> bool:
        """Whether there is nothing where the rows should be, and a file of theirs where asked."""
        if asked.folder is None or not await _has_file(asked.folder, tab_id):
            return False
        if noted.folder is not None:
            return not await _has_file(noted.folder, tab_id)
        return (await self._log.reader.page(tab_id, limit=1)).total == 0


async def _has_file(folder: Path, tab_id: str) -> bool:
    return await asyncio.to_thread((folder / f"{tab_id}.jsonl").is_file)


def _words(choice: Choice) -> str:
    if not isinstance(choice, Home):
        return "nothing at all"
    return "the database" if choice.folder is None else f"the folder {choice.folder}"
