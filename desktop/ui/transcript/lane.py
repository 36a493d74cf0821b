"""The room that is kept for what can be done with a row, so that nothing shifts when it shows.

A prompt keeps a lane at its trailing edge for the branch switcher and its buttons; the gap above
every prompt, and the same gap at the end of the log, is kept for the buttons of the answer above.
In a narrow column the lane would leave the text no room: then the gap serves both.
"""

from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtGui import QFontMetrics

from desktop.ui.theme import Theme
from desktop.ui.transcript.acts import words_of

# As wide as a family of branches gets before its numbers are cut.
_WIDEST_COUNT = "88/88"


@dataclass(frozen=True, slots=True)
class Lane:
    """All in pixels: the lane's width, the gap between turns, a button's height, the space beside
    the text of a prompt; an arrow's and the count's width in a switcher."""

    width: int
    gap: int
    height: int
    pad: int
    arrow: int
    count: int

    def fits_beside(self, width: int) -> bool:
        """Whether a column of this width leaves the text enough beside the lane."""
        return width >= 3 * self.width


@lru_cache(maxsize=16)
def lane_of(theme: Theme) -> Lane:
    """The room in one look."""
    metrics = QFontMetrics(theme.font(theme.sizes.small))
    height = max(theme.measures.hit, metrics.height() + theme.space_8)
    arrow = height
    count = metrics.horizontalAdvance(_WIDEST_COUNT)
    buttons = sum(button_width(theme, act) for act in ("copy", "edit"))
    return Lane(
        width=2 * arrow + count + buttons,
        gap=height + theme.space_4,
        height=height,
        pad=theme.space_16,
        arrow=arrow,
        count=count,
    )


def button_width(theme: Theme, act: str) -> int:
    """How wide the button of an act is: that of a bookmark shows its sign alone."""
    if act == "bookmark":
        return lane_of(theme).height
    metrics = QFontMetrics(theme.font(theme.sizes.small))
    words = words_of(act)  # pyright: ignore[reportArgumentType]
    return metrics.horizontalAdvance(words) + 2 * theme.space_8
