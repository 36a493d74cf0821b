"""Marking by keys: where Shift with an arrow, Page, Home or End goes from a place in the text.

What lies off the screen is brought onto it, so that what is marked last is always seen.
"""

from typing import Literal

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QKeyEvent, QTextCursor

from desktop.ui.transcript.page import Page
from desktop.ui.transcript.selection import Place

Unit = Literal["letter", "word", "edge", "line", "screen", "log"]

_MOVES = QTextCursor.MoveOperation
_OPERATIONS = {
    ("letter", 1): _MOVES.NextCharacter,
    ("letter", -1): _MOVES.PreviousCharacter,
    ("word", 1): _MOVES.NextWord,
    ("word", -1): _MOVES.PreviousWord,
    ("edge", 1): _MOVES.EndOfLine,
    ("edge", -1): _MOVES.StartOfLine,
}
_KEYS: dict[Qt.Key, tuple[Unit, Unit, int]] = {
    Qt.Key.Key_Left: ("letter", "word", -1),
    Qt.Key.Key_Right: ("letter", "word", 1),
    Qt.Key.Key_Up: ("line", "line", -1),
    Qt.Key.Key_Down: ("line", "line", 1),
    Qt.Key.Key_PageUp: ("screen", "screen", -1),
    Qt.Key.Key_PageDown: ("screen", "screen", 1),
    Qt.Key.Key_Home: ("edge", "log", -1),
    Qt.Key.Key_End: ("edge", "log", 1),
}
_TRIES = 200


def step_of(event: QKeyEvent) -> tuple[Unit, int] | None:
    """What a key marks, and which way; None where it marks nothing."""
    shift, ctrl = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier
    known = _KEYS.get(Qt.Key(event.key()))
    if known is None or not event.modifiers() & shift:
        return None
    plain, with_ctrl, way = known
    return (with_ctrl if event.modifiers() & ctrl else plain), way


def extend(page: Page, unit: Unit, way: int, *, current: str = "") -> None:
    """Marks on from where marking stopped; from the row `current`, else from the first on the
    screen, where nothing is marked."""
    marking = page.marking
    place = marking.end
    if place is None or page.rows.place(place.id) is None:
        place = _beginning(page, current, way if place is not None else -1)
        if place is None:
            return
        if marking.empty:
            marking.begin(place)
    target = _target(page, place, unit, way)
    if target is not None:
        marking.reach(target)
        if unit != "log":
            _screen_rect(page, target)


def _beginning(page: Page, current: str, way: int) -> Place | None:
    rows, placed = page.rows, page.position.layout.placed
    at = rows.place(current) if current else None
    if at is None and placed:
        at = placed[0 if way < 0 else -1].row
    if at is None:
        return None
    return Place(rows.row(at).id, rows.seq_of(at), page.shelf.box(rows.row(at)).start)


def _target(page: Page, place: Place, unit: Unit, way: int) -> Place | None:
    if unit == "log":
        return _log_end(page, way)
    if unit == "line":
        return _line(page, place, way)
    return _screen(page, place, way) if unit == "screen" else _within(page, place, unit, way)


def _log_end(page: Page, way: int) -> Place | None:
    """The first or the last of all rows; it is gone to, and need not be loaded to be marked."""
    rows = page.rows
    if way < 0:
        page.position.jump(1)
        return Place("", 1, (0, 0))
    page.position.follow()
    last = rows.rowCount() - 1
    seq = max(rows.seq_of(last), rows.scope.last_known)
    return Place(rows.row(last).id if rows.scope.at_tail else "", seq, (1 << 30, 0))


def _within(page: Page, place: Place, unit: Unit, way: int) -> Place | None:
    """By letters: on into the next row where this one ends."""
    at = page.rows.place(place.id)
    if at is None:
        return None
    box = page.shelf.box(page.rows.row(at))
    spot = box.stepped(place.spot, _OPERATIONS[unit, way], way)
    if spot is not None:
        return Place(place.id, page.rows.seq_of(at), spot)
    other = page.neighbour(place.id, way) if unit != "edge" else None
    if other is None:
        return None
    box = page.shelf.box(page.rows.row(other))
    spot = box.start if way > 0 else box.end
    return Place(page.rows.row(other).id, page.rows.seq_of(other), spot)


def _line(page: Page, place: Place, way: int) -> Place | None:
    """The place above or below; where there is no line any more, the end of this one."""
    rect = _screen_rect(page, place)
    if rect is None:
        return None
    line, screen = page.frame.line, page.frame.height
    x, y, end = rect.left(), rect.bottom() + 1 if way > 0 else rect.top() - 1, None
    for _ in range(_TRIES):
        if not 0 <= y < screen:
            moved = page.position.scroll_by(way * line)
            if not moved:
                return end
            y, rect = y - moved, rect.translated(0, -moved)
        found = page.place_at(QPointF(x, min(max(y, 0), screen - 1)))
        if found is not None and _is_beyond(page, found, place, way):
            end = found
            there = _screen_rect(page, found)
            if there is None or (there.center().y() - rect.center().y()) * way > line / 2:
                return found
        y += way * line / 2
    return end


def _screen(page: Page, place: Place, way: int) -> Place | None:
    rect = _screen_rect(page, place)
    if rect is None:
        return None
    moved = page.position.scroll_by(way * page.frame.screenful)
    y = rect.center().y()
    if abs(moved) < page.frame.screenful:
        # There is no whole screen any more: to the very end.
        y += way * page.frame.screenful
    screen = page.frame.height
    placed = page.position.layout.placed
    if placed:
        bottom = placed[-1].y + placed[-1].height - 1
        y = min(max(y, placed[0].y, 0), bottom, screen - 1)
    found = page.place_at(QPointF(rect.left(), y))
    return found if found is not None and _is_beyond(page, found, place, way) else None


def _is_beyond(page: Page, found: Place, place: Place, way: int) -> bool:
    here, there = ((page.marking.seq(one), one.spot) for one in (place, found))
    return there > here if way > 0 else there < here


def _screen_rect(page: Page, place: Place) -> QRectF | None:
    """Where a place is on the screen, onto which it is brought."""
    at = page.rows.place(place.id)
    if at is None:
        return None
    rect = _rect(page, at, place)
    if rect is None:
        page.position.reveal(at)
        rect = _rect(page, at, place)
    if rect is None:
        return None
    over = min(rect.top(), 0.0) or max(rect.bottom() - page.frame.height, 0.0)
    if over:
        page.position.scroll_by(round(over))
        rect = _rect(page, at, place)
    return rect


def _rect(page: Page, at: int, place: Place) -> QRectF | None:
    placed = next((one for one in page.position.layout.placed if one.row == at), None)
    if placed is None:
        return None
    box = page.shelf.box(page.rows.row(at))
    return box.caret(place.spot).translated(page.frame.left, placed.y)
