"""A line with one thing to do: what was just put away and Undo, a state and the way out of it."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QToolButton, QWidget

from desktop.ui.announcing import Told
from desktop.ui.theme import Theme


class NoticeBar(QFrame):
    """`acted` when its button is used, `dismissed` on its ✕ and on Esc in it. Hidden at first.

    `said_elsewhere`: a screen reader hears of it in another way.
    """

    acted = Signal()
    dismissed = Signal()

    def __init__(
        self,
        theme: Theme,
        *,
        name: str,
        act: str,
        closable: bool,
        said_elsewhere: bool = False,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setProperty("notice", True)
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.space_12, theme.space_4, theme.space_8, theme.space_4)
        row.setSpacing(theme.space_8)
        self._sentence = QLabel(self)
        self._sentence.setObjectName(f"{name}Text")
        self._sentence.setTextFormat(Qt.TextFormat.PlainText)
        self._sentence.setWordWrap(True)
        row.addWidget(self._sentence, 1)
        self.button = QPushButton(act, self)
        self.button.setObjectName(f"{name}Act")
        self.button.clicked.connect(lambda _=False: self.acted.emit())
        row.addWidget(self.button)
        if closable:
            close = QToolButton(self)
            close.setText("✕")
            close.setAutoRaise(True)
            close.setAccessibleName(self.tr("Close this message"))
            close.clicked.connect(self._dismiss)
            row.addWidget(close)
        self._told = None if said_elsewhere else Told(self)
        self.setFocusProxy(self.button)
        self.hide()

    def say(self, sentence: str) -> None:
        """Shows a sentence; an empty one takes the line away."""
        is_news = self.isHidden() or sentence != self._sentence.text()
        self._sentence.setText(sentence)
        self.setAccessibleName(sentence)
        self.button.setAccessibleDescription(sentence)
        self.setVisible(bool(sentence))
        if is_news and self._told is not None:
            self._told.say(sentence)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self._dismiss()
            return
        super().keyPressEvent(event)

    def _dismiss(self) -> None:
        self.hide()
        self.dismissed.emit()
