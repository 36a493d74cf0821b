"""A process of its own on a real display: marks all of a conversation, says what can be pasted."""

import asyncio
import itertools

import qasync
from PySide6.QtGui import QClipboard
from PySide6.QtWidgets import QApplication

from desktop.core.chunks import NewChunk, Text
from desktop.feed.hub import Hub
from desktop.feed.scope import Scope
from desktop.ui.theme import theme_for
from desktop.ui.transcript.model import TranscriptModel
from desktop.ui.transcript.view import TranscriptView
from tests.fakes.stores import MemoryLog


async def main(app: QApplication) -> None:
    ids = itertools.count()
    log = MemoryLog(now_ms=lambda: 0, new_id=lambda: f"id{next(ids)}")
    tab = (await log.catalogue.create_tab((await log.catalogue.scratch_workspace()).id)).id
    said = [NewChunk(word, "t", "assistant", Text(word)) for word in ("one", "two")]
    await log.session(tab).append(said)
    tasks: list[asyncio.Task[None]] = []
    loop = asyncio.get_running_loop()
    scope = Scope(
        tab,
        log.reader,
        Hub(),
        start=lambda work, name: tasks.append(loop.create_task(work, name=name)),
        later=loop.call_later,
    )
    scope.open()
    await asyncio.gather(*tasks)
    view = TranscriptView(theme_for("light", app.palette()))
    view.show_model(TranscriptModel(scope))
    view.show()
    view.selectAll()
    board = app.clipboard()
    for name, mode in (("primary", QClipboard.Mode.Selection), ("clipboard", None)):
        text = board.text(mode) if mode else board.text()
        print(f"{name}: {text}".replace("\n", "\\n"))
    view.show_model(None)
    scope.close()


if __name__ == "__main__":
    application = QApplication([])
    with qasync.QEventLoop(application) as made:
        made.run_until_complete(main(application))
