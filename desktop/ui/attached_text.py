"""A text that goes with a message, opened to be read and changed (SPEC U07).

What is not changed stays as it was, byte for byte; a change keeps the kind of its line ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPlainTextEdit, QVBoxLayout, QWidget

from desktop.ui.attached_entry import with_text
from desktop.ui.controls import text_label
from desktop.ui.plain_text import Filling, text_of
from desktop.ui.theme import Theme
from desktop.ui.visible import visible

if TYPE_CHECKING:
    from desktop.core.chunks import Json


class AttachedText(QDialog):
    """Opened with `open()`. `changed(attachment)` when the person keeps another text."""

    changed = Signal(object)

    def __init__(self, theme: Theme, attachment: Json, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("attachedText")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        name = visible(str(attachment.get("name", "")))
        self.setWindowTitle(name)
        self._attachment = attachment
        self._is_warned = False
        column = QVBoxLayout(self)
        column.setContentsMargins(*[theme.space_16] * 4)
        column.setSpacing(theme.space_12)
        self._note = text_label(self, "attachedTextNote", self.tr("Opening…"))
        self._note.setProperty("muted", True)
        column.addWidget(self._note)
        self._field = QPlainTextEdit(self)
        self._field.setObjectName("textBoxText")
        self._field.setAccessibleName(name)
        self._field.setProperty("monospace", True)
        self._field.setTabChangesFocus(True)
        column.addWidget(self._field, 1)
        button = QDialogButtonBox.StandardButton
        buttons = QDialogButtonBox(button.Save | button.Cancel, self)
        buttons.accepted.connect(self._keep)
        buttons.rejected.connect(self.reject)
        self._save = buttons.button(button.Save)
        self._save.setAutoDefault(False)
        self._save.setEnabled(False)
        column.addWidget(buttons)
        side = theme.px(theme.measures.dialog)
        self.resize(QSize(side, side * 2 // 3).boundedTo(self.screen().availableSize() * 0.9))
        self._field.setFocus()
        Filling(self._field, str(attachment.get("text")), self._opened)

    def reject(self) -> None:
        """A change is not dropped by one key."""
        if self._field.document().isModified() and self._save.isEnabled() and not self._is_warned:
            self._is_warned = True
            words = self.tr("Your changes are not saved. Cancel once more drops them.")
            self._note.setText(words)
            self._field.setAccessibleDescription(words)
            return
        super().reject()

    def _opened(self) -> None:
        self._note.setText(self.tr("This text goes with the message as it is here."))
        self._save.setEnabled(True)

    def _keep(self) -> None:
        if self._field.document().isModified():
            text = text_of(self._field.document())
            self.changed.emit(with_text(self._attachment, text))
        self.accept()
