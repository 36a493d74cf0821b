"""What the field does with much: the longest time that the window stands still (SPEC U07).

A paste of 10 MB in 200,000 lines, the same text opened from its chip, and two letters typed after
`@` in a folder of 200,000 files.
"""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable

from tests.bench import Figure

LINES = 200_000
FILES = 200_000
BEAT = 0.002  # seconds


def figures() -> list[Figure]:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    import qasync
    from PySide6.QtWidgets import QApplication

    app = QApplication.instance() or QApplication([])
    loop = qasync.QEventLoop(app)
    with loop:
        return loop.run_until_complete(_measure())


async def _measure() -> list[Figure]:
    from PySide6.QtCore import QMimeData
    from PySide6.QtWidgets import QPlainTextEdit

    from desktop.ui.attached_text import AttachedText
    from desktop.ui.completion.ranking import Names
    from desktop.ui.composer import Composer
    from desktop.ui.theme import LIGHT, Theme

    theme = Theme("light", LIGHT)
    composer = Composer(theme)
    composer.show()
    line = "{:08} and some forty letters of a line of a log\n"
    text = "".join(map(line.format, range(LINES)))
    pasted = QMimeData()
    pasted.setText(text)

    async def paste() -> None:
        composer.field.insertFromMimeData(pasted)
        await asyncio.sleep(0.5)

    async def open_it() -> None:
        box = AttachedText(theme, composer.attachments()[0], composer)
        box.open()
        field = box.findChild(QPlainTextEdit)
        assert field is not None
        while field.isReadOnly():  # noqa: ASYNC110 (it says nothing when it is filled)
            await asyncio.sleep(BEAT)
        box.reject()

    files = [f"src/part_{number % 97}/a{number}.py" for number in range(FILES)]

    async def rank() -> None:
        names = await asyncio.to_thread(Names, files)
        for query in ("p", "pa"):
            await asyncio.to_thread(names.best, query, 50)

    pasting, opening, ranking = [await _longest(work) for work in (paste, open_it, rank)]
    return [
        Figure("writing.paste_10mb", pasting[0], "ms", 100),
        Figure("writing.open_10mb", opening[0], "ms", 100),
        Figure("writing.open_10mb_work", opening[1], "ms", 25),
        Figure("writing.name_of_200k", ranking[0], "ms", 100),
    ]


async def _longest(work: Callable[[], Awaitable[None]]) -> tuple[float, float]:
    """The longest time between two beats of the loop while the work is done, in ms, and the most
    that this thread itself worked between two: on a busy machine that is less."""
    worst, worked, is_over = 0.0, 0.0, False

    async def beat() -> None:
        nonlocal worst, worked
        last, last_worked = time.perf_counter(), time.thread_time()
        while not is_over:
            await asyncio.sleep(BEAT)
            now, now_worked = time.perf_counter(), time.thread_time()
            worst, worked = max(worst, now - last), max(worked, now_worked - last_worked)
            last, last_worked = now, now_worked

    beating = asyncio.ensure_future(beat())
    await asyncio.sleep(0.2)
    worst = worked = 0.0
    await work()
    is_over = True
    await beating
    return worst * 1_000, worked * 1_000
