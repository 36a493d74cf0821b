"""How the layers are joined: the log, the agents, the tools, the key and the network side.

One `Runtime` is one opened data folder. The command line and the window both stand on it; what is
different between them (who reads the feed, whether a person can be asked) is handed in.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from desktop import paths, settings
from desktop.agent.spending import line_of
from desktop.agent.supervisor import Supervisor
from desktop.agent.warming import Warming
from desktop.core.access import Access
from desktop.core.backups import BackupNotes
from desktop.core.caching import CachePrices
from desktop.core.catalogue import Catalogue
from desktop.core.commands import Commands
from desktop.core.confinement import Confinement
from desktop.core.protocols import LogReader, OutlineReader, Search
from desktop.core.records import Storage, Tab
from desktop.core.releases import Release
from desktop.core.tool_servers import ToolServerList
from desktop.credentials.key_file import KeyFile
from desktop.credentials.keys import Keys
from desktop.credentials.store import SecretStore
from desktop.diagnostics import Redaction, program_version
from desktop.feed.hub import Hub
from desktop.feed.outside import Outside
from desktop.feed.timing import Later, Start
from desktop.feed.usage import FollowedUsage
from desktop.headless import agents, rounds, shipped, tour
from desktop.headless.chores import FileCheck, Tidying
from desktop.headless.moving_keys import move_keys
from desktop.headless.network import Network
from desktop.headless.opening import now_ms, open_log, tidy_spool
from desktop.headless.preferred import Preferred
from desktop.headless.sandboxing import Cautions
from desktop.headless.stores import Stores, choice_of
from desktop.headless.toolbox import Toolbox
from desktop.headless.warmth import Restful, is_shown
from desktop.paths import DataFolder
from desktop.store.log import Log
from desktop.tools import rules

if TYPE_CHECKING:
    from desktop.headless.plugging import Navigate
    from desktop.headless.plugin_list import Plugins

_logger = logging.getLogger(__name__)

TOOL_SERVERS_CHECK_SECONDS = 5.0
SPOOL_SECONDS = 86_400.0


class Runtime:
    """Made by `start`, ended by `close`. `notice` is a sentence that the person should see."""

    def __init__(
        self,
        *,
        folder: DataFolder,
        log: Log,
        stores: Stores,
        hub: Hub,
        network: Network,
        toolbox: Toolbox,
        supervisor: Supervisor,
        preferred: Preferred,
        notice: str,
        report: Callable[[str], None],
    ) -> None:
        self.folder = folder
        self.hub = hub
        self.notice = notice
        self._log = log
        self._stores = stores
        self._network = network
        self._toolbox = toolbox
        self._supervisor = supervisor
        self._preferred = preferred
        self._file_check = FileCheck(log.upkeep, folder.database, report=report)
        self._outside: Outside | None = None
        self._warming = Warming(
            lambda: supervisor.agents, is_shown=partial(is_shown, self.catalogue), now_ms=now_ms
        )

    # -- what is handed to who shows it -------------------------------------------------------

    @property
    def is_read_only(self) -> bool:
        return self._log.is_read_only

    @property
    def commands(self) -> Commands:
        return self._supervisor

    @property
    def catalogue(self) -> Catalogue:
        return self._stores.catalogue

    @property
    def reader(self) -> LogReader:
        return self._stores.reader

    @property
    def outline(self) -> OutlineReader:
        return self._stores.reader

    @property
    def search(self) -> Search:
        return self._stores.search

    @property
    def access(self) -> Access:
        return self._network.access

    @property
    def tool_server_list(self) -> ToolServerList:
        return self._toolbox.server_list

    def usage(self, tab_id: str, later: Later, start: Start) -> FollowedUsage:
        """What a conversation and its subagents use, to be followed; a fork's is its own."""
        return FollowedUsage(
            tab_id,
            self._stores.reader,
            self.catalogue,
            self.hub,
            line=partial(line_of, tariff=self._network.tariff),
            start=start,
            later=later,
        )

    def plugins(self, later: Later, start: Start, navigate: "Navigate") -> "Plugins":
        """The plugins on this log; none of them runs before it is shown. `close` them first."""
        from desktop.headless import plugging
        from desktop.headless.plugin_list import Plugins
        from desktop.headless.sources import Sources

        return Plugins(
            self.folder,
            resources=paths.resources(),
            notes=self._log.plugins,
            sandbox=self._toolbox.sandbox,
            launches=plugging.launches(self.folder, self._toolbox.sandbox),
            host_version=program_version(),
            around=lambda: plugging.surroundings(
                self.folder,
                sources=Sources(self._log, self._stores.reader),
                catalogue=self.catalogue,
                hub=self.hub,
                navigate=navigate,
                start=start,
                later=later,
            ),
        )

    def cache_prices(self, model: str) -> CachePrices | None:
        """What a model's cache costs now; None where a price is unknown."""
        return self._network.cache_prices(model)

    def rule_words(self, tool: str, match: str) -> str:
        """A permission rule in words for the person."""
        return rules.words(tool, match)

    async def newest_release(self, address: str) -> Release:
        """The newest release that a feed names. Raises FeedError."""
        return await self._network.newest_release(address)

    async def confinement(self) -> Confinement:
        """Whether commands run in a sandbox; the first call tries it, off this thread."""
        return await self._toolbox.sandbox.state()

    # -- conversations ------------------------------------------------------------------------

    async def begin(self, workspace_id: int) -> Tab:
        """A new conversation in the store that this process was started with."""
        if not self._stores.makes_files:
            return await self.catalogue.create_tab(workspace_id)
        return await self._stores.begin(agents.new_snapshot(workspace_id, self._preferred.chosen()))

    async def go_on(self, tab_id: str) -> None:
        """Raises StoreError where the conversation is kept elsewhere than this process was told."""
        await self._stores.go_on(tab_id)

    async def start_tour(self) -> str:
        """Begins the tour in a copy of the sample folder; the id of its conversation."""
        return await tour.begin(self.folder.root / "tour", self.catalogue, self.commands)

    def prefer(self, preferences: settings.Preferences) -> None:
        """The person changed settings: they count for what begins after this."""
        self._preferred.current = preferences
        self._warming.changed()

    def busy(self) -> bool:
        """Whether a turn runs in this process."""
        return bool(self._supervisor.running)

    async def until_idle(self) -> None:
        """Returns when no turn runs any more."""
        rested = asyncio.Event()
        unsubscribe = self.hub.subscribe(Restful(rested.set))
        try:
            while self.busy():
                rested.clear()
                await rested.wait()
        finally:
            unsubscribe()

    # -- the log as a whole -------------------------------------------------------------------

    async def doctor(self) -> dict[str, Any]:
        log, files = await self._log.doctor(), await self._stores.reader.doctor()
        return {**log, "ok": log["ok"] and files["ok"], "files": files}

    async def storage(self) -> Storage:
        """What every conversation takes on disk."""
        return await self._log.storage()

    async def free_space(self, tell: Callable[[str, int], None]) -> int:
        """Gives back what holds nothing; the bytes. `tell` hears words and the bytes so far."""
        return await self._log.upkeep.free_space(tell)

    async def backup_notes(self) -> BackupNotes:
        """What the log remembers of backups."""
        return await self._log.backup_notes()

    async def check_file(self) -> None:
        """Has SQLite look over the file, and reports what it finds; closing the log ends it."""
        await self._file_check.look()

    # -- what goes on by itself ---------------------------------------------------------------

    async def find_key(self) -> None:
        """Reads which server and key are in force; a keyring may take seconds to answer."""
        await self._network.access.load()

    async def connect_tools(self) -> None:
        """Reads which tool servers there are; what they offer is there or comes by itself."""
        await self._toolbox.servers.look()

    def keep_tools_connected(self, later: Later, start: Start) -> None:
        """Looks now and then which tool servers there are. The first look loads their library."""
        rounds.every(
            TOOL_SERVERS_CHECK_SECONDS,
            self.connect_tools,
            "look at the tool servers",
            later=later,
            start=start,
        )

    def watch(self, later: Later, start: Start, *, arm: Callable[[], None] | None = None) -> None:
        """Looks now and then: what other processes did, what is to tidy, which conversation is to
        be kept in the provider's cache.

        And once, whether the file is whole. `arm` as of `Outside`; who has it calls `wake`.
        """
        self._file_check.watch(later, start)
        self.hub.subscribe(Restful(self._warming.changed))
        start(self._warming.keep(), "keep conversations in the cache")
        self._outside = Outside(
            self._stores.reader,
            self.hub,
            heard=self._supervisor.found_elsewhere,
            start=start,
            later=later,
            arm=arm or (lambda: None),
        )
        self._outside.open()
        Tidying(self._log.upkeep, is_busy=self.busy, later=later, start=start).begin_in()

    def wake(self) -> None:
        """Something was written into the log's files, by this process or another."""
        if self._outside is not None:
            self._outside.wake()

    async def close(self) -> None:
        """Stops what runs, seals it, flushes the log; leaves behind who does not answer."""
        if self._outside is not None:
            self._outside.close()
        await self._supervisor.shutdown()
        servers = await self._toolbox.close()
        # The log does not wait for servers that take their time.
        await self._stores.close()
        await self._log.close()
        await self._network.close()
        await servers


def _note_unheard(sentence: str) -> None:
    del sentence
    _logger.warning("a sentence for the person was heard by nobody")


async def start(
    folder: DataFolder,
    *,
    redaction: Redaction,
    has_person: bool,
    store: str | None = None,
    report: Callable[[str], None] = _note_unheard,
    hub: Hub | None = None,
) -> Runtime:
    """Opens a prepared data folder. Raises StoreError; knows nothing of the network yet.

    `store` is where new conversations are kept: `sql` (or None), `null` (they write nothing) or
    `jsonl:DIR`. `report` gets a sentence about each damage found in a file, on any thread. `hub`
    is one that somebody listens to already.
    """
    hub = hub or Hub()
    log = await asyncio.to_thread(open_log, folder, on_catalogue_change=hub.catalogue_changed)
    await asyncio.to_thread(tidy_spool, folder.spool, time.time() - SPOOL_SECONDS)
    secrets = SecretStore(forget=redaction.forget)
    keys = Keys(secrets, KeyFile(folder.keys), forget=redaction.forget)
    try:
        notice = await _moved(folder, log, secrets, keys, report)
        stores = Stores(log, choice=choice_of(store), report=report)
        brought = await asyncio.to_thread(shipped.read, paths.resources())
        preferred = Preferred(settings.read(await stores.catalogue.settings()))
        network = Network(
            keys,
            stores.catalogue,
            shipped=brought,
            content=stores.content,
            threads=preferred.threads,
        )
        toolbox = Toolbox(folder, preferred, report=report)
        supervisor = agents.joined(
            stores,
            network,
            toolbox,
            hub,
            preferred=preferred,
            prompt=brought.prompt,
            has_person=has_person,
            caution=Cautions(report),
        )
    except BaseException:
        keys.close()
        await log.close()
        raise
    return Runtime(
        folder=folder,
        log=log,
        stores=stores,
        hub=hub,
        network=network,
        toolbox=toolbox,
        supervisor=supervisor,
        preferred=preferred,
        notice=notice,
        report=report,
    )


async def _moved(
    folder: DataFolder,
    log: Log,
    secrets: SecretStore,
    keys: Keys,
    report: Callable[[str], None],
) -> str:
    """Keys of an older database get out of it; what the person should know of the folder, or ''.

    No thread of the log has connected yet: this still is before it is used.
    """
    if log.is_read_only:
        return (
            f"Nacre may not write in its data folder {folder.root}, so nothing new can be kept. "
            "What is there can be read."
        )
    return await move_keys(folder.database, secrets, find=keys.find, tell=report)
