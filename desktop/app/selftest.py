"""`nacre --selftest-window FILE.png`: a picture of what a person would see, and its text.

Waits until the last conversation's tail is painted (or the page that stands in its place), saves
the window's picture, and beside it what a screen reader would be told of the rows on the screen.
"""

import asyncio
from pathlib import Path

from desktop.ui.main_window import MainWindow

SECONDS = 20.0


async def take_picture(window: MainWindow, picture: Path) -> None:
    """Saves `picture` and `picture.txt`; raises TimeoutError when nothing was painted in time."""
    async with asyncio.timeout(SECONDS):
        await window.settled()
    image = window.grab().toImage()
    page = window.area.current
    lines = page.pane.visible_texts() if page is not None else []
    await asyncio.to_thread(image.save, str(picture))
    text = picture.with_name(picture.name + ".txt")
    await asyncio.to_thread(text.write_text, "\n".join(lines) + "\n", "utf-8", "replace")
