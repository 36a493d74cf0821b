"""A strip for what the person must know and can close: a sentence, Details with Copy (LOOK.md).

A message is shown until the next one. A notice stands: it comes back once the message over it is
closed, and goes when it is closed itself or when what it tells is no longer so.
"""

from collections.abc import Mapping

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

from desktop.ui.announcing import Told
from desktop.ui.theme import Theme

_MESSAGE = ""


class Banner(QFrame):
    """Shows the newest message or notice; hidden, and hardly made, while there is none."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("banner")
        self._theme = theme
        # By key, the newest last; a message has no key of its own.
        self._said: dict[str, tuple[str, str]] = {}
        self._parts: _Parts | None = None
        self._told = Told(self)
        self.hide()

    def say(self, sentence: str, detail: str = "") -> None:
        """Shows a message in place of the last one; an empty one takes it away."""
        self.stand(_MESSAGE, sentence, detail)

    def stand(self, key: str, sentence: str, detail: str = "") -> None:
        """Shows a notice in place of the one with the same key; an empty one takes it away."""
        was = self._said.pop(key, None)
        if sentence:
            self._said[key] = (sentence, detail)
        self._show_newest()
        # What still stands is not news; a message is, each time.
        if sentence and (key == _MESSAGE or was != (sentence, detail)):
            self._told.say(sentence)

    def close_newest(self) -> None:
        """The person has read what stands there; what stood under it is shown."""
        if self._said:
            self._said.popitem()
        self._show_newest()

    @property
    def text(self) -> str:
        """What it says now, '' while hidden."""
        return next(reversed(self._said.values()))[0] if self._said else ""

    @property
    def message(self) -> str:
        """The message, also while a notice stands over it; '' without one."""
        return self._said.get(_MESSAGE, ("", ""))[0]

    @property
    def notices(self) -> Mapping[str, tuple[str, str]]:
        """What stands, with its details, by key."""
        return {key: told for key, told in self._said.items() if key != _MESSAGE}

    def _show_newest(self) -> None:
        if not self._said:
            self.hide()
            return
        if self._parts is None:
            self._parts = _Parts(self, self._theme)
        sentence, detail = next(reversed(self._said.values()))
        self._parts.say(sentence, detail, under=len(self._said) - 1)
        self.show()


class _Parts:
    """The widgets of a banner that has something to say."""

    def __init__(self, banner: Banner, theme: Theme) -> None:
        column = QVBoxLayout(banner)
        column.setContentsMargins(theme.space_12, theme.space_8, theme.space_8, theme.space_8)
        row = QHBoxLayout()
        row.setSpacing(theme.space_8)
        self._banner = banner
        self._sentence = QLabel(banner)
        self._sentence.setObjectName("bannerText")
        self._sentence.setTextFormat(Qt.TextFormat.PlainText)
        self._sentence.setWordWrap(True)
        self._under = QLabel(banner)
        self._under.setProperty("muted", True)
        self._more = QPushButton(banner.tr("Details"), banner)
        self._more.setCheckable(True)
        self._copy = QPushButton(banner.tr("Copy"), banner)
        self._close = QToolButton(banner)
        self._close.setObjectName("bannerClose")
        self._close.setText("✕")
        self._close.setAutoRaise(True)
        self._close.setAccessibleName(banner.tr("Close this message"))
        row.addWidget(self._sentence, 1)
        for part in (self._under, self._more, self._copy, self._close):
            row.addWidget(part)
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
        self._close.clicked.connect(banner.close_newest)

    def say(self, sentence: str, detail: str, *, under: int) -> None:
        """`under` is how many more wait until this one is closed."""
        self._sentence.setText(sentence)
        self._under.setText(self._banner.tr("%n more", "", under))
        self._under.setVisible(under > 0)
        self._detail.setPlainText(detail)
        self._more.setChecked(False)
        self._more.setVisible(bool(detail))
        self._copy.setVisible(bool(detail))

    def _to_clipboard(self) -> None:
        QGuiApplication.clipboard().setText(
            f"{self._sentence.text()}\n{self._detail.toPlainText()}"
        )
