"""What the person does with conversations, when it goes wrong."""

import asyncio
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import qasync
from pytestqt.qtbot import QtBot

from desktop.core.access import Access, AccessState
from desktop.core.commands import Commands
from desktop.core.errors import StoreFull
from desktop.feed.hub import Hub
from desktop.ui.attaching import Reading
from desktop.ui.conversation_area import ConversationArea
from desktop.ui.desk import Desk
from desktop.ui.doors import Doors
from desktop.ui.other_windows import NoOthers
from desktop.ui.tasks import Tasks
from desktop.ui.theme import LIGHT, Theme
from desktop.ui.unlocking import Unlocking
from tests.fakes.stores import MemoryLog
from tests.ui.conftest import until

FULL = "The disk is full."


class Refusing:
    """Commands that refuse to send until `room` is made; `sent` is what went out."""

    def __init__(self) -> None:
        self.room = False
        self.sent: list[tuple[str, str]] = []

    async def choose(self, tab_id: str, **choice: object) -> None:
        del tab_id, choice

    async def send(
        self, tab_id: str, text: str, attachments: Sequence[Mapping[str, object]] = ()
    ) -> None:
        del attachments
        if not self.room:
            raise StoreFull(FULL)
        self.sent.append((tab_id, text))


class Reachable:
    def state(self) -> AccessState:
        return AccessState(key_source="session")

    def on_change(self, changed: object) -> Callable[[], None]:
        return lambda: None


def test_a_first_message_that_could_not_go_out_is_kept_and_makes_no_second_conversation(
    loop: qasync.QEventLoop, qtbot: QtBot
) -> None:
    ids = itertools.count()
    log = MemoryLog(now_ms=lambda: 1, new_id=lambda: f"id{next(ids)}")
    commands, tasks, said = Refusing(), Tasks(), list[str]()
    tasks.failed.connect(lambda sentence, _: said.append(sentence))
    theme = Theme("light", LIGHT)
    area = ConversationArea(theme)
    qtbot.addWidget(area)
    nothing = cast("Any", lambda *_: None)
    access = cast("Access", Reachable())
    doors = Doors(
        commands=cast("Commands", commands),
        catalogue=log.catalogue,
        reader=log.reader,
        outline=log.outline,
        search=log.search,
        hub=Hub(),
        access=access,
        unlocking=Unlocking(access, tasks, lambda: Theme("light", LIGHT)),
        start_tour=nothing,
        rule_words=nothing,
        settings_dialog=nothing,
        welcome_page=nothing,
        conversation_list=nothing,
        show_shortcuts=nothing,
        show_about=nothing,
        show_usage=nothing,
        show_palette=nothing,
        reading=Reading(file=nothing, picture=nothing),
        file_names=nothing,
    )
    desk = Desk(
        doors,
        area=area,
        right_side=nothing,
        tasks=tasks,
        theme=lambda: theme,
        window=area,
        others=NoOthers(),
    )
    composer = area.new_page.composer
    composer.set_text("Hello")

    async def twice() -> None:
        desk.begin(0, "Hello", [])
        await until(lambda: said == [FULL])
        assert composer.text() == "Hello"
        commands.room = True
        desk.begin(0, "Hello", [])
        await until(lambda: len(commands.sent) == 1)
        await until(lambda: composer.text() == "")
        await tasks.close()

    loop.run_until_complete(twice())
    view = asyncio.run(log.catalogue.view())
    assert [tab.id for tab in view.tabs] == [commands.sent[0][0]]
