"""The sign of a bookmark: a ribbon, filled where it is set."""

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap, QPolygonF

# Of the room it is drawn in: its height, its width, and how deep its end is notched.
_TALL, _WIDE, _NOTCH = 0.72, 0.44, 0.2


def paint_ribbon(painter: QPainter, room: QRect | QRectF, ink: QColor, *, is_set: bool) -> None:
    """In the middle of the room, as large as its shorter side allows."""
    side = min(room.width(), room.height())
    wide, tall = side * _WIDE, side * _TALL
    middle = QRectF(room).center()
    left, top = middle.x() - wide / 2, middle.y() - tall / 2
    shape = QPolygonF(
        [
            QPointF(left, top),
            QPointF(left + wide, top),
            QPointF(left + wide, top + tall),
            QPointF(middle.x(), top + tall - side * _NOTCH),
            QPointF(left, top + tall),
        ]
    )
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen = QPen(ink, side / 14)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    painter.setBrush(ink if is_set else Qt.BrushStyle.NoBrush)
    painter.drawPolygon(shape)
    painter.restore()


def ribbon_icon(size: int, ink: QColor, *, is_set: bool, ratio: float) -> QIcon:
    """The same for a button, sharp on a screen of this pixel ratio."""
    pixels = QPixmap(QSize(size, size) * ratio)
    pixels.setDevicePixelRatio(ratio)
    pixels.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixels)
    paint_ribbon(painter, QRectF(0, 0, size, size), ink, is_set=is_set)
    painter.end()
    return QIcon(pixels)
