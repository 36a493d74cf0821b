"""The screen of a transcript: how tall it is, and the column of the text in it."""

from dataclasses import dataclass

from PySide6.QtCore import QSize

from desktop.ui.theme import Theme


@dataclass(frozen=True, slots=True)
class Frame:
    """The screen's height, the text column's left edge and width, a line's height; in pixels."""

    height: int
    left: int
    width: int
    line: int

    @property
    def screenful(self) -> int:
        """A page's move, which keeps two lines in sight."""
        return max(self.line, self.height - 2 * self.line)


def frame_of(theme: Theme, screen: QSize) -> Frame:
    """The column is centred, as wide as the theme says or as there is room for."""
    width = max(1, min(theme.column, screen.width() - 2 * theme.space_16))
    line = theme.px(theme.sizes.body * theme.sizes.body_line)
    return Frame(screen.height(), (screen.width() - width) // 2, width, line)
