"""Finish, then quit: the windows are put away until nothing runs, and come back for a question,
which nobody could answer otherwise."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from desktop.app.windows import Windows
    from desktop.core.status import TabStatus
    from desktop.headless.runtime import Runtime
    from desktop.ui.main_window import MainWindow


async def finish(windows: Windows, runtime: Runtime) -> bool:
    """Returns when nothing runs any more, or when a question or a later start has brought a window
    back; whether the program may end."""
    asked: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    questions = _Questions(asked)
    unsubscribe = runtime.hub.subscribe(questions)
    idle = asyncio.ensure_future(runtime.until_idle())
    try:
        for status in runtime.hub.statuses:
            questions.status(status)
        if not asked.done():
            windows.put_away()
        await asyncio.wait((asked, idle), return_when=asyncio.FIRST_COMPLETED)
    finally:
        unsubscribe()
        idle.cancel()
    if not asked.done():
        return windows.are_away
    windows.come_back()
    desk = windows.front.desk
    if desk is not None:
        await desk.go_to(asked.result())
    return False


def has_unsaved(runtime: Runtime) -> bool:
    """Whether something that was shown waits in memory for a disk that takes it."""
    return any(status.unsaved for status in runtime.hub.statuses)


async def leave_unsaved(window: MainWindow) -> bool:
    """Asks whether it may be lost. The end tries once more to save it."""
    from desktop.ui import asking

    answer = await asking.choose(
        window,
        window.tr("Not everything is saved"),
        window.tr(
            "The end of a conversation could not be saved. If there is still no room for it when"
            " Nacre quits, it is lost."
        ),
        (("stay", window.tr("Stay")), ("quit", window.tr("Quit"))),
        escape="stay",
    )
    return answer == "quit"


class _Questions:
    """A listener that settles a future with the first conversation that asks."""

    def __init__(self, asked: asyncio.Future[str]) -> None:
        self._asked = asked

    def receipt(self, receipt: object) -> None: ...

    def live(self, tab_id: str, op: object) -> None: ...

    def status(self, status: TabStatus) -> None:
        if status.questions and not self._asked.done():
            self._asked.set_result(status.tab_id)
