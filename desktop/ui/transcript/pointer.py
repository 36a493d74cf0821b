"""Mouse, wheel and fingers over a page: what is marked, clicked, pointed at, and how far it moves.

A press marks text; a press that goes nowhere is a click. What a click does is not decided here.
"""

from PySide6.QtCore import QDateTime, QEvent, QLocale, QObject, QPointF, Qt, Signal
from PySide6.QtGui import QGuiApplication, QMouseEvent, QTouchEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from desktop.core.chunks import LogChunk
from desktop.ui.transcript.page import Page
from desktop.ui.transcript.pieces import Hit, HitKind
from desktop.ui.transcript.wide import Slide, WidePiece

WHEEL_LINES = 3

_CURSORS: dict[HitKind, Qt.CursorShape] = {
    "text": Qt.CursorShape.IBeamCursor,
    "slide": Qt.CursorShape.ArrowCursor,
}


class Pointer(QObject):
    """`clicked` at a point of the viewport; `hovered` a link's target, or nothing ("")."""

    clicked = Signal(QPointF)
    hovered = Signal(str)

    def __init__(self, viewport: QWidget) -> None:
        super().__init__(viewport)
        self._viewport = viewport
        self._pressed: QPointF | None = None
        self._selecting = False
        self._target = ""
        self._slide: Slide | None = None
        self._slid_to = 0.0

    def press(self, page: Page, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        hit = page.hit_at(event.position())
        if hit is not None and hit.kind == "slide":
            self._slide, self._slid_to = slide_at(page, event.position()), event.position().x()
            return
        self._pressed = event.position()
        place = page.place_at(event.position())
        self._selecting = place is not None
        if place is not None and event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            page.marking.reach(place)
        else:
            page.marking.begin(place)

    def double_press(self, page: Page, event: QMouseEvent) -> None:
        """Marks the word."""
        at = event.position()
        found, hit = page.found_at(at.y()), page.hit_at(at)
        if found is None or hit is None or hit.kind != "text":
            self.press(page, event)
            return
        spot = found.box.spot_at(at.x() - page.frame.left, at.y() - found.y)
        page.marking.mark_word(found.row, found.box, spot)

    def move(self, page: Page, event: QMouseEvent) -> None:
        if self._slide is not None:
            moved = round(event.position().x() - self._slid_to)
            self._slid_to += moved
            if self._slide.drag(moved):
                self._viewport.update()
            return
        if self._selecting and event.buttons() & Qt.MouseButton.LeftButton:
            _extend(page, event.position())
            return
        hit = page.hit_at(event.position())
        target = hit.value if hit is not None and hit.kind == "link" else ""
        if target != self._target:
            self._target = target
            self.hovered.emit(target)
        self._viewport.setCursor(_cursor_of(hit))

    def release(self, event: QMouseEvent) -> None:
        pressed, self._pressed, self._slide = self._pressed, None, None
        self._selecting = False
        if pressed is None or event.button() != Qt.MouseButton.LeftButton:
            return
        moved = (event.position() - pressed).manhattanLength()
        if moved < QGuiApplication.styleHints().startDragDistance():
            self.clicked.emit(event.position())


class Strokes:
    """Wheel and fingers as whole pixels to move down by; what is less than one is kept."""

    def __init__(self) -> None:
        self._rest = 0.0
        self._touch_y: float | None = None

    def wheel(self, event: QWheelEvent, line: int) -> int:
        """`line` is the height of a line in pixels, for wheels that count notches."""
        pixels = float(event.pixelDelta().y())
        if not pixels:
            pixels = event.angleDelta().y() / 120 * WHEEL_LINES * line
        self._rest += pixels
        whole = int(self._rest)
        self._rest -= whole
        return -whole

    def sideways(self, event: QWheelEvent, line: int) -> int:
        """Whole pixels to the right: of a wheel or pad that moves sideways, or with Shift."""
        pixels, angle = event.pixelDelta(), event.angleDelta()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            pixels, angle = pixels.transposed(), angle.transposed()
        if abs(angle.x()) <= abs(angle.y()):
            return 0
        return -round(pixels.x() or angle.x() / 120 * WHEEL_LINES * line)

    def touch(self, event: QTouchEvent) -> int:
        y, before = event.points()[0].position().y(), self._touch_y
        self._touch_y = None if event.type() == QEvent.Type.TouchEnd else y
        if event.type() != QEvent.Type.TouchUpdate or before is None:
            return 0
        return round(before - y)


def slide_at(page: Page, at: QPointF) -> Slide | None:
    """What scrolls sideways under a point of the screen."""
    piece = page.piece_at(at)
    return piece.slide if isinstance(piece, WidePiece) and piece.slide.reach else None


def tip_at(page: Page, at: QPointF) -> str:
    """What a tooltip says here: where a link leads, or when the person wrote; else nothing."""
    hit, row = page.hit_at(at), page.row_at(at.y())
    if hit is not None and hit.kind == "link":
        return hit.value
    if isinstance(row, LogChunk) and row.role == "user":
        moment = QDateTime.fromMSecsSinceEpoch(row.created_at)
        return QLocale().toString(moment, QLocale.FormatType.ShortFormat)
    return ""


def _extend(page: Page, at: QPointF) -> None:
    """Marks up to here; beyond an edge of the screen, the rows move."""
    screen = page.frame.height
    if at.y() < 0:
        page.position.scroll_by(round(at.y()))
    elif at.y() > screen:
        page.position.scroll_by(round(at.y()) - screen)
    place = page.place_at(QPointF(at.x(), min(max(at.y(), 0), screen - 1)))
    if place is not None:
        page.marking.reach(place)


def _cursor_of(hit: Hit | None) -> Qt.CursorShape:
    if hit is None:
        return Qt.CursorShape.ArrowCursor
    return _CURSORS.get(hit.kind, Qt.CursorShape.PointingHandCursor)
