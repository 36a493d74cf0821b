"""The messages that wait for their turn: visible, in order, each can be taken back (SPEC C05)."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from desktop.core.status import QueuedMessage
from desktop.ui.controls import OneLine
from desktop.ui.theme import Theme

_SHOWN = 160


class QueueBar(QFrame):
    """`taken_back(message_id)`; `released` sends a queue that was held by a stop or a restart."""

    taken_back = Signal(str)
    released = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("queueBar")
        self.setAccessibleName(self.tr("Waiting messages"))
        self._theme = theme
        self._shown: tuple[tuple[str, ...], bool] = ((), False)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(
            theme.space_12, theme.space_4, theme.space_12, theme.space_4
        )
        self._column.setSpacing(theme.space_4)
        self.hide()

    def show_queue(self, queue: Sequence[QueuedMessage], *, held: bool) -> None:
        shown = (tuple(message.id for message in queue), held)
        if shown == self._shown:
            return
        self._shown = shown
        while (item := self._column.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        for message in queue:
            self._column.addWidget(self._row(message))
        if queue and held:
            self._column.addWidget(self._release_row())
        self.setVisible(bool(queue))

    def _row(self, message: QueuedMessage) -> QWidget:
        holder = QWidget(self)
        row = QHBoxLayout(holder)
        row.setContentsMargins(0, 0, 0, 0)
        first = message.text.strip().partition("\n")[0]
        text = first if len(first) <= _SHOWN else first[:_SHOWN] + "…"
        label = OneLine(holder, "queuedText", self.tr("Waiting: {text}").format(text=text))
        row.addWidget(label, 1)
        back = QPushButton(self.tr("Take back"), holder)
        back.setObjectName("takeBack")
        back.setAccessibleName(self.tr("Take back: {text}").format(text=text))
        back.clicked.connect(lambda: self.taken_back.emit(message.id))
        row.addWidget(back)
        return holder

    def _release_row(self) -> QWidget:
        holder = QWidget(self)
        row = QHBoxLayout(holder)
        row.setContentsMargins(0, 0, 0, 0)
        note = QLabel(self.tr("Held since the stop; nothing goes out until you say so."), holder)
        note.setProperty("muted", True)
        row.addWidget(note, 1)
        go = QPushButton(self.tr("Send now"), holder)
        go.setObjectName("releaseQueue")
        go.clicked.connect(self.released)
        row.addWidget(go)
        return holder
