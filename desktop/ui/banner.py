"""A strip for what the person must know and can close: a sentence, Details with Copy (LOOK.md)."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from desktop.ui.theme import Theme


class Banner(QFrame):
    """Shows the newest message; hidden, and hardly made, while there is none."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("banner")
        self._theme = theme
        self._text = ""
        self._parts: _Parts | None = None
        self.hide()

    def say(self, sentence: str, detail: str = "") -> None:
        """Shows a sentence; an empty one takes the strip away."""
        self._text = sentence
        if not sentence:
            self.hide()
            return
        if self._parts is None:
            self._parts = _Parts(self, self._theme)
        self._parts.say(sentence, detail)
        self.show()

    @property
    def text(self) -> str:
        """What it says now, '' while hidden."""
        return self._text if not self.isHidden() else ""


class _Parts:
    """The widgets of a banner that has something to say."""

    def __init__(self, banner: QFrame, theme: Theme) -> None:
        column = QVBoxLayout(banner)
        column.setContentsMargins(theme.space_12, theme.space_8, theme.space_8, theme.space_8)
        row = QHBoxLayout()
        row.setSpacing(theme.space_8)
        self._sentence = QLabel(banner)
        self._sentence.setObjectName("bannerText")
        self._sentence.setTextFormat(Qt.TextFormat.PlainText)
        self._sentence.setWordWrap(True)
        self._more = QPushButton(banner.tr("Details"), banner)
        self._more.setCheckable(True)
        self._copy = QPushButton(banner.tr("Copy"), banner)
        close = QToolButton(banner)
        close.setText("✕")
        close.setAutoRaise(True)
        close.setAccessibleName(banner.tr("Close this message"))
        row.addWidget(self._sentence, 1)
        for button in (self._more, self._copy, close):
            row.addWidget(button)
        self._detail = QPlainTextEdit(banner)
        self._detail.setReadOnly(True)
        self._detail.setProperty("monospace", True)
        self._detail.setAccessibleName(banner.tr("Details"))
        self._detail.setMaximumHeight(banner.fontMetrics().lineSpacing() * 8)
        self._detail.hide()
        column.addLayout(row)
        column.addWidget(self._detail)
        self._more.toggled.connect(self._detail.setVisible)
        self._copy.clicked.connect(self._to_clipboard)
        close.clicked.connect(banner.hide)

    def say(self, sentence: str, detail: str) -> None:
        self._sentence.setText(sentence)
        self._detail.setPlainText(detail)
        self._more.setChecked(False)
        self._more.setVisible(bool(detail))
        self._copy.setVisible(bool(detail))

    def _to_clipboard(self) -> None:
        QGuiApplication.clipboard().setText(
            f"{self._sentence.text()}\n{self._detail.toPlainText()}"
        )
