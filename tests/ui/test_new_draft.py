"""The text on the page where a conversation begins survives the program (SPEC U14)."""

import qasync
from pytestqt.qtbot import QtBot

from desktop.ui.composer import Composer
from desktop.ui.new_draft import KEY, NewDraft
from desktop.ui.tasks import Tasks
from desktop.ui.theme import LIGHT, Theme
from tests.fakes.stores import MemoryLog
from tests.ui.conftest import until


def test_u14_what_was_begun_comes_back_and_goes_once_it_is_sent(
    loop: qasync.QEventLoop, qtbot: QtBot
) -> None:
    catalogue = MemoryLog(now_ms=lambda: 1, new_id=lambda: "id").catalogue
    first, second = Composer(Theme("light", LIGHT)), Composer(Theme("light", LIGHT))
    for one in (first, second):
        qtbot.addWidget(one)

    async def kept() -> str | None:
        return (await catalogue.settings()).get(KEY)

    async def write_and_read() -> None:
        tasks = Tasks()
        draft = NewDraft(first, catalogue=catalogue, tasks=tasks)
        draft.bring_back()
        first.set_text("half a ")
        await draft.keep()
        assert await kept() is None  # what is there has not been read yet
        await until(lambda: not tasks._running)  # pyright: ignore[reportPrivateUsage]
        first.set_text("half a thought")
        await draft.keep()
        assert await kept() == "half a thought"

        again = NewDraft(second, catalogue=catalogue, tasks=tasks)
        again.bring_back()
        second.set_text("n")
        await until(lambda: second.text() == "half a thought\nn")
        second.clear()
        await again.keep()
        assert await kept() is None
        await tasks.close()

    loop.run_until_complete(write_and_read())
