"""About how many tokens a message is, said where it begins to matter."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, QTimer
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QWidget

from desktop.core.media import media_of
from desktop.ui import words
from desktop.ui.plain_text import text_of

if TYPE_CHECKING:
    from desktop.core.chunks import Json

LEAST = 1_000
BYTES_A_TOKEN = 4
LATER_MS = 250


def tokens_of(entry: Json) -> int:
    """About what an attachment is to a model; of its size alone, so that it costs nothing."""
    media = media_of(entry)
    if media is not None:
        return media.tokens
    size = entry.get("size")
    return size // BYTES_A_TOKEN if isinstance(size, int) and "text" in entry else 0


class Estimate(QLabel):
    """Counts a while after the last change, never with a key; hidden while it is little."""

    def __init__(self, field: QPlainTextEdit, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("tokenEstimate")
        self.setProperty("muted", True)
        self.setToolTip(self.tr("About so many tokens this message adds, estimated from its size"))
        self.hide()
        self._field = field
        self._entries: tuple[Json, ...] = ()
        self._later = QTimer(self, singleShot=True, interval=LATER_MS)
        self._later.timeout.connect(self._count)
        field.textChanged.connect(self._later.start)

    def minimumSizeHint(self) -> QSize:
        """It gives way before the window must be wider."""
        return QSize(0, super().minimumSizeHint().height())

    def show_attached(self, entries: Iterable[Json]) -> None:
        self._entries = tuple(entries)
        self._count()

    def _count(self) -> None:
        written = text_of(self._field.document()).encode("utf-8", "surrogatepass")
        tokens = len(written) // BYTES_A_TOKEN + sum(map(tokens_of, self._entries))
        self.setVisible(tokens >= LEAST)
        count = words.tokens(tokens)
        self.setText(self.tr("≈ {count} tokens").format(count=count))
        self.setAccessibleName(self.tr("About {count} tokens").format(count=count))
