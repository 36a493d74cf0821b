"""Settings → Access: which key is used and from where, the places it can be kept in, the server.

Says the state of each place in its own sentence and offers what helps in that state. A key goes in
here and never comes out; what was typed stays in its field until it is kept.
"""

from collections.abc import Awaitable, Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from desktop.core.access import Access, AccessState, KeyPlace
from desktop.core.errors import NacreError
from desktop.settings import BASE_URL
from desktop.ui import asking
from desktop.ui.controls import act_button, text_label
from desktop.ui.flow import FlowLayout
from desktop.ui.tasks import Tasks
from desktop.ui.theme import Theme
from desktop.ui.unlocking import Unlocking

_KEY_SOURCES = {
    "none": "No key is set.",
    "asking": "Looking for your key…",
    "keyring": "The key comes from the system's keyring.",
    "file": "The key comes from your encrypted file.",
    "environment": "The key comes from the environment variable ANTHROPIC_API_KEY. It is used "
    "before any key that is kept.",
    "session": "The key is kept for this run only.",
    "unneeded": "This server is used without a key.",
}
_KEYRING_LOCKED = "No key can be read while the keyring is locked."
_KEPT = {
    "keyring": "The key works and is kept in the system keyring.",
    "file": "The key works and is kept in the encrypted file.",
    "session": "The key works and is kept until Nacre ends.",
}
_TROUBLED = ("locked", "absent", "broken", "stuck")


class AccessPage(QWidget):
    """One page of the settings; a change counts at once."""

    def __init__(
        self,
        theme: Theme,
        *,
        access: Access,
        unlocking: Unlocking,
        tasks: Tasks,
        server: str,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("accessPage")
        self._theme = theme
        self._access = access
        self._unlocking = unlocking
        self._tasks = tasks
        self._build(server)
        ends = access.on_change(self._refresh)
        self.destroyed.connect(ends)
        unlocking.changed.connect(self._refresh)
        unlocking.failed.connect(self._say)
        self._refresh()
        state = access.state()
        if not state.keyring and state.key_source != "asking":
            tasks.start(access.look(), "look at the places of keys")

    # -- what is ------------------------------------------------------------------------------

    def _refresh(self) -> None:
        state, waiting = self._access.state(), self._unlocking.waiting
        source = _KEYRING_LOCKED if state.locked == "keyring" else _KEY_SOURCES[state.key_source]
        self._source.setText(self.tr(source))
        # Of a locked file its own sentence says it.
        self._source.setVisible(state.ready or state.locked != "file")
        self._show(self._problem, state.problem, danger=True)
        in_file, in_keyring = state.key_source == "file", state.key_source == "keyring"
        self._show(
            self._file,
            "" if in_file else state.key_file_words,
            danger=state.key_file in ("broken", "stuck"),
        )
        # With a key in use what the keyring lacks is worth a word, and its way out is not.
        keyring = state.keyring_sentence if state.ready else state.keyring_words
        if waiting:
            keyring = self.tr("Waiting for your keyring…")
        self._show(
            self._keyring,
            "" if in_keyring else keyring,
            danger=not state.ready and state.keyring in ("broken", "stuck"),
        )
        self._show_buttons(state, waiting=waiting)
        where = state.base_url or self.tr("the provider's own server")
        text = self.tr("Requests go to {where}.")
        if state.base_url_source == "environment":
            text = self.tr("The environment variable ANTHROPIC_BASE_URL sends requests to {where}.")
        self._server.setText(text.format(where=where))

    def _show_buttons(self, state: AccessState, *, waiting: bool) -> None:
        shown = {
            self._unlock_file: state.key_file == "locked",
            self._unlock_keyring: state.keyring == "locked" and not waiting,
            self._cancel: waiting,
            self._again: not waiting
            and (state.keyring in _TROUBLED or state.key_file in ("broken", "stuck")),
            self._to_keyring: state.key_source in ("file", "session") and state.keyring == "ready",
            self._to_file: state.key_source in ("keyring", "session"),
            self._remove: state.key_source in ("keyring", "file", "session"),
            self._remove_file: state.key_file in ("locked", "broken"),
        }
        for button, is_shown in shown.items():
            button.setVisible(is_shown)
        # Behind a file that can't be opened a key in the keyring would not be used.
        usable = ("", "ready")
        self._keep.setEnabled(state.keyring in usable and state.key_file in usable)

    @staticmethod
    def _show(label: QLabel, text: str, *, danger: bool) -> None:
        label.setProperty("danger", danger)
        label.setProperty("muted", not danger)
        label.style().unpolish(label)
        label.style().polish(label)
        label.setText(text)
        label.setVisible(bool(text))

    def _say(self, text: str) -> None:
        self._answer.setText(text)
        self._answer.setVisible(bool(text))

    # -- what the person does -----------------------------------------------------------------

    def _start(self, doing: str, coroutine: Awaitable[str]) -> None:
        self._say(doing)
        self._tasks.start(self._guarded(coroutine), "settings: access")

    async def _guarded(self, coroutine: Awaitable[str]) -> None:
        try:
            said = await coroutine
        except NacreError as error:
            said = str(error)
        if isValid(self):  # the settings may be closed by now
            self._say(said)
            self._refresh()

    def _enter(self, place: KeyPlace) -> None:
        self._start(self.tr("Checking the key…"), self._enter_key(place))

    async def _enter_key(self, place: KeyPlace) -> str:
        key = self._key.text()
        if not key:
            return self.tr("Enter the key first.")
        if place == "file" and not await self._unlocking.open_file(self.window()):
            return ""
        failure = await self._access.enter_key(key, keep=place)
        if failure is not None:
            return f"{failure.sentence} {failure.way_out}".strip()
        self._key.clear()
        return self.tr(_KEPT[place])

    async def _move(self, place: KeyPlace) -> str:
        if place == "file" and not await self._unlocking.open_file(self.window()):
            return ""
        await self._access.move_key(place)
        return self.tr("The key is in another place now.")

    async def _look(self) -> str:
        await self._access.look()
        return ""

    async def _remove_key(self) -> str:
        await self._access.forget_key()
        return self.tr("The key is gone.")

    async def _remove_the_file(self) -> str:
        answer = await asking.choose(
            self.window(),
            self.tr("Remove the encrypted file"),
            self.tr("All keys in the encrypted file are lost with it. Remove it?"),
            (("remove", self.tr("Remove the file")), ("keep", self.tr("Keep it"))),
            escape="keep",
        )
        if answer == "keep":
            return ""
        await self._access.forget_file()
        return self.tr("The encrypted file is gone.")

    async def _use_server(self) -> str:
        failure = await self._access.use_server(self._url.text().strip())
        if failure is not None:
            return f"{failure.sentence} {failure.way_out}".strip()
        return self.tr("The server answers.")

    async def _check(self) -> str:
        failure = await self._access.check()
        if failure is not None:
            return f"{failure.sentence} {failure.way_out}".strip()
        return self.tr("The connection works.")

    # -- building -----------------------------------------------------------------------------

    def _build(self, server: str) -> None:
        theme = self._theme
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.space_4, 0, theme.space_12, 0)
        column.setSpacing(theme.space_12)
        self._answer = self._label("accessAnswer")
        self._answer.hide()
        column.addWidget(self._key_card())
        column.addWidget(self._new_key_card())
        column.addWidget(self._answer)
        column.addWidget(self._server_card(server))
        column.addStretch(1)

    def _key_card(self) -> QFrame:
        card, column = self._card(self.tr("Your key"))
        self._source = self._label("keySource")
        self._problem, self._file, self._keyring = (
            self._label(name) for name in ("keyProblem", "keyFileState", "keyringState")
        )
        self._unlock_file = self._button(
            self.tr("Unlock the file…"), "unlockFile", lambda: self._unlocking.file(self.window())
        )
        self._unlock_keyring = self._button(
            self.tr("Unlock the keyring"), "unlockKeyring", self._unlocking.keyring
        )
        self._cancel = self._button(self.tr("Cancel"), "cancelUnlock", self._unlocking.cancel)
        self._again = self._button(
            self.tr("Try again"), "tryAgain", lambda: self._start(self.tr("Looking…"), self._look())
        )
        self._to_keyring = self._button(
            self.tr("Move to the keyring"),
            "moveToKeyring",
            lambda: self._start(self.tr("Moving the key…"), self._move("keyring")),
        )
        self._to_file = self._button(
            self.tr("Move to an encrypted file…"),
            "moveToFile",
            lambda: self._start("", self._move("file")),
        )
        self._remove = self._button(
            self.tr("Remove key"),
            "forgetKey",
            lambda: self._start(self.tr("Removing the key…"), self._remove_key()),
        )
        self._remove_file = self._button(
            self.tr("Remove the file…"),
            "removeFile",
            lambda: self._start("", self._remove_the_file()),
        )
        for button in (self._unlock_file, self._unlock_keyring):
            button.setProperty("primary", True)
        column.addWidget(self._source)
        for label in (self._problem, self._file, self._keyring):
            column.addWidget(label)
        column.addLayout(
            self._row(
                *(self._unlock_file, self._unlock_keyring, self._cancel, self._again),
                *(self._to_keyring, self._to_file, self._remove, self._remove_file),
            )
        )
        return card

    def _new_key_card(self) -> QFrame:
        card, column = self._card(self.tr("Enter a key"))
        self._key = QLineEdit(self)
        self._key.setObjectName("settingsKey")
        self._key.setEchoMode(QLineEdit.EchoMode.Password)
        self._key.setPlaceholderText(self.tr("A new API key"))
        self._key.setAccessibleName(self.tr("A new API key"))
        self._key.setInputMethodHints(
            Qt.InputMethodHint.ImhSensitiveData | Qt.InputMethodHint.ImhNoPredictiveText
        )
        self._keep = self._button(
            self.tr("Keep in the keyring"), "keepInKeyring", lambda: self._enter("keyring")
        )
        self._keep_file = self._button(
            self.tr("Keep in an encrypted file…"), "keepInFile", lambda: self._enter("file")
        )
        session = self._button(
            self.tr("Use for this run only"), "useForThisRun", lambda: self._enter("session")
        )
        self._keep.setProperty("primary", True)
        column.addWidget(self._key)
        column.addLayout(self._row(self._keep, self._keep_file, session))
        note = self._label(
            "keyNote", self.tr("It is checked by one call that costs next to nothing.")
        )
        note.setProperty("muted", True)
        column.addWidget(note)
        return card

    def _server_card(self, server: str) -> QFrame:
        card, column = self._card(self.tr("Server"))
        self._server = self._label("serverInForce")
        self._url = QLineEdit(server, self)
        self._url.setObjectName(BASE_URL.key)
        self._url.setAccessibleName(self.tr(BASE_URL.label))
        self._url.setPlaceholderText(self.tr("Server address (empty: the provider's own)"))
        use = self._button(
            self.tr("Use this server"),
            "useServer",
            lambda: self._start(self.tr("Looking for the server…"), self._use_server()),
        )
        check = self._button(
            self.tr("Test connection"),
            "testConnection",
            lambda: self._start(self.tr("Checking…"), self._check()),
        )
        note = self._label("serverNote", self.tr(BASE_URL.help))
        note.setProperty("muted", True)
        for widget in (self._server, self._url, note):
            column.addWidget(widget)
        column.addLayout(self._row(use, check))
        return card

    def _card(self, title: str) -> tuple[QFrame, QVBoxLayout]:
        theme = self._theme
        card = QFrame(self)
        card.setProperty("surface", "card")
        column = QVBoxLayout(card)
        column.setContentsMargins(theme.space_16, theme.space_12, theme.space_16, theme.space_12)
        column.setSpacing(theme.space_8)
        head = QLabel(title, card)
        head.setProperty("heading", True)
        column.addWidget(head)
        return card, column

    def _label(self, name: str, text: str = "") -> QLabel:
        return text_label(self, name, text, narrows=False)

    def _button(self, text: str, name: str, act: Callable[[], object]) -> QPushButton:
        return act_button(self, text, name, act)

    def _row(self, *buttons: QPushButton) -> FlowLayout:
        row = FlowLayout(self._theme.space_8)
        for button in buttons:
            row.addWidget(button)
        return row
