"""The two self-tests: what they do in the window that is open, and what they say.

`nacre --selftest-window FILE.png` saves a picture of what a person would see, and beside it what a
screen reader would be told of the rows on the screen. `nacre --selftest` opens the window on an
empty folder of its own, plays the tour to its end, and prints what it found as JSON.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtGui import QAction, QGuiApplication

from desktop.ui.main_window import MainWindow

if TYPE_CHECKING:
    from desktop.headless.runtime import Runtime

SECONDS = 20.0
TOUR_SECONDS = 90.0  # it takes eleven where nothing else runs
LOOK = 0.05

Errand = Callable[[MainWindow, "Callable[[], Runtime | None]"], Awaitable[None]]
"""Something to do in the window once it is painted; the program ends after it."""


def picture_to(file: str) -> Errand:
    """An errand that saves `file` and `file.txt`; raises TimeoutError when nothing was painted in
    time."""
    picture = Path(file)

    async def take(window: MainWindow, runtime: Callable[[], Runtime | None]) -> None:
        del runtime
        async with asyncio.timeout(SECONDS):
            await window.settled()
        image = window.grab().toImage()
        page = window.area.current
        lines = page.pane.visible_texts() if page is not None else []
        await asyncio.to_thread(image.save, str(picture))
        text = picture.with_name(picture.name + ".txt")
        await asyncio.to_thread(text.write_text, "\n".join(lines) + "\n", "utf-8", "replace")

    return take


def proof_into(found: dict[str, Any]) -> Errand:
    """An errand that adds `window` and `tour` to what was found."""

    async def prove(window: MainWindow, runtime: Callable[[], Runtime | None]) -> None:
        found["window"] = {"ok": False, "problem": "it was not painted in time"}
        found["tour"] = {"ok": False, "problem": "it was not played"}
        async with asyncio.timeout(SECONDS):
            await window.settled()
        found["window"] = _painted(window)
        opened = runtime()
        if opened is None:
            found["tour"]["problem"] = window.banner.message or "the log could not be opened"
            return
        found["tour"] = await _tour(window, opened)

    return prove


def _painted(window: MainWindow) -> dict[str, Any]:
    """One colour would be a window that was never drawn."""
    image = window.grab().toImage()
    places = [(x, y) for x in range(0, image.width(), 16) for y in range(0, image.height(), 16)]
    colours = len({image.pixel(x, y) for x, y in places})
    found: dict[str, Any] = {
        "ok": colours > 1,
        "colours": colours,
        "platform": QGuiApplication.platformName(),
        "width": image.width(),
        "height": image.height(),
        "scale": window.devicePixelRatioF(),
    }
    return found if found["ok"] else {**found, "problem": "nothing was painted"}


async def _tour(window: MainWindow, runtime: Runtime) -> dict[str, Any]:
    """Plays it as a person does, from the menu, until its turn stands in the log and is read."""
    from desktop.headless.proving import turn_of

    action = window.findChild(QAction, "action.tour")
    if action is None:
        return {"ok": False, "problem": "the menu has no tour"}
    action.trigger()
    found: dict[str, Any] = {"ok": False, "problem": "it did not begin"}
    try:
        async with asyncio.timeout(TOUR_SECONDS):
            while not found["ok"] or window.area.current is None:
                await asyncio.sleep(LOOK)  # the turn begins some time after the click
                await runtime.until_idle()
                found = await turn_of(runtime)
            await window.settled()
    except TimeoutError:
        return {**found, "ok": False, "problem": found.get("problem", "it was not shown in time")}
    found["shown"] = len(window.area.current.pane.visible_texts())
    return found if found["shown"] else {**found, "ok": False, "problem": "nothing of it is seen"}
