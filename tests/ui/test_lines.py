"""Words of rows, drawn in one line (SPEC U38)."""

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QImage, QPainter

from desktop.ui.lines import draw_words

ROOM = QRect(0, 0, 120, 30)
NAME = "a folder with a name that goes on and on"


def drawn(direction: Qt.LayoutDirection, *, by_hand: bool) -> list[bool]:
    """Where there are letters, column by column."""
    picture = QImage(ROOM.size(), QImage.Format.Format_ARGB32)
    picture.fill(Qt.GlobalColor.white)
    painter = QPainter(picture)
    painter.setLayoutDirection(direction)
    if by_hand:
        metrics = painter.fontMetrics()
        text = metrics.elidedText(NAME, Qt.TextElideMode.ElideRight, ROOM.width())
        painter.drawText(ROOM, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, text)
    else:
        draw_words(painter, ROOM, NAME)
    painter.end()
    white = QColor(Qt.GlobalColor.white)
    down = range(ROOM.height())
    return [any(picture.pixelColor(x, y) != white for y in down) for x in range(ROOM.width())]


@pytest.mark.usefixtures("qapp")
def test_u38_from_right_to_left_the_end_of_an_english_name_is_cut_and_not_its_beginning() -> None:
    shown = drawn(Qt.LayoutDirection.RightToLeft, by_hand=False)
    assert shown == drawn(Qt.LayoutDirection.LeftToRight, by_hand=True)
