"""The buttons in the box of an error: what can be done about the answer that it ended.

They stand in the room that its text keeps (`error_text`), so nothing moves when they come and go.
They are buttons of Qt's over the rows: the Tab key leads to them from the conversation.
"""

from PySide6.QtCore import QObject, QRect, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QWidget

from desktop.core.chunks import ErrorNote, LogChunk
from desktop.core.ways import WAYS, Way
from desktop.ui.theme import Theme
from desktop.ui.transcript.acts import way_tip, way_words
from desktop.ui.transcript.error_text import ErrorText, room_of, width_of
from desktop.ui.transcript.overlay import ways_of
from desktop.ui.transcript.page import Page

ROW_WAYS_STYLE = (
    "#rowWays { background: transparent; border: none; } #rowWays QPushButton { padding: 0; }"
)


class RowWays(QObject):
    """`wanted(Way)` from a button in the last error's box."""

    wanted = Signal(str)

    def __init__(self, viewport: QWidget) -> None:
        super().__init__(viewport)
        self._viewport = viewport
        self._theme: Theme | None = None
        self._bar = QFrame(viewport)
        self._bar.setObjectName("rowWays")
        # Rows have their room on the same side in every language.
        self._bar.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        row = QHBoxLayout(self._bar)
        row.setContentsMargins(0, 0, 0, 0)
        row.addStretch(1)
        self._buttons: dict[Way, QPushButton] = {way: self._button(way, row) for way in WAYS}
        self._bar.hide()

    def _button(self, way: Way, row: QHBoxLayout) -> QPushButton:
        button = QPushButton(way_words(way), self._bar)
        button.setObjectName(f"row.{way}")
        button.setToolTip(way_tip(way))
        button.setAccessibleDescription(way_tip(way))
        # Return does what Space does, wherever the focus came from.
        button.setAutoDefault(True)
        button.setCursor(Qt.CursorShape.ArrowCursor)
        button.clicked.connect(lambda _=False: self.wanted.emit(way))
        row.addWidget(button)
        return button

    def lay_out(self, page: Page | None, theme: Theme) -> None:
        """The rows stand elsewhere now, or what can be done is something else."""
        area, ways = _place(page) if page is not None else (None, ())
        if area is None:
            self._hide()
            return
        self._dress(theme)
        for way, button in self._buttons.items():
            if button.isHidden() == (way in ways):
                button.setVisible(way in ways)
        self._bar.setGeometry(area)
        self._bar.show()

    @property
    def in_sight(self) -> bool:
        """Whether a person sees all of them."""
        return not self._bar.isHidden() and self._viewport.rect().contains(self._bar.geometry())

    def _hide(self) -> None:
        """Who was on a button is in the conversation again."""
        if self._bar.isHidden():
            return
        if any(button.hasFocus() for button in self._buttons.values()):
            # A scroll area keeps the focus for its viewport.
            self._viewport.setFocus(Qt.FocusReason.OtherFocusReason)
        self._bar.hide()

    def _dress(self, theme: Theme) -> None:
        if theme is self._theme:
            return
        self._theme = theme
        layout = self._bar.layout()
        assert layout is not None
        layout.setSpacing(theme.space_8)
        for way, button in self._buttons.items():
            button.setFont(theme.font(theme.sizes.small))
            button.setFixedSize(width_of(theme, way), room_of(theme).height)


def _place(page: Page) -> tuple[QRect | None, tuple[Way, ...]]:
    """Where the last error on the screen keeps its room, and what can be done about its answer."""
    rows = page.rows
    for placed in reversed(page.position.layout.placed):
        row = rows.row(placed.row)
        if not isinstance(row, LogChunk) or not isinstance(row.data, ErrorNote):
            continue
        ways = ways_of(page, placed.row)
        box = page.shelf.box(row)
        piece = next((one for one in box.pieces if isinstance(one, ErrorText)), None)
        if not ways or piece is None:
            return None, ()
        return piece.room.translated(page.frame.left, placed.y + piece.y), ways
    return None, ()
