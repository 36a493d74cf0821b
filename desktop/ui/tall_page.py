"""A page in a scroll area whose texts get taller as it gets narrower."""

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop.ui.theme import Theme


class TallPage(QWidget):
    """Its column is as tall as what stands in it wants to be at this width."""

    def __init__(self, theme: Theme, name: str, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self._theme = theme
        self._column = QVBoxLayout(self)
        self._column.setSpacing(theme.space_8)

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            # A scroll area knows nothing of it by itself.
            self.setMinimumHeight(self._column.totalHeightForWidth(self.width()))
        return super().event(event)
