"""What lies over the rows: the buttons of the row under the mouse, the switchers of branches.

They stand in room that the rows keep for them (`lane`), so nothing moves when they come and go.
None of them takes the focus: the same acts are in the menu of the row and on keys.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, QPointF, QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QToolButton, QWidget

from desktop.core.chunks import LogChunk
from desktop.core.groups import OpenRow, Relations, Row
from desktop.core.records import Branch
from desktop.core.ways import Way
from desktop.ui.theme import Theme
from desktop.ui.transcript.acts import (
    Act,
    Point,
    acts_at,
    answer_end,
    is_prompt,
    points_of,
    prompt_at,
    subagent_of,
    tip_of,
    ways_at,
    words_of,
)
from desktop.ui.transcript.anchor import Placed
from desktop.ui.transcript.copying import marked_at_hand
from desktop.ui.transcript.lane import Lane, button_width, lane_of
from desktop.ui.transcript.page import Page
from desktop.ui.transcript.phrases import plain_text
from desktop.ui.transcript.ribbon import ribbon_icon


@dataclass(frozen=True, slots=True)
class Wish:
    """An act on a row: of a prompt itself, or of the answer whose last row has `seq`; a bookmark
    is that of the row alone.

    `prompt` is the message that is meant or was answered, None where it is not loaded; `subagent`
    the conversation that the row's own call began; `text` what is to be quoted.
    """

    act: Act
    row_id: str
    prompt: LogChunk | None
    seq: int
    subagent: str = ""
    text: str = ""


class ActsBar(QFrame):
    """The acts of one row as words in a line."""

    wanted = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("rowActs")
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(0)
        self._shown: tuple[object, ...] = ()
        self.hide()

    def show_acts(self, acts: Sequence[Act], theme: Theme, *, is_bookmarked: bool) -> None:
        shown = (tuple(acts), theme, is_bookmarked)
        if shown == self._shown:
            return
        self._shown = shown
        while (item := self._row.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for act in acts:
            self._row.addWidget(self._button(act, theme, is_set=is_bookmarked))
        self.setFixedSize(sum(button_width(theme, act) for act in acts), lane_of(theme).height)

    def _button(self, act: Act, theme: Theme, *, is_set: bool) -> QToolButton:
        button = quiet_button(self, words_of(act), theme)
        if act == "bookmark":
            size = theme.measures.icon
            ink = theme.color("accent" if is_set else "muted")
            ratio = self.devicePixelRatioF()
            button.setIcon(ribbon_icon(size, ink, is_set=is_set, ratio=ratio))
            button.setIconSize(QSize(size, size))
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
        button.setObjectName(f"row.{act}")
        button.setToolTip(tip_of(act))
        button.setFixedWidth(button_width(theme, act))
        button.clicked.connect(lambda: self.wanted.emit(act))
        return button


class Switcher(QFrame):
    """‹ 2/3 › beside a prompt. `stepped(-1 or 1)`."""

    stepped = Signal(int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("branchSwitcher")
        self.point: Point | None = None
        self._theme: Theme | None = None
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self._back = quiet_button(self, "‹", None)
        self._back.setObjectName("previousBranch")
        self._back.setAccessibleName(self.tr("Previous branch"))
        self._back.setToolTip(self.tr("Previous branch (Alt+←)"))
        self._back.clicked.connect(lambda: self.stepped.emit(-1))
        self._count = QLabel(self)
        self._count.setObjectName("branchCount")
        self._count.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._on = quiet_button(self, "›", None)
        self._on.setObjectName("nextBranch")
        self._on.setAccessibleName(self.tr("Next branch"))
        self._on.setToolTip(self.tr("Next branch (Alt+→)"))
        self._on.clicked.connect(lambda: self.stepped.emit(1))
        for widget in (self._back, self._count, self._on):
            row.addWidget(widget)

    def show_point(self, point: Point, theme: Theme, lane: Lane) -> None:
        if point == self.point and theme is self._theme:
            return
        self.point, self._theme = point, theme
        number, total = point.at + 1, len(point.tab_ids)
        self._count.setText(f"{number}/{total}")
        self._count.setAccessibleName(
            self.tr("Branch {number} of {total}").format(number=number, total=total)
        )
        self._count.setFont(theme.font(theme.sizes.small))
        self._count.setFixedWidth(lane.count)
        for button, step in ((self._back, -1), (self._on, 1)):
            button.setEnabled(bool(point.neighbour(step)))
            button.setFixedSize(lane.arrow, lane.arrow)
            button.setFont(theme.font(theme.sizes.headings[0]))
        self.setFixedSize(2 * lane.arrow + lane.count, lane.arrow)


class Overlay(QObject):
    """`wished(Wish)` from a button, `branch_wanted(Point, step)` from a switcher."""

    wished = Signal(object)
    branch_wanted = Signal(object, int)

    def __init__(self, viewport: QWidget) -> None:
        super().__init__(viewport)
        self._viewport = viewport
        self._theme: Theme | None = None
        self._branches: tuple[Branch, ...] = ()
        self._known: tuple[Relations, bool] | None = None
        self._points: dict[str, Point] = {}
        self._mouse: QPointF | None = None
        self._wish: Callable[[Act], Wish] | None = None
        self._acts = ActsBar(viewport)
        self._acts.wanted.connect(self._act)
        self._acts_row = ""
        self._switchers: dict[str, Switcher] = {}

    @property
    def points(self) -> tuple[Point, ...]:
        """Where conversations part among the loaded rows, as last laid out."""
        return tuple(self._points.values())

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme

    def show_branches(self, branches: Sequence[Branch]) -> None:
        self._branches = tuple(branches)
        self._known = None

    def point(self, page: Page, at: QPointF | None) -> None:
        """The mouse is here, or nowhere over the rows."""
        self._mouse = at
        self._place_acts(page, "")

    def lay_out(self, page: Page | None, current: str) -> None:
        """The rows stand elsewhere now; `current` is the row that the keyboard is on."""
        if page is None or self._theme is None:
            self._points = {}
            self._known = None
            self._hide_switchers(frozenset())
            self._acts.hide()
            # It holds the page, which goes at once.
            self._wish = None
            return
        self._find_points(page)
        self._place_switchers(page)
        self._place_acts(page, current)

    # -- branches -----------------------------------------------------------------------------

    def _find_points(self, page: Page) -> None:
        """Anew only when rows or branches changed: scrolling costs nothing."""
        known = (page.rows.relations(), page.rows.scope.at_tail)
        if self._known is not None and known[0] is self._known[0] and known[1] == self._known[1]:
            return
        self._known = known
        rows, scope = page.rows.rows(), page.rows.scope
        found = points_of(self._branches, rows, scope.tab_id, at_tail=scope.at_tail)
        self._points = {point.row_id: point for point in found}

    def _place_switchers(self, page: Page) -> None:
        if not self._points:
            self._hide_switchers(frozenset())
            return
        shown: set[str] = set()
        for placed in page.position.layout.placed:
            point = self._points.get(page.rows.row(placed.row).id)
            if point is not None:
                shown.add(point.row_id)
                self._place_switcher(page, point, self._lane_top(page, placed))
        end = self._points.get("")
        if end is not None and page.position.at_log_end:
            shown.add("")
            self._place_switcher(page, end, self._strip_top(page, page.position.layout.placed[-1]))
        self._hide_switchers(frozenset(shown))

    def _place_switcher(self, page: Page, point: Point, top: int) -> None:
        theme = self._theme
        assert theme is not None
        switcher = self._switchers.get(point.row_id)
        if switcher is None:
            switcher = self._switchers[point.row_id] = Switcher(self._viewport)
            switcher.stepped.connect(
                lambda step, switcher=switcher: self.branch_wanted.emit(switcher.point, step)
            )
        switcher.show_point(point, theme, lane_of(theme))
        switcher.move(self._right(page) - switcher.width(), top)
        switcher.show()

    def _hide_switchers(self, but: frozenset[str]) -> None:
        for row_id in [one for one in self._switchers if one not in but]:
            switcher = self._switchers.pop(row_id)
            switcher.hide()
            switcher.deleteLater()

    # -- acts ---------------------------------------------------------------------------------

    def _place_acts(self, page: Page, current: str) -> None:
        theme, at = self._theme, self._pointed(page)
        if at is None and current:
            at = page.rows.place(current)
        acts: list[Act] = []
        if at is not None:
            # What leads from one row elsewhere stands in the row itself.
            acts = [act for act in acts_of(page, at) if act != "subagent"]
        placed = self._place_of(page, at) if at is not None else None
        if at is None or not acts or theme is None or placed is None:
            self._acts.hide()
            self._acts_row = ""
            return
        row = page.rows.row(at)
        self._wish = lambda act: wish_of(page, row, act)
        on_prompt = is_prompt(row)
        beside = self._switchers.get(self._beside(page, placed, on_prompt=on_prompt))
        if on_prompt and beside is not None and self._fits_beside(page):
            # The lane has room for a switcher or for these; they are in the menu and on keys too.
            acts = [act for act in acts if act not in ("quote", "bookmark")]
        top = self._lane_top(page, placed) if on_prompt else self._strip_top(page, placed)
        self._acts_row = row.id
        is_bookmarked = page.rows.is_bookmarked(row)
        self._acts.show_acts(acts, theme, is_bookmarked=is_bookmarked)
        taken = beside.width() if beside is not None else 0
        self._acts.move(self._right(page) - taken - self._acts.width(), top)
        self._acts.show()
        self._acts.raise_()

    def _pointed(self, page: Page) -> int | None:
        """The row under the mouse. The gap above a prompt belongs to the answer above it."""
        placed = page.placed_at(self._mouse.y()) if self._mouse is not None else None
        if placed is None or self._mouse is None:
            return None
        row = page.rows.row(placed.row)
        in_gap = is_prompt(row) and self._mouse.y() < placed.y + page.shelf.box(row).above
        # On the way from a prompt to its own buttons in the gap they must not change.
        stays = not self._fits_beside(page) and self._acts_row == row.id
        return placed.row - 1 if in_gap and placed.row > 0 and not stays else placed.row

    def _place_of(self, page: Page, at: int) -> Placed | None:
        """Where the acts of this row stand: at the prompt itself, or below its answer's end."""
        rows = page.rows
        last = at if is_prompt(rows.row(at)) else answer_end(rows.rows(), at)
        for placed in reversed(page.position.layout.placed):
            if placed.row <= last:
                between = range(placed.row + 1, last + 1)
                hidden = any(rows.takes_space(rows.row(one)) for one in between)
                return None if hidden else placed
        return None

    def _fits_beside(self, page: Page) -> bool:
        assert self._theme is not None
        return lane_of(self._theme).fits_beside(page.frame.width)

    def _lane_top(self, page: Page, placed: Placed) -> int:
        """Where the buttons of a prompt begin: in its lane, else in the gap above it."""
        assert self._theme is not None
        if not self._fits_beside(page):
            return placed.y + self._theme.space_4 // 2
        above = page.shelf.box(page.rows.row(placed.row)).above
        return placed.y + above + self._theme.space_8

    def _beside(self, page: Page, placed: Placed, *, on_prompt: bool) -> str:
        """The switcher that stands in the same line: the prompt's own, that of the next prompt
        where it is in the gap too, or the one at the end of the log."""
        if on_prompt:
            return page.rows.row(placed.row).id
        following = answer_end(page.rows.rows(), placed.row) + 1
        if following >= page.rows.rowCount():
            return ""
        return "none" if self._fits_beside(page) else page.rows.row(following).id

    def _strip_top(self, page: Page, placed: Placed) -> int:
        """Where the buttons below an answer begin: in the gap that follows it."""
        assert self._theme is not None
        gap = lane_of(self._theme).gap
        at_end = placed.row == page.rows.rowCount() - 1
        return placed.y + placed.height - (gap if at_end else 0) + self._theme.space_4 // 2

    def _right(self, page: Page) -> int:
        assert self._theme is not None
        return page.frame.left + page.frame.width - self._theme.space_8

    def _act(self, act: Act) -> None:
        if self._wish is not None:
            self.wished.emit(self._wish(act))


def acts_of(page: Page, at: int) -> tuple[Act, ...]:
    """What can be done with the row at this place of the model."""
    rows, scope = page.rows, page.rows.scope
    return acts_at(
        rows.rows(), at, rows.context(), at_head=not scope.has_older, at_tail=scope.at_tail
    )


def ways_of(page: Page, at: int) -> tuple[Way, ...]:
    """What can be done about the answer of the row at this place, if it was cut."""
    rows = page.rows
    return ways_at(rows.rows(), at, rows.context(), at_tail=rows.scope.at_tail)


def wish_of(page: Page, row: Row, act: Act) -> Wish:
    """The act on a row as it is carried out: by its prompt, or by the end of its answer."""
    rows = page.rows.rows()
    at = page.rows.place(row.id) or 0
    prompt = prompt_at(rows, at)
    is_own = is_prompt(row) or act == "bookmark"
    last = rows[at if is_own else answer_end(rows, at)]
    seq = 0 if isinstance(last, OpenRow) else last.seq
    context = page.rows.context()
    text = (marked_at_hand(page) or plain_text(row, context)) if act == "quote" else ""
    return Wish(act, row.id, prompt, seq, subagent_of(row, context), text)


def quiet_button(parent: QWidget, words: str, theme: Theme | None) -> QToolButton:
    """A button of the overlay: words on nothing, as high as its bar."""
    button = QToolButton(parent)
    button.setText(words)
    button.setAutoRaise(True)
    button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    button.setCursor(Qt.CursorShape.PointingHandCursor)
    if theme is not None:
        button.setFont(theme.font(theme.sizes.small))
        button.setFixedHeight(lane_of(theme).height)
    return button


def overlay_style(theme: Theme) -> str:
    """The style sheet of bars and switchers."""
    colours, measures = theme.colours, theme.measures
    return (
        f"#rowActs, #branchSwitcher {{ background: transparent; border: none; }}"
        f" #rowActs QToolButton, #branchSwitcher QToolButton {{ background: transparent;"
        f" color: {colours.muted}; border: none; border-radius: {measures.radius}px;"
        f" padding: 0; }}"
        f" #rowActs QToolButton:hover, #branchSwitcher QToolButton:hover {{"
        f" background: {colours.raised}; color: {colours.text}; }}"
        f" #branchSwitcher QToolButton:disabled {{ color: {colours.border}; }}"
        f" #branchSwitcher QLabel {{ color: {colours.muted}; background: transparent; }}"
    )
