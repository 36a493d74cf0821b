"""What a person can do about an answer that waits or did not come to its end, as buttons.

While a request waits to go out again: Try now, Cancel (what it waits for says the activity line
beside it). After a last answer that was cut: a sentence, Retry and Continue, while the rows show
no such buttons themselves. Nothing of it is there when it can't be done.
"""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from desktop.core.status import TabStatus
from desktop.core.ways import WAYS, Way
from desktop.ui.theme import Theme
from desktop.ui.transcript.acts import way_tip, way_words

_NAMES: dict[Way, str] = {"retry": "retryAnswer", "go_on": "continueAnswer"}


class WaysBar(QFrame):
    """`chosen(Way)`; `hurried` and `given_up` while a request waits."""

    chosen = Signal(str)
    hurried = Signal()
    given_up = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("waysBar")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.space_8)
        self._sentence = QLabel(self)
        self._sentence.setObjectName("waysBarText")
        self._sentence.setProperty("muted", True)
        self._sentence.setTextFormat(Qt.TextFormat.PlainText)
        self._sentence.setWordWrap(True)
        row.addWidget(self._sentence, 1)
        self._now = self._button("tryNow", self.tr("Try now"), self.tr("Ask again without waiting"))
        self._now.clicked.connect(lambda _=False: self.hurried.emit())
        self._cancel = self._button("giveUp", self.tr("Cancel"), self.tr("Do not ask again"))
        self._cancel.clicked.connect(lambda _=False: self.given_up.emit())
        self._ways: dict[Way, QPushButton] = {}
        for way in WAYS:
            button = self._ways[way] = self._button(_NAMES[way], way_words(way), way_tip(way))
            button.clicked.connect(lambda _=False, way=way: self.chosen.emit(way))
        for button in (self._now, self._cancel, *self._ways.values()):
            row.addWidget(button)
        self.hide()

    def show_status(self, status: TabStatus, *, in_rows: bool) -> None:
        """`in_rows`: the ways on stand in the last error's box, in sight."""
        ways: tuple[Way, ...] = () if in_rows else status.ways_on
        waits = status.retry is not None and not status.stopping
        self._now.setVisible(waits)
        self._cancel.setVisible(waits)
        for way, button in self._ways.items():
            button.setVisible(way in ways)
        sentence = self._words(status) if ways else ""
        self._sentence.setText(sentence)
        self._sentence.setVisible(bool(sentence))
        self.setVisible(waits or bool(ways))

    def _words(self, status: TabStatus) -> str:
        if "go_on" in status.ways_on:
            return self.tr("The answer was cut off.")
        match status.last_outcome:
            case "":
                return self.tr("Your last message was not answered.")
            case "refused":
                return self.tr("The model declined to answer.")
            case _:
                return self.tr("The agent did not finish.")

    def _button(self, name: str, words: str, tip: str) -> QPushButton:
        button = QPushButton(words, self)
        button.setObjectName(name)
        button.setToolTip(tip)
        button.setAccessibleDescription(tip)
        button.hide()
        return button
