"""The messages that wait for their turn: visible, in order; each can be changed or taken back (SPEC
C05)."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from desktop.core.status import QueuedMessage
from desktop.ui.controls import OneLine, act_button
from desktop.ui.theme import Theme

_SHOWN = 160


class QueueBar(QFrame):
    """`edit_wanted(message_id)`, `taken_back(message_id)`; `released` sends a queue that was held
    by a stop or a restart."""

    edit_wanted = Signal(str)
    taken_back = Signal(str)
    released = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("queueBar")
        self.setAccessibleName(self.tr("Waiting messages"))
        self._theme = theme
        self._shown: tuple[tuple[QueuedMessage, ...], bool, str] = ((), False, "")
        self._edited = ""
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(
            theme.space_12, theme.space_4, theme.space_12, theme.space_4
        )
        self._column.setSpacing(theme.space_4)
        self.hide()

    def show_queue(self, queue: Sequence[QueuedMessage], *, held: bool) -> None:
        shown = (tuple(queue), held, self._edited)
        if shown == self._shown:
            return
        self._shown = shown
        while (item := self._column.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        for message in queue:
            self._column.addWidget(self._row(message))
        if queue and held and not self._edited:
            self._column.addWidget(self._release_row())
        self.setVisible(bool(queue))

    def show_edited(self, message_id: str) -> None:
        """The message that is in the field to be changed; '' for none."""
        self._edited = message_id
        queue, held, _ = self._shown
        self.show_queue(queue, held=held)

    def _row(self, message: QueuedMessage) -> QWidget:
        holder = QWidget(self)
        row = QHBoxLayout(holder)
        row.setContentsMargins(0, 0, 0, 0)
        first = message.text.strip().partition("\n")[0]
        text = first if len(first) <= _SHOWN else first[:_SHOWN] + "…"
        is_edited = message.id == self._edited
        words = self.tr("Being changed: {text}") if is_edited else self.tr("Waiting: {text}")
        label = OneLine(holder, "queuedText", words.format(text=text))
        row.addWidget(label, 1)
        for name, says, wanted in (
            ("editQueued", self.tr("Edit"), self.edit_wanted),
            ("takeBack", self.tr("Take back"), self.taken_back),
        ):
            button = act_button(holder, says, name, lambda w=wanted: w.emit(message.id))
            button.setAccessibleName(f"{says}: {text}")
            button.setEnabled(not is_edited)
            row.addWidget(button)
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
