"""SPEC P12: what many long conversations take in memory, counted in rows."""

import asyncio
import gc
from pathlib import Path

from desktop.agent.roster import AWAKE
from desktop.agent.supervisor import Supervisor
from desktop.core.chunks import LogChunk
from desktop.core.protocols import TurnStore
from desktop.store.log import Log
from tests.unit.agent.stage import Stage
from tests.unit.store.builders import fill, new_tab, open_log

ROWS, TABS = 600, 10


def held_rows() -> int:
    gc.collect()
    return sum(isinstance(one, LogChunk) for one in gc.get_objects())


def agents_on(log: Log, folder: Path) -> Supervisor:
    """The agents of a process on a real database."""
    stage = Stage(folder)

    async def store_for(tab_id: str) -> TurnStore:
        return log.session(tab_id)

    return Supervisor(
        catalogue=log.catalogue,
        store_for=store_for,
        place_for=stage.place,
        around=stage.around,
        defaults=lambda: stage.chosen,
        revision=log.reader.revision,
    )


def test_P12_many_long_conversations_take_the_memory_of_the_last_few(tmp_path: Path) -> None:
    """Ten are opened one after the other; those that were not used for a while let go."""

    async def open_all(agents: Supervisor, tabs: list[str]) -> list[int]:
        held: list[int] = []
        for tab in (*tabs, tabs[0]):
            await agents.open(tab)
            held.append(held_rows())
        assert agents.is_awake(tabs[0]) and not agents.is_awake(tabs[1])
        await agents.shutdown()
        return held

    (tmp_path / "data").mkdir()
    with open_log(tmp_path / "data") as log:
        tabs = [new_tab(log, tmp_path) for _ in range(TABS)]
        for tab in tabs:
            fill(log, tab, rows=ROWS, size=400)
        before = held_rows()
        held = asyncio.run(open_all(agents_on(log, tmp_path), tabs))
    assert max(held) - before < (AWAKE + 1) * ROWS
    assert held[-1] - before >= AWAKE * ROWS
