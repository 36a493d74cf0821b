"""The program's icon in every size and form, drawn from the one picture in `resources/icons`.

    python packaging/icons.py FOLDER

Needs PySide6 and Pillow, so it runs in an environment that has them; `build.py` calls it so.
"""

import sys
from pathlib import Path

from PIL import Image
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

SOURCE = Path(__file__).resolve().parent.parent / "resources" / "icons" / "nacre.svg"
SIZES = (16, 22, 24, 32, 48, 64, 96, 128, 256, 512)
WINDOWS_SIZES = (16, 24, 32, 48, 64, 128, 256)


def draw(size: int) -> QImage:
    """The picture on a clear ground; drawn at this size, not scaled from another."""
    image = QImage(QSize(size, size), QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    QSvgRenderer(str(SOURCE)).render(painter)
    painter.end()
    return image


def main(arguments: list[str]) -> int:
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    for size in (*SIZES, 1024):
        name = folder / f"{size}.png"
        if not draw(size).save(str(name)):
            print(f"{name} can't be written", file=sys.stderr)
            return 1
    largest = Image.open(folder / "1024.png")
    largest.save(folder / "nacre.icns")
    others = [Image.open(folder / f"{size}.png") for size in WINDOWS_SIZES]
    others[-1].save(
        folder / "nacre.ico",
        sizes=[(size, size) for size in WINDOWS_SIZES],
        append_images=others[:-1],
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
