"""The button that leads to the end, with the count of what came meanwhile (SPEC C21, U37)."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget

from desktop.ui.theme import Theme


class ToEnd(QPushButton):
    """Floats above the lower edge of its parent."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("toEnd")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()

    def offer(self, newer: int, screen: QWidget, above: int) -> None:
        """Shows itself, `above` pixels over the lower edge of the screen."""
        words = self.tr("↓ {0} new").format(newer) if newer else self.tr("↓ To the end")
        self.setText(words)
        self.adjustSize()
        left = (screen.width() - self.width()) // 2
        self.move(left, screen.height() - self.height() - above)
        self.show()
        self.raise_()


def to_end_style(theme: Theme) -> str:
    """The style sheet of the button."""
    return (
        f"QPushButton#toEnd {{ background: {theme.colours.raised}; color: {theme.colours.text};"
        f" border: {theme.measures.hairline}px solid {theme.colours.border};"
        f" border-radius: {theme.measures.hit // 2}px; padding: 0 {theme.space_12}px;"
        f" min-height: {theme.measures.hit - 2}px; }}"
    )
