"""The passphrase of the encrypted file of keys: typed to open it, or chosen when it is made.

The dialog stays until the passphrase does or the person gives up; what was wrong stands under the
field. It is opened with `asking.finished`, whose answer is 1 once the file is open.
"""

from collections.abc import Awaitable, Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from desktop.core.errors import CredentialError
from desktop.ui.tasks import Tasks
from desktop.ui.theme import Theme

Attempt = Callable[[str], Awaitable[None]]


class PassphraseDialog(QDialog):
    """`attempt` opens the file with what was typed, or raises CredentialError; with `is_new` the
    passphrase is asked twice and its use explained."""

    def __init__(
        self, theme: Theme, tasks: Tasks, attempt: Attempt, *, is_new: bool, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setObjectName("passphraseDialog")
        self._tasks = tasks
        self._attempt = attempt
        self._is_new = is_new
        self._build(theme)
        self._passphrase.setFocus()

    # -- doing --------------------------------------------------------------------------------

    def accept(self) -> None:
        """Enter, or the button: closes only if the passphrase does."""
        if not self._passphrase.text():
            self._say(self.tr("Type the passphrase first."))
        elif self._is_new and self._passphrase.text() != self._again.text():
            self._say(self.tr("The two passphrases are not the same."))
        elif self._go.isEnabled():
            self._go.setEnabled(False)
            self._say(self.tr("Opening…"), is_error=False)
            self._tasks.start(self._try(self._passphrase.text()), "open the encrypted file")

    async def _try(self, passphrase: str) -> None:
        try:
            await self._attempt(passphrase)
        except CredentialError as error:
            if not isValid(self):  # given up meanwhile
                return
            self._go.setEnabled(True)
            self._say(str(error))
            self._passphrase.selectAll()
            self._passphrase.setFocus()
            return
        if isValid(self):
            self._passphrase.clear()
            self._again.clear()
            super().accept()

    def _say(self, text: str, *, is_error: bool = True) -> None:
        self._answer.setProperty("danger", is_error)
        self._answer.style().unpolish(self._answer)
        self._answer.style().polish(self._answer)
        self._answer.setText(text)
        self._answer.show()

    # -- building -----------------------------------------------------------------------------

    def _build(self, theme: Theme) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.space_24, theme.space_16, theme.space_24, theme.space_16)
        column.setSpacing(theme.space_8)
        for text in self._words():
            label = QLabel(text, self)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
            column.addWidget(label)
        column.addSpacing(theme.space_4)
        self._passphrase = self._field(self.tr("Passphrase"), "passphrase")
        self._again = self._field(self.tr("The same passphrase again"), "passphraseAgain")
        self._again.setVisible(self._is_new)
        self._show = QPushButton(self.tr("Show what I type"), self)
        self._show.setObjectName("passphraseShow")
        self._show.setCheckable(True)
        self._show.setAutoDefault(False)
        self._show.toggled.connect(self._show_letters)
        self._answer = QLabel(self)
        self._answer.setObjectName("passphraseAnswer")
        self._answer.setTextFormat(Qt.TextFormat.PlainText)
        self._answer.setWordWrap(True)
        self._answer.hide()
        for widget in (self._passphrase, self._again):
            column.addWidget(widget)
        column.addWidget(self._show, alignment=Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self._answer)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self._go = QPushButton(
            self.tr("Make the file") if self._is_new else self.tr("Unlock"), self
        )
        self._go.setObjectName("passphraseGo")
        self._go.setProperty("primary", True)
        self._go.setDefault(True)
        buttons.addButton(self._go, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column.addSpacing(theme.space_8)
        column.addWidget(buttons)
        self._passphrase.setMinimumWidth(theme.px(theme.measures.dialog * 3 // 4))
        # As high as its words, also when an answer comes: a dialog of less would cut them.
        column.setSizeConstraint(QLayout.SizeConstraint.SetFixedSize)

    def _words(self) -> tuple[str, ...]:
        if not self._is_new:
            self.setWindowTitle(self.tr("Unlock your keys"))
            return (self.tr("Your keys are in an encrypted file. Type its passphrase."),)
        self.setWindowTitle(self.tr("Keep keys in an encrypted file"))
        return (
            self.tr(
                "The key is encrypted with a passphrase and kept in a file in Nacre's data folder. "
                "Nacre asks for the passphrase once after each start."
            ),
            self.tr(
                "This protects the key from whoever gets hold of the file, a backup or the disk. "
                "It does not protect it from programs that run as you while Nacre is open."
            ),
            self.tr(
                "Nobody can recover a forgotten passphrase: you would remove the file and enter "
                "the key again. Several words are easy to remember and hard to guess."
            ),
        )

    def _field(self, name: str, object_name: str) -> QLineEdit:
        field = QLineEdit(self)
        field.setObjectName(object_name)
        field.setAccessibleName(name)
        field.setPlaceholderText(name)
        field.setEchoMode(QLineEdit.EchoMode.Password)
        field.setInputMethodHints(
            Qt.InputMethodHint.ImhSensitiveData | Qt.InputMethodHint.ImhNoPredictiveText
        )
        return field

    def _show_letters(self, shown: bool) -> None:
        mode = QLineEdit.EchoMode.Normal if shown else QLineEdit.EchoMode.Password
        self._passphrase.setEchoMode(mode)
        self._again.setEchoMode(mode)
        words = self.tr("Hide what I type") if shown else self.tr("Show what I type")
        self._show.setText(words)
