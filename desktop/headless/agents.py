"""The agents of one opened data folder: joined to its log, its tools and the network side."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from desktop.agent.approvals import Approvals
from desktop.agent.subagents import Subagents
from desktop.agent.supervisor import Supervisor
from desktop.agent.surroundings import Chosen, Surroundings
from desktop.core.permissions import Act
from desktop.core.records import Snapshot, Tab
from desktop.feed.hub import Hub
from desktop.headless.network import Network
from desktop.headless.opening import new_id, now_ms
from desktop.headless.preferred import Preferred
from desktop.headless.stores import Stores
from desktop.headless.toolbox import Toolbox
from desktop.tools.registry import Offered


def joined(
    stores: Stores,
    network: Network,
    toolbox: Toolbox,
    hub: Hub,
    *,
    preferred: Preferred,
    prompt: str,
    has_person: bool,
    caution: Callable[[Act], None],
) -> Supervisor:
    """All agents, none of which is made yet. Tool servers that change are told to them.

    `has_person` and `caution` as of `Approvals`.
    """
    subagents = Subagents(
        lambda: supervisor,
        listen=lambda listener, tab_id: hub.subscribe(listener, tab_id=tab_id),
        tariff=network.tariff,
        dollars=preferred.subagent_dollars,
    )
    around = Surroundings(
        model_for=network.access.model_for,
        model_info=network.access.model_info,
        tools=Offered((subagents, *toolbox.own), toolbox.servers.tools),
        prompt=prompt,
        publisher=hub,
        approvals=Approvals(
            stores.catalogue,
            has_person=has_person,
            new_id=new_id,
            now_ms=now_ms,
            caution=caution,
        ),
        tariff=network.tariff,
        ttl=preferred.ttl,
        new_id=new_id,
        now_ms=now_ms,
        monotonic=time.monotonic,
        compact_at=preferred.compact_at,
        keep_warm=preferred.keep_warm,
        gone=toolbox.servers.gone,
        server_of=toolbox.servers.server_of,
        kin=subagents,
    )
    supervisor = Supervisor(
        catalogue=stores.catalogue,
        store_for=stores.store_for,
        place_for=toolbox.place_of,
        around=around,
        defaults=preferred.chosen,
        revision=stores.reader.revision,
        make_below=partial(_make_below, stores) if stores.keeps else None,
    )
    toolbox.servers.hear(_on_loop(supervisor.look_at_tools))
    return supervisor


def new_snapshot(workspace_id: int, chosen: Chosen) -> Snapshot:
    """What a conversation that is begun now is set to."""
    return Snapshot(new_id(), workspace_id, "", chosen.model, chosen.effort, chosen.mode)


def _on_loop(call: Callable[[], None]) -> Callable[[], None]:
    """A call for other threads that is made on this loop; after its end it is dropped."""
    loop = asyncio.get_running_loop()

    def hand_over() -> None:
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(call)

    return hand_over


async def _make_below(stores: Stores, parent: Tab, chosen: Chosen, title: str) -> Tab:
    """A subagent's conversation, kept where its parent's is, and set to what is chosen."""
    snapshot = new_snapshot(parent.workspace_id, chosen)
    return await stores.begin_below(parent.id, snapshot, title=title)
