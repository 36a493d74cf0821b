"""The window's own icon, for desktops that do not find it by the name of the desktop file.

It is drawn on a thread after the first paint: reading a picture must not hold the window up.
"""

import asyncio

from PySide6.QtCore import QSize
from PySide6.QtGui import QIcon, QImage, QImageReader, QPixmap
from PySide6.QtWidgets import QApplication

from desktop import paths

SIZES = (16, 24, 32, 48, 64, 128, 256)


async def show_icon(app: QApplication) -> None:
    """Gives every window the icon. An installation without it goes without."""
    images = await asyncio.to_thread(_drawn)
    icon = QIcon()
    for image in images:
        icon.addPixmap(QPixmap.fromImage(image))
    if not icon.isNull():
        app.setWindowIcon(icon)


def _drawn() -> list[QImage]:
    try:
        picture = paths.resources() / "icons" / "nacre.svg"
    except paths.ResourcesMissing:
        return []  # told by who cannot go without them
    images: list[QImage] = []
    for size in SIZES:
        reader = QImageReader(str(picture))
        reader.setScaledSize(QSize(size, size))
        image = reader.read()
        if not image.isNull():
            images.append(image)
    return images
