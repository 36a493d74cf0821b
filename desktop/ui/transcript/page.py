"""One conversation as it stands on the screen: its boxes, the place in it, and what is marked.

Knows the model and the size of the screen, and nothing of widgets or events.
"""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter, QPen

from desktop.core.groups import Row, call_of
from desktop.core.records import Fold, ViewState
from desktop.ui.theme import Theme
from desktop.ui.transcript.anchor import Placed
from desktop.ui.transcript.box import Box
from desktop.ui.transcript.boxes import Maker
from desktop.ui.transcript.code_piece import Code
from desktop.ui.transcript.finds import Finds
from desktop.ui.transcript.frame import Frame
from desktop.ui.transcript.marking import Marking
from desktop.ui.transcript.model import TranscriptModel
from desktop.ui.transcript.paging import Paging
from desktop.ui.transcript.pieces import Hit, Piece
from desktop.ui.transcript.position import Position
from desktop.ui.transcript.ribbon import paint_ribbon
from desktop.ui.transcript.selection import Place
from desktop.ui.transcript.shelf import Shelf


@dataclass(frozen=True, slots=True)
class Found:
    """A row that is seen, its box, where the box begins on the screen, and the row's place."""

    row: Row
    box: Box
    y: int
    at: int


@dataclass(frozen=True, slots=True)
class Listener:
    """Who shows the page, and is told: `followed` when following begins and ends, `laid_out` when
    rows may stand elsewhere (let the page `settle` then), `marked` when other text is marked."""

    followed: Callable[[bool], None]
    laid_out: Callable[[], None]
    marked: Callable[[], None]


class Page:
    """Owns what is kept, where one is and what is marked.

    `frame` is the screen as it is now; `state` is where the person was (None: at the end). The
    parts never point back at the page: whoever drops it frees its documents at once.
    """

    def __init__(
        self,
        rows: TranscriptModel,
        maker: Maker,
        *,
        state: ViewState | None,
        thinking_open: bool,
        frame: Callable[[], Frame],
        listener: Listener,
        finds: Finds,
    ) -> None:
        self.rows = rows
        self._frame = frame
        self._paging = Paging(rows)
        self.shelf = Shelf(
            rows,
            maker,
            width=lambda: frame().width,
            folds=dict(state.folds) if state is not None else {},
            thinking_open=thinking_open,
        )
        self.position = Position(
            rows,
            state,
            height=self.shelf.height,
            screen=lambda: frame().height,
            followed=listener.followed,
            laid_out=listener.laid_out,
        )
        self._finds = finds
        self._sought: int | None = None
        self._picture: tuple[object, ...] = ()
        self._is_touched = True
        self.marking = Marking(rows, changed=listener.marked)

    @property
    def frame(self) -> Frame:
        return self._frame()

    @property
    def state(self) -> ViewState:
        """Where the person is now, for a later page."""
        return self.position.state(self.shelf.folds)

    def settle(self) -> None:
        """Lets go of boxes far away, and asks for the rows that will be seen next."""
        if self._sought is not None and self.rows.scope.window.holds(self._sought):
            self._show_sought(self._sought)
            return
        seen = self.position.seen
        self._paging.pin(seen)
        self.shelf.drop_far(seen)
        self._paging.fetch(self.position)

    def takes_new_picture(self) -> bool:
        """Whether the screen has to be painted since this was asked last: a page that comes or
        goes off the screen changes nothing on it."""
        rows, placed = self.rows, self.position.layout.placed
        picture = tuple((rows.row(one.row).id, one.y, one.height) for one in placed)
        is_new = self._is_touched or picture != self._picture
        self._picture, self._is_touched = picture, False
        return is_new

    def seek(self, seq: int) -> None:
        """To the row of this seq and the text in it that is looked for, once it is loaded."""
        self._sought = seq
        self.position.jump(seq)

    def _show_sought(self, seq: int) -> None:
        """A result is seen in the card of its call, which is unfolded for it."""
        self._sought = None
        at = self.rows.place_of_seq(seq)
        row = self.rows.row(at) if at is not None else None
        if row is None:
            return
        owner = self.rows.relations().calls.get(call_of(row) or "")
        card = self.rows.place(owner) if owner and not self.rows.takes_space(row) else None
        shown = self.rows.row(card) if card is not None else row
        found = self._finds.first_y(self.shelf.box(shown))
        if found is None and self.shelf.fold_of(shown) != "all":
            self.shelf.set_fold(shown.id, "open")
            found = self._finds.first_y(self.shelf.box(shown))
        place = self.rows.place(shown.id)
        if place is not None:
            above = (found or 0) - self.frame.height // 3 if found else 0
            self.position.jump(self.rows.seq_of(place), max(above, 0))

    def step(self, lines: int, screens: int) -> None:
        """Moves by so many lines and screens, down or up."""
        frame = self.frame
        self.position.scroll_by(lines * frame.line + screens * frame.screenful)

    # What changes how everything looks

    def dress(self, maker: Maker) -> None:
        self._is_touched = True
        self.shelf.dress(maker)
        self.position.rewrap()

    def set_thinking_open(self, is_open: bool) -> None:
        self._is_touched = True
        self.shelf.set_thinking_open(is_open)
        self.position.rewrap()

    def rewrap(self) -> None:
        """The column has another width."""
        self._is_touched = True
        self.shelf.forget_heights()
        self.position.rewrap()

    # Folding

    def toggle(self, id_: str) -> None:
        at = self.rows.place(id_)
        if at is not None:
            folded = self.shelf.fold_of(self.rows.row(at)) == "folded"
            self.set_fold(id_, "open" if folded else "folded")

    def set_fold(self, id_: str, fold: Fold) -> None:
        """Folds or unfolds. The row stays where it is: only what is below it moves."""
        self._reshape(id_, lambda: self.shelf.set_fold(id_, fold))

    def toggle_written(self, id_: str) -> None:
        """Shows the row as it was written, or as it is meant."""
        self._reshape(id_, lambda: self.shelf.toggle_written(id_))

    def toggle_revealed(self, id_: str) -> None:
        """Shows what the code of the row hides, or hides it again."""
        self.marking.begin(None)
        self._reshape(id_, lambda: self.shelf.toggle_revealed(id_))

    def toggle_wrapping(self, id_: str, code: Code) -> None:
        self._reshape(id_, lambda: self.shelf.toggle_wrapping(id_, code))

    def _reshape(self, id_: str, change: Callable[[], None]) -> None:
        at = self.rows.place(id_)
        if at is None:
            return
        position = self.position
        seen = any(one.row == at for one in position.layout.placed)
        change()
        self._is_touched = True
        if seen and position.following and not position.fits_whole:
            # Whoever opens something reads it: the end must not pull it away.
            position.let_go()
        position.lay_out()

    # What the model tells

    def rows_gone(self, start: int, end: int) -> None:
        """These rows are about to be removed."""
        for at in range(start, end + 1):
            self.shelf.let_go(self.rows.row(at).id)

    def rows_changed(self, start: int, end: int) -> None:
        """Draws what is on the screen anew; a row off it is only marked, its text waits (A10)."""
        position = self.position
        seen = {one.row for one in position.layout.placed}
        for at in range(start, end + 1):
            self.shelf.mark_stale(self.rows.row(at).id)
        dirty = not seen.isdisjoint(range(start, end + 1))
        self._is_touched = self._is_touched or dirty
        if dirty or position.following or not seen:
            position.lay_out()

    def rows_reset(self) -> None:
        self.shelf.mark_all_stale()
        self._is_touched = True
        self.position.rows_reset()

    # Finding what lies where

    def placed_at(self, y: float) -> Placed | None:
        for one in self.position.layout.placed:
            if one.y <= y < one.y + one.height:
                return one
        return None

    def row_at(self, y: float) -> Row | None:
        placed = self.placed_at(y)
        return self.rows.row(placed.row) if placed is not None else None

    def found_at(self, y: float) -> Found | None:
        placed = self.placed_at(y)
        if placed is None:
            return None
        row = self.rows.row(placed.row)
        if not self.rows.takes_space(row):
            return None
        return Found(row, self.shelf.box(row), placed.y, placed.row)

    def hit_at(self, at: QPointF) -> Hit | None:
        """What lies under a point of the screen."""
        found, frame = self.found_at(at.y()), self.frame
        if found is None or not frame.left <= at.x() < frame.left + frame.width:
            return None
        return found.box.hit(at.x() - frame.left, at.y() - found.y, seen_from=max(0, -found.y))

    def piece_at(self, at: QPointF) -> Piece | None:
        """The part of a row under a point of the screen."""
        found = self.found_at(at.y())
        return found.box.piece_at(at.y() - found.y) if found is not None else None

    def place_at(self, at: QPointF) -> Place | None:
        """The place in the text nearest to a point of the screen."""
        found = self.found_at(at.y())
        if found is None:
            return None
        spot = found.box.spot_at(at.x() - self.frame.left, at.y() - found.y)
        return Place(found.row.id, self.rows.seq_of(found.at), spot)

    def neighbour(self, id_: str, step: int) -> int | None:
        """Where the next row that is seen stands, before (-1) or after (1) this one; of a row
        that is not loaded, the first on the screen is the neighbour."""
        at = self.rows.place(id_)
        if at is None:
            at = self.position.layout.anchor - step
        at += step
        count = self.rows.rowCount()
        while 0 <= at < count and not self.rows.takes_space(self.rows.row(at)):
            at += step
        return at if 0 <= at < count else None

    def last_seen(self) -> int | None:
        """Where the last row on the screen stands, of those that are seen."""
        for placed in reversed(self.position.layout.placed):
            if self.rows.takes_space(self.rows.row(placed.row)):
                return placed.row
        return None

    # Painting

    def paint(self, painter: QPainter, clip: QRectF, theme: Theme, *, ringed: str) -> None:
        """Draws what lies in `clip`, and a ring around the row of the id `ringed`."""
        if not self.position.layout.placed and self.rows.rowCount():
            self.position.lay_out()
        left = self.frame.left
        for one in self.position.layout.placed:
            row = self.rows.row(one.row)
            if not self.rows.takes_space(row):
                continue
            box = self.shelf.box(row)
            painter.save()
            try:
                painter.translate(left, one.y)
                marked = self.marking.part_of(one.row, box)
                self._finds.mark(box)
                area = clip.translated(-left, -one.y)
                box.paint(painter, area, theme, marked, seen_from=max(0, -one.y))
                if row.id == ringed:
                    _paint_ring(painter, box, theme)
                if self.rows.is_bookmarked(row):
                    _paint_bookmark(painter, box, theme)
            finally:
                painter.restore()


def _paint_bookmark(painter: QPainter, box: Box, theme: Theme) -> None:
    """In the margin beside the row's beginning, which is there at every width."""
    side = theme.space_16
    room = QRectF(-side, box.above + theme.space_4, side, side)
    paint_ribbon(painter, room, theme.color("accent"), is_set=True)


def _paint_ring(painter: QPainter, box: Box, theme: Theme) -> None:
    ring = theme.measures.focus_ring
    painter.setPen(QPen(theme.color("accent"), ring))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    area = QRectF(0, box.above, box.width, box.height - box.above - box.below)
    radius = theme.measures.card_radius
    painter.drawRoundedRect(area.adjusted(-ring, -ring, ring, ring), radius, radius)
