"""Where in a conversation the person is, and what therefore stands on the screen.

The place is an anchor (a row's id and the pixels of it above the screen) or "following" the end.
`Position` is its only writer, and the only maker of the layout that shows it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from desktop.core.records import Fold, ViewState
from desktop.ui.transcript.anchor import Height, Layout, Placed, from_anchor, from_end
from desktop.ui.transcript.model import TranscriptModel


@dataclass(frozen=True, slots=True)
class Extent:
    """What of the log is on the screen, in rows of the whole log: 2.5 is the middle of the third.

    `bottom` is None at the very end of the log.
    """

    top: float
    bottom: float | None
    total: int


class Position:
    """`height` measures a row and `screen` is how tall the screen is, in pixels. `followed` is
    told when following begins and ends, `laid_out` whenever the layout was made anew."""

    def __init__(
        self,
        rows: TranscriptModel,
        state: ViewState | None,
        *,
        height: Height,
        screen: Callable[[], int],
        followed: Callable[[bool], None],
        laid_out: Callable[[], None],
    ) -> None:
        self._rows = rows
        self._height = height
        self._screen = screen
        self._followed = followed
        self._laid_out = laid_out
        self._following = state is None or state.following
        self._wanted = state if state is not None and not state.following else None
        self._loose = state is not None and state.loose
        self._anchor_id = ""
        self._anchor_seq = 0
        self._offset = 0
        self._layout = Layout()
        self._downward = False

    def begin(self) -> None:
        """Lays out for the first time, at the wanted place if its row can be had."""
        if self._wanted is not None:
            if not self._loose:
                self._rows.scope.follow(False)
            if self._rows.scope.loaded:
                self._go_to_wanted()
        self.lay_out(moved=True)

    # What is known

    @property
    def following(self) -> bool:
        return self._following

    @property
    def awaited(self) -> int | None:
        """The seq of the place to go to, while that is not loaded yet."""
        return self._wanted.seq if self._wanted is not None else None

    @property
    def layout(self) -> Layout:
        """What is on the screen."""
        return self._layout

    @property
    def anchor_id(self) -> str:
        """The id of the first row on the screen."""
        return self._anchor_id

    @property
    def downward(self) -> bool:
        """Whether the last move was down."""
        return self._downward

    @property
    def at_log_end(self) -> bool:
        return self._layout.at_end and self._rows.scope.at_tail

    @property
    def fits_whole(self) -> bool:
        """Everything is on the screen: there is nowhere to go."""
        placed = self._layout.placed
        if self._rows.scope.has_older or not placed:
            return not placed
        above = any(self._height(at) for at in range(placed[0].row))
        return not above and placed[0].y >= 0 and self._layout.at_end

    @property
    def seen(self) -> frozenset[str]:
        """The ids of the rows on the screen."""
        return frozenset(self._rows.row(one.row).id for one in self._layout.placed)

    def state(self, folds: tuple[tuple[str, Fold], ...]) -> ViewState:
        if self._wanted is not None:
            return replace(self._wanted, folds=folds)
        height = self._layout.placed[0].height if self._layout.placed else 0
        return ViewState(
            self._following, self._anchor_seq, self._offset, folds, self._loose, height
        )

    def extent(self) -> Extent | None:
        """None when there is nowhere to go."""
        placed = self._layout.placed
        if not placed or self.fits_whole:
            return None
        last = self._rows.seq_of(self._rows.rowCount() - 1)
        return Extent(
            self._in_log(placed[0], 0),
            None if self.at_log_end else self._in_log(placed[-1], self._screen()),
            max(self._rows.scope.last_known, last),
        )

    def _in_log(self, placed: Placed, y: int) -> float:
        share = min(max((y - placed.y) / max(placed.height, 1), 0), 1)
        return self._rows.seq_of(placed.row) - 1 + share

    # Laying out

    def lay_out(self, *, moved: bool = False) -> None:
        """Places the rows of the screen, from the end or from the anchor.

        Only who `moved` is kept from standing below the end: whatever else happens, the anchor
        stays where it is.
        """
        rows, screen = self._rows, self._screen()
        count = rows.rowCount()
        if self._following:
            layout = from_end(count, self._height, screen)
        else:
            at, loose = self._anchor_row(), self._loose or not moved
            layout = from_anchor(at or 0, self._offset, count, self._height, screen, loose=loose)
        self._layout = layout
        if layout.placed:
            self._anchor_id = rows.row(layout.anchor).id
            self._anchor_seq = rows.seq_of(layout.anchor)
            self._offset = layout.offset
        self._laid_out()

    def _anchor_row(self) -> int | None:
        at = self._rows.place(self._anchor_id)
        return at if at is not None else self._rows.place_of_seq(self._anchor_seq)

    def rewrap(self) -> None:
        """All heights are others now; the anchor keeps its share of its row."""
        before = self._layout.placed[0].height if self._layout.placed else 0
        at = self._anchor_row()
        if not self._following and before and at is not None:
            self._offset = round(self._offset * self._height(at) / before)
        self.lay_out(moved=True)

    def rows_moved(self) -> None:
        """Rows stand elsewhere in the model now: nothing is placed until the next layout."""
        self._layout = replace(self._layout, placed=())

    def rows_reset(self) -> None:
        """All rows are others now; a place that was waited for may have come, or be no more."""
        self._layout = Layout()
        wanted = self._wanted
        if wanted is None:
            return
        if self._rows.reset_around == wanted.seq and not self._rows.holds(wanted.seq):
            self._wanted = None
            self.follow()
        else:
            self._go_to_wanted()

    # Moving

    def scroll_by(self, pixels: int) -> int:
        """Moves down (or up, when negative), as far as there is somewhere to go; how far that was.

        The smallest move up ends following.
        """
        if not pixels:
            return 0
        if not self._layout.placed:
            self.lay_out()  # rows came in this very frame: the move is of what is seen
        self._loose = False
        self._downward = pixels > 0
        if pixels < 0:
            if self.fits_whole:
                return 0
            self.let_go()
        elif self._following:
            return 0
        before = self._layout
        self._offset += pixels
        self.lay_out(moved=True)
        if pixels > 0 and self.at_log_end:
            self._set_following(True)
            self.lay_out()
        return _moved(before, self._layout, pixels)

    def follow(self) -> None:
        """Goes to the end of the conversation and stays there."""
        self._loose = False
        self._set_following(True)
        self._rows.scope.to_tail()
        self.lay_out()

    def let_go(self) -> None:
        """Stays here, whatever comes."""
        self._set_following(False)

    def jump(self, seq: int, offset: int = 0) -> None:
        """Shows the row of this seq at the top, as soon as it is loaded."""
        self.let_go()
        self._loose = False
        self._wanted = ViewState(False, seq, offset)
        self._go_to_wanted()

    def go_to(self, seq: int, share: float, *, at_end: bool) -> None:
        """Shows the row of this seq at the top, a share of it above the screen, or the end."""
        self._downward = seq > self._anchor_seq
        if at_end:
            self.follow()
            return
        if not self._rows.scope.window.holds(seq):
            self.jump(seq)
            return
        self.let_go()
        at = self._rows.place_of_seq(seq)
        if at is not None:
            self._stand_at(at, seq, round(share * self._height(at)))

    def reveal(self, at: int) -> None:
        """Moves as little as brings the row onto the screen."""
        placed = next((one for one in self._layout.placed if one.row == at), None)
        if placed is None:
            self.let_go()
            self._anchor_id = self._rows.row(at).id
            self._offset = 0
            self.lay_out(moved=True)
        elif placed.y < 0:
            self.scroll_by(placed.y)
        elif placed.y + placed.height > self._screen():
            self.scroll_by(min(placed.y, placed.y + placed.height - self._screen()))

    def _set_following(self, following: bool) -> None:
        self._rows.scope.follow(following)
        if following != self._following:
            self._following = following
            self._followed(following)

    def _go_to_wanted(self) -> None:
        """To the place that was asked for, once its row is loaded."""
        rows, wanted = self._rows, self._wanted
        if wanted is None:
            return
        if not rows.holds(wanted.seq):
            rows.scope.jump(wanted.seq)
            return
        self._wanted = None
        at = rows.place_of_seq(wanted.seq)
        if at is not None:
            share = self._height(at) / wanted.height if wanted.height else 1
            self._stand_at(at, wanted.seq, round(wanted.offset * share))

    def _stand_at(self, at: int, seq: int, offset: int) -> None:
        self._anchor_id, self._anchor_seq = self._rows.row(at).id, seq
        self._offset = offset
        if self._loose:
            # What comes grows into the room below; nothing of it moves the place.
            self._rows.scope.follow(True)
        self.lay_out(moved=True)


def _moved(before: Layout, after: Layout, wanted: int) -> int:
    """How far what both show has moved up; as far as was wanted where they show nothing alike."""
    stood = {one.row: one.y for one in before.placed}
    for one in after.placed:
        if one.row in stood:
            return stood[one.row] - one.y
    return wanted
