"""SPEC U13: conversations are kept for ever; nothing that Nacre does by itself deletes one."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from desktop.core.records import CatalogueView, Tab
from desktop.diagnostics import Redaction
from desktop.headless import agents, network, opening, runtime
from desktop.headless.backups import Around, Backups
from desktop.headless.places import DiskWatch
from desktop.headless.runtime import Runtime, start
from desktop.paths import DataFolder
from desktop.settings import SETTINGS, Preferences
from tests.unit.store.builders import new_tab, open_log, run, tool_turn

TWENTY_YEARS_MS = 20 * 365 * 86_400_000
DAY_MS = 86_400_000
ROUNDS = 12
KEEP_WARM = "keep conversations in the cache"  # the one task that lasts as long as the program


class Desk:
    """Calls what asked to be called later at once, again and again, as twenty years of days do."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []
        self.running: set[asyncio.Task[None]] = set()
        self.lasting: set[asyncio.Task[None]] = set()

    def later(self, _seconds: float, call: Callable[[], None]) -> "Due":
        self.waiting.append(call)
        return Due(self, call)

    def start(self, coroutine: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.ensure_future(coroutine)
        (self.lasting if name == KEEP_WARM else self.running).add(task)

    async def live(self) -> None:
        for _ in range(ROUNDS):
            due, self.waiting = self.waiting, []
            for call in due:
                call()
            tasks, self.running = self.running, set()
            await asyncio.gather(*tasks)
        await asyncio.gather(*self.running)


@dataclass(frozen=True)
class Due:
    """A call that a desk makes, unless it is taken back."""

    desk: Desk
    call: Callable[[], None]

    def cancel(self) -> None:
        if self.call in self.desk.waiting:
            self.desk.waiting.remove(self.call)


def _fill(folder: DataFolder) -> None:
    with open_log(folder.root) as log:
        for name in ("open", "closed", "archived", "bin"):
            place = folder.root.parent / name
            place.mkdir()
            tab = new_tab(log, place)
            rows = [
                type(row)(f"{name}-{row.id}", row.turn_id, row.role, row.data, row.step, row.stamp)
                for row in tool_turn()
            ]
            run(log.session(tab).append(rows))
            match name:
                case "closed":
                    run(log.catalogue.set_tab_open(tab, is_open=False))
                case "archived":
                    run(log.catalogue.archive_tab(tab))
                case "bin":
                    run(log.catalogue.trash_tab(tab))
                case _:
                    pass


async def _all(living: Runtime) -> tuple[CatalogueView, tuple[Tab, ...], list[int]]:
    view, trashed = await living.catalogue.view(), await living.catalogue.trashed_tabs()
    tabs = (*view.tabs, *trashed)
    return view, trashed, [(await living.reader.page(tab.id, limit=99)).total for tab in tabs]


async def _twenty_years(folder: DataFolder, now: list[int]) -> tuple[object, object]:
    living = await start(folder, redaction=Redaction(), has_person=True)
    desk = Desk()
    try:
        before = await _all(living)
        backups = Backups(
            folder,
            Around(
                notes=living.backup_notes,
                preferences=lambda: Preferences().changed("backup.keep", 1),
                is_busy=lambda: False,
                stand=lambda *_: None,
                now_ms=lambda: now[0],
                least_free=0,
            ),
        )
        living.watch(desk.later, desk.start)
        backups.watch(desk.later, desk.start)
        DiskWatch(folder.root, stand=lambda *_: None, least_free=1 << 60).watch(
            desk.later, desk.start
        )
        for _ in range(3):
            now[0] += TWENTY_YEARS_MS // 3
            await desk.live()
        await living.free_space(lambda *_: None)
        after = await _all(living)
    finally:
        for task in desk.running | desk.lasting:
            task.cancel()
        await living.close()
    return before, after


def test_u13_twenty_years_of_idling_and_freeing_space_delete_no_conversation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = DataFolder(tmp_path / "data")
    folder.prepare()
    _fill(folder)
    now = [1_700_000_000_000]
    for module in (opening, runtime, agents, network):
        monkeypatch.setattr(module, "now_ms", lambda: now[0])
    before, after = asyncio.run(_twenty_years(folder, now))
    assert after == before
    assert len(list(folder.backups.iterdir())) == 1

    again, _ = asyncio.run(_twenty_years(folder, now))
    assert again == before


def test_u13_no_setting_deletes_conversations() -> None:
    """Retention would have to be a choice with a preview; there is none to be switched on."""
    words = " ".join(f"{one.key} {one.label}" for one in SETTINGS).lower()
    assert not {"retention", "retain", "expire", "older than"} & set(words.split())
    assert "no conversation ever is" in next(
        one.help for one in SETTINGS if one.key == "backup.keep"
    )
