"""The first page: three ways to begin, no wizard (LOOK.md "Empty, waiting, broken").

A key (checked before it is kept), a local server, or the tour. Errors stand under the field they
belong to; what was typed is never lost by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from desktop.core.errors import NacreError
from desktop.ui.flow import FlowLayout
from desktop.ui.tasks import Tasks
from desktop.ui.theme import Theme

if TYPE_CHECKING:
    from desktop.core.access import Access, KeyPlace
    from desktop.core.events import Failure
    from desktop.ui.unlocking import Unlocking


class WelcomePage(QScrollArea):
    """`entered` once a model can be reached; `tour_wanted` for the recording."""

    entered = Signal()
    tour_wanted = Signal()

    def __init__(self, theme: Theme, tasks: Tasks, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("welcomePage")
        self.setAccessibleName(self.tr("How to begin"))
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._tasks = tasks
        self._access: Access | None = None
        self._unlocking: Unlocking | None = None
        self._build(theme)

    def connect_access(self, access: Access, unlocking: Unlocking) -> None:
        """The network side is loaded: the buttons work now."""
        self._access = access
        self._unlocking = unlocking
        unlocking.changed.connect(self._show_keyring)
        self.destroyed.connect(access.on_change(self._key_changed))
        self._unlock.clicked.connect(self._unlock_keyring)
        for button in (self._save, self._session, self._file, self._connect, self._tour):
            button.setEnabled(True)
        self._show_keyring()

    def begin(self) -> None:
        """The page came into view: the first field has the focus."""
        self._key.setFocus()

    # -- the three ways -----------------------------------------------------------------------

    def _key_changed(self) -> None:
        """A keyring that was unlocked may hold a key: then there is nothing to enter."""
        self._show_keyring()
        if self._access is not None and self._access.state().ready and self.isVisible():
            self.entered.emit()

    def _show_keyring(self) -> None:
        """Why the keyring can't be used, and what is offered in its place."""
        if self._access is None or self._unlocking is None:
            return
        state, waiting = self._access.state(), self._unlocking.waiting
        usable = state.keyring in ("", "ready")
        note = self.tr("Waiting for your keyring…") if waiting else state.keyring_words
        self._keyring_note.setText("" if usable else note)
        self._keyring_note.setVisible(not usable)
        self._unlock.setText(self.tr("Cancel") if waiting else self.tr("Unlock the keyring"))
        self._unlock.setVisible(waiting or state.keyring == "locked")
        self._file.setVisible(not usable)
        self._save.setEnabled(usable)

    def _unlock_keyring(self) -> None:
        if self._unlocking is not None:
            self._unlocking.cancel() if self._unlocking.waiting else self._unlocking.keyring()

    def _key_typed(self) -> None:
        """Enter: keeps the key where it belongs, if it can be kept there."""
        if self._save.isEnabled():
            self._enter_key("keyring")
        elif self._access is not None:
            self._say(self._key_error, self.tr("Choose what to do with the key."))

    def _enter_key(self, place: KeyPlace) -> None:
        key = self._key.text()
        if self._access is None or not key:
            self._say(self._key_error, self.tr("Enter the key first."))
            return
        self._tasks.start(self._try_key(self._access, key, place), "enter key")

    async def _try_key(self, access: Access, key: str, place: KeyPlace) -> None:
        if place == "file" and not (
            self._unlocking and await self._unlocking.open_file(self.window())
        ):
            return
        self._busy(self._key_error, self.tr("Checking the key…"))
        try:
            failure = await access.enter_key(key, keep=place)
        except NacreError as error:
            self._say(self._key_error, str(error))
            self._show_keyring()
            return
        if not self._settle(self._key_error, failure):
            return
        self._key.clear()

    def _use_server(self) -> None:
        if self._access is None:
            return
        self._tasks.start(self._try_server(self._access, self._url.text().strip()), "use server")

    async def _try_server(self, access: Access, url: str) -> None:
        if not url:
            self._say(self._url_error, self.tr("Enter the server's address first."))
            return
        self._busy(self._url_error, self.tr("Looking for the server…"))
        try:
            failure = await access.use_server(url)
        except NacreError as error:
            self._say(self._url_error, str(error))
            return
        self._settle(self._url_error, failure)

    # -- words --------------------------------------------------------------------------------

    def _settle(self, label: QLabel, failure: Failure | None) -> bool:
        self._say(label, "" if failure is None else f"{failure.sentence} {failure.way_out}".strip())
        return failure is None

    @staticmethod
    def _say(label: QLabel, text: str) -> None:
        label.setProperty("danger", True)
        label.setText(text)
        label.setVisible(bool(text))
        label.style().unpolish(label)
        label.style().polish(label)

    def _busy(self, label: QLabel, text: str) -> None:
        self._say(label, text)
        label.setProperty("danger", False)
        label.style().unpolish(label)
        label.style().polish(label)

    # -- building -----------------------------------------------------------------------------

    def _build(self, theme: Theme) -> None:
        page = QWidget(self)
        page.setObjectName("welcomeInner")
        outer = QHBoxLayout(page)
        middle = QWidget(page)
        column = QVBoxLayout(middle)
        column.setContentsMargins(theme.space_24, theme.space_32, theme.space_24, theme.space_32)
        column.setSpacing(theme.space_16)
        title = QLabel(self.tr("Work with an agent in your own folders"), middle)
        title.setProperty("title", True)
        title.setWordWrap(True)
        about = QLabel(
            self.tr("Your conversations and your key stay on this computer. Choose how to begin:"),
            middle,
        )
        about.setWordWrap(True)
        about.setProperty("muted", True)
        column.addWidget(title)
        column.addWidget(about)
        column.addWidget(self._key_card(theme, middle))
        column.addWidget(self._server_card(theme, middle))
        column.addWidget(self._tour_card(theme, middle))
        column.addStretch(1)
        # Alone in its row it stands in the middle, and has all of it where there is no more.
        middle.setMaximumWidth(theme.column)
        outer.addWidget(middle)
        self.setWidget(page)
        for button in (self._save, self._session, self._file, self._connect, self._tour):
            button.setEnabled(False)

    def _key_card(self, theme: Theme, parent: QWidget) -> QFrame:
        card, column = self._card(
            theme,
            parent,
            self.tr("Enter a key"),
            self.tr(
                "An API key of Anthropic. It is checked by one call that costs next to nothing."
            ),
        )
        self._key = QLineEdit(card)
        self._key.setObjectName("keyField")
        self._key.setAccessibleName(self.tr("API key"))
        self._key.setEchoMode(QLineEdit.EchoMode.Password)
        self._key.setPlaceholderText(self.tr("API key"))
        self._key.setInputMethodHints(
            Qt.InputMethodHint.ImhSensitiveData | Qt.InputMethodHint.ImhNoPredictiveText
        )
        self._save = QPushButton(self.tr("Check and keep"), card)
        self._save.setObjectName("saveKey")
        self._save.setProperty("primary", True)
        self._session = QPushButton(self.tr("Only for this run"), card)
        self._session.setObjectName("sessionKey")
        self._session.setToolTip(self.tr("The key is forgotten when Nacre ends"))
        self._file = QPushButton(self.tr("Keep in an encrypted file…"), card)
        self._file.setObjectName("fileKey")
        self._file.hide()
        self._unlock = QPushButton(card)
        self._unlock.setObjectName("unlockKeyring")
        self._unlock.hide()
        self._key.returnPressed.connect(self._key_typed)
        self._save.clicked.connect(lambda: self._enter_key("keyring"))
        self._session.clicked.connect(lambda: self._enter_key("session"))
        self._file.clicked.connect(lambda: self._enter_key("file"))
        column.addWidget(self._key)
        row = FlowLayout(theme.space_8)
        for button in (self._save, self._session, self._file, self._unlock):
            row.addWidget(button)
        column.addLayout(row)
        self._key_error = self._error_label(card, column)
        self._keyring_note = self._error_label(card, column)
        self._keyring_note.setProperty("warning", True)
        return card

    def _server_card(self, theme: Theme, parent: QWidget) -> QFrame:
        card, column = self._card(
            theme,
            parent,
            self.tr("Use a server on this computer"),
            self.tr(
                "Any server that speaks the Messages API: Ollama, LM Studio, llama.cpp, vLLM. "
                "Nothing leaves the computer then."
            ),
        )
        self._url = QLineEdit(card)
        self._url.setObjectName("serverField")
        self._url.setAccessibleName(self.tr("Server address"))
        self._url.setPlaceholderText("http://localhost:11434")
        self._connect = QPushButton(self.tr("Connect"), card)
        self._connect.setObjectName("connectServer")
        self._connect.clicked.connect(self._use_server)
        self._url.returnPressed.connect(self._use_server)
        row = QHBoxLayout()
        row.setSpacing(theme.space_8)
        row.addWidget(self._url, 1)
        row.addWidget(self._connect)
        column.addLayout(row)
        self._url_error = self._error_label(card, column)
        return card

    def _tour_card(self, theme: Theme, parent: QWidget) -> QFrame:
        card, column = self._card(
            theme,
            parent,
            self.tr("Look around first"),
            self.tr("A recorded conversation, played through the whole program. No key, no cost."),
        )
        self._tour = QPushButton(self.tr("Play the tour"), card)
        self._tour.setObjectName("playTour")
        self._tour.clicked.connect(self.tour_wanted)
        row = QHBoxLayout()
        row.addWidget(self._tour)
        row.addStretch(1)
        column.addLayout(row)
        return card

    def _card(
        self, theme: Theme, parent: QWidget, title: str, about: str
    ) -> tuple[QFrame, QVBoxLayout]:
        card = QFrame(parent)
        card.setProperty("surface", "card")
        column = QVBoxLayout(card)
        column.setContentsMargins(theme.space_16, theme.space_12, theme.space_16, theme.space_16)
        column.setSpacing(theme.space_8)
        head = QLabel(title, card)
        head.setProperty("heading", True)
        text = QLabel(about, card)
        text.setWordWrap(True)
        text.setProperty("muted", True)
        column.addWidget(head)
        column.addWidget(text)
        return card, column

    @staticmethod
    def _error_label(card: QWidget, column: QVBoxLayout) -> QLabel:
        label = QLabel(card)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        label.hide()
        column.addWidget(label)
        return label
