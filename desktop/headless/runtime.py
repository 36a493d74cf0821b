"""How the layers are joined: the log, the agents, the tools, the key and the network side.

One `Runtime` is one opened data folder. The command line and the window both stand on it; what is
different between them (who reads the feed, whether a person can be asked) is handed in.
"""

import asyncio
import importlib
import json
import logging
import os
import random
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from desktop import paths, settings
from desktop.agent import facts
from desktop.agent.approvals import Approvals
from desktop.agent.spending import Tariff, line_of
from desktop.agent.subagents import Subagents
from desktop.agent.supervisor import Supervisor
from desktop.agent.surroundings import Chosen, Place, Surroundings
from desktop.agent.warming import Warming
from desktop.core.access import Access
from desktop.core.backups import BackupNotes
from desktop.core.caching import CachePrices, Ttl
from desktop.core.confinement import Confinement
from desktop.core.errors import FeedError, StoreError
from desktop.core.loading import at_rest
from desktop.core.protocols import Catalogue, Commands, LogReader, OutlineReader, Search
from desktop.core.records import RequestRecord, Snapshot, Storage, Tab, Workspace
from desktop.core.releases import Release
from desktop.core.tool_servers import ToolServerList
from desktop.core.tools import Scene, Tool
from desktop.credentials.key_file import KeyFile
from desktop.credentials.keys import Keys
from desktop.credentials.store import SecretStore
from desktop.diagnostics import Redaction, program_version
from desktop.feed.hub import Hub
from desktop.feed.outside import Outside
from desktop.feed.timing import Later, Start
from desktop.feed.usage import FollowedUsage
from desktop.headless.access import LiveAccess
from desktop.headless.moving_keys import move_keys
from desktop.headless.opening import new_id, now_ms, open_log
from desktop.headless.releases import newest_of
from desktop.headless.sandboxing import Cautions, private_places
from desktop.headless.stores import Stores, choice_of
from desktop.headless.unlisted import Unlisted
from desktop.headless.warmth import Restful, cache_prices, is_shown
from desktop.paths import DataFolder
from desktop.settings import (
    CACHE_TTL,
    COMPACT_AT,
    EFFORT,
    KEEP_WARM,
    MESSAGE_THREADS,
    MODEL,
    PERMISSION_MODE,
    SHELL_MEMORY_LIMIT,
    SHELL_TIME_LIMIT,
    SUBAGENT_BUDGET,
    TOOL_OUTPUT_LIMIT,
)
from desktop.store.log import Log
from desktop.tools import rules
from desktop.tools.environment import scrubbed_environment
from desktop.tools.mcp.enclosure import Enclosure
from desktop.tools.mcp.listing import ServerList
from desktop.tools.mcp.servers import ToolServers
from desktop.tools.registry import Offered, builtin_tools, close_tools
from desktop.tools.sandbox import Sandbox
from desktop.wire.models import ModelTable
from desktop.wire.prices import PriceTable
from desktop.wire.replay import MODEL as TOUR_MODEL
from desktop.wire.replay import ReplayModel
from desktop.wire.transport import Transport
from desktop.wire.usage import usage_of

if TYPE_CHECKING:
    from desktop.headless.plugging import Navigate
    from desktop.headless.plugin_list import Plugins

_logger = logging.getLogger(__name__)

TOOL_SERVERS_CHECK_SECONDS = 5.0
# After the start, so that the first pages are not read in competition with the whole file.
FILE_CHECK_SECONDS = 10.0
# Steps that each hold the writer for some 10 to 30 ms.
TIDY_SECONDS = 180.0
TIDY_STEP_SECONDS = 2.0
SPOOL_SECONDS = 86_400.0
MEGABYTE = 1024 * 1024
TOUR_TITLE = "Tour (a recording)"
TOUR_QUESTION = "Show me around."


@dataclass(slots=True)
class Preferred:
    """The settings that reach the agents, as last read."""

    current: settings.Preferences

    def chosen(self) -> Chosen:
        effort = self.current.value(EFFORT)
        return Chosen(
            model=self.current.value(MODEL),
            effort="" if effort == "default" else effort,
            mode=self.current.value(PERMISSION_MODE),  # pyright: ignore[reportArgumentType]
        )

    def ttl(self) -> Ttl:
        return "1h" if self.current.value(CACHE_TTL) == "1h" else "5m"

    def compact_at(self) -> int:
        """The percentage of a model's window; 0 for never."""
        value = self.current.value(COMPACT_AT)
        return 0 if value == "off" else int(value)

    def threads(self) -> bool:
        return self.current.value(MESSAGE_THREADS)

    def keep_warm(self) -> int:
        """How often in a pause; 0 for never."""
        value = self.current.value(KEEP_WARM)
        return 0 if value == "off" else int(value)

    def subagent_dollars(self) -> float:
        """What a message may cost with its subagents; 0 for no limit."""
        value = self.current.value(SUBAGENT_BUDGET)
        return 0.0 if value == "off" else float(value)


class Runtime:
    """Made by `start`, ended by `close`. `notice` is a sentence that the person should see."""

    def __init__(
        self,
        *,
        folder: DataFolder,
        log: Log,
        stores: Stores,
        catalogue: Catalogue,
        hub: Hub,
        supervisor: Supervisor,
        access: LiveAccess,
        transport: Transport,
        keys: Keys,
        tools: tuple[Tool, ...],
        tool_servers: ToolServers,
        sandbox: Sandbox,
        preferred: Preferred,
        tariff: Tariff,
        notice: str,
        report: Callable[[str], None],
    ) -> None:
        self.folder = folder
        self.hub = hub
        self.notice = notice
        self._log = log
        self._stores = stores
        self._catalogue = catalogue
        self._supervisor = supervisor
        self._access = access
        self._transport = transport
        self._keys = keys
        self._tools = tools
        self._tool_servers = tool_servers
        self._sandbox = sandbox
        self._preferred = preferred
        self._tariff = tariff
        self._report = report
        self._outside: Outside | None = None
        self._warming = Warming(
            lambda: supervisor.agents, is_shown=partial(is_shown, catalogue), now_ms=now_ms
        )

    @property
    def is_read_only(self) -> bool:
        return self._log.is_read_only

    @property
    def commands(self) -> Commands:
        return self._supervisor

    @property
    def catalogue(self) -> Catalogue:
        return self._catalogue

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
        return self._access

    async def begin(self, workspace_id: int) -> Tab:
        """A new conversation in the store that this process was started with."""
        if not self._stores.makes_files:
            return await self.catalogue.create_tab(workspace_id)
        chosen = self._preferred.chosen()
        return await self._stores.begin(
            Snapshot(new_id(), workspace_id, "", chosen.model, chosen.effort, chosen.mode)
        )

    async def go_on(self, tab_id: str) -> None:
        """Raises StoreError where the conversation is kept elsewhere than this process was told."""
        await self._stores.go_on(tab_id)

    async def find_key(self) -> None:
        """Reads which server and key are in force; a keyring may take seconds to answer."""
        await self._access.load()

    async def confinement(self) -> Confinement:
        """Whether commands run in a sandbox; the first call tries it, off this thread."""
        return await self._sandbox.state()

    async def doctor(self) -> dict[str, Any]:
        log, files = await self._log.doctor(), await self._stores.reader.doctor()
        return {**log, "ok": log["ok"] and files["ok"], "files": files}

    async def storage(self) -> Storage:
        """What every conversation takes on disk."""
        return await self._log.storage()

    def usage(self, tab_id: str, later: Later, start: Start) -> FollowedUsage:
        """What a conversation and its subagents use, to be followed; a fork's is its own."""
        return FollowedUsage(
            tab_id,
            self._stores.reader,
            self.catalogue,
            self.hub,
            line=partial(line_of, tariff=self._tariff),
            start=start,
            later=later,
        )

    def cache_prices(self, model: str) -> CachePrices | None:
        """What a model's cache costs now; None where a price is unknown."""
        info = self._access.model_info(model)
        return cache_prices(self._tariff, model, info.name if info else model, at=now_ms())

    async def free_space(self, tell: Callable[[str, int], None]) -> int:
        """Gives back what holds nothing; the bytes. `tell` hears words and the bytes so far."""
        return await self._log.upkeep.free_space(tell)

    async def backup_notes(self) -> BackupNotes:
        """What the log remembers of backups."""
        return await self._log.backup_notes()

    def busy(self) -> bool:
        """Whether a turn runs in this process."""
        return bool(self._supervisor.running)

    async def until_idle(self) -> None:
        """Returns when no turn runs any more."""
        while self.busy():
            moved = asyncio.get_running_loop().create_future()
            unsubscribe = self.hub.subscribe(_Waker(moved))
            try:
                if self.busy():
                    await moved
            finally:
                unsubscribe()

    def prefer(self, preferences: settings.Preferences) -> None:
        """The person changed settings: they count for what begins after this."""
        self._preferred.current = preferences
        self._warming.changed()

    def rule_words(self, tool: str, match: str) -> str:
        """A permission rule in words for the person."""
        return rules.words(tool, match)

    async def start_tour(self) -> str:
        """Begins the tour in a copy of the sample folder; the id of its conversation."""
        sample = self.folder.root / "tour"
        await asyncio.to_thread(_copy_sample, sample)
        workspace = await self.catalogue.open_workspace(sample)
        tab = await self.catalogue.create_tab(workspace.id, title=TOUR_TITLE)
        await self.commands.choose(tab.id, model=TOUR_MODEL)
        await self.commands.send(tab.id, TOUR_QUESTION)
        return tab.id

    async def newest_release(self, address: str) -> Release:
        """The newest release that a feed names. Raises FeedError."""
        try:
            asked = self._transport.run(partial(newest_of, address))
        except RuntimeError as error:  # the program is ending
            raise FeedError("The feed was not asked.") from error
        return await asyncio.wrap_future(asked)

    @property
    def tool_server_list(self) -> ToolServerList:
        return ServerList(self.folder.tool_servers, self.folder.logs, self._tool_servers)

    def plugins(self, later: Later, start: Start, navigate: "Navigate") -> "Plugins":
        """The plugins on this log; none of them runs before it is shown. `close` them first."""
        from desktop.headless import plugging
        from desktop.headless.plugin_list import Plugins
        from desktop.headless.sources import Sources

        return Plugins(
            self.folder,
            resources=paths.resources(),
            notes=self._log.plugins,
            sandbox=self._sandbox,
            launches=plugging.launches(self.folder, self._sandbox),
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

    async def connect_tools(self) -> None:
        """Reads which tool servers there are; what they offer is there or comes by itself."""
        await self._tool_servers.look()

    async def _keep_tools_connected(self, later: Later, start: Start) -> None:
        await self.connect_tools()
        later(TOOL_SERVERS_CHECK_SECONDS, partial(self.keep_tools_connected, later, start))

    def keep_tools_connected(self, later: Later, start: Start) -> None:
        """Looks now and then which tool servers there are. The first look loads their library."""
        start(self._keep_tools_connected(later, start), "look at the tool servers")

    def watch(self, later: Later, start: Start, *, arm: Callable[[], None] | None = None) -> None:
        """Looks now and then: what other processes did, what is to tidy, which conversation is to
        be kept in the provider's cache.

        And once, whether the file is whole. `arm` as of `Outside`; who has it calls `wake`.
        """
        later(FILE_CHECK_SECONDS, partial(self._begin_file_check, start))
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
        self._tidy_later(TIDY_SECONDS, later, start)

    def wake(self) -> None:
        """Something was written into the log's files, by this process or another."""
        if self._outside is not None:
            self._outside.wake()

    def _begin_file_check(self, start: Start) -> None:
        start(self.check_file(), "check the file")

    async def check_file(self) -> None:
        """Has SQLite look over the file, and reports what it finds; closing the log ends it."""
        try:
            found = await self._log.upkeep.check()
        except StoreError as error:
            _logger.info("The file was not checked to its end: %s", error)
            return
        if found:
            _logger.error("The quick check of the file found %d faults", len(found))
            self._report(
                f"{self.folder.database} is damaged ({found[0]}). What can be read is shown."
                " Make a copy of the data folder now; `nacre doctor` says more, and"
                " `nacre restore` brings a backup back into an empty folder."
            )

    def _tidy_later(self, seconds: float, later: Later, start: Start) -> None:
        later(seconds, partial(self._begin_tidy, later, start))

    def _begin_tidy(self, later: Later, start: Start) -> None:
        if self.busy() or not self._log.upkeep.is_untidy:
            self._tidy_later(TIDY_SECONDS, later, start)
        else:
            start(self._tidy(later, start), "tidy the log")

    async def _tidy(self, later: Later, start: Start) -> None:
        """A step; the next one soon, while there is more to do."""
        try:
            has_more = await self._log.upkeep.tidy()
        except StoreError:
            has_more = False
        self._tidy_later(TIDY_STEP_SECONDS if has_more else TIDY_SECONDS, later, start)

    async def close(self) -> None:
        """Stops what runs, seals it, flushes the log; leaves behind who does not answer."""
        if self._outside is not None:
            self._outside.close()
        await self._supervisor.shutdown()
        # The log does not wait for servers that take their time.
        servers = asyncio.create_task(self._tool_servers.close(), name="close the tool servers")
        await close_tools(self._tools)
        await self._stores.close()
        await self._log.close()
        await self._transport.close()
        self._keys.close()
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
    await asyncio.to_thread(_tidy_spool, folder.spool, time.time() - SPOOL_SECONDS)
    secrets = SecretStore(forget=redaction.forget)
    keys = Keys(secrets, KeyFile(folder.keys), forget=redaction.forget)
    try:
        # No thread of the log has connected yet: this still is before it is used.
        notice = (
            _read_only_notice(folder)
            if log.is_read_only
            else await move_keys(folder.database, secrets, find=keys.find, tell=report)
        )
        stores = Stores(log, choice=choice_of(store), report=report)
        return await _join(
            folder,
            log,
            stores,
            hub,
            keys=keys,
            has_person=has_person,
            notice=notice,
            report=report,
        )
    except BaseException:
        keys.close()
        await log.close()
        raise


async def _join(
    folder: DataFolder,
    log: Log,
    stores: Stores,
    hub: Hub,
    *,
    keys: Keys,
    has_person: bool,
    notice: str,
    report: Callable[[str], None],
) -> Runtime:
    shipped = await asyncio.to_thread(_read_resources, paths.resources())
    table = ModelTable.from_json(shipped.models)
    transport = Transport(_load_sdk)
    preferred = Preferred(settings.read(await log.catalogue.settings()))
    access = LiveAccess(
        environment=os.environ,
        keys=keys,
        catalogue=log.catalogue,
        transport=transport,
        table=table,
        tour=ReplayModel(shipped.tour),
        jitter=random.random,
        threads=preferred.threads,
        content=stores.content,
    )
    sandbox = Sandbox(
        environment=os.environ, private=lambda: private_places(folder, preferred.current)
    )
    tools = builtin_tools(sandbox)
    environment = scrubbed_environment(os.environ)
    tool_servers = _tool_servers(folder, sandbox, environment, report)
    tariff = _tariff(PriceTable.from_json(shipped.models))
    subagents = Subagents(
        lambda: supervisor,
        listen=lambda listener, tab_id: hub.subscribe(listener, tab_id=tab_id),
        tariff=tariff,
        dollars=preferred.subagent_dollars,
    )
    around = Surroundings(
        model_for=access.model_for,
        model_info=access.model_info,
        tools=Offered((subagents, *tools), tool_servers.tools),
        prompt=shipped.prompt,
        publisher=hub,
        approvals=Approvals(
            log.catalogue,
            has_person=has_person,
            new_id=new_id,
            now_ms=now_ms,
            caution=Cautions(report),
        ),
        tariff=tariff,
        ttl=preferred.ttl,
        new_id=new_id,
        now_ms=now_ms,
        monotonic=time.monotonic,
        compact_at=preferred.compact_at,
        keep_warm=preferred.keep_warm,
        gone=tool_servers.gone,
        server_of=tool_servers.server_of,
        kin=subagents,
    )
    catalogue: Catalogue = log.catalogue
    if not stores.keeps:
        # It hands on whatever it does not do itself, which a checker of types can't see.
        catalogue = cast("Catalogue", Unlisted(log.catalogue, new_id=new_id, now_ms=now_ms))
    supervisor = Supervisor(
        catalogue=catalogue,
        store_for=stores.store_for,
        place_for=partial(_place, folder, preferred, environment),
        around=around,
        defaults=preferred.chosen,
        revision=stores.reader.revision,
        make_below=partial(_make_below, stores) if stores.keeps else None,
    )
    tool_servers.hear(_on_loop(supervisor.look_at_tools))
    return Runtime(
        folder=folder,
        log=log,
        stores=stores,
        catalogue=catalogue,
        hub=hub,
        supervisor=supervisor,
        access=access,
        transport=transport,
        keys=keys,
        tools=tools,
        tool_servers=tool_servers,
        sandbox=sandbox,
        preferred=preferred,
        tariff=tariff,
        notice=notice,
        report=report,
    )


def _tool_servers(
    folder: DataFolder,
    sandbox: Sandbox,
    environment: Mapping[str, str],
    report: Callable[[str], None],
) -> ToolServers:
    return ToolServers(
        configured=folder.tool_servers,
        memory=folder.offered_tools,
        logs=folder.logs,
        environment=environment,
        version=program_version(),
        report=report,
        enclosure=Enclosure(sandbox, folder.tool_server_folders, report),
    )


def _tariff(prices: PriceTable) -> Tariff:
    return Tariff(
        usage=usage_of,
        dollars=partial(_dollars, prices),
        tokens=lambda model, tokens, at: prices.of_tokens(model, tokens, at=at),
    )


def _on_loop(call: Callable[[], None]) -> Callable[[], None]:
    """A call for other threads that is made on this loop; after its end it is dropped."""
    loop = asyncio.get_running_loop()

    def hand_over() -> None:
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(call)

    return hand_over


@dataclass(frozen=True, slots=True)
class _Shipped:
    models: Any
    prompt: str
    tour: tuple[str, ...]


def _load_sdk() -> ModuleType:
    with at_rest():
        return importlib.import_module("desktop.wire.sdk")


def _read_resources(folder: Path) -> _Shipped:
    return _Shipped(
        models=json.loads((folder / "models.json").read_text("utf-8")),
        prompt=(folder / "prompts" / "system.md").read_text("utf-8"),
        tour=tuple((folder / "tour" / "tour.jsonl").read_text("utf-8").splitlines()),
    )


def _dollars(prices: PriceTable, record: RequestRecord) -> float | None:
    """What a request cost; a recording costs nothing."""
    return 0.0 if record.model == TOUR_MODEL else prices.of_record(record)


def _tidy_spool(spool: Path, before: float) -> None:
    """Takes away outputs that a process left behind; those of today may be another's, at work."""
    with suppress(OSError):
        for path in spool.iterdir():
            with suppress(OSError):
                if path.stat().st_mtime < before:
                    path.unlink()


def _copy_sample(target: Path) -> None:
    shutil.copytree(paths.resources() / "tour" / "folder", target, dirs_exist_ok=True)


def _place(
    folder: DataFolder,
    preferred: Preferred,
    environment: dict[str, str],
    tab: Tab,
    workspace: Workspace,
) -> Place:
    directory = Path(workspace.directory)
    now = preferred.current
    return Place(
        tab_id=tab.id,
        workspace_id=workspace.id,
        scene=Scene(
            workspace=directory,
            spool=folder.spool,
            environment=environment,
            time_limit=float(now.value(SHELL_TIME_LIMIT)),
            memory_bytes=now.value(SHELL_MEMORY_LIMIT) * MEGABYTE,
            spool_bytes=now.value(TOOL_OUTPUT_LIMIT) * MEGABYTE,
        ),
        facts=lambda: facts.observe(directory, today=datetime.now().astimezone().date()),
    )


async def _make_below(stores: Stores, parent: Tab, chosen: Chosen, title: str) -> Tab:
    """A subagent's conversation, kept where its parent's is, and set to what is chosen."""
    snapshot = Snapshot(new_id(), parent.workspace_id, "", chosen.model, chosen.effort, chosen.mode)
    return await stores.begin_below(parent.id, snapshot, title=title)


def _read_only_notice(folder: DataFolder) -> str:
    return (
        f"Nacre may not write in its data folder {folder.root}, so nothing new can be kept. "
        "What is there can be read."
    )


class _Waker:
    """A listener that settles a future at the next status."""

    def __init__(self, moved: "asyncio.Future[None]") -> None:
        self._moved = moved

    def receipt(self, receipt: object) -> None: ...

    def live(self, tab_id: str, op: object) -> None: ...

    def status(self, status: object) -> None:
        if not self._moved.done():
            self._moved.set_result(None)
