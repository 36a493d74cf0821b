"""Where scopes read conversations in use, wherever they are kept: in the database or as files."""

from collections.abc import Mapping, Sequence

from desktop.core.errors import StoreError, UnknownConversation
from desktop.core.sources import Messages, Question, Selection, Turns
from desktop.headless.reading import Pages
from desktop.store.jsonl_sources import FileSource
from desktop.store.log import Log


class Sources:
    """A SourceReader, for which what lies in the bin is not there at all."""

    def __init__(self, log: Log, pages: Pages) -> None:
        self._log = log
        self._pages = pages

    async def messages(self, tab_id: str, selection: Selection, question: Question) -> Messages:
        file = await self._file(tab_id)
        if file is None:
            return await self._log.sources_in_use.messages(tab_id, selection, question)
        return await self._pages.on_thread(lambda: file.messages(selection, question))

    async def turns(self, tab_id: str, question: Question) -> Turns:
        file = await self._file(tab_id)
        if file is None:
            return await self._log.sources_in_use.turns(tab_id, question)
        return await self._pages.on_thread(lambda: file.turns(question))

    async def revisions(self, tab_ids: Sequence[str]) -> Mapping[str, int]:
        found = dict(await self._log.sources_in_use.revisions(tab_ids))
        elsewhere = await self._log.homes.elsewhere()
        for tab_id in [one for one in found if one in elsewhere]:
            try:
                found[tab_id] = await self._pages.revision(tab_id)
            except StoreError:  # its file is gone: the others are looked at all the same
                del found[tab_id]
        return found

    async def _file(self, tab_id: str) -> FileSource | None:
        if tab_id not in await self._log.sources_in_use.revisions((tab_id,)):
            raise UnknownConversation("No conversation has this id.", detail=tab_id)
        return await self._pages.source(tab_id)
