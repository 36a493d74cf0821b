"""The last conversation is read and written in while the log is still being opened (SPEC U10)."""

import asyncio
import sqlite3
import threading
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import qasync
from PySide6.QtWidgets import QLineEdit, QPushButton

from desktop.app import program
from desktop.app.early import EarlyReader
from tests.e2e.nacre import Home
from tests.fakes.messages_api import MessagesServer, reply
from tests.fakes.stores import MemoryLog
from tests.ui.conftest import Enter
from tests.ui.program import Person

pytestmark = pytest.mark.timeout(300)

ANSWER = "\n\n".join(f"Layer {n} is laid down." for n in range(60))


class Doorkeeper:
    """Holds the layers back until `open`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._opened = threading.Event()
        load = program._import_layers  # pyright: ignore[reportPrivateUsage]

        def held() -> object:
            self._opened.wait(60)
            return load()

        monkeypatch.setattr(program, "_import_layers", held)

    def open(self) -> None:
        self._opened.set()


@contextmanager
def had(home: Home, enter: Enter, monkeypatch: pytest.MonkeyPatch) -> Generator["Beginning"]:
    """Two conversations were had, the second was looked at last; the program is started again, and
    what opens the log is held back."""
    with MessagesServer([reply(ANSWER), reply(ANSWER), reply("Welcome back.")]) as server:
        person = enter(server)
        person.open_folder(home.workspace)
        other = person.begin("Lay down layers")
        person.wait(lambda: person.reads("Layer 59") and person.idle())
        last = person.begin("And others")
        person.wait(lambda: person.reads("Layer 59") and person.idle())
        assert person.leave() == 0
        door = Doorkeeper(monkeypatch)
        try:
            yield Beginning(server, door, other, last)
        finally:
            door.open()


def early(begun: "Beginning", enter: Enter) -> Person:
    """Somebody who sees the last conversation while the log is held back."""
    person = enter(begun.server, until_open=False)
    person.wait(lambda: person.reads("Layer 59"))
    return person


class Beginning:
    def __init__(self, server: MessagesServer, door: Doorkeeper, other: str, last: str) -> None:
        self.server = server
        self.door = door
        self.other = other
        self.last = last

    def open_to(self, person: Person) -> None:
        self.door.open()
        person.wait(person.opened)


def test_u10_it_is_read_and_written_in_before_the_log_is_open(
    home: Home, enter: Enter, monkeypatch: pytest.MonkeyPatch
) -> None:
    with had(home, enter, monkeypatch) as begun:
        person = early(begun, enter)
        assert not person.action("settings").isEnabled()
        assert person.tab_ids() == [begun.other, begun.last]
        assert person.tabs.tabData(person.tabs.currentIndex()) == begun.last
        person.write("So early")
        assert not person.part_enabled("sendButton")
        pane, composer = person.pane, person.composer
        seen = person.transcript()
        begun.open_to(person)
        assert (person.pane, person.composer) == (pane, composer)
        assert person.composer.toPlainText() == "So early"
        assert person.composer.hasFocus()
        person.write(" indeed")
        assert person.transcript() == seen
        person.wait(lambda: person.part_enabled("sendButton"))
        person.press(person.RETURN)
        person.wait(lambda: person.reads("Welcome back.") and person.idle())
        assert person.reads("So early indeed")
        assert person.leave() == 0


def test_u10_who_looks_further_back_than_was_read_gets_it_when_the_log_is_open(
    home: Home, enter: Enter, monkeypatch: pytest.MonkeyPatch
) -> None:
    with had(home, enter, monkeypatch) as begun:
        person = early(begun, enter)
        person.pane.view.scroll_by(-100_000)
        person.wait(lambda: person.reads("And others"))
        begun.open_to(person)
        assert person.reads("And others")
        person.pane.view.scroll_by(100_000)
        person.wait(lambda: person.reads("Layer 59"))
        assert person.leave() == 0


def test_u14_who_has_begun_to_write_is_not_disturbed(
    home: Home, enter: Enter, monkeypatch: pytest.MonkeyPatch
) -> None:
    with had(home, enter, monkeypatch) as begun:
        person = enter(begun.server, until_open=False, typed="Before anything was there")
        begun.open_to(person)
        assert person.shows("newPage")
        assert person.composer.toPlainText() == "Before anything was there"
        assert person.leave() == 0


def test_u10_who_wants_a_new_conversation_meanwhile_stays_there(
    home: Home, enter: Enter, monkeypatch: pytest.MonkeyPatch
) -> None:
    with had(home, enter, monkeypatch) as begun:
        person = early(begun, enter)
        person.write("For the old one")
        person.click_on(person.part(QPushButton, "newConversation"))
        person.wait(lambda: person.shows("newPage"))
        person.write("For a new one")
        begun.open_to(person)
        assert person.shows("newPage")
        assert person.composer.toPlainText() == "For a new one"
        person.go_to(begun.last)
        person.wait(lambda: person.reads("Layer 59"))
        assert person.composer.toPlainText() == "For the old one"
        assert person.leave() == 0


def test_u10_another_tab_that_was_clicked_meanwhile_is_opened(
    home: Home, enter: Enter, monkeypatch: pytest.MonkeyPatch
) -> None:
    with had(home, enter, monkeypatch) as begun:
        person = early(begun, enter)
        person.go_to(begun.other)
        begun.open_to(person)
        person.wait(lambda: person.reads("Layer 59"))
        assert person.tabs.tabData(person.tabs.currentIndex()) == begun.other
        assert person.leave() == 0


def test_u14_what_was_written_to_one_that_is_gone_is_not(
    home: Home, enter: Enter, monkeypatch: pytest.MonkeyPatch
) -> None:
    with had(home, enter, monkeypatch) as begun:
        person = early(begun, enter)
        person.write("Nobody reads this")
        with closing(sqlite3.connect(home.database)) as plain, plain:
            plain.execute("UPDATE tabs SET trashed_at = 5 WHERE id = ?", (begun.last,))
        begun.open_to(person)
        person.wait(lambda: person.shows("newPage"))
        assert person.composer.toPlainText() == "Nobody reads this"
        assert person.leave() == 0


def test_u37_who_leaves_before_the_log_is_open_finds_the_same_place(
    home: Home, enter: Enter, monkeypatch: pytest.MonkeyPatch
) -> None:
    with had(home, enter, monkeypatch) as begun:
        person = early(begun, enter)
        person.close()
        begun.door.open()
        assert person.ended() == 0
        person = enter(begun.server)
        person.wait(lambda: person.reads("Layer 59"))
        assert person.tabs.tabData(person.tabs.currentIndex()) == begun.last
        assert person.leave() == 0


def test_u10_who_looks_for_another_goes_on_with_it(
    home: Home, enter: Enter, monkeypatch: pytest.MonkeyPatch
) -> None:
    with had(home, enter, monkeypatch) as begun:
        person = early(begun, enter)
        assert person.composer.hasFocus()
        field = person.part(QLineEdit, "searchField")
        person.click_on(field)
        person.type_into("searchField", "lay")
        begun.open_to(person)
        assert field.hasFocus()
        assert field.text() == "lay"
        assert person.leave() == 0


def test_u31_no_choice_is_shown_that_nobody_made(
    home: Home, enter: Enter, monkeypatch: pytest.MonkeyPatch
) -> None:
    with had(home, enter, monkeypatch) as begun:
        person = early(begun, enter)
        assert not person.shows("modeChoice")
        begun.open_to(person)
        person.wait(lambda: person.shows("modeChoice") and person.shows("modelChoice"))
        assert person.leave() == 0


def test_u10_who_no_longer_waits_for_the_log_takes_nothing_from_the_others(
    loop: qasync.QEventLoop, tmp_path: Path
) -> None:
    log = MemoryLog(now_ms=lambda: 1, new_id=lambda: "tab", scratch=tmp_path)

    async def read() -> None:
        workspace = await log.catalogue.scratch_workspace()
        tab = (await log.catalogue.create_tab(workspace.id)).id
        first = await log.reader.page(tab, limit=5)
        reader = EarlyReader(first)
        assert await reader.page(tab, limit=5) is first
        gone, stays = (asyncio.ensure_future(reader.page(tab, limit=5, before=9)) for _ in range(2))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.wait((gone,))
        reader.hand_over(log.reader)
        assert await stays == await log.reader.page(tab, limit=5, before=9)

    loop.run_until_complete(read())
