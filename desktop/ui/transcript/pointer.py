"""Mouse, wheel and fingers over a page: what is marked, clicked, pointed at, and how far it moves.

A press marks text, or pulls away what is marked; a press that goes nowhere is a click. What a
click does is not decided here.
"""

from PySide6.QtCore import QDateTime, QEvent, QLocale, QObject, QPointF, Qt, Signal
from PySide6.QtGui import QGuiApplication, QMouseEvent, QTouchEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from desktop.core.chunks import LogChunk
from desktop.ui.transcript.clock import FrameClock
from desktop.ui.transcript.page import Page
from desktop.ui.transcript.pieces import Hit, HitKind
from desktop.ui.transcript.wide import Slide, WidePiece

WHEEL_LINES = 3

_CURSORS: dict[HitKind, Qt.CursorShape] = {
    "text": Qt.CursorShape.IBeamCursor,
    "slide": Qt.CursorShape.ArrowCursor,
}


class Pointer(QObject):
    """`clicked` at a point of the viewport; `hovered` a link's target, or nothing (""); `marked`
    when other text was marked; `dragged` when what is marked is pulled away."""

    clicked = Signal(QPointF)
    hovered = Signal(str)
    marked = Signal()
    dragged = Signal()

    def __init__(self, viewport: QWidget, frame_ms: int) -> None:
        super().__init__(viewport)
        self._viewport = viewport
        self._pressed: QPointF | None = None
        self._selecting = False
        self._pulls = False
        self._target = ""
        self._slide: Slide | None = None
        self._slid_to = 0.0
        self._beyond: tuple[Page, QPointF] | None = None
        self._clock = FrameClock(frame_ms, self)
        self._clock.tick.connect(self._go_on)

    def press(self, page: Page, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        at = event.position()
        hit = page.hit_at(at)
        if hit is not None and hit.kind == "slide":
            self._slide, self._slid_to = slide_at(page, at), at.x()
            return
        self._pressed = at
        place = page.place_at(at)
        shift = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        self._pulls = hit is not None and not shift and bool(place and page.marking.covers(place))
        self._selecting = place is not None and not self._pulls
        if self._pulls:
            return
        if place is not None and shift:
            page.marking.reach(place)
        else:
            page.marking.begin(place)

    def double_press(self, page: Page, event: QMouseEvent) -> None:
        """Marks the word."""
        at = event.position()
        found, hit, place = page.found_at(at.y()), page.hit_at(at), page.place_at(at)
        if found is None or place is None or hit is None or hit.kind != "text":
            self.press(page, event)
            return
        page.marking.mark_word(place, found.box)
        self.marked.emit()

    def move(self, page: Page, event: QMouseEvent) -> None:
        at, held = event.position(), event.buttons() & Qt.MouseButton.LeftButton
        if self._slide is not None:
            moved = round(at.x() - self._slid_to)
            self._slid_to += moved
            if self._slide.drag(moved):
                self._viewport.update()
        elif self._pulls and held:
            self._pull(at)
        elif self._selecting and held:
            _extend(page, at)
            self._beyond = (page, at) if _overshoot(page, at) else None
            if self._beyond is not None:
                self._clock.mark()
        else:
            self._hover(page, at)

    def _hover(self, page: Page, at: QPointF) -> None:
        hit = page.hit_at(at)
        target = hit.value if hit is not None and hit.kind == "link" else ""
        if target != self._target:
            self._target = target
            self.hovered.emit(target)
        self._viewport.setCursor(_cursor_of(hit))

    def _pull(self, at: QPointF) -> None:
        if self._pressed is not None and _is_far(at - self._pressed):
            self._pulls = False
            self._pressed = None
            self.dragged.emit()

    def _go_on(self) -> None:
        """Once a frame while the mouse is held beyond an edge: the rows move, and are marked."""
        if self._beyond is None:
            return
        page, at = self._beyond
        if page.position.scroll_by(_overshoot(page, at)):
            _extend(page, at)
            self._clock.mark()

    def release(self, page: Page | None, event: QMouseEvent) -> None:
        pressed, self._pressed, self._slide = self._pressed, None, None
        selecting, self._selecting, self._beyond = self._selecting, False, None
        pulls, self._pulls = self._pulls, False
        if pressed is None or event.button() != Qt.MouseButton.LeftButton:
            return
        if not _is_far(event.position() - pressed):
            if pulls and page is not None:
                page.marking.begin(page.place_at(pressed))
            self.clicked.emit(event.position())
        elif selecting:
            self.marked.emit()


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
    """Marks up to here, or up to the edge that it lies beyond."""
    screen = page.frame.height
    place = page.place_at(QPointF(at.x(), min(max(at.y(), 0), screen - 1)))
    if place is not None:
        page.marking.reach(place)


def _overshoot(page: Page, at: QPointF) -> int:
    """How fast the rows move while the mouse is held here: the farther beyond, the faster."""
    over = min(at.y(), 0.0) or max(at.y() - page.frame.height + 1, 0.0)
    most = 3 * page.frame.line
    return round(min(max(over / 2, -most), most) or over) if over else 0


def _is_far(moved: QPointF) -> bool:
    return moved.manhattanLength() >= QGuiApplication.styleHints().startDragDistance()


def _cursor_of(hit: Hit | None) -> Qt.CursorShape:
    if hit is None:
        return Qt.CursorShape.ArrowCursor
    return _CURSORS.get(hit.kind, Qt.CursorShape.PointingHandCursor)
