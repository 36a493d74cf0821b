"""How a conversation's page is laid out: its rows, and below them, as wide as their column, what is
asked and what is written."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop.ui.flow import Stack
from desktop.ui.theme import Theme


def lay_out(
    page: QWidget, theme: Theme, *, above: Iterable[QWidget] = (), rows: QWidget
) -> tuple[QHBoxLayout, QVBoxLayout]:
    """Returns the row below the rows, and the column in it that is still to be filled."""
    column = QVBoxLayout(page)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    for widget in above:
        column.addWidget(widget)
    column.addWidget(rows, 1)
    foot = QHBoxLayout()
    # As far from the right as the transcript's column, whose scroll bar always has its place.
    right = theme.space_16 + theme.measures.scroll_bar
    sides = (right, theme.space_16) if page.isRightToLeft() else (theme.space_16, right)
    foot.setContentsMargins(sides[0], theme.space_4, sides[1], theme.space_12)
    middle = Stack(theme.space_8, page)
    # Alone in its row it stands in the middle, and has all of it where there is no more.
    middle.setMaximumWidth(theme.column)
    foot.addWidget(middle)
    column.addLayout(foot)
    return foot, middle.column
