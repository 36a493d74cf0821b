"""The last conversation as it is seen and written in while the log is still being opened.

Its whole page is made later and takes over what is here: rows, place, text and caret.
"""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from desktop.ui.composer import Composer
from desktop.ui.page_column import lay_out
from desktop.ui.theme import Theme
from desktop.ui.transcript.pane import TranscriptPane


class EarlyPage(QWidget):
    """`pane` is entered; `composer` can be typed in, but sends nothing yet."""

    def __init__(self, tab_id: str, pane: TranscriptPane, composer: Composer, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("earlyPage")
        self.tab_id = tab_id
        self.pane = pane
        self.composer = composer
        _, below = lay_out(self, theme, rows=pane)
        below.addWidget(composer)
        composer.show_ready(False, self.tr("Nacre is still starting"))

    def set_theme(self, theme: Theme) -> None:
        self.pane.set_theme(theme)
        self.composer.set_theme(theme)
