"""Emptying the bin takes a while: it says where it is and can be ended (LOOK.md, U13)."""

import asyncio
import itertools
from typing import Any, cast

import pytest
import qasync
from PySide6.QtWidgets import QAbstractButton, QLabel, QMessageBox
from pytestqt.qtbot import QtBot

from desktop.core.commands import Commands
from desktop.core.records import Tab
from desktop.core.status import TabStatus
from desktop.ui import putting_away
from desktop.ui.conversation_area import ConversationArea
from desktop.ui.doors import Doors
from desktop.ui.putting_away import PuttingAway
from desktop.ui.tasks import Tasks
from desktop.ui.theme import LIGHT, Theme
from tests.fakes.stores import MemoryLog
from tests.ui.conftest import until


class Slow:
    """A catalogue whose deletions wait until they are let through one by one."""

    def __init__(self, log: MemoryLog) -> None:
        self._log = log
        self.gates: list[asyncio.Future[None]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log.catalogue, name)

    async def purge_tab(self, tab_id: str) -> None:
        gate: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.gates.append(gate)
        await gate
        await self._log.catalogue.purge_tab(tab_id)


class Idle:
    def status(self, tab_id: str) -> TabStatus:
        return TabStatus(tab_id)


class _Doors:
    def __init__(self, log: MemoryLog, catalogue: Slow) -> None:
        self.commands = cast("Commands", Idle())
        self.catalogue = catalogue
        self.reader = log.reader


def test_u13_emptying_the_bin_says_where_it_is_and_ends_after_the_one_at_hand(
    loop: qasync.QEventLoop, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(putting_away, "PROGRESS_MS", 1)
    ids = itertools.count()
    log = MemoryLog(now_ms=lambda: next(ids), new_id=lambda: f"id{next(ids)}")
    slow, tasks, theme = Slow(log), Tasks(), Theme("light", LIGHT)
    area = ConversationArea(theme)
    qtbot.addWidget(area)
    area.show()

    def labels() -> str:
        return "\n".join(one.text() for one in area.findChildren(QLabel) if one.isVisible())

    def click(words: str) -> None:
        found = [one for one in area.findChildren(QAbstractButton) if one.text() == words]
        assert found, words
        found[-1].click()

    async def left() -> list[str]:
        found: tuple[Tab, ...] = await log.catalogue.trashed_tabs()
        return [tab.title for tab in found]

    async def empty() -> None:
        workspace = await log.catalogue.scratch_workspace()
        for title in "ABC":
            tab = await log.catalogue.create_tab(workspace.id, title=title)
            await log.catalogue.trash_tab(tab.id)
        doors = cast("Doors", _Doors(log, slow))
        away = PuttingAway(doors, area=area, tasks=tasks, theme=lambda: theme, window=area)
        away.show(await log.catalogue.view())
        away.show_page("bin")
        await until(lambda: "The bin is empty." not in labels())
        click("Empty bin…")
        click("Empty bin…")
        await until(lambda: area.findChildren(QMessageBox))
        click("Delete for good")
        await until(lambda: "Deleting 1 of 3: “C”" in labels())
        click("Cancel")
        await until(lambda: "Stops when this one is deleted" in labels())
        assert await left() == ["C", "B", "A"]
        slow.gates[0].set_result(None)
        await until(lambda: "Stops" not in labels())
        assert await left() == ["B", "A"]
        assert len(slow.gates) == 1
        await tasks.close()

    loop.run_until_complete(empty())
