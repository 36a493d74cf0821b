"""One line over the message field while no key can be had: why, and the button that helps."""

from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from desktop.ui.theme import Theme

if TYPE_CHECKING:
    from desktop.core.access import AccessState

Act = Literal["unlock file", "unlock keyring", "cancel", "settings"]


class KeyLine(QWidget):
    """`wanted(act)` when the person presses the button. Hidden while no key is missed."""

    wanted = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("keyLine")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, theme.space_4)
        row.setSpacing(theme.space_8)
        self._why = QLabel(self)
        self._why.setObjectName("keyLineText")
        self._why.setTextFormat(Qt.TextFormat.PlainText)
        self._why.setWordWrap(True)
        self._why.setProperty("warning", True)
        self._button = QPushButton(self)
        self._button.setObjectName("keyLineButton")
        self._button.clicked.connect(lambda: self.wanted.emit(self._act))
        row.addWidget(self._why, 1)
        row.addWidget(self._button)
        self._act: Act = "settings"
        # A keyring that answers at once is not worth a line that comes and goes.
        self._soon = QTimer(self, singleShot=True, interval=theme.motion.grace)
        self._soon.timeout.connect(self.show)
        self.hide()

    def show_state(self, state: "AccessState | None", *, waiting: bool) -> None:
        """What is now, None while no key is missed; `waiting` for the person at the system's
        window."""
        self._soon.stop()
        if state is None:
            self.hide()
            return
        why, label, self._act = self._words(state, waiting=waiting)
        self._why.setText(why)
        self._button.setText(label)
        self._button.setVisible(bool(label))
        if state.key_source == "asking" and not waiting:
            self._soon.start()
        else:
            self.show()

    def _words(self, state: "AccessState", *, waiting: bool) -> tuple[str, str, Act]:
        if waiting:
            return self.tr("Waiting for your keyring…"), self.tr("Cancel"), "cancel"
        if state.key_source == "asking":
            return self.tr("Looking for your key…"), "", "settings"
        if state.locked == "file":
            return self.tr("Your keys are locked."), self.tr("Unlock…"), "unlock file"
        if state.locked == "keyring":
            why = self.tr("The system keyring is locked.")
            return why, self.tr("Unlock"), "unlock keyring"
        settings = self.tr("Open settings")
        if state.key_file in ("broken", "stuck"):
            return self.tr("The encrypted file of keys can't be used."), settings, "settings"
        if state.keyring == "stuck":
            return self.tr("The system keyring does not answer."), settings, "settings"
        return self.tr("No key is set."), settings, "settings"
